/* SPDX-License-Identifier: MIT */
/*
 * Several threads run collective operations at the same time, each on a
 * communicator of its own, blocking, not blocking and persistent, while the
 * first thread sends messages. The ranks' threads start in other orders. Rank 0
 * prints the operations that teams carried out.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "counter.h"

enum {
	THREADS = 4,
	ROUNDS = 100,
	LONG = 20000, /* ints of a long vector */
	RANKS_MAX = 8,
};

struct worker {
	pthread_t thread;
	MPI_Comm comm;
	int number;
	int sent[LONG], received[LONG];
};

static struct worker workers[THREADS];

static void reduce(struct worker *worker, int n, int round)
{
	int ranks = size * (size - 1) / 2, first = worker->number + round, i;
	MPI_Request request;

	for (i = 0; i < n; i++)
		worker->sent[i] = first + i + rank;
	if (round % 3)
		MPI_Allreduce(worker->sent, worker->received, n, MPI_INT,
			      MPI_SUM, worker->comm);
	else
		MPI_Iallreduce(worker->sent, worker->received, n, MPI_INT,
			       MPI_SUM, worker->comm, &request);
	if (round % 3 == 0)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	for (i = 0; i < n; i++)
		check(worker->received[i] == (first + i) * size + ranks,
		      "allreduce");
}

static void broadcast(struct worker *worker, int n, int round)
{
	int root = (worker->number + round) % size, i;

	for (i = 0; i < n; i++)
		worker->sent[i] = rank == root ? round + i : -1;
	MPI_Bcast(worker->sent, n, MPI_INT, root, worker->comm);
	for (i = 0; i < n; i++)
		check(worker->sent[i] == round + i, "bcast");
}

static void exchange(struct worker *worker, int round)
{
	int out[RANKS_MAX], in[RANKS_MAX], i;

	for (i = 0; i < size; i++)
		out[i] = (rank * size + i) * ROUNDS + round;
	MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, worker->comm);
	for (i = 0; i < size; i++)
		check(in[i] == (i * size + rank) * ROUNDS + round, "alltoall");
}

static void count(MPI_Request *counted, const int *ones)
{
	MPI_Start(counted);
	MPI_Wait(counted, MPI_STATUS_IGNORE);
	check(*ones == size, "a persistent allreduce");
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	int round, one = 1, ones;
	MPI_Request counted;

	MPI_Allreduce_init(&one, &ones, 1, MPI_INT, MPI_SUM, worker->comm,
			   MPI_INFO_NULL, &counted);
	for (round = 0; round < ROUNDS; round++) {
		int n = round % 10 ? 1 + round : LONG;

		reduce(worker, n, round);
		broadcast(worker, n, round);
		exchange(worker, round);
		ones = 0;
		count(&counted, &ones);
		MPI_Barrier(worker->comm);
	}
	MPI_Request_free(&counted);
	return NULL;
}

static void pass_messages(void)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size, got, i;

	for (i = 0; i < ROUNDS; i++) {
		MPI_Sendrecv(&i, 1, MPI_INT, to, i, &got, 1, MPI_INT, from, i,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		check(got == i, "a message");
	}
}

/* Another order at each rank. */
static struct worker *worker_of(int i)
{
	return &workers[(i + rank) % THREADS];
}

int main(int argc, char **argv)
{
	int provided, i;

	MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	check(provided == MPI_THREAD_MULTIPLE && size <= RANKS_MAX,
	      "no threads, or too many ranks");
	for (i = 0; i < THREADS; i++) {
		workers[i].number = i;
		MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
	}
	for (i = 0; i < THREADS; i++)
		check(!pthread_create(&worker_of(i)->thread, NULL, work,
				      worker_of(i)),
		      "no thread");
	pass_messages();
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	for (i = 0; i < THREADS; i++)
		MPI_Comm_free(&workers[i].comm);
	if (rank == 0)
		say_operations();
	MPI_Finalize();
	MPI_T_finalize();
	return 0;
}
