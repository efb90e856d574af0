/* SPDX-License-Identifier: MIT */
/*
 * A rank of a job that measures an MPI, compiled by the mpicc of this MPI.
 * bench/mpi-compare starts the ranks: rank TEST..., where a test is latency,
 * rate, bandwidth, barrier, bcast or allreduce. Rank 0 prints lines of test,
 * bytes, value and unit. Rank i of the first half of the job exchanges messages
 * with rank i of the second half.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	WINDOW = 64,		 /* messages in flight */
	WINDOW_BYTES = 16 << 20, /* bytes in flight, at most */
	LONGEST = 4 << 20,	 /* bytes of a message */
	SHORT = 8,		 /* bytes of a short message */
};

static const double ENOUGH = 0.015; /* s: least time of a batch */

static int rank, size, partner, first;
static char *buffer;

/* ---- batches: the same thing n times ------------------------------------ */

static void latency(long n, int bytes)
{
	for (; n; n--) {
		if (first)
			MPI_Send(buffer, bytes, MPI_CHAR, partner, 0,
				 MPI_COMM_WORLD);
		MPI_Recv(buffer, bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (!first)
			MPI_Send(buffer, bytes, MPI_CHAR, partner, 0,
				 MPI_COMM_WORLD);
	}
}

static int window_width(int bytes)
{
	return bytes > WINDOW_BYTES / WINDOW ? WINDOW_BYTES / bytes : WINDOW;
}

/* Sends windows of messages one way. An empty message answers each window. */
static void stream(long n, int bytes)
{
	MPI_Request request[WINDOW];
	MPI_Status status[WINDOW];
	int i, width = window_width(bytes);

	for (; n; n--) {
		for (i = 0; i < width; i++)
			if (first)
				MPI_Isend(buffer, bytes, MPI_CHAR, partner, 0,
					  MPI_COMM_WORLD, &request[i]);
			else
				MPI_Irecv(buffer, bytes, MPI_CHAR, partner, 0,
					  MPI_COMM_WORLD, &request[i]);
		MPI_Waitall(width, request, status);
		if (first)
			MPI_Recv(buffer, 0, MPI_CHAR, partner, 1,
				 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else
			MPI_Send(buffer, 0, MPI_CHAR, partner, 1,
				 MPI_COMM_WORLD);
	}
}

static void barrier(long n, int bytes)
{
	(void)bytes;
	for (; n; n--)
		MPI_Barrier(MPI_COMM_WORLD);
}

/* Each broadcast has another root, so that no rank runs ahead. */
static void bcast(long n, int bytes)
{
	for (; n; n--)
		MPI_Bcast(buffer, bytes, MPI_CHAR, (int)(n % size),
			  MPI_COMM_WORLD);
}

static void allreduce(long n, int bytes)
{
	static double in[SHORT / sizeof(double)], out[SHORT / sizeof(double)];

	for (; n; n--)
		MPI_Allreduce(in, out, bytes / (int)sizeof(double), MPI_DOUBLE,
			      MPI_SUM, MPI_COMM_WORLD);
}

/* ---- measuring ------------------------------------------------------------
 */

/* Returns the seconds of one operation. */
static double time_operation(void (*batch)(long n, int bytes), int bytes)
{
	double taken;
	long n = 1;

	batch(1, bytes);
	for (;;) {
		MPI_Barrier(MPI_COMM_WORLD);
		taken = -MPI_Wtime();
		batch(n, bytes);
		taken += MPI_Wtime();
		MPI_Bcast(&taken, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		if (taken >= ENOUGH)
			return taken / (double)n;
		n = taken > ENOUGH / 64 ? (long)(1.2 * n * ENOUGH / taken) + 1
					: 64 * n;
	}
}

static void print_result(const char *test, int bytes, double value,
			 const char *unit)
{
	if (rank == 0)
		printf("%s %d %.6g %s\n", test, bytes, value, unit);
}

static void measure_latency(const char *test)
{
	static const int lengths[] = { 0, 8, 64, 512, 1024, 4096, 65536 };
	unsigned i;

	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		print_result(test, lengths[i],
			     time_operation(latency, lengths[i]) / 2 * 1e6,
			     "us");
}

static void measure_rate(const char *test)
{
	print_result(test, SHORT,
		     1e-6 * WINDOW * (size / 2) / time_operation(stream, SHORT),
		     "M/s");
}

static void measure_bandwidth(const char *test)
{
	int bytes;

	for (bytes = 1024; bytes <= LONGEST; bytes *= 4)
		print_result(test, bytes,
			     1e-9 * bytes * window_width(bytes) /
				     time_operation(stream, bytes),
			     "GB/s");
}

static void measure_barrier(const char *test)
{
	print_result(test, 0, time_operation(barrier, 0) * 1e6, "us");
}

static void measure_bcast(const char *test)
{
	print_result(test, SHORT, time_operation(bcast, SHORT) * 1e6, "us");
}

static void measure_allreduce(const char *test)
{
	print_result(test, SHORT, time_operation(allreduce, SHORT) * 1e6, "us");
}

static const struct {
	const char *name;
	void (*measure)(const char *name);
} tests[] = {
	{ "latency", measure_latency },	    { "rate", measure_rate },
	{ "bandwidth", measure_bandwidth }, { "barrier", measure_barrier },
	{ "bcast", measure_bcast },	    { "allreduce", measure_allreduce },
};

static int read_number(const char *hydra, const char *open_mpi)
{
	const char *value = getenv(hydra);

	if (!value)
		value = getenv(open_mpi);
	return value ? atoi(value) : 0;
}

/* Binds each rank to a processor of its own, if there are enough processors.
 * Every MPI is measured with this binding. */
static void bind_to_processor(void)
{
	int ranks = read_number("PMI_SIZE", "OMPI_COMM_WORLD_SIZE");
	cpu_set_t set;

	if (ranks > sysconf(_SC_NPROCESSORS_ONLN))
		return;
	CPU_ZERO(&set);
	CPU_SET(read_number("PMI_RANK", "OMPI_COMM_WORLD_RANK"), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	unsigned i;
	int arg;

	bind_to_processor();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	first = rank < size / 2;
	partner = first ? rank + size / 2 : rank - size / 2;
	buffer = malloc(LONGEST);
	memset(buffer, rank, LONGEST);
	for (arg = 1; arg < argc; arg++)
		for (i = 0; i < sizeof(tests) / sizeof(*tests); i++)
			if (!strcmp(argv[arg], tests[i].name))
				tests[i].measure(tests[i].name);
	free(buffer);
	MPI_Finalize();
	return 0;
}
