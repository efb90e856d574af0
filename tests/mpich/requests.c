/* SPDX-License-Identifier: MIT */
/*
 * What MPI says of the requests of persistent collective operations, active or
 * not; and what runs cost: each is an operation of the library, and none
 * allocates memory. Rank 0 prints the operations that teams carried out.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "counter.h"

enum {
	RUNS = 100,
	MANY = 40,    /* more than teams with segments */
	LONG = 50000, /* ints */
	LENGTHS = 4,
};

/* ---- allocations ---- */

static int counting;
static unsigned long allocations;

void *__libc_malloc(size_t length);
void *__libc_calloc(size_t n, size_t length);
void *__libc_realloc(void *memory, size_t length);

void *malloc(size_t length)
{
	allocations += (unsigned)counting;
	return __libc_malloc(length);
}

void *calloc(size_t n, size_t length)
{
	allocations += (unsigned)counting;
	return __libc_calloc(n, length);
}

void *realloc(void *memory, size_t length)
{
	allocations += (unsigned)counting;
	return __libc_realloc(memory, length);
}

/* ---- runs ---- */

static void sum_init(int *in, int *out, int n, MPI_Request *request)
{
	MPI_Allreduce_init(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
			   MPI_INFO_NULL, request);
}

static void run(MPI_Request *request)
{
	MPI_Start(request);
	MPI_Wait(request, MPI_STATUS_IGNORE);
}

static const int lengths[LENGTHS] = { 0, 2, 1000, LONG };

/* A run allocates nothing. The engine's memory for messages that wait may still
 * grow now and then. */
static void count_runs(void)
{
	static int in[LONG], out[LONG];
	unsigned long long before;
	MPI_Request request;
	int k, i;

	for (k = 0; k < LENGTHS; k++) {
		sum_init(in, out, lengths[k], &request);
		for (i = 0; i < RUNS; i++)
			run(&request);
		before = counter("bcl_coll_allreduce");
		counting = 1;
		for (i = 0; i < RUNS; i++) {
			in[0] = i;
			run(&request);
			check(!lengths[k] || out[0] == i * size, "a sum");
		}
		counting = 0;
		check(counter("bcl_coll_allreduce") - before ==
			      (lengths[k] ? RUNS : 0),
		      "each run is an operation of the library");
		MPI_Request_free(&request);
	}
	check(allocations < RUNS / 10, "runs allocate memory");
}

/* ---- requests ---- */

/* An inactive request is complete, and counts for nothing. */
static void wait_inactive(void)
{
	MPI_Request requests[3];
	MPI_Status statuses[3];
	int in = rank, out, flag = 0, n = 0, done[3], i;

	for (i = 0; i < 2; i++)
		sum_init(&in, &out, 1, &requests[i]);
	requests[2] = MPI_REQUEST_NULL;
	for (i = 0; i < 2; i++) {
		MPI_Wait(&requests[0], &statuses[0]);
		check(statuses[0].MPI_SOURCE == MPI_ANY_SOURCE, "a status");
		MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
		check(flag, "test");
		MPI_Waitall(3, requests, statuses);
		MPI_Testall(3, requests, &flag, statuses);
		check(flag, "testall");
		MPI_Waitany(3, requests, &n, MPI_STATUS_IGNORE);
		check(n == MPI_UNDEFINED, "waitany");
		MPI_Testany(3, requests, &n, &flag, MPI_STATUS_IGNORE);
		check(flag && n == MPI_UNDEFINED, "testany");
		MPI_Waitsome(3, requests, &n, done, statuses);
		check(n == MPI_UNDEFINED, "waitsome");
		MPI_Testsome(3, requests, &n, done, statuses);
		check(n == MPI_UNDEFINED, "testsome");
		/* the second request is active */
		MPI_Start(&requests[1]);
		MPI_Waitany(3, requests, &n, MPI_STATUS_IGNORE);
		check(n == 1 && out == size * (size - 1) / 2, "an active one");
	}
	for (i = 0; i < 2; i++)
		MPI_Request_free(&requests[i]);
}

static void start_twice(void)
{
	MPI_Request request;
	int in = rank, out, class;

	sum_init(&in, &out, 1, &request);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Start(&request);
	MPI_Error_class(MPI_Start(&request), &class);
	check(class == MPI_ERR_REQUEST, "a second start");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	check(out == size * (size - 1) / 2, "the first start");
	run(&request);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Request_free(&request);
}

/* Messages and collective operations in one call. Rank 0 sends a message after
 * the call, and the last rank starts after this message. */
static void start_all(void)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	int in = rank, out, got, last = rank == size - 1, i;
	MPI_Request requests[4];

	MPI_Recv_init(&got, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &requests[0]);
	sum_init(&in, &out, 1, &requests[1]);
	MPI_Send_init(&rank, 1, MPI_INT, to, 0, MPI_COMM_WORLD, &requests[2]);
	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
	for (i = 0; i < RUNS; i++) {
		got = out = -1;
		if (last)
			MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		MPI_Startall(4, requests);
		if (rank == 0)
			MPI_Send(NULL, 0, MPI_INT, size - 1, 1, MPI_COMM_WORLD);
		MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
		check(got == from && out == size * (size - 1) / 2, "startall");
	}
	for (i = 0; i < 4; i++)
		MPI_Request_free(&requests[i]);
}

/* The request of an active operation is freed; each operation has memory of its
 * own, and teams come back when all are over. */
static void free_active(void)
{
	static int in[MANY][LONG / 10], out[MANY][LONG / 10];
	MPI_Request request;
	int k, i;

	for (k = 0; k < 3; k++) {
		for (i = 0; i < MANY; i++) {
			in[i][0] = i + k + 1;
			out[i][0] = -1;
			sum_init(in[i], out[i], i % 2 ? 1 : LONG / 10,
				 &request);
			if (i % 4 < 3)
				MPI_Start(&request);
			MPI_Request_free(&request);
			check(request == MPI_REQUEST_NULL, "a freed request");
		}
		/* MPI does not tell when an operation is over */
		for (i = 0; i < MANY; i++)
			while (i % 4 < 3 && *(volatile int *)&out[i][0] !=
						    (i + k + 1) * size) {
				int flag;

				MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD,
					   &flag, MPI_STATUS_IGNORE);
			}
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static void add_apart(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int *from = in, *to = inout, i;

	(void)type;
	for (i = 0; i < *n; i++)
		to[2 * i] += from[2 * i];
}

/* A type with gaps, and a communicator of one rank: requests of
 * MPICH's own operations behave alike. */
static void not_ours(void)
{
	unsigned long long before = counter("bcl_coll_allreduce");
	MPI_Request requests[2];
	MPI_Datatype apart;
	int in[2] = { rank, 7 }, out[2] = { -1, -1 }, flag = 0, n;
	MPI_Op op;

	MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &apart);
	MPI_Type_commit(&apart);
	MPI_Op_create(add_apart, 1, &op);
	MPI_Allreduce_init(in, out, 1, apart, op, MPI_COMM_WORLD, MPI_INFO_NULL,
			   &requests[0]);
	MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Waitany(2, requests, &n, MPI_STATUS_IGNORE);
	check(n == MPI_UNDEFINED, "MPICH's, inactive");
	MPI_Startall(2, requests);
	while (!flag)
		MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
	check(out[0] == size * (size - 1) / 2 && out[1] == -1, "MPICH's sum");
	for (n = 0; n < 2; n++)
		MPI_Request_free(&requests[n]);
	MPI_Op_free(&op);
	MPI_Type_free(&apart);
	check(counter("bcl_coll_allreduce") == before, "MPICH's operation");
}

int main(int argc, char **argv)
{
	int provided;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	count_runs();
	wait_inactive();
	start_twice();
	start_all();
	free_active();
	not_ours();
	if (rank == 0)
		say_operations();
	MPI_Finalize();
	MPI_T_finalize();
	return 0;
}
