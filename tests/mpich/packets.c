/* SPDX-License-Identifier: MIT */
/*
 * Counts the packets of messages between two ranks of a node. A message of 4 KB
 * takes one packet. Messages that are answered go by the pair line or by a box,
 * not by the ring. Messages of 16 KB are not announced.
 */
#include <mpi.h>
#include <stdio.h>

#include "counter.h"

enum {
	N = 100,
	SHORT = 40,
	MEDIUM = 4096,
	LONG = 16384,
};

static int rank;
static char buffer[LONG];

static void say(int bytes)
{
	MPI_Send(buffer, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
}

static void hear(int bytes)
{
	MPI_Recv(buffer, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
}

struct packets {
	unsigned long long all, by_ring;
};

static struct packets sent(void)
{
	unsigned long long ring = counter("bcl_shm_messages_ring");

	return (struct packets){ counter("bcl_shm_messages_line") + ring,
				 ring };
}

/* Packets that this rank sends for N messages from rank 0 to rank 1. With
 * `answered`, rank 1 answers each message. */
static struct packets count(int bytes, int answered)
{
	struct packets before = sent(), after;

	for (int i = 0; i < N; i++) {
		if (rank == 0)
			say(bytes);
		if (rank == 1 || answered)
			hear(bytes);
		if (rank == 1 && answered)
			say(bytes);
	}
	after = sent();
	return (struct packets){ after.all - before.all,
				 after.by_ring - before.by_ring };
}

/* A few packets at the beginning belong to no message. */
static int is_about(unsigned long long n, unsigned long long expected)
{
	return n >= expected && n <= expected + N / 10;
}

static int is_right(const char *what, struct packets packets,
		    unsigned long long all, int by_ring)
{
	printf("rank %d: %s: %llu packets, %llu by the ring\n", rank, what,
	       packets.all, packets.by_ring);
	return is_about(packets.all, all) &&
	       (by_ring || is_about(packets.by_ring, 0));
}

int main(int argc, char **argv)
{
	struct packets brief, answers, row;
	unsigned long long announced;
	int provided, right;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	brief = count(SHORT, 1);
	answers = count(MEDIUM, 1);
	row = count(MEDIUM, 0);
	count(LONG, 1);
	announced = counter("bcl_shm_bytes_pulled");
	right = is_right("40 bytes answered", brief, N, 0) &&
		is_right("4 KB answered", answers, N, 0) &&
		is_right("4 KB in a row", row, rank == 0 ? N : 0, 1) &&
		!announced;
	MPI_Finalize();
	MPI_T_finalize();
	return !right;
}
