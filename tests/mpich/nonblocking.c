/* SPDX-License-Identifier: MIT */
/*
 * Collective operations that do not block, each with several pending at a time,
 * over communicators of the same ranks in different orders, mixed with messages
 * and with blocking operations. Ranks describe the same data differently, and
 * free types and communicators while operations are pending. Rank 0 prints the
 * operations that teams carried out.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "counter.h"

enum {
	N = 300, /* ints of a block */
	COMMS = 4,
	MANY = 1500, /* more than a team may have pending */
	RANKS_MAX = 8,
	OPERATIONS = 11, /* of exchange() */
	DEGREE_MAX = 4 * RANKS_MAX,
};

/* The int at i that one rank has for another. */
static int value(int from, int to, int i)
{
	return (from * 10 + to) * 1000 + i;
}

static void fill(const struct blocks *b, int at, int from, int to)
{
	int i;

	for (i = 0; i < N; i++)
		b->data[(at * N + i) * b->step] = value(from, to, i);
}

static int holds(const struct blocks *b, int at, int from, int to)
{
	int i;

	for (i = 0; i < N; i++) {
		const int *x = &b->data[(at * N + i) * b->step];

		if (*x != value(from, to, i) || (b->step == 2 && x[1] != -1))
			return 0;
	}
	return 1;
}

/* The buffers of operations of one communicator. */
struct exchange {
	struct blocks one[4], out, in[6];
	int counts[RANKS_MAX], at[RANKS_MAX], root, in_place;
	MPI_Request requests[OPERATIONS];
};

/* Starts each of the operations that move data. The type is freed at once, and
 * the arrays may change afterwards. */
static void start(struct exchange *x, MPI_Comm comm, int root, int in_place)
{
	int here = in_place && rank == root, i, n = 0, bytes[RANKS_MAX];
	MPI_Datatype type = block_type(N), types[RANKS_MAX];

	x->root = root;
	x->in_place = in_place;
	x->out = blocks_of(size, N);
	for (i = 0; i < 4; i++)
		x->one[i] = blocks_of(1, N);
	for (i = 0; i < 6; i++)
		x->in[i] = blocks_of(size, N);
	for (i = 0; i < size; i++) {
		x->counts[i] = 1;
		x->at[i] = size - 1 - i;
		bytes[i] = x->at[i] * block_length(N);
		types[i] = type;
		fill(&x->out, i, rank, i);
		fill(&x->in[3], i, rank, i);
	}
	fill(&x->one[0], 0, rank, rank);
	fill(&x->one[3], 0, rank, rank);
	for (i = 0; i < 3; i++)
		fill(&x->in[i], i < 2 ? rank : size - 1 - rank, rank, rank);
	MPI_Ibarrier(comm, &x->requests[n++]);
	MPI_Ibcast(x->one[3].data, 1, type, root, comm, &x->requests[n++]);
	MPI_Igather(here ? MPI_IN_PLACE : x->one[0].data, 1, type,
		    x->in[0].data, 1, type, root, comm, &x->requests[n++]);
	MPI_Iscatter(x->out.data, 1, type, x->one[1].data, 1, type, root, comm,
		     &x->requests[n++]);
	MPI_Iallgather(in_place ? MPI_IN_PLACE : x->one[0].data, 1, type,
		       x->in[1].data, 1, type, comm, &x->requests[n++]);
	MPI_Iallgatherv(in_place ? MPI_IN_PLACE : x->one[0].data, 1, type,
			x->in[2].data, x->counts, x->at, type, comm,
			&x->requests[n++]);
	MPI_Ialltoall(in_place ? MPI_IN_PLACE : x->out.data, 1, type,
		      x->in[3].data, 1, type, comm, &x->requests[n++]);
	MPI_Ialltoallv(x->out.data, x->counts, x->at, type, x->in[4].data,
		       x->counts, x->at, type, comm, &x->requests[n++]);
	MPI_Ialltoallw(x->out.data, x->counts, bytes, types, x->in[5].data,
		       x->counts, bytes, types, comm, &x->requests[n++]);
	MPI_Igatherv(x->one[0].data, 1, type, x->in[0].data, x->counts, x->at,
		     type, (root + 1) % size, comm, &x->requests[n++]);
	MPI_Iscatterv(x->out.data, x->counts, x->at, type, x->one[2].data, 1,
		      type, root, comm, &x->requests[n++]);
	MPI_Type_free(&type);
}

/* Both gathers have a buffer, because their roots differ. */
static void check_rooted(const struct exchange *x)
{
	int i;

	for (i = 0; rank == x->root && i < size; i++)
		check(holds(&x->in[0], i, i, i), "igather");
	for (i = 0; rank == (x->root + 1) % size && i < size; i++)
		check(holds(&x->in[0], size - 1 - i, i, i), "igatherv");
	check(holds(&x->one[1], 0, x->root, rank), "iscatter");
	check(holds(&x->one[2], 0, x->root, size - 1 - rank), "iscatterv");
	check(holds(&x->one[3], 0, x->root, x->root), "ibcast");
}

static void finish(struct exchange *x)
{
	int i;

	MPI_Waitall(OPERATIONS, x->requests, MPI_STATUSES_IGNORE);
	check_rooted(x);
	for (i = 0; i < size; i++) {
		check(holds(&x->in[1], i, i, i), "iallgather");
		check(holds(&x->in[2], size - 1 - i, i, i), "iallgatherv");
		check(holds(&x->in[3], i, i, rank), "ialltoall");
		check(holds(&x->in[4], size - 1 - i, i, size - 1 - rank),
		      "ialltoallv");
		check(holds(&x->in[5], size - 1 - i, i, size - 1 - rank),
		      "ialltoallw");
	}
	for (i = 0; i < 4; i++)
		free(x->one[i].data);
	for (i = 0; i < 6; i++)
		free(x->in[i].data);
	free(x->out.data);
}

/* Each rank begins with another communicator, calls a blocking operation of a
 * further communicator in between, and frees the communicators at once. */
static void in_other_orders(int in_place)
{
	static struct exchange exchanges[COMMS];
	int from = (rank + size - 1) % size, got = -1, i;
	MPI_Request message;
	MPI_Comm comms[COMMS];

	for (i = 0; i < COMMS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	MPI_Irecv(&got, 1, MPI_INT, from, 7, MPI_COMM_WORLD, &message);
	for (i = 0; i < COMMS; i++) {
		int k = (rank + i) % COMMS;

		start(&exchanges[k], comms[k], k % size, in_place);
		MPI_Comm_free(&comms[k]);
		if (i == rank % COMMS)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
	for (i = COMMS; i-- > 0;)
		finish(&exchanges[(rank + i) % COMMS]);
	MPI_Wait(&message, MPI_STATUS_IGNORE);
	check(got == from, "a message in between");
}

/* Rank r has r + 1 for each rank. */
static void reductions(MPI_Comm comm, int root)
{
	int mine[RANKS_MAX], sum[RANKS_MAX] = { 0 }, block = 0, up_to = 0;
	int before = -1, any = 0, all = size * (size + 1) / 2, i, done;
	int share[RANKS_MAX], counts[RANKS_MAX], first = rank * (rank - 1) / 2;
	int shares[RANKS_MAX * RANKS_MAX];
	long double real = rank + 0.5L, total = 0;
	double most = rank;
	MPI_Request requests[8];

	for (i = 0; i < size; i++) {
		mine[i] = rank + 1 + i;
		counts[i] = i;
	}
	for (i = 0; i < size * size; i++)
		shares[i] = rank + 1 + i;
	MPI_Ireduce(rank == root ? MPI_IN_PLACE : &most, &most, 1, MPI_DOUBLE,
		    MPI_MAX, root, comm, &requests[0]);
	MPI_Iallreduce(mine, sum, size, MPI_INT, MPI_SUM, comm, &requests[1]);
	MPI_Ireduce_scatter_block(mine, &block, 1, MPI_INT, MPI_SUM, comm,
				  &requests[2]);
	MPI_Iscan(mine, &up_to, 1, MPI_INT, MPI_SUM, comm, &requests[3]);
	MPI_Iexscan(mine, &before, 1, MPI_INT, MPI_MAX, comm, &requests[4]);
	MPI_Iallreduce(&real, &total, 1, MPI_LONG_DOUBLE, MPI_SUM, comm,
		       &requests[5]);
	MPI_Iallreduce(mine, &any, 1, MPI_INT, MPI_BOR, comm, &requests[6]);
	MPI_Ireduce_scatter(shares, share, counts, MPI_INT, MPI_SUM, comm,
			    &requests[7]);
	memset(counts, 0xff, sizeof(counts));
	do
		MPI_Testall(8, requests, &done, MPI_STATUSES_IGNORE);
	while (!done);
	check(rank != root || most == size - 1, "ireduce in place");
	for (i = 0; i < size; i++)
		check(sum[i] == all + size * i, "iallreduce");
	check(block == all + size * rank, "ireduce_scatter_block");
	for (i = 0; i < rank; i++)
		check(share[i] == all + size * (first + i), "ireduce_scatter");
	check(up_to == (rank + 1) * (rank + 2) / 2, "iscan");
	check(before == (rank ? rank : -1), "iexscan");
	check(total == size * size / 2.0L, "iallreduce of long double");
	for (i = 0; i < size; i++)
		check((any & (i + 1)) == i + 1, "iallreduce of bits");
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

/* The operator and the type are freed while their operation is pending. */
static void own_operator(void)
{
	struct number mine = { rank + 1, 10 }, all = { 0, 0 };
	MPI_Datatype number;
	MPI_Request request;
	long digits = 0;
	MPI_Op op;
	int i;

	MPI_Type_contiguous(2, MPI_LONG, &number);
	MPI_Type_commit(&number);
	MPI_Op_create(append, 0, &op);
	MPI_Iallreduce(&mine, &all, 1, number, op, MPI_COMM_WORLD, &request);
	MPI_Type_free(&number);
	MPI_Op_free(&op);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	for (i = 0; i < size; i++)
		digits = 10 * digits + i + 1;
	check(all.value == digits, "iallreduce in order");
}

/* Rank 0 starts the first operation of a communicator before the other ranks
 * may: it must not wait for them. */
static void first_alone(void)
{
	MPI_Request request;
	MPI_Comm comm;
	int i, go = 0;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	if (rank > 0)
		MPI_Recv(&go, 1, MPI_INT, 0, 8, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Ibarrier(comm, &request);
	for (i = 1; rank == 0 && i < size; i++)
		MPI_Send(&go, 1, MPI_INT, i, 8, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_free(&comm);
}

/* Rank 0 has many operations pending before the other ranks start any. */
static void many(void)
{
	static int words[MANY];
	static MPI_Request requests[MANY];
	int out[RANKS_MAX], counts[RANKS_MAX], in = -1, i, go = 0;
	MPI_Request share, barrier;

	if (rank > 0)
		MPI_Recv(&go, 1, MPI_INT, 0, 9, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	for (i = 0; i < MANY; i++) {
		words[i] = i + rank;
		MPI_Iallreduce(MPI_IN_PLACE, &words[i], 1, MPI_INT, MPI_SUM,
			       MPI_COMM_WORLD, &requests[i]);
	}
	for (i = 0; i < size; i++) {
		out[i] = rank + i;
		counts[i] = 1;
	}
	MPI_Ireduce_scatter(out, &in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
			    &share);
	memset(counts, 0xff, sizeof(counts));
	MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
	for (i = 1; rank == 0 && i < size; i++)
		MPI_Send(&go, 1, MPI_INT, i, 9, MPI_COMM_WORLD);
	MPI_Wait(&barrier, MPI_STATUS_IGNORE);
	MPI_Wait(&share, MPI_STATUS_IGNORE);
	check(in == size * (size - 1) / 2 + size * rank,
	      "a share after many operations");
	MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
	for (i = 0; i < MANY; i++)
		check(words[i] == i * size + size * (size - 1) / 2,
		      "one of many");
}

/* Communicators one after another, of groups that overlap. */
static void groups(void)
{
	MPI_Comm comm;
	MPI_Request request;
	int i, sum, members;

	for (i = 0; i < 50; i++) {
		MPI_Comm_split(MPI_COMM_WORLD, i % 3 == rank, -rank, &comm);
		MPI_Comm_size(comm, &members);
		MPI_Iallreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, comm,
			       &request);
		MPI_Comm_free(&comm);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		check(sum == members, "iallreduce of a group");
	}
}

/* ---- neighbours ---- */

/* Ranks that send to this one, and ranks that it sends to. */
struct neighbours {
	int from[DEGREE_MAX], to[DEGREE_MAX], nfrom, nto;
	int all[RANKS_MAX][DEGREE_MAX]; /* the lists `to` of all ranks */
};

/* Returns which of a neighbour's blocks is the i-th that comes here: the first
 * block for us is the first from this neighbour; in an alltoall the last one.
 */
static int block_from(const struct neighbours *x, int i, int is_alltoall)
{
	int from = is_alltoall ? i + 1 : 0, nth = 0, k;

	for (k = from; k < (is_alltoall ? x->nfrom : i); k++)
		nth += x->from[k] == x->from[i];
	for (k = 0; x->all[x->from[i]][k] != rank || nth--; k++)
		;
	return k;
}

/* Block i lies in its order or, if `turned`, the other way round. `same`: a
 * neighbour has one block for all. */
static void check_blocks(const struct neighbours *x, const struct blocks *in,
			 int turned, int same, const char *what)
{
	int is_alltoall = !turned && !same, i, at;

	for (i = 0; i < x->nfrom; i++) {
		at = turned ? x->nfrom - 1 - i : i;
		if (x->from[i] == MPI_PROC_NULL)
			check(in->data[at * N * in->step] == -1, what);
		else
			check(holds(in, at, x->from[i],
				    same ? 0 : block_from(x, i, is_alltoall)),
			      what);
	}
	memset(in->data, 0xff, (size_t)(x->nfrom * block_length(N)));
}

/* Arguments of MPI for blocks in turned order. */
struct turned {
	int counts[DEGREE_MAX], at[DEGREE_MAX];
	MPI_Aint bytes[DEGREE_MAX];
	MPI_Datatype types[DEGREE_MAX];
};

static struct turned turn(int n, MPI_Datatype type)
{
	struct turned turned;
	int i;

	for (i = 0; i < n; i++) {
		turned.counts[i] = 1;
		turned.at[i] = n - 1 - i;
		turned.bytes[i] = turned.at[i] * block_length(N);
		turned.types[i] = type;
	}
	return turned;
}

/* The type is freed while operations are pending. MPICH has no right alltoallw
 * where ranks have different numbers of neighbours in both directions. */
static void exchange_with(const struct neighbours *x, int has_alltoallw,
			  MPI_Comm comm)
{
	struct blocks out = blocks_of(DEGREE_MAX, N),
		      turned = blocks_of(DEGREE_MAX, N);
	struct blocks in[5];
	MPI_Datatype type = block_type(N);
	struct turned to = turn(x->nto, type), from = turn(x->nfrom, type);
	MPI_Request requests[5] = { [3] = MPI_REQUEST_NULL };
	int i;

	for (i = 0; i < 5; i++)
		in[i] = blocks_of(DEGREE_MAX, N);
	for (i = 0; i < x->nto; i++) {
		fill(&out, i, rank, i);
		fill(&turned, x->nto - 1 - i, rank, i);
	}
	MPI_Neighbor_alltoall(out.data, 1, type, in[0].data, 1, type, comm);
	check_blocks(x, &in[0], 0, 0, "neighbor_alltoall");
	MPI_Neighbor_allgatherv(out.data, 1, type, in[0].data, from.counts,
				from.at, type, comm);
	check_blocks(x, &in[0], 1, 1, "neighbor_allgatherv");
	MPI_Ineighbor_alltoall(out.data, 1, type, in[0].data, 1, type, comm,
			       &requests[0]);
	MPI_Ineighbor_allgather(out.data, 1, type, in[1].data, 1, type, comm,
				&requests[1]);
	MPI_Ineighbor_alltoallv(turned.data, to.counts, to.at, type, in[2].data,
				from.counts, from.at, type, comm, &requests[2]);
	if (has_alltoallw)
		MPI_Ineighbor_alltoallw(turned.data, to.counts, to.bytes,
					to.types, in[3].data, from.counts,
					from.bytes, from.types, comm,
					&requests[3]);
	MPI_Ineighbor_allgatherv(out.data, 1, type, in[4].data, from.counts,
				 from.at, type, comm, &requests[4]);
	MPI_Type_free(&type);
	MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
	check_blocks(x, &in[0], 0, 0, "ineighbor_alltoall");
	check_blocks(x, &in[1], 0, 1, "ineighbor_allgather");
	check_blocks(x, &in[2], 1, 0, "ineighbor_alltoallv");
	if (has_alltoallw)
		check_blocks(x, &in[3], 1, 0, "ineighbor_alltoallw");
	check_blocks(x, &in[4], 1, 1, "ineighbor_allgatherv");
	for (i = 0; i < 5; i++)
		free(in[i].data);
	free(turned.data);
	free(out.data);
}

static void tell(struct neighbours *x)
{
	MPI_Allgather(x->to, DEGREE_MAX, MPI_INT, x->all, DEGREE_MAX, MPI_INT,
		      MPI_COMM_WORLD);
}

/* A grid of two rows, or of one if the number of ranks is odd. At a border a
 * rank has no neighbour; around a short ring it has one rank, even itself, as
 * both neighbours. */
static void grid(int periodic)
{
	const int sides[2] = { 2 - size % 2, size / (2 - size % 2) };
	const int rings[2] = { periodic, periodic };
	struct neighbours x = { .nfrom = 4, .nto = 4 };
	MPI_Comm comm;
	int i;

	MPI_Cart_create(MPI_COMM_WORLD, 2, sides, rings, 0, &comm);
	for (i = 0; i < 2; i++)
		MPI_Cart_shift(comm, i, 1, &x.from[2 * i], &x.from[2 * i + 1]);
	memcpy(x.to, x.from, sizeof(x.to));
	tell(&x);
	exchange_with(&x, 1, comm);
	MPI_Comm_free(&comm);
}

/* Rank r sends to r ranks, perhaps to itself, and twice to rank 0. */
static void graph(void)
{
	struct neighbours x = { .nto = 0 };
	MPI_Comm comm;
	int r, i;

	for (i = 0; i < rank; i++)
		x.to[x.nto++] = (rank + 1 + 2 * i) % size;
	x.to[x.nto++] = 0;
	x.to[x.nto++] = 0;
	tell(&x);
	for (r = size; r-- > 0;)
		for (i = 0; i < r + 2; i++)
			if (x.all[r][i] == rank)
				x.from[x.nfrom++] = r;
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, x.nfrom, x.from,
				       MPI_UNWEIGHTED, x.nto, x.to,
				       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
	exchange_with(&x, 0, comm);
	MPI_Comm_free(&comm);
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
	first_alone();
	own_operator();
	reductions(MPI_COMM_WORLD, size - 1);
	groups();
	many();
	in_other_orders(0);
	in_other_orders(1);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
	MPI_Comm_rank(turned, &rank);
	for (root = 0; root < size; root++) {
		static struct exchange exchange;

		start(&exchange, turned, root, root % 2);
		reductions(turned, root);
		finish(&exchange);
	}
	MPI_Comm_free(&turned);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	grid(0);
	grid(1);
	graph();
	if (rank == 0)
		say_operations();
	MPI_Finalize();
	MPI_T_finalize();
	return 0;
}
