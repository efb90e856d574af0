/* SPDX-License-Identifier: MIT */
/*
 * Counts the packets of messages between two ranks of a node. An answer of 40
 * bytes goes by the pair line. An answer of 4 KB takes two packets; in a row a
 * message of 4 KB takes one packet. Messages of 16 KB are not announced.
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

/* Packets that this rank sends for N messages from rank 0 to rank 1. With
 * `answered`, rank 1 answers each message. */
static unsigned long long packets(int bytes, int answered)
{
	unsigned long long before = counter("bcl_shm_messages_ring");

	for (int i = 0; i < N; i++) {
		if (rank == 0)
			say(bytes);
		if (rank == 1 || answered)
			hear(bytes);
		if (rank == 1 && answered)
			say(bytes);
	}
	return counter("bcl_shm_messages_ring") - before;
}

static int is_about(const char *what, unsigned long long n,
		    unsigned long long expected)
{
	printf("rank %d: %s: %llu packets\n", rank, what, n);
	/* a few packets at the beginning belong to no message */
	return n >= expected && n <= expected + N / 10;
}

int main(int argc, char **argv)
{
	unsigned long long brief, answers, row, announced;
	int provided, right;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	brief = packets(SHORT, 1);
	answers = packets(MEDIUM, 1);
	row = packets(MEDIUM, 0);
	packets(LONG, 1);
	announced = counter("bcl_shm_bytes_pulled");
	right = is_about("40 bytes answered", brief, 0) &&
		is_about("4 KB answered", answers, 2 * N) &&
		is_about("4 KB in a row", row, rank == 0 ? N : 0) && !announced;
	MPI_Finalize();
	MPI_T_finalize();
	return !right;
}
