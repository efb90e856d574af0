/* SPDX-License-Identifier: MIT */
/*
 * Times of the library's collectives on the machine of dawning.h, against
 * bounds that no algorithm can beat. The times are virtual and therefore exact.
 * coll_bounds prints the figures.
 */
#include <check.h>
#include <math.h>

#include "collectives/builders.h"
#include "tests/unit/coll_loggp.h"
#include "tests/unit/dawning.h"
#include "tests/unit/loggp_adi.h"
#include "tests/unit/unit.h"

enum {
	SHORT = 8,
	LONG = 131072,
	MOST_RANKS = 4,
	LENGTHS = 6, /* of the all-to-all in chosen() */
};

static const unsigned nodes[] = { 2, 3, 4, 6, 8, 13, 16, 24, 32, 48, 64 };

/* Ceilings: the time of an operation divided by the bound, with one rank on
 * each node and with four. */
static const struct {
	enum sim_operation operation;
	size_t length;
	double one, four;
	bool pieces; /* bound of algorithms that cut into equal pieces */
} ceilings[] = {
	{ SIM_BARRIER, SHORT, 1.2, 1.2, false },
	{ SIM_BROADCAST, SHORT, 1.13, 1.13, false },
	{ SIM_BROADCAST, LONG, 1.29, 1.3, false },
	{ SIM_BROADCAST, LONG, 1.11, 1.18, true },
	{ SIM_REDUCE, SHORT, 1.13, 1.15, false },
	{ SIM_REDUCE, LONG, 1.32, 1.34, false },
	{ SIM_REDUCE, LONG, 1.11, 1.26, true },
	{ SIM_ALLREDUCE, SHORT, 1.28, 1.29, false },
	{ SIM_ALLREDUCE, LONG, 1.21, 1.5, false },
	{ SIM_SCATTER, SHORT, 1.14, 1.18, false },
	{ SIM_SCATTER, LONG, 1.05, 1.05, false },
	{ SIM_GATHER, SHORT, 1.14, 1.2, false },
	{ SIM_GATHER, LONG, 1.05, 1.3, false },
	{ SIM_SHIFT, SHORT, 1.05, 1.05, false },
	{ SIM_SHIFT, LONG, 1.05, 1.05, false },
	{ SIM_ALLTOALL, SHORT, 1.28, 1.9, false },
	{ SIM_ALLTOALL, LONG, 1.06, 1.06, false },
};

static void hold(const struct sim_machine *machine, unsigned i)
{
	struct loggp_world *world = loggp_open(machine);
	enum sim_operation operation = ceilings[i].operation;
	size_t length = ceilings[i].length;
	double ceiling =
		machine->ranks == 1 ? ceilings[i].one : ceilings[i].four;
	double bound = ceilings[i].pieces
			       ? sim_bound_pieces(machine, length)
			       : sim_bound(machine, operation, length);
	double ratio = loggp_time(world, operation, length) / bound;

	ck_assert_msg(ratio <= ceiling,
		      "operation %u, %zu bytes, %u nodes of %u ranks, %s: "
		      "%.3f times the bound, not %.3f",
		      operation, length, machine->nodes, machine->ranks,
		      loggp_algorithm(world, operation, length), ratio,
		      ceiling);
	/* A bound must be below every time. Times are whole ps. */
	ck_assert_msg(ratio > 0.9999,
		      "operation %u, %zu bytes, %u nodes of %u ranks: %.5f",
		      operation, length, machine->nodes, machine->ranks, ratio);
	loggp_close(world);
}

START_TEST(ratios)
{
	unsigned i;

	for (i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		struct sim_machine machine = dawning;

		machine.nodes = nodes[i];
		machine.ranks = 1;
		hold(&machine, _i);
		machine.ranks = MOST_RANKS;
		hold(&machine, _i);
	}
}
END_TEST

/*
 * Many nodes. The latency between nodes is several times the gap between two
 * messages of a card. The chosen all-to-all must not be much slower than the
 * fastest algorithm.
 */
static const struct sim_machine far = {
	.nodes = 64,
	.ranks = 4,
	.inside = { .latency = 0.06,
		    .send = 0.1,
		    .receive = 0.1,
		    .gap = 0.1,
		    .byte = 0.0001 },
	.between = { .latency = 2.3,
		     .send = 0.4,
		     .receive = 0.1,
		     .gap = 0.4,
		     .byte = 0.00008 },
};

START_TEST(chosen)
{
	static const size_t lengths[LENGTHS] = { 8, 12, 64, 96, 512, 768 };
	const struct bcl_algorithm *algorithm = bcl_alltoall_algorithms;
	struct sim_machine machine = far;
	struct loggp_world *world;
	struct bcl_model model;
	double time, least = 1e9;
	size_t length = lengths[_i % LENGTHS];
	const char *best = NULL, *name;

	machine.ranks = _i < LENGTHS ? 1 : MOST_RANKS;
	world = loggp_open(&machine);
	name = loggp_algorithm(world, SIM_ALLTOALL, length);
	time = loggp_time(world, SIM_ALLTOALL, length);
	bcl_model_init(&model, &world->ranks[0].team);
	for (; algorithm->name; algorithm++) {
		double other;

		/* Skip algorithms that need to know more of the network. */
		if (bcl_algorithm_cost(algorithm, &model, (double)length) ==
			    HUGE_VAL ||
		    !loggp_force(world, SIM_ALLTOALL, algorithm->name))
			continue;
		other = loggp_time(world, SIM_ALLTOALL, length);
		if (other >= least)
			continue;
		least = other;
		best = algorithm->name;
	}
	loggp_close(world);
	ck_assert_msg(time <= 1.2 * least,
		      "%zu bytes, %u ranks a node: %s takes %.1f us, %s %.1f",
		      length, machine.ranks, name, time, best, least);
}
END_TEST

/* The memory of an all-to-all at the leader of a node and at a member, as a
 * multiple of the bytes that a rank sends. */
static const struct {
	const char *name;
	unsigned leader, member;
} buffers[] = {
	{ "bruck", 1, 1 },
	{ "leaders", 2 * MOST_RANKS, 0 },
	{ "leaders_4", 2 * MOST_RANKS, 0 },
	{ "leaders_16", 2 * MOST_RANKS, 0 },
	{ "leaders_32", 2 * MOST_RANKS, 0 },
	{ "multileader_4", 1, 1 },
	{ "multileader_8", 1, 1 },
	{ "multileader_16", 1, 1 },
	{ "leaders_pairs", 2 * MOST_RANKS, 0 },
	{ "columns", 1, 1 },
	{ "columns_4", 1, 1 },
	{ "columns_8", 1, 1 },
	{ "columns_16", 1, 1 },
	{ "pairs", 0, 0 },
};

static size_t scratch_of(const struct loggp_world *world, unsigned rank)
{
	const struct bcl_schedule *schedule = world->ranks[rank].team.idle;
	size_t size = 0;
	unsigned i;

	ck_assert_ptr_null(schedule->next);
	for (i = 0; i < BCL_SCHEDULE_SCRATCH; i++)
		size += schedule->scratch[i].size;
	return size;
}

START_TEST(memory)
{
	struct sim_machine machine = dawning;
	struct loggp_world *world;
	size_t length = 64, one;

	machine.nodes = 16;
	machine.ranks = MOST_RANKS;
	one = machine.nodes * MOST_RANKS * length;
	world = loggp_open(&machine);
	ck_assert(loggp_force(world, SIM_ALLTOALL, buffers[_i].name));
	loggp_time(world, SIM_ALLTOALL, length);
	ck_assert_uint_eq(scratch_of(world, 0), buffers[_i].leader * one);
	ck_assert_uint_eq(scratch_of(world, 1), buffers[_i].member * one);
	loggp_close(world);
}
END_TEST

/* The list above must have all algorithms that several nodes can run: a missing
 * algorithm could take any amount of memory. */
START_TEST(memory_of_all)
{
	const struct bcl_algorithm *algorithm = bcl_alltoall_algorithms;
	unsigned n = 0;

	for (; algorithm->name; algorithm++)
		n += algorithm->build && !(algorithm->needs & BCL_NEEDS_ATTACH);
	ck_assert_uint_eq(n, sizeof(buffers) / sizeof(buffers[0]));
}
END_TEST

/* A second run must take the same time. */
START_TEST(repeatable)
{
	struct sim_machine machine = dawning;
	struct loggp_world *world;
	double time;

	machine.nodes = 8;
	world = loggp_open(&machine);
	time = loggp_time(world, SIM_ALLREDUCE, SHORT);
	ck_assert_double_eq(loggp_time(world, SIM_ALLREDUCE, SHORT), time);
	loggp_close(world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("coll_bounds");
	TCase *tests = tcase_create("ratios");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, ratios, 0,
			    sizeof(ceilings) / sizeof(ceilings[0]));
	tcase_add_loop_test(tests, chosen, 0, 2 * LENGTHS);
	tcase_add_loop_test(tests, memory, 0,
			    sizeof(buffers) / sizeof(buffers[0]));
	tcase_add_test(tests, memory_of_all);
	tcase_add_test(tests, repeatable);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
