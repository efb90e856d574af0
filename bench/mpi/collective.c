/* SPDX-License-Identifier: MIT */
/* MPI's collective operations; see collective.h. */
#include "collective.h"

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#define WORLD MPI_COMM_WORLD

static char *from, *to;
static int size;
static int counts[MOST_RANKS], offsets[MOST_RANKS];
static int set_for = -1; /* bytes for which counts[] and offsets[] are */
static MPI_Request request;

void collective_set_up(int ranks, void *send, void *receive)
{
	size = ranks;
	from = send;
	to = receive;
}

/* The blocks of all ranks: n elements each. */
static void set_counts(int n)
{
	int i;

	if (set_for == n)
		return;
	for (i = 0; i < size; i++) {
		counts[i] = n;
		offsets[i] = i * n;
	}
	set_for = n;
}

static int doubles(int bytes)
{
	return bytes / (int)sizeof(double);
}

static void barrier(const struct test *test, int bytes, int root)
{
	MPI_Barrier(WORLD);
}

static void bcast(const struct test *test, int bytes, int root)
{
	MPI_Bcast(from, bytes, MPI_CHAR, root, WORLD);
}

static void reduce(const struct test *test, int bytes, int root)
{
	MPI_Reduce(from, to, doubles(bytes), MPI_DOUBLE, MPI_SUM, root, WORLD);
}

static void allreduce(const struct test *test, int bytes, int root)
{
	MPI_Allreduce(from, to, doubles(bytes), MPI_DOUBLE, MPI_SUM, WORLD);
}

static void reduce_scatter_block(const struct test *test, int bytes, int root)
{
	MPI_Reduce_scatter_block(from, to, doubles(bytes), MPI_DOUBLE, MPI_SUM,
				 WORLD);
}

static void reduce_scatter(const struct test *test, int bytes, int root)
{
	set_counts(doubles(bytes));
	MPI_Reduce_scatter(from, to, counts, MPI_DOUBLE, MPI_SUM, WORLD);
}

static void scan(const struct test *test, int bytes, int root)
{
	MPI_Scan(from, to, doubles(bytes), MPI_DOUBLE, MPI_SUM, WORLD);
}

static void exscan(const struct test *test, int bytes, int root)
{
	MPI_Exscan(from, to, doubles(bytes), MPI_DOUBLE, MPI_SUM, WORLD);
}

static void gather(const struct test *test, int bytes, int root)
{
	MPI_Gather(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, root, WORLD);
}

static void scatter(const struct test *test, int bytes, int root)
{
	MPI_Scatter(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, root, WORLD);
}

static void allgather(const struct test *test, int bytes, int root)
{
	MPI_Allgather(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, WORLD);
}

static void alltoall(const struct test *test, int bytes, int root)
{
	MPI_Alltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, WORLD);
}

static void gatherv(const struct test *test, int bytes, int root)
{
	set_counts(bytes);
	MPI_Gatherv(from, bytes, MPI_CHAR, to, counts, offsets, MPI_CHAR, root,
		    WORLD);
}

static void scatterv(const struct test *test, int bytes, int root)
{
	set_counts(bytes);
	MPI_Scatterv(from, counts, offsets, MPI_CHAR, to, bytes, MPI_CHAR, root,
		     WORLD);
}

static void allgatherv(const struct test *test, int bytes, int root)
{
	set_counts(bytes);
	MPI_Allgatherv(from, bytes, MPI_CHAR, to, counts, offsets, MPI_CHAR,
		       WORLD);
}

static void alltoallv(const struct test *test, int bytes, int root)
{
	set_counts(bytes);
	MPI_Alltoallv(from, counts, offsets, MPI_CHAR, to, counts, offsets,
		      MPI_CHAR, WORLD);
}

/* ---- persistent, and beside computing ---- */

/* Initializes once for all n operations. */
static void persistent_allreduce(long n, int bytes)
{
#ifdef OPEN_MPI
	MPIX_Allreduce_init(from, to, doubles(bytes), MPI_DOUBLE, MPI_SUM,
			    WORLD, MPI_INFO_NULL, &request);
#else
	MPI_Allreduce_init(from, to, doubles(bytes), MPI_DOUBLE, MPI_SUM, WORLD,
			   MPI_INFO_NULL, &request);
#endif
	for (; n; n--) {
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&request);
}

static void start_allreduce(int bytes)
{
	MPI_Iallreduce(from, to, doubles(bytes), MPI_DOUBLE, MPI_SUM, WORLD,
		       &request);
}

static void start_bcast(int bytes)
{
	MPI_Ibcast(from, bytes, MPI_CHAR, 0, WORLD, &request);
}

static void start_alltoall(int bytes)
{
	MPI_Ialltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, WORLD,
		      &request);
}

static void finish(void)
{
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#define OPERATION(function, default_lengths, of_blocks)         \
	{                                                       \
		.name = #function, .operation = function,       \
		.lengths = default_lengths, .blocks = of_blocks \
	}
#define OVERLAP(function, of_blocks)                                     \
	{                                                                \
		.name = "overlap-" #function, .start = start_##function, \
		.finish = finish, .lengths = "65536,1048576",            \
		.blocks = of_blocks                                      \
	}

const struct test collective_tests[] = {
	OPERATION(barrier, "0", false),
	OPERATION(bcast, "8", false),
	OPERATION(reduce, "65536", false),
	OPERATION(allreduce, "8", false),
	OPERATION(scan, "8", false),
	OPERATION(exscan, "8", false),
	OPERATION(reduce_scatter_block, "65536", true),
	OPERATION(reduce_scatter, "65536", true),
	OPERATION(gather, "65536", true),
	OPERATION(scatter, "65536", true),
	OPERATION(allgather, "65536", true),
	OPERATION(alltoall, "65536", true),
	OPERATION(gatherv, "65536", true),
	OPERATION(scatterv, "65536", true),
	OPERATION(allgatherv, "65536", true),
	OPERATION(alltoallv, "65536", true),
	{ .name = "persistent-allreduce",
	  .batch = persistent_allreduce,
	  .lengths = "8" },
	OVERLAP(allreduce, false),
	OVERLAP(bcast, false),
	OVERLAP(alltoall, true),
	{ 0 },
};
