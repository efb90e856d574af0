/* SPDX-License-Identifier: MIT */
/*
 * Persistent collective operations: all there are, on two communicators at a
 * time, run after run with other data. Ranks start them in different orders,
 * describe the same data differently, and free types, operators and
 * communicators as soon as the operations are made. More operations live at a
 * time than there are teams with a segment. Rank 0 prints the operations that
 * teams carried out.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "counter.h"

enum {
	N = 50, /* ints of a block */
	RANKS_MAX = 8,
	OPERATIONS = 22,
	RUNS = 10,
	ROUNDS = 3,
};

/* ---- blocks ---- */

/* The first int of the block that one rank has for another in a run. */
static int value(int from, int to, int run)
{
	return ((run * 10 + from) * 10 + to) * 1000;
}

static void fill(const struct blocks *b, int at, int first)
{
	int i;

	for (i = 0; i < N; i++)
		b->data[(at * N + i) * b->step] = first + i;
}

static void check_block(const struct blocks *b, int at, int first,
			const char *what)
{
	int i;

	for (i = 0; i < N; i++) {
		const int *x = &b->data[(at * N + i) * b->step];

		check(*x == first + i && (b->step == 1 || x[1] == -1), what);
	}
}

/* ---- maps x -> a * x + b, whose order matters ---- */

struct map {
	unsigned a, b;
};

/* First the map of the lower ranks, then the other one. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
	struct map *first = in, *then = inout;
	int i;

	(void)type;
	for (i = 0; i < *n; i++) {
		then[i].b += then[i].a * first[i].b;
		then[i].a *= first[i].a;
	}
}

static struct map map_of(int r, int run)
{
	return (struct map){ 2 * (unsigned)r + 3, (unsigned)(run * 7 + r) };
}

static void check_maps(const struct map *map, int run, const char *what)
{
	struct map all = map_of(0, run), next;
	int r, n = 1;

	for (r = 1; r < size; r++) {
		next = map_of(r, run);
		compose(&all, &next, &n, NULL);
		all = next;
	}
	check(map->a == all.a && map->b == all.b, what);
}

/* ---- all operations of a communicator ---- */

struct set {
	struct blocks one, many, in[15], bcast;
	struct map map, maps;
	int numbers[RANKS_MAX], sums[5][RANKS_MAX];
	int counts[RANKS_MAX], ones[RANKS_MAX], at[RANKS_MAX], bytes[RANKS_MAX];
	MPI_Aint places[RANKS_MAX];
	MPI_Datatype types[RANKS_MAX];
	int root, in_place, left, right;
	MPI_Request requests[OPERATIONS];
};

static void make_reductions(struct set *s, MPI_Comm comm, MPI_Request *request)
{
	MPI_Datatype pair;
	MPI_Op op;

	MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
	MPI_Type_commit(&pair);
	MPI_Op_create(compose, 0, &op);
	MPI_Allreduce_init(&s->map, &s->maps, 1, pair, op, comm, MPI_INFO_NULL,
			   request++);
	MPI_Op_free(&op);
	MPI_Type_free(&pair);
	MPI_Reduce_init(s->numbers, s->sums[0], size, MPI_INT, MPI_SUM, s->root,
			comm, MPI_INFO_NULL, request++);
	MPI_Reduce_scatter_block_init(s->numbers, s->sums[1], 1, MPI_INT,
				      MPI_SUM, comm, MPI_INFO_NULL, request++);
	MPI_Reduce_scatter_init(s->numbers, s->sums[2], s->counts, MPI_INT,
				MPI_MAX, comm, MPI_INFO_NULL, request++);
	MPI_Scan_init(s->numbers, s->sums[3], size, MPI_INT, MPI_SUM, comm,
		      MPI_INFO_NULL, request++);
	MPI_Exscan_init(s->numbers, s->sums[4], size, MPI_INT, MPI_SUM, comm,
			MPI_INFO_NULL, request++);
}

/* Around a ring, also of two. */
static void make_neighbors(struct set *s, MPI_Comm comm, MPI_Datatype type,
			   MPI_Request *request)
{
	MPI_Comm ring;

	MPI_Cart_create(comm, 1, &size, (int[]){ 1 }, 0, &ring);
	MPI_Cart_shift(ring, 0, 1, &s->left, &s->right);
	MPI_Neighbor_allgather_init(s->one.data, 1, type, s->in[8].data, 1,
				    type, ring, MPI_INFO_NULL, request++);
	MPI_Neighbor_allgatherv_init(s->one.data, 1, type, s->in[9].data,
				     s->ones, s->at, type, ring, MPI_INFO_NULL,
				     request++);
	MPI_Neighbor_alltoall_init(s->many.data, 1, type, s->in[10].data, 1,
				   type, ring, MPI_INFO_NULL, request++);
	MPI_Neighbor_alltoallv_init(s->many.data, s->ones, s->at, type,
				    s->in[11].data, s->ones, s->at, type, ring,
				    MPI_INFO_NULL, request++);
	MPI_Neighbor_alltoallw_init(s->many.data, s->ones, s->places, s->types,
				    s->in[12].data, s->ones, s->places,
				    s->types, ring, MPI_INFO_NULL, request++);
	MPI_Comm_free(&ring);
}

static void make(struct set *s, MPI_Comm comm, int root, int in_place)
{
	int here = in_place && rank == root, i;
	MPI_Datatype type = block_type(N);
	MPI_Request *request = s->requests;

	*s = (struct set){ .root = root, .in_place = in_place };
	s->one = blocks_of(RANKS_MAX, N);
	s->many = blocks_of(RANKS_MAX, N);
	s->bcast = blocks_of(RANKS_MAX, N);
	for (i = 0; i < 15; i++)
		s->in[i] = blocks_of(RANKS_MAX, N);
	for (i = 0; i < size; i++) {
		s->ones[i] = 1;
		/* the first rank has the share of the last */
		s->counts[i] = 1 + (i == 0) - (i == size - 1);
		s->at[i] = size - 1 - i;
		s->bytes[i] = s->at[i] * block_length(N);
		s->places[i] = s->bytes[i];
		s->types[i] = type;
	}
	MPI_Barrier_init(comm, MPI_INFO_NULL, request++);
	MPI_Bcast_init(s->bcast.data, 1, type, root, comm, MPI_INFO_NULL,
		       request++);
	MPI_Gather_init(here ? MPI_IN_PLACE : s->one.data, 1, type,
			s->in[0].data, 1, type, root, comm, MPI_INFO_NULL,
			request++);
	MPI_Scatter_init(s->many.data, 1, type, s->in[1].data, 1, type, root,
			 comm, MPI_INFO_NULL, request++);
	MPI_Allgather_init(in_place ? MPI_IN_PLACE : s->one.data, 1, type,
			   s->in[2].data, 1, type, comm, MPI_INFO_NULL,
			   request++);
	MPI_Allgatherv_init(in_place ? MPI_IN_PLACE : s->one.data, 1, type,
			    s->in[3].data, s->ones, s->at, type, comm,
			    MPI_INFO_NULL, request++);
	MPI_Alltoall_init(in_place ? MPI_IN_PLACE : s->many.data, 1, type,
			  s->in[4].data, 1, type, comm, MPI_INFO_NULL,
			  request++);
	MPI_Alltoallv_init(s->many.data, s->ones, s->at, type, s->in[5].data,
			   s->ones, s->at, type, comm, MPI_INFO_NULL,
			   request++);
	MPI_Alltoallw_init(s->many.data, s->ones, s->bytes, s->types,
			   s->in[6].data, s->ones, s->bytes, s->types, comm,
			   MPI_INFO_NULL, request++);
	MPI_Gatherv_init(s->one.data, 1, type, s->in[7].data, s->ones, s->at,
			 type, (root + 1) % size, comm, MPI_INFO_NULL,
			 request++);
	MPI_Scatterv_init(s->many.data, s->ones, s->at, type, s->in[13].data, 1,
			  type, root, comm, MPI_INFO_NULL, request++);
	make_reductions(s, comm, request);
	make_neighbors(s, comm, type, request + 6);
	MPI_Type_free(&type);
}

/* The data of a run; rank i's block in the turned order is at[i]. */
static void prepare(struct set *s, int run)
{
	int i;

	fill(&s->one, 0, value(rank, 0, run));
	fill(&s->bcast, 0, rank == s->root ? value(rank, 9, run) : -5);
	for (i = 0; i < size; i++) {
		fill(&s->many, i, value(rank, i, run));
		fill(&s->in[4], i, value(rank, i, run));
		s->numbers[i] = value(rank, i, run);
	}
	fill(&s->in[0], rank, value(rank, 0, run));
	fill(&s->in[2], rank, value(rank, 0, run));
	fill(&s->in[3], s->at[rank], value(rank, 0, run));
	s->map = map_of(rank, run);
	memset(s->sums, 0, sizeof(s->sums));
}

/* The sum of the first n ranks' numbers for a rank. */
static int sum(int n, int to, int run)
{
	int total = 0, i;

	for (i = 0; i < n; i++)
		total += value(i, to, run);
	return total;
}

static void check_reductions(const struct set *s, int run)
{
	int first = rank ? rank + 1 : 0, i;

	check_maps(&s->maps, run, "an own operator");
	check(s->sums[1][0] == sum(size, rank, run), "reduce_scatter_block");
	for (i = 0; i < s->counts[rank]; i++)
		check(s->sums[2][i] == value(size - 1, first + i, run),
		      "reduce_scatter");
	for (i = 0; i < size; i++) {
		if (rank == s->root)
			check(s->sums[0][i] == sum(size, i, run), "reduce");
		check(s->sums[3][i] == sum(rank + 1, i, run), "scan");
		if (rank)
			check(s->sums[4][i] == sum(rank, i, run), "exscan");
	}
}

/* A ring of two has the other rank on both sides; the block for the one side
 * comes as that from the other side. */
static void check_neighbors(const struct set *s, int run)
{
	int left = s->left, right = s->right, last = size - 1;

	check_block(&s->in[8], 0, value(left, 0, run), "neighbor_allgather");
	check_block(&s->in[8], 1, value(right, 0, run), "neighbor_allgather");
	check_block(&s->in[9], last, value(left, 0, run), "allgatherv");
	check_block(&s->in[9], last - 1, value(right, 0, run), "allgatherv");
	check_block(&s->in[10], 0, value(left, 1, run), "neighbor_alltoall");
	check_block(&s->in[10], 1, value(right, 0, run), "neighbor_alltoall");
	if (size == 2)
		return;
	check_block(&s->in[11], last, value(left, last - 1, run), "alltoallv");
	check_block(&s->in[11], last - 1, value(right, last, run), "alltoallv");
	check_block(&s->in[12], last, value(left, last - 1, run), "alltoallw");
	check_block(&s->in[12], last - 1, value(right, last, run), "alltoallw");
}

static void check_run(const struct set *s, int run)
{
	int i, at;

	check_block(&s->bcast, 0, value(s->root, 9, run), "bcast");
	check_block(&s->in[1], 0, value(s->root, rank, run), "scatter");
	check_block(&s->in[13], 0, value(s->root, size - 1 - rank, run),
		    "scatterv");
	for (i = 0; i < size; i++) {
		at = s->at[i];
		if (rank == s->root)
			check_block(&s->in[0], i, value(i, 0, run), "gather");
		if (rank == (s->root + 1) % size)
			check_block(&s->in[7], at, value(i, 0, run), "gatherv");
		check_block(&s->in[2], i, value(i, 0, run), "allgather");
		check_block(&s->in[3], at, value(i, 0, run), "allgatherv");
		check_block(&s->in[4], i, value(i, rank, run), "alltoall");
		check_block(&s->in[5], at, value(i, size - 1 - rank, run),
			    "alltoallv");
		check_block(&s->in[6], at, value(i, size - 1 - rank, run),
			    "alltoallw");
	}
	check_reductions(s, run);
	check_neighbors(s, run);
}

static void drop(struct set *s)
{
	int i;

	for (i = 0; i < OPERATIONS; i++)
		MPI_Request_free(&s->requests[i]);
	for (i = 0; i < 15; i++)
		free(s->in[i].data);
	free(s->one.data);
	free(s->many.data);
	free(s->bcast.data);
}

/* ---- runs ---- */

/* Starts in an order of the rank's own. */
static void start(struct set *sets, int run)
{
	int first = (rank * 5 + run) % OPERATIONS, i, k;

	for (i = 0; i < OPERATIONS; i++)
		for (k = 0; k < 2; k++)
			MPI_Start(&sets[(rank + k) % 2]
					   .requests[(first + i) % OPERATIONS]);
}

/* Each run waits in another way. */
static void finish(struct set *s, int run)
{
	int done[OPERATIONS], left = OPERATIONS, flag = 0, n, i;

	switch (run % 5) {
	case 0:
		MPI_Waitall(OPERATIONS, s->requests, MPI_STATUSES_IGNORE);
		break;
	case 1:
		for (i = OPERATIONS; i-- > 0;)
			MPI_Wait(&s->requests[i], MPI_STATUS_IGNORE);
		break;
	case 2:
		while (!flag)
			MPI_Testall(OPERATIONS, s->requests, &flag,
				    MPI_STATUSES_IGNORE);
		break;
	case 3:
		for (; left; left--) {
			MPI_Waitany(OPERATIONS, s->requests, &n,
				    MPI_STATUS_IGNORE);
			check(n != MPI_UNDEFINED, "one that is active");
		}
		break;
	case 4:
		for (; left > 0; left -= n)
			MPI_Testsome(OPERATIONS, s->requests, &n, done,
				     MPI_STATUSES_IGNORE);
		check(left == 0, "each is over once");
		break;
	}
}

static void run(struct set *sets, int number)
{
	int k;

	for (k = 0; k < 2; k++)
		prepare(&sets[k], number);
	start(sets, number);
	for (k = 0; k < 2; k++)
		finish(&sets[k], number);
	for (k = 0; k < 2; k++)
		check_run(&sets[k], number);
}

/* Other communicators, with other ids, borrow the teams in turn. The first
 * operations are freed last. */
static void round_of(int number)
{
	static struct set sets[2];
	MPI_Comm comm;
	int k;

	for (k = 0; k < 2; k++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &comm);
		make(&sets[k], comm, (number + k) % size, (number + k) % 2);
		MPI_Comm_free(&comm);
	}
	for (k = 0; k < RUNS; k++)
		run(sets, k);
	drop(&sets[rank % 2]);
	drop(&sets[1 - rank % 2]);
}

int main(int argc, char **argv)
{
	int provided, i;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	check(size <= RANKS_MAX, "too many ranks");
	for (i = 0; i < ROUNDS; i++)
		round_of(i);
	if (rank == 0)
		say_operations();
	MPI_Finalize();
	MPI_T_finalize();
	return 0;
}
