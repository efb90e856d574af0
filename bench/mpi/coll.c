/* SPDX-License-Identifier: MIT */
/*
 * A rank of a job that measures the collective operations of coll.h in the loop
 * in which the other ranks of bench/mpi-compare measure those of MPI
 * (loop.h), without MPI:
 *
 *	cc -I. -Iinclude bench/mpi/coll.c bench/mpi/loop.c bench/perf_call.c
 *-lbcl
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcl/version.h>

#include "bench/mpi/loop.h"
#include "bench/perf_call.h"

/* MPI's names of the operations, the library's if they differ, and whether the
 * operation has blocks. MPI's reduce_scatter has no counterpart. */
static const struct {
	const char *name, *ours;
	bool blocks;
} operations[] = {
	{ "barrier", NULL, false },
	{ "bcast", "broadcast", false },
	{ "reduce", NULL, false },
	{ "allreduce", NULL, false },
	{ "scan", NULL, false },
	{ "exscan", NULL, false },
	{ "gather", NULL, true },
	{ "scatter", NULL, true },
	{ "allgather", NULL, true },
	{ "alltoall", NULL, true },
	{ "gatherv", NULL, true },
	{ "scatterv", NULL, true },
	{ "allgatherv", NULL, true },
	{ "alltoallv", NULL, true },
	{ "reduce_scatter_block", "reduce_scatter", true },
};

enum {
	OPERATIONS = sizeof(operations) / sizeof(*operations),
	OVERLAPS = 3,
};

static struct bcl_adi *adi;
static struct perf_call call;
static struct bcl_adi_request *request;
static perf_call_function *function[OPERATIONS];

static void must(enum bcl_status status, const char *what)
{
	if (status == BCL_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, bcl_strstatus(status));
	exit(1);
}

static void set_size(int bytes)
{
	size_t n = bcl_team_size(call.team), i;
	static size_t arrays[2 * LONGEST / sizeof(double)];

	if (call.lengths && call.size == (size_t)bytes)
		return;
	call.size = (size_t)bytes;
	for (i = 0; i < n; i++) {
		arrays[i] = call.size;
		arrays[n + i] = i * call.size;
	}
	call.lengths = arrays;
	call.offsets = arrays + n;
}

static void operate(const struct test *test, int bytes, int root)
{
	set_size(bytes);
	call.root = (unsigned int)root;
	must(function[test->number](&call), test->name);
}

static void start_allreduce(int bytes)
{
	must(bcl_iallreduce(call.team, call.send, call.receive,
			    (size_t)bytes / sizeof(double), call.sum, &request),
	     "iallreduce");
}

static void start_bcast(int bytes)
{
	must(bcl_ibroadcast(call.team, call.send, (size_t)bytes, 0, &request),
	     "ibroadcast");
}

static void start_alltoall(int bytes)
{
	must(bcl_ialltoall(call.team, call.send, call.receive, (size_t)bytes,
			   &request),
	     "ialltoall");
}

static void finish(void)
{
	must(bcl_adi_wait(adi, &request, NULL), "wait");
}

static void barrier(void)
{
	must(bcl_barrier(call.team), "barrier");
}

static double slowest(double seconds)
{
	double most;

	must(bcl_allreduce(call.team, &seconds, &most, 1,
			   bcl_reduction(BCL_MAX, BCL_DOUBLE)),
	     "allreduce");
	return most;
}

/* Fills in the tests: the operations, then those beside which ranks compute. */
static void make_tests(struct test *test)
{
	static const struct test overlap[OVERLAPS] = {
		{ .name = "overlap-allreduce", .start = start_allreduce },
		{ .name = "overlap-bcast", .start = start_bcast },
		{ .name = "overlap-alltoall",
		  .start = start_alltoall,
		  .blocks = true },
	};
	unsigned int i;

	for (i = 0; i < OPERATIONS; i++, test++) {
		*test = (struct test){ .name = operations[i].name,
				       .operation = operate,
				       .blocks = operations[i].blocks,
				       .number = i,
				       .lengths = "8" };
		function[i] =
			perf_call_find(operations[i].ours ? operations[i].ours
							  : operations[i].name);
	}
	for (i = 0; i < OVERLAPS; i++, test++) {
		*test = overlap[i];
		test->finish = finish;
		test->lengths = "65536";
	}
}

int main(int argc, char **argv)
{
	struct test tests[OPERATIONS + OVERLAPS + 1] = { 0 };
	struct loop loop = { .test = tests,
			     .barrier = barrier,
			     .slowest = slowest };
	bool good;

	if (argc == 2 && !strcmp(argv[1], "version"))
		return puts(bcl_version()) < 0;
	make_tests(tests);
	bind_to_processor();
	must(bcl_adi_open(NULL, &adi), "open");
	must(bcl_team_world(adi, &call.team), "team");
	call.sum = bcl_reduction(BCL_SUM, BCL_DOUBLE);
	call.send = calloc(2, LONGEST);
	if (!call.send)
		must(BCL_ERR_NOMEM, "buffers");
	call.receive = call.send + LONGEST;
	memset(call.send, bcl_adi_rank(adi) & 0xff, 2 * LONGEST);
	loop.rank = (int)bcl_adi_rank(adi);
	loop.size = (int)bcl_adi_size(adi);
	good = measure_arguments(&loop, argv + 1);
	free(call.send);
	bcl_team_free(call.team);
	bcl_adi_close(adi);
	return good ? 0 : 1;
}
