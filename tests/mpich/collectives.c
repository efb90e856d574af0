/* SPDX-License-Identifier: MIT */
/*
 * Difficult cases for the collective operations of communicators that use a
 * team: ranks describe the same data differently, operations of MPICH itself
 * are under way, lengths are wrong, groups are more than the teams. Rank 0
 * prints the operations that teams carried out.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "counter.h"

enum {
	N = 500,      /* elements */
	GROUPS = 100, /* more than there are teams */
	RANKS_MAX = 16,
};

static int with_teams;		  /* collective operations go over teams */
static MPI_Datatype every_second; /* of N ints */

/* The int at i from one rank for another. */
static int value(int from, int to, int i)
{
	return (from * 100 + to) * 1000 + i;
}

/* Rank r has the block for (from, to) in every second int if r is odd. */
static int is_sparse(int r)
{
	return r % 2;
}

struct block {
	int *data;
	MPI_Datatype type;
	int count; /* of a block */
	int step;
};

static struct block blocks(int n)
{
	struct block b;

	b.step = is_sparse(rank) ? 2 : 1;
	b.count = is_sparse(rank) ? 1 : N;
	b.type = is_sparse(rank) ? every_second : MPI_INT;
	b.data = malloc((size_t)n * N * (size_t)b.step * sizeof(int));
	memset(b.data, 0xff, (size_t)n * N * (size_t)b.step * sizeof(int));
	return b;
}

static void fill(const struct block *b, int at, int from, int to)
{
	int i;

	for (i = 0; i < N; i++)
		b->data[(at * N + i) * b->step] = value(from, to, i);
}

static int holds(const struct block *b, int at, int from, int to)
{
	int i;

	for (i = 0; i < N; i++) {
		const int *x = &b->data[(at * N + i) * b->step];

		if (*x != value(from, to, i) || (b->step == 2 && x[1] != -1))
			return 0;
	}
	return 1;
}

/* Rank r sends r + 1 integers to each rank. */
static void exchange(MPI_Comm comm)
{
	int *out = malloc((size_t)(size * size) * sizeof(*out));
	int *in = malloc((size_t)(size * size) * sizeof(*in));
	int counts[2][RANKS_MAX], displacements[RANKS_MAX], i, right = 1;

	for (i = 0; i < size * size; i++)
		out[i] = rank;
	for (i = 0; i < size; i++) {
		counts[0][i] = rank + 1;
		counts[1][i] = i + 1;
		displacements[i] = i * size;
	}
	MPI_Alltoallv(out, counts[0], displacements, MPI_INT, in, counts[1],
		      displacements, MPI_INT, comm);
	for (i = 0; i < size * size; i++)
		right &= i % size > i / size || in[i] == i / size;
	check(right, "alltoallv");
	free(out);
	free(in);
}

/* Every rank describes each block in its own way. */
static void various_types(MPI_Comm comm, int in_place)
{
	size_t length = (size_t)size * 2 * N * sizeof(int);
	int *out = malloc(length), *in = malloc(length), i, k;
	int counts[2][RANKS_MAX], at[RANKS_MAX], step[2];
	MPI_Datatype types[2][RANKS_MAX];

	memset(in, 0xff, length);
	for (i = 0; i < size; i++) {
		at[i] = i * 2 * N * (int)sizeof(*in);
		for (k = 0; k < 2; k++) {
			step[k] = 1 + (rank + 2 * i + k) % 3 / 2;
			counts[k][i] = step[k] == 2 ? 1 : N;
			types[k][i] = step[k] == 2 ? every_second : MPI_INT;
		}
		for (k = 0; k < N; k++) {
			out[i * 2 * N + k * step[0]] = value(rank, i, k);
			if (in_place)
				in[i * 2 * N + k * step[1]] = value(rank, i, k);
		}
	}
	MPI_Alltoallw(in_place ? MPI_IN_PLACE : out, counts[0], at, types[0],
		      in, counts[1], at, types[1], comm);
	for (i = 0; i < size; i++) {
		step[1] = 1 + (rank + 2 * i + 1) % 3 / 2;
		for (k = 0; k < N; k++) {
			const int *x = &in[i * 2 * N + k * step[1]];

			check(*x == value(i, rank, k), "alltoallw");
			check(step[1] == 1 || x[1] == -1, "alltoallw's gaps");
		}
	}
	free(out);
	free(in);
}

/* Each rank sends to the next rank only. Blocks of no elements have no type. */
static void types_of_one(MPI_Comm comm, MPI_Datatype type)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	int counts[2][RANKS_MAX] = { 0 }, at[RANKS_MAX] = { 0 }, i;
	int out[2 * N], in[2 * N];
	MPI_Datatype types[2][RANKS_MAX];
	MPI_Request request;

	for (i = 0; i < size; i++)
		types[0][i] = types[1][i] = MPI_DATATYPE_NULL;
	for (i = 0; i < 2 * N; i++)
		out[i] = value(rank, next, i);
	types[0][next] = types[1][previous] = type;
	counts[0][next] = counts[1][previous] = 1;
	MPI_Alltoallw(out, counts[0], at, types[0], in, counts[1], at, types[1],
		      comm);
	check(in[0] == value(previous, rank, 0), "alltoallw of one block");
	in[0] = -1;
	MPI_Ialltoallw(out, counts[0], at, types[0], in, counts[1], at,
		       types[1], comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	check(in[0] == value(previous, rank, 0), "ialltoallw of one block");
}

/* Rank r has r + 1 blocks of N integers, which lie in the order of ranks, the
 * last first. */
static void various(MPI_Comm comm, int root, int in_place)
{
	int all = size * (size + 1) / 2, counts[RANKS_MAX], at[RANKS_MAX], i, k;
	struct block mine = blocks(rank + 1), in = blocks(all);
	int here = in_place && rank == root;
	int first[RANKS_MAX]; /* blocks */

	for (i = size, k = 0; i-- > 0; k += i + 1) {
		first[i] = k;
		counts[i] = (i + 1) * in.count;
		at[i] = is_sparse(rank) ? 0 : k * N;
	}
	/* a sparse block is one element, whose extent counts */
	for (i = 0; is_sparse(rank) && i < size; i++)
		at[i] = first[i];
	for (k = 0; k <= rank; k++) {
		fill(&mine, k, rank, k);
		fill(&in, first[rank] + k, rank, k);
	}
	MPI_Gatherv(here ? MPI_IN_PLACE : mine.data, (rank + 1) * mine.count,
		    mine.type, in.data, counts, at, in.type, root, comm);
	for (i = 0; rank == root && i < size; i++)
		for (k = 0; k <= i; k++)
			check(holds(&in, first[i] + k, i, k), "gatherv");
	for (k = 0; k <= rank && !here; k++)
		fill(&mine, k, size, size);
	MPI_Scatterv(in.data, counts, at, in.type,
		     here ? MPI_IN_PLACE : mine.data, (rank + 1) * mine.count,
		     mine.type, root, comm);
	for (k = 0; k <= rank; k++)
		check(holds(&mine, k, rank, k), "scatterv");
	MPI_Allgatherv(in_place ? MPI_IN_PLACE : mine.data,
		       (rank + 1) * mine.count, mine.type, in.data, counts, at,
		       in.type, comm);
	for (i = 0; i < size; i++)
		for (k = 0; k <= i; k++)
			check(holds(&in, first[i] + k, i, k), "allgatherv");
	free(mine.data);
	free(in.data);
}

static void different_types(MPI_Comm comm, int root, int in_place)
{
	struct block one = blocks(1), out = blocks(size), in = blocks(size);
	void *mine = one.data;
	int i;

	fill(&one, 0, root, root);
	if (rank != root)
		memset(one.data, 0xff, N * (size_t)one.step * sizeof(int));
	MPI_Bcast(one.data, one.count, one.type, root, comm);
	check(holds(&one, 0, root, root), "bcast");

	fill(&one, 0, rank, root);
	if (in_place && rank == root) {
		fill(&in, rank, rank, root);
		mine = MPI_IN_PLACE;
	}
	MPI_Gather(mine, one.count, one.type, in.data, in.count, in.type, root,
		   comm);
	for (i = 0; rank == root && i < size; i++)
		check(holds(&in, i, i, root), "gather");

	for (i = 0; i < size; i++)
		fill(&out, i, root, i);
	MPI_Scatter(out.data, out.count, out.type,
		    in_place && rank == root ? MPI_IN_PLACE : one.data,
		    one.count, one.type, root, comm);
	check((in_place && rank == root) || holds(&one, 0, root, rank),
	      "scatter");

	fill(&one, 0, rank, 0);
	fill(&in, rank, rank, 0);
	MPI_Allgather(in_place ? MPI_IN_PLACE : one.data, one.count, one.type,
		      in.data, in.count, in.type, comm);
	for (i = 0; i < size; i++)
		check(holds(&in, i, i, 0), "allgather");

	for (i = 0; i < size; i++) {
		fill(&out, i, rank, i);
		fill(&in, i, rank, i);
	}
	MPI_Alltoall(in_place ? MPI_IN_PLACE : out.data, out.count, out.type,
		     in.data, in.count, in.type, comm);
	for (i = 0; i < size; i++)
		check(holds(&in, i, i, rank), "alltoall");
	exchange(comm);
	various_types(comm, in_place);
	types_of_one(comm, MPI_INT);
	types_of_one(comm, every_second);
	various(comm, root, in_place);
	free(one.data);
	free(out.data);
	free(in.data);
}

/* A number in decimal: its digits show the order. */
struct number {
	long value, scale;
};

static void append(void *in, void *inout, int *n, MPI_Datatype *type)
{
	const struct number *left = in;
	struct number *right = inout;
	int i;

	(void)type;
	for (i = 0; i < *n; i++) {
		right[i].value += left[i].value * right[i].scale;
		right[i].scale *= left[i].scale;
	}
}

/* Rank r has r + 1 for each rank. */
static void prefixes(MPI_Comm comm)
{
	int all[RANKS_MAX], mine = rank + 1, up_to, before = -1, i;

	MPI_Scan(&mine, &up_to, 1, MPI_INT, MPI_SUM, comm);
	check(up_to == (rank + 1) * (rank + 2) / 2, "scan");
	MPI_Scan(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_PROD, comm);
	for (up_to = 1, i = 0; i <= rank; i++)
		up_to *= i + 1;
	check(mine == up_to, "scan in place");
	mine = rank + 1;
	MPI_Exscan(&mine, &before, 1, MPI_INT, MPI_MAX, comm);
	check(before == (rank ? rank : -1), "exscan");
	for (i = 0; i < size; i++)
		all[i] = rank + 1 + i;
	MPI_Reduce_scatter_block(all, &mine, 1, MPI_INT, MPI_SUM, comm);
	check(mine == size * (size + 1) / 2 + size * rank, "reduce_scatter");
	MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, comm);
	check(all[0] == mine, "reduce_scatter in place");
}

/* Rank r gets r elements, so rank 0 gets none. Element i of rank r is r + i. */
static void unequal_shares(MPI_Comm comm)
{
	int all[RANKS_MAX * RANKS_MAX], mine[RANKS_MAX], counts[RANKS_MAX], i;
	int first = rank * (rank - 1) / 2, ranks = size * (size - 1) / 2;

	for (i = 0; i < size; i++)
		counts[i] = i;
	for (i = 0; i < size * size; i++)
		all[i] = rank + i;
	MPI_Reduce_scatter(all, rank ? mine : NULL, counts, MPI_INT, MPI_SUM,
			   comm);
	MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_SUM, comm);
	for (i = 0; i < rank; i++) {
		check(mine[i] == ranks + size * (first + i), "unequal shares");
		check(all[i] == mine[i], "unequal shares in place");
	}
	for (i = 0; i < size; i++)
		counts[i] = 0;
	MPI_Reduce_scatter(NULL, NULL, counts, MPI_INT, MPI_SUM, comm);
}

/* The digits of ranks `from` to `to` - 1 in a row. */
static int is_row(struct number x, int from, int to)
{
	long digits = 0, scale = 1;

	for (; from < to; from++) {
		digits = 10 * digits + from + 1;
		scale *= 10;
	}
	return x.value == digits && x.scale == scale;
}

static int are_rows(const struct number *x, int n, int from, int to)
{
	int i = 0;

	while (i < n && is_row(x[i], from, to))
		i++;
	return i == n;
}

static void set_digits(struct number *x, int n)
{
	int i;

	for (i = 0; i < n; i++)
		x[i] = (struct number){ rank + 1, 10 };
}

/* An operator of the program's that does not commute, on vectors short and
 * long. The order of the digits shows the order of the ranks. */
static void in_order(MPI_Comm comm, int n)
{
	unsigned long long before = counter("bcl_coll_allreduce");
	struct number *out = malloc((size_t)(n * size) * sizeof(*out));
	struct number *in = malloc((size_t)(n * size) * sizeof(*in));
	MPI_Datatype number;
	int root = size - 1, shares[RANKS_MAX], i;
	MPI_Op op;

	MPI_Type_contiguous(2, MPI_LONG, &number);
	MPI_Type_commit(&number);
	MPI_Op_create(append, 0, &op);
	set_digits(out, n * size);
	MPI_Allreduce(out, in, n, number, op, comm);
	check(are_rows(in, n, 0, size), "allreduce in order");
	MPI_Reduce(out, in, n, number, op, root, comm);
	check(rank != root || are_rows(in, n, 0, size), "reduce in order");
	MPI_Scan(out, in, n, number, op, comm);
	check(are_rows(in, n, 0, rank + 1), "scan in order");
	MPI_Exscan(out, in, n, number, op, comm);
	check(!rank || are_rows(in, n, 0, rank), "exscan in order");
	MPI_Reduce_scatter_block(out, in, n, number, op, comm);
	check(are_rows(in, n, 0, size), "reduce_scatter in order");
	for (i = 0; i < size; i++)
		shares[i] = i > 1 ? n : 2 * n * i;
	MPI_Reduce_scatter(out, in, shares, number, op, comm);
	check(are_rows(in, shares[rank], 0, size), "unequal shares in order");
	MPI_Allreduce(MPI_IN_PLACE, out, n, number, op, comm);
	check(are_rows(out, n, 0, size), "allreduce in order, in place");
	before = counter("bcl_coll_allreduce") - before;
	check(before == (with_teams ? 2 : 0), "an operator goes over the team");
	MPI_Type_free(&number);
	MPI_Op_free(&op);
	free(out);
	free(in);
}

/* One type of pairs fills its place, the other one does not. */
static void least_pairs(MPI_Comm comm)
{
	struct {
		float value;
		int where;
	} dense = { (float)abs(rank - size / 2), rank };
	struct {
		double value;
		int where;
	} sparse = { abs(rank - size / 2), rank };

	MPI_Allreduce(MPI_IN_PLACE, &dense, 1, MPI_FLOAT_INT, MPI_MINLOC, comm);
	check(dense.value == 0 && dense.where == size / 2, "minloc of float");
	MPI_Allreduce(MPI_IN_PLACE, &sparse, 1, MPI_DOUBLE_INT, MPI_MINLOC,
		      comm);
	check(sparse.value == 0 && sparse.where == size / 2,
	      "minloc of double");
}

static void reductions(MPI_Comm comm)
{
	struct {
		int value, where;
	} mine = { abs(rank - size / 2), rank }, least;
	long double x = rank + 0.5L, sum;
	unsigned char odd = rank % 2 ? 3 : 0, any;
	short shorts[] = { (short)rank, -1 }, total[2];
	int n = rank == 0 ? size : 1;

	MPI_Allreduce(&mine, &least, 1, MPI_2INT, MPI_MINLOC, comm);
	check(least.value == 0 && least.where == size / 2, "minloc");
	MPI_Allreduce(&x, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, comm);
	check(sum == size * size / 2.0L, "long double");
	MPI_Allreduce(shorts, total, 2, MPI_SHORT, MPI_SUM, comm);
	check(total[0] == size * (size - 1) / 2 && total[1] == -size, "short");
	MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &n, &n, 1, MPI_INT, MPI_SUM, 0,
		   comm);
	check(rank || n == 2 * size - 1, "reduce in place");
	MPI_Allreduce(&odd, &any, 1, MPI_BYTE, MPI_BOR, comm);
	check(any == 3, "bor");
	prefixes(comm);
	unequal_shares(comm);

	in_order(comm, 1);
	in_order(comm, 3000);
	least_pairs(comm);
}

static void add_apart(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int *from = in, *to = inout, i;

	(void)type;
	for (i = 0; i < *n; i++)
		to[2 * i] += from[2 * i];
}

/* All ranks but rank 0 wait, before the barrier, for a sum of integers with
 * gaps, which only MPICH's progress engine completes. */
static void something_under_way(MPI_Comm comm)
{
	int in[4] = { rank, -1, 2 * rank, -1 }, out[4];
	int ranks = size * (size - 1) / 2;
	MPI_Request request;
	MPI_Datatype apart;
	MPI_Op op;

	MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &apart);
	MPI_Type_commit(&apart);
	MPI_Op_create(add_apart, 1, &op);
	MPI_Iallreduce(in, out, 2, apart, op, comm, &request);
	if (rank == 0)
		MPI_Barrier(comm);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank)
		MPI_Barrier(comm);
	check(out[0] == ranks && out[2] == 2 * ranks, "MPICH's own sum");
	MPI_Op_free(&op);
	MPI_Type_free(&apart);
}

/* Each rank frees the communicator at once, and waits for no rank. */
static void free_while_busy(void)
{
	int buffer = -1, partner = rank ^ 1;
	MPI_Request request;
	MPI_Comm comm;

	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
	MPI_Barrier(comm);
	if (partner >= size)
		partner = rank;
	MPI_Irecv(&buffer, 1, MPI_INT, size - 1 - partner, 0, comm, &request);
	if (rank % 2) {
		MPI_Send(&rank, 1, MPI_INT, size - 1 - partner, 0, comm);
		MPI_Comm_free(&comm);
	} else {
		MPI_Request sent;

		MPI_Isend(&rank, 1, MPI_INT, size - 1 - partner, 0, comm,
			  &sent);
		MPI_Comm_free(&comm);
		MPI_Wait(&sent, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	check(buffer == partner, "a message of a freed communicator");
}

static void wrong_length(int root, int other)
{
	static char buffer[1000];
	int error;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	error = MPI_Bcast(buffer, rank ? other : root, MPI_CHAR, 0,
			  MPI_COMM_WORLD);
	check(!!error == !!rank, "a broadcast of another length");
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Are all ranks on this node? */
static int is_near(void)
{
	MPI_Comm node;
	int here;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &here);
	MPI_Comm_free(&node);
	return here == size;
}

/* A broadcast of any length is one operation between nodes. Inside a node a
 * long broadcast is two operations, and the first takes no message. */
static void send_once(void)
{
	static const int lengths[] = { 1, 48, 49, 1000, 100000 };
	static char buffer[100000];
	unsigned i, n = sizeof(lengths) / sizeof(*lengths);
	unsigned most = is_near() ? n + 3 : n;
	unsigned long long before = counter("bcl_coll_broadcast");

	for (i = 0; i < n; i++)
		MPI_Bcast(buffer, lengths[i], MPI_CHAR, 0, MPI_COMM_WORLD);
	before = counter("bcl_coll_broadcast") - before;
	check(before == most || before == 0, "a broadcast goes once");
}

static void many_groups(void)
{
	int i, in_order, sum;
	MPI_Comm comm;

	srand(1);
	for (i = 0; i < GROUPS; i++) {
		unsigned r, key = 0;

		for (r = 0; r <= (unsigned)rank; r++)
			key = (unsigned)rand() % 1000;
		for (; r < (unsigned)size; r++)
			rand();
		MPI_Comm_split(MPI_COMM_WORLD, i % 3 == rank, (int)key, &comm);
		MPI_Comm_size(comm, &in_order);
		MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, comm);
		check(sum == in_order, "allreduce of a group");
		MPI_Comm_free(&comm);
	}
}

int main(int argc, char **argv)
{
	int provided, root;
	MPI_Comm turned;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	check(size <= RANKS_MAX, "too many ranks");
	MPI_Barrier(MPI_COMM_WORLD);
	with_teams = counter("bcl_coll_barrier") > 0;
	MPI_Type_vector(N, 1, 2, MPI_INT, &every_second);
	MPI_Type_create_resized(every_second, 0, 2 * N * sizeof(int),
				&every_second);
	MPI_Type_commit(&every_second);
	for (root = 0; root < size; root++) {
		different_types(MPI_COMM_WORLD, root, 0);
		different_types(MPI_COMM_WORLD, root, 1);
	}
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
	MPI_Comm_rank(turned, &rank);
	different_types(turned, 0, 0);
	reductions(turned);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_free(&turned);
	reductions(MPI_COMM_WORLD);
	something_under_way(MPI_COMM_WORLD);
	free_while_busy();
	send_once();
	wrong_length(1, 10);
	if (is_near()) { /* between nodes an error ends the team */
		wrong_length(1000, 900);
		wrong_length(900, 1000);
		wrong_length(10, 1000);
		wrong_length(1000, 10);
	}
	many_groups();
	if (rank == 0)
		say_operations();
	MPI_Type_free(&every_second);
	MPI_Finalize();
	MPI_T_finalize();
	return 0;
}
