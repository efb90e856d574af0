/* SPDX-License-Identifier: MIT */
/*
 * A rank of a job that measures an MPI, compiled by the mpicc of this MPI.
 * bench/mpi-compare starts the ranks: rank TEST[:BYTES[,BYTES]...]..., where a
 * test is one of the table below. Rank 0 prints lines of test, bytes, value and
 * unit. Rank i of the first half of the job exchanges messages with rank i of
 * the second half; rates and bandwidths are sums over these pairs.
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
};

static const double ENOUGH = 0.015; /* s: least time of a batch */

static int rank, size, partner, first;
static char *buffer, *room; /* LONGEST bytes each */

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

static int send_window(MPI_Request *request, int bytes)
{
	int i, width = window_width(bytes);

	for (i = 0; i < width; i++)
		MPI_Isend(buffer, bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD,
			  &request[i]);
	return width;
}

static int receive_window(MPI_Request *request, int bytes)
{
	int i, width = window_width(bytes);

	for (i = 0; i < width; i++)
		MPI_Irecv(room, bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD,
			  &request[i]);
	return width;
}

/* Sends windows of messages one way. An empty message answers each window. */
static void stream(long n, int bytes)
{
	MPI_Request request[WINDOW];
	MPI_Status status[WINDOW];

	for (; n; n--) {
		if (first) {
			MPI_Waitall(send_window(request, bytes), request,
				    status);
			MPI_Recv(buffer, 0, MPI_CHAR, partner, 1,
				 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Waitall(receive_window(request, bytes), request,
				    status);
			MPI_Send(buffer, 0, MPI_CHAR, partner, 1,
				 MPI_COMM_WORLD);
		}
	}
}

/* Sends windows of messages both ways at once. */
static void stream_both(long n, int bytes)
{
	MPI_Request request[2 * WINDOW];
	MPI_Status status[2 * WINDOW];

	for (; n; n--) {
		int width = receive_window(request, bytes);

		MPI_Waitall(width + send_window(request + width, bytes),
			    request, status);
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
	for (; n; n--)
		MPI_Allreduce(buffer, room, bytes / (int)sizeof(double),
			      MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* `bytes` bytes to each rank. */
static void alltoall(long n, int bytes)
{
	for (; n; n--)
		MPI_Alltoall(buffer, bytes, MPI_CHAR, room, bytes, MPI_CHAR,
			     MPI_COMM_WORLD);
}

/* `bytes` bytes of each rank. */
static void allgather(long n, int bytes)
{
	for (; n; n--)
		MPI_Allgather(buffer, bytes, MPI_CHAR, room, bytes, MPI_CHAR,
			      MPI_COMM_WORLD);
}

/* Each reduction has another root. */
static void reduce(long n, int bytes)
{
	for (; n; n--)
		MPI_Reduce(buffer, room, bytes / (int)sizeof(double),
			   MPI_DOUBLE, MPI_SUM, (int)(n % size),
			   MPI_COMM_WORLD);
}

/* ---- measuring ---------------------------------------------------------- */

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

static double one_way_us(double seconds, int bytes)
{
	(void)bytes;
	return seconds / 2 * 1e6;
}

static double in_us(double seconds, int bytes)
{
	(void)bytes;
	return seconds * 1e6;
}

static double million_messages(double seconds, int bytes)
{
	return 1e-6 * window_width(bytes) * (size / 2) / seconds;
}

static double gigabytes(double seconds, int bytes)
{
	return 1e3 * bytes * 1e-6 * million_messages(seconds, bytes);
}

static double gigabytes_both(double seconds, int bytes)
{
	return 2 * gigabytes(seconds, bytes);
}

static const struct test {
	const char *name;
	void (*batch)(long n, int bytes);
	double (*figure)(double seconds, int bytes);
	const char *unit;
	const char *lengths; /* unless the command names others */
} tests[] = {
	{ "latency", latency, one_way_us, "us",
	  "0,8,64,512,1024,2048,4096,16384,65536,262144,1048576,4194304" },
	{ "rate", stream, million_messages, "M/s", "8" },
	{ "bandwidth", stream, gigabytes, "GB/s",
	  "1024,2048,4096,8192,16384,65536,262144,1048576,4194304" },
	{ "both", stream_both, gigabytes_both, "GB/s", "65536,1048576" },
	{ "barrier", barrier, in_us, "us", "0" },
	{ "bcast", bcast, in_us, "us", "8" },
	{ "allreduce", allreduce, in_us, "us", "8" },
	{ "allgather", allgather, in_us, "us", "65536" },
	{ "reduce", reduce, in_us, "us", "65536" },
	{ "alltoall", alltoall, in_us, "us", "65536" },
};

static void measure(const struct test *test, const char *lengths)
{
	char *end;

	for (;; lengths = end + 1) {
		int bytes = (int)strtol(lengths, &end, 10);
		double seconds = time_operation(test->batch, bytes);

		if (rank == 0)
			printf("%s %d %.6g %s\n", test->name, bytes,
			       test->figure(seconds, bytes), test->unit);
		if (*end != ',')
			return;
	}
}

/* Measures TEST[:BYTES[,BYTES]...]. */
static void measure_argument(const char *argument)
{
	size_t n = strcspn(argument, ":");
	unsigned i;

	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		if (strlen(tests[i].name) == n &&
		    !strncmp(argument, tests[i].name, n))
			measure(&tests[i], argument[n] ? argument + n + 1
						       : tests[i].lengths);
}

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
	int arg;

	bind_to_processor();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	first = rank < size / 2;
	partner = first ? rank + size / 2 : rank - size / 2;
	buffer = malloc(2 * LONGEST);
	if (!buffer)
		MPI_Abort(MPI_COMM_WORLD, 1);
	room = buffer + LONGEST;
	memset(buffer, rank, 2 * LONGEST);
	for (arg = 1; arg < argc; arg++)
		measure_argument(argv[arg]);
	free(buffer);
	MPI_Finalize();
	return 0;
}
