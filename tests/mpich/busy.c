/* SPDX-License-Identifier: MIT */
/*
 * Rank 0 has met all ranks. It offers a long message to each rank and computes
 * for SECONDS without a call of MPI. Meanwhile the remaining ranks receive the
 * message, exchange long messages in a ring among themselves, and create the
 * files DIRECTORY/RANK. If a file is missing after SECONDS, rank 0 computes on.
 * Usage: busy DIRECTORY SECONDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	LENGTH = 1 << 20, /* integers: too many for an eager message */
	ROUNDS = 10,
	PATIENCE = 100, /* seconds */
};

static int ranks;

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int *filled(int with)
{
	int *data = malloc(LENGTH * sizeof *data);

	if (!data)
		fail("no memory");
	for (int i = 0; i < LENGTH; i++)
		data[i] = with + i;
	return data;
}

static void check(const int *data, int with)
{
	for (int i = 0; i < LENGTH; i++)
		if (data[i] != with + i)
			fail("wrong data");
}

static const char *name_of(const char *directory, int rank)
{
	static char name[4096];

	snprintf(name, sizeof name, "%s/%d", directory, rank);
	return name;
}

static int all_through(const char *directory)
{
	for (int rank = 1; rank < ranks; rank++)
		if (access(name_of(directory, rank), F_OK))
			return 0;
	return 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void compute(const char *directory, double seconds)
{
	double start = now(), spent;
	volatile double sum = 0;

	do {
		for (int i = 1; i < 1000000; i++)
			sum += 1.0 / i;
		spent = now() - start;
		if (spent > PATIENCE)
			fail("the others wait for rank 0, which computes");
	} while (spent < seconds || !all_through(directory));
}

static void offer(const char *directory, double seconds)
{
	MPI_Request *requests = malloc(ranks * sizeof *requests);
	int *data = filled(0);

	if (!requests)
		fail("no memory");
	for (int rank = 1; rank < ranks; rank++)
		MPI_Isend(data, LENGTH, MPI_INT, rank, 0, MPI_COMM_WORLD,
			  &requests[rank - 1]);
	compute(directory, seconds);
	for (int rank = 1; rank < ranks; rank++)
		MPI_Wait(&requests[rank - 1], MPI_STATUS_IGNORE);
	free(requests);
	free(data);
}

static void receive(const char *directory, int rank)
{
	int others = ranks - 1, next = rank % others + 1;
	int previous = (rank + others - 2) % others + 1;
	int *mine = filled(rank), *data = filled(-1);
	FILE *said;

	MPI_Recv(data, LENGTH, MPI_INT, 0, 0, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	check(data, 0);
	for (int round = 0; round < ROUNDS; round++) {
		MPI_Sendrecv(mine, LENGTH, MPI_INT, next, 1, data, LENGTH,
			     MPI_INT, previous, 1, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		check(data, previous);
	}
	said = fopen(name_of(directory, rank), "w");
	if (!said || fclose(said))
		fail("no file");
	free(mine);
	free(data);
}

static void meet(void)
{
	for (int rank = 0; rank < ranks; rank++)
		MPI_Sendrecv(NULL, 0, MPI_INT, rank, 2, NULL, 0, MPI_INT,
			     MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc != 3)
		fail("usage: busy DIRECTORY SECONDS");
	meet();
	if (rank)
		receive(argv[1], rank);
	else
		offer(argv[1], atof(argv[2]));
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
