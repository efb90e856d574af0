/* SPDX-License-Identifier: MIT */
/*
 * Rank 0 sends long messages to rank 1, contiguous and sparse. Rank 0 announces
 * the messages, and the argument names the way of the data. `node`: inside a
 * node both sides copy. `card`: between two nodes the card sends frames
 * straight from the sender's memory.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "counter.h"

enum {
	LONG = 4 << 20, /* bytes */
	N = 10,
	TRIES = 200, /* messages, at most, until both sides have copied */
};

typedef unsigned long long number;

static int rank;
static char buffer[2 * LONG];
static MPI_Datatype every_second; /* of 2 LONG bytes, in pieces of 64 */

/* The value of byte i in message n. */
static char value(int i, int n)
{
	return (char)(i * 7 + i / LONG + n);
}

static int is_sent(int i, int sparse)
{
	return sparse ? !(i / 64 % 2) : i < LONG;
}

/* Send message n on rank 0; on rank 1 receive the message and return whether
 * the bytes are right. */
static int message(int n, int sparse)
{
	MPI_Datatype type = sparse ? every_second : MPI_CHAR;
	int i, right = 1;

	memset(buffer, 0, sizeof(buffer));
	if (rank == 0) {
		for (i = 0; i < 2 * LONG; i++)
			buffer[i] = value(i, n);
		MPI_Send(buffer, sparse ? 1 : LONG, type, 1, n, MPI_COMM_WORLD);
		return 1;
	}
	MPI_Recv(buffer, sparse ? 1 : LONG, type, 0, n, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	for (i = 0; i < 2 * LONG; i++)
		right &= buffer[i] == (is_sent(i, sparse) ? value(i, n) : 0);
	return right;
}

static int check(int holds, const char *what, number n)
{
	printf("rank %d: %s: %llu%s\n", rank, what, n,
	       holds ? "" : ", not as it should be");
	return holds;
}

/* Every second message is sparse. */
static int messages(const char *where)
{
	number pulled = counter("bcl_shm_bytes_pulled");
	number packed = counter("bcl_host_bytes_packed");
	int i, right = 1;

	for (i = 0; i < N; i++)
		right &= message(i, i % 2);
	pulled = counter("bcl_shm_bytes_pulled") - pulled;
	packed = counter("bcl_host_bytes_packed") - packed;
	right = check(right, "messages", N);
	if (rank == 0)
		right &= check(counter("bcl_adi_sent_announced") == N,
			       "announced", counter("bcl_adi_sent_announced"));
	if (rank == 1)
		right &= check(pulled == (strcmp(where, "node") ? 0 : N * LONG),
			       "bytes pulled", pulled);
	return right & check(packed < LONG, "bytes packed for frames", packed);
}

/* A sender with a free processor copies the pieces that its receiver has not
 * begun. */
static int both_copy(void)
{
	int i, joined = 0, right = 1;

	for (i = 0; i < TRIES && !joined; i++) {
		right &= message(i, 0);
		joined = counter("bcl_shm_bytes_joined") > 0;
		MPI_Bcast(&joined, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	return right & check(joined, "messages until both sides copied", i);
}

int main(int argc, char **argv)
{
	const char *where = argc == 2 ? argv[1] : "";
	int provided, right;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Type_vector(LONG / 64, 64, 128, MPI_CHAR, &every_second);
	MPI_Type_commit(&every_second);
	right = messages(where);
	if (!strcmp(where, "node"))
		right &= both_copy();
	MPI_Type_free(&every_second);
	MPI_Finalize();
	MPI_T_finalize();
	return !right;
}
