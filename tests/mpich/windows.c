/* SPDX-License-Identifier: MIT */
/*
 * Memory shared within a node: windows NODE-SIZE near|far PUTS.
 * The NODE-SIZE ranks of a node write one another's part of a shared window by
 * stores and by puts. All ranks count in windows over all nodes. Last, each
 * rank makes PUTS times a put, a get and two atomics at a rank of the same node
 * (near) or of another node (far). The caller compares the library's counters
 * to see by what way the accesses went.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORDS = 5000,
	ADDITIONS = 200,
};

static int rank, size, node_rank, node_size;
static MPI_Comm node;

static void check(int is_right, const char *what)
{
	if (is_right)
		return;
	fprintf(stderr, "windows: rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int right(int who)
{
	return (who + 1) % node_size;
}

/* Ranks load and store. The parts have different lengths and lie one behind the
 * other. */
static void share(void)
{
	int *mine, *base, unit, i, words = WORDS + node_rank;
	MPI_Aint length;
	MPI_Win win;

	MPI_Win_allocate_shared(words * (MPI_Aint)sizeof(int), sizeof(int),
				MPI_INFO_NULL, node, &mine, &win);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	MPI_Win_shared_query(win, right(node_rank), &length, &unit, &base);
	check(unit == sizeof(int), "unit");
	check(length == (WORDS + right(node_rank)) * (MPI_Aint)sizeof(int),
	      "length of the neighbour's part");
	check(node_rank == node_size - 1 || base == mine + words,
	      "parts are contiguous");
	for (i = 0; i < WORDS; i++)
		base[i] = node_rank * WORDS + i;
	MPI_Win_sync(win);
	MPI_Barrier(node);
	MPI_Win_sync(win);
	i = 0;
	while (i < WORDS &&
	       mine[i] == (node_rank + node_size - 1) % node_size * WORDS + i)
		i++;
	check(i == WORDS, "what the neighbour stored");
	MPI_Barrier(node);

	mine[0] = -1;
	MPI_Barrier(node);
	MPI_Put(&rank, 1, MPI_INT, right(node_rank), 0, 1, MPI_INT, win);
	MPI_Win_flush(right(node_rank), win);
	check(base[0] == rank, "a put that was flushed is there");
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

/* Neighbours and ranks far away add to the same word by atomics. */
static void count(void)
{
	long long *counter, one = 1, before, sum;
	MPI_Win win;
	int i;

	MPI_Win_allocate(sizeof(*counter), sizeof(*counter), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &counter, &win);
	*counter = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (i = 0; i < ADDITIONS * size; i++) {
		if (i % 2)
			MPI_Accumulate(&one, 1, MPI_LONG_LONG, i % size, 0, 1,
				       MPI_LONG_LONG, MPI_SUM, win);
		else
			MPI_Fetch_and_op(&one, &before, MPI_LONG_LONG, i % size,
					 0, MPI_SUM, win);
		if (i % 10 == 0)
			MPI_Win_flush_all(win);
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	sum = *counter;
	MPI_Win_unlock(rank, win);
	check(sum == (long long)ADDITIONS * size, "all additions are there");
	MPI_Win_free(&win);
}

/* The next rank on this node (near) or on another node. */
static int find_target(int near)
{
	int *nodes = malloc((size_t)size * sizeof(*nodes));
	int target = rank, mine = rank;

	MPI_Bcast(&mine, 1, MPI_INT, 0, node);
	MPI_Allgather(&mine, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD);
	do
		target = (target + 1) % size;
	while (target != rank && (nodes[target] == mine) != near);
	check(target != rank, "there is no such rank");
	free(nodes);
	return target;
}

/* Each rank uses a word of its own in the part of the target. */
static void put(int near, int puts)
{
	int target = find_target(near), *memory, word, next, i;
	MPI_Win win;

	MPI_Win_allocate(size * (MPI_Aint)sizeof(int), sizeof(int),
			 MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_lock_all(0, win);
	for (i = 0; i < puts; i++) {
		MPI_Put(&i, 1, MPI_INT, target, rank, 1, MPI_INT, win);
		MPI_Win_flush(target, win);
		word = -1;
		MPI_Get(&word, 1, MPI_INT, target, rank, 1, MPI_INT, win);
		MPI_Win_flush(target, win);
		check(word == i, "what was put");
		MPI_Fetch_and_op(&rank, &word, MPI_INT, target, rank, MPI_SUM,
				 win);
		MPI_Win_flush(target, win);
		check(word == i, "what was fetched");
		word += rank;
		next = -1;
		MPI_Compare_and_swap(&next, &word, &word, MPI_INT, target, rank,
				     win);
		MPI_Win_flush(target, win);
		check(word == i + rank, "what was swapped");
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	check(argc == 4, "usage: windows NODE-SIZE near|far PUTS");
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank,
			    MPI_INFO_NULL, &node);
	MPI_Comm_rank(node, &node_rank);
	MPI_Comm_size(node, &node_size);
	check(node_size == atoi(argv[1]), "ranks of this node");
	share();
	count();
	put(!strcmp(argv[2], "near"), atoi(argv[3]));
	MPI_Comm_free(&node);
	MPI_Finalize();
	return 0;
}
