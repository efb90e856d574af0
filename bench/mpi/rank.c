/* SPDX-License-Identifier: MIT */
/*
 * A rank of a job that measures an MPI, compiled by the mpicc of this MPI.
 * bench/mpi-compare starts the ranks: rank TEST[:BYTES[,BYTES]...]..., where a
 * test is one of the table below or of collective.c. Rank i of the first half
 * of the job exchanges messages with rank i of the second half; rates and
 * bandwidths are sums over these pairs.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"

enum {
	WINDOW = 64,		 /* messages in flight */
	WINDOW_BYTES = 16 << 20, /* bytes in flight, at most */
	MESSAGE_TESTS = 4,
	MOST_TESTS = 32,
};

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

/* ---- figures ------------------------------------------------------------ */

static double one_way_us(double seconds, int bytes)
{
	(void)bytes;
	return seconds / 2 * 1e6;
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

static const struct test message_tests[MESSAGE_TESTS] = {
	{ .name = "latency",
	  .batch = latency,
	  .figure = one_way_us,
	  .lengths = "0,8,64,512,1024,2048,4096,16384,65536,262144,1048576,"
		     "4194304" },
	{ .name = "rate",
	  .batch = stream,
	  .figure = million_messages,
	  .unit = "M/s",
	  .lengths = "8" },
	{ .name = "bandwidth",
	  .batch = stream,
	  .figure = gigabytes,
	  .unit = "GB/s",
	  .lengths = "1024,2048,4096,8192,16384,65536,262144,1048576,4194304" },
	{ .name = "both",
	  .batch = stream_both,
	  .figure = gigabytes_both,
	  .unit = "GB/s",
	  .lengths = "65536,1048576" },
};

/* ---- the job ---- */

static void wait_for_all(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static double slowest(double seconds)
{
	double most;

	MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

static void join_tests(struct test *test)
{
	const struct test *collective = collective_tests;

	memcpy(test, message_tests, sizeof(message_tests));
	for (test += MESSAGE_TESTS; collective->name; test++, collective++)
		*test = *collective;
}

static void set_up(void)
{
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	first = rank < size / 2;
	partner = first ? rank + size / 2 : rank - size / 2;
	buffer = malloc(2 * LONGEST);
	if (!buffer || size > MOST_RANKS)
		MPI_Abort(MPI_COMM_WORLD, 1);
	room = buffer + LONGEST;
	memset(buffer, rank, 2 * LONGEST);
	collective_set_up(size, buffer, room);
}

/* Prints the first line of what the MPI says of itself. */
static int print_version(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;

	MPI_Get_library_version(text, &length);
	text[strcspn(text, "\n,")] = 0;
	puts(text);
	return 0;
}

int main(int argc, char **argv)
{
	struct test tests[MOST_TESTS] = { 0 };
	struct loop loop = { .test = tests,
			     .barrier = wait_for_all,
			     .slowest = slowest };
	int good;

	if (argc == 2 && !strcmp(argv[1], "version"))
		return print_version();
	join_tests(tests);
	bind_to_processor();
	MPI_Init(&argc, &argv);
	set_up();
	loop.rank = rank;
	loop.size = size;
	good = measure_arguments(&loop, argv + 1);
	free(buffer);
	MPI_Finalize();
	return !good;
}
