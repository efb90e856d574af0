/* SPDX-License-Identifier: MIT */
/* Every algorithm of every operation, over the mock. */
#include "collectives/team.h"
#include "tests/unit/coll_cases.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

/* Lengths: empty, in a flag line, in a chunk, in several chunks and
 * messages. */
static const size_t lengths[] = { 1, 25, 40003, 0, 8, 1001 };

enum {
	NLENGTHS = sizeof(lengths) / sizeof(lengths[0]),
	FEW_LENGTHS = 3,
	MOST_RANKS = 17,
	MOST = 33, /* ranks of 11 nodes of three */
};

/* Node of a rank in topologies of up to MOST_RANKS ranks. */
struct shape {
	const char *name;
	unsigned (*host)(unsigned rank, unsigned size);
};

static unsigned one_node(unsigned rank, unsigned size)
{
	(void)rank;
	(void)size;
	return 0;
}

static unsigned two_even(unsigned rank, unsigned size)
{
	return rank >= size / 2;
}

static unsigned two_uneven(unsigned rank, unsigned size)
{
	return rank + 1 >= size;
}

static unsigned apart(unsigned rank, unsigned size)
{
	(void)size;
	return rank;
}

static unsigned scattered(unsigned rank, unsigned size)
{
	(void)size;
	return rank * 5 % 3;
}

static const struct shape shapes[] = {
	{ "one node", one_node },     { "scattered", scattered },
	{ "each its own", apart },    { "two even", two_even },
	{ "two uneven", two_uneven },
};

enum {
	NSHAPES = UNIT_SLOW ? 2 : sizeof(shapes) / sizeof(shapes[0]),
};

struct plan {
	enum bcl_operation operation;
	bool all; /* every algorithm, not only the chosen algorithm */
	const size_t *lengths;
	unsigned nlengths;
	atomic_uint failures;
};

static void run_plan(struct bcl_adi *adi, void *arg)
{
	struct plan *plan = arg;
	struct bcl_team *world;
	unsigned i, failures = 0;

	if (bcl_team_world(adi, &world) != BCL_OK) {
		plan->failures++;
		return;
	}
	for (i = 0; i < plan->nlengths; i++)
		failures += plan->all ? cases_run_all(world, plan->operation,
						      plan->lengths[i])
				      : cases_run(world, plan->operation,
						  plan->lengths[i]);
	bcl_team_free(world);
	plan->failures += failures;
}

static void run_world(struct plan *plan, unsigned size,
		      const struct shape *shape, bool synchronous, bool private)
{
	unsigned hosts[MOST], rank;
	struct mock_options options = {
		.size = size,
		.hosts = hosts,
		.synchronous = synchronous,
		.private = private,
	};
	struct mock_world *world;

	for (rank = 0; rank < size; rank++)
		hosts[rank] = shape->host(rank, size);
	world = mock_open(&options);
	mock_run(world, run_plan, plan);
	ck_assert_msg(plan->failures == 0,
		      "%s: %u ranks, %s, synchronous %d, private %d",
		      bcl_operation_names[plan->operation], size, shape->name,
		      synchronous, private);
	ck_assert_uint_eq(mock_left_over(world), 0);
	mock_close(world);
}

/* The step to the next size: 1 in the long tier, `step` where time is short. */
static unsigned next_size(unsigned step)
{
	return tier_long() && !UNIT_SLOW ? 1 : step;
}

/* Sizes 1 to 9, or 1, 2, 3, 5, 8; under a sanitizer 2, 5, 8. */
START_TEST(every_algorithm)
{
	unsigned size, shape;

	for (size = UNIT_SLOW ? 2 : 1; size <= 9;
	     size += next_size(UNIT_SLOW ? 3 : (size + 1) / 2))
		for (shape = 0; shape < NSHAPES; shape++) {
			struct plan plan = {
				.operation = (enum bcl_operation)_i,
				.all = true,
				.lengths = lengths,
				.nlengths = !UNIT_SLOW && size < 5
						    ? NLENGTHS
						    : FEW_LENGTHS,
			};

			run_world(&plan, size, &shapes[shape], size % 2, false);
		}
}
END_TEST

struct mixture {
	unsigned seed, n;
	atomic_uint failures;
};

static void run_mixture(struct bcl_adi *adi, void *arg)
{
	struct mixture *mixture = arg;
	struct bcl_team *world;

	if (bcl_team_world(adi, &world) != BCL_OK) {
		mixture->failures++;
		return;
	}
	mixture->failures += cases_mixed(world, mixture->seed, mixture->n);
	bcl_team_free(world);
}

START_TEST(mixed)
{
	const char *wanted = getenv("SEED");
	unsigned seed = wanted ? (unsigned)strtoul(wanted, NULL, 0)
			       : (unsigned)time(NULL);
	unsigned size, shape;

	printf("SEED=%u\n", seed);
	for (size = 2; size <= 9; size += 1 + size / 3)
		for (shape = 0; shape < NSHAPES; shape++) {
			struct mixture mixture = { .seed = seed, .n = 60 };
			unsigned hosts[MOST_RANKS], rank;
			struct mock_options options = {
				.size = size,
				.hosts = hosts,
				.synchronous = size % 2,
			};
			struct mock_world *world;

			for (rank = 0; rank < size; rank++)
				hosts[rank] = shapes[shape].host(rank, size);
			world = mock_open(&options);
			mock_run(world, run_mixture, &mixture);
			ck_assert_uint_eq(mixture.failures, 0);
			ck_assert_uint_eq(mock_left_over(world), 0);
			mock_close(world);
		}
}
END_TEST

START_TEST(without_segment)
{
	unsigned size, shape;

	for (size = UNIT_SLOW ? 3 : 2; size <= 5; size += UNIT_SLOW ? 9 : 1)
		for (shape = 0; shape < NSHAPES; shape++) {
			struct plan plan = {
				.operation = (enum bcl_operation)_i,
				.all = true,
				.lengths = (const size_t[]){ 9, 3000 },
				.nlengths = 2,
			};

			run_world(&plan, size, &shapes[shape], true, true);
		}
}
END_TEST

START_TEST(many_ranks)
{
	unsigned size, shape;

	for (size = UNIT_SLOW ? 13 : 10; size <= MOST_RANKS;
	     size += next_size(UNIT_SLOW ? 9 : 3))
		for (shape = 0; shape < NSHAPES; shape++) {
			struct plan plan = {
				.operation = (enum bcl_operation)_i,
				.all = size == 13 || size == 16,
				.lengths = (const size_t[]){ 8, 70001 },
				.nlengths = plan.all ? 1 : 2,
			};

			run_world(&plan, size, &shapes[shape], true, false);
		}
}
END_TEST

static unsigned in_pairs(unsigned rank, unsigned size)
{
	(void)size;
	return rank / 2;
}

static unsigned in_threes(unsigned rank, unsigned size)
{
	return rank % (size / 3);
}

static unsigned in_fives(unsigned rank, unsigned size)
{
	(void)size;
	return rank / 5;
}

/* 11 nodes: the second of two shares of 16 values has more than the first. 6
 * nodes with digits of four values: only two shares have far blocks. Nodes of
 * five members: one member has no share. */
START_TEST(shares_differ)
{
	static const struct {
		struct shape shape;
		unsigned size;
	} nodes[] = {
		{ { "in pairs", in_pairs }, 22 },
		{ { "in threes", in_threes }, MOST },
		{ { "in fives", in_fives }, 30 },
	};
	struct plan plan = {
		.operation = BCL_OPERATION_ALLTOALL,
		.all = true,
		.lengths = (const size_t[]){ 8, 100 },
		.nlengths = 2,
	};

	run_world(&plan, nodes[_i].size, &nodes[_i].shape, false, false);
}
END_TEST

/* ---- sequences of operations in a segment -------------------------------- */

enum turn {
	ALL_WRITE,
	FIRST_WRITES,
	LAST_WRITES,
	OTHERS_WRITE,
	CHAIN, /* where there are two nodes */
	TURNS,
};

static enum bcl_status start_turn(struct bcl_team *team, enum turn turn,
				  size_t length,
				  struct bcl_adi_request **request)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT8);
	static _Thread_local unsigned char in[2000], out[3 * 2000];
	unsigned last = bcl_team_size(team) - 1;

	switch (turn) {
	case FIRST_WRITES:
		return request ? bcl_ibroadcast(team, out, length, 0, request)
			       : bcl_broadcast(team, out, length, 0);
	case LAST_WRITES:
		return request ? bcl_ibroadcast(team, out, length, last,
						request)
			       : bcl_broadcast(team, out, length, last);
	case OTHERS_WRITE:
		return request ? bcl_igather(team, in, length, out, 0, request)
			       : bcl_gather(team, in, length, out, 0);
	case CHAIN:
		return request ? bcl_ireduce(team, in, out, length, sum, 0,
					     request)
			       : bcl_reduce(team, in, out, length, sum, 0);
	default:
		return request ? bcl_iallreduce(team, in, out, length, sum,
						request)
			       : bcl_allreduce(team, in, out, length, sum);
	}
}

/* Turn k of 4 of sequence i. */
static enum turn turn_of(unsigned i, unsigned k)
{
	while (k-- > 0)
		i /= TURNS;
	return (enum turn)(i % TURNS);
}

static enum bcl_status take_turn(struct bcl_team *team, enum turn turn,
				 size_t length, bool in_background)
{
	struct bcl_adi_request *request;
	enum bcl_status status;

	if (!in_background)
		return start_turn(team, turn, length, NULL);
	status = start_turn(team, turn, length, &request);
	return status == BCL_OK ? bcl_adi_wait(team->adi, &request, NULL)
				: status;
}

static void run_turns(struct bcl_adi *adi, void *arg)
{
	static const size_t turn_lengths[] = { 8, 1001 };
	atomic_uint *failures = arg;
	struct bcl_team *world;
	unsigned i, k, n = TURNS * TURNS * TURNS * TURNS;
	bool chain;

	if (bcl_team_world(adi, &world) != BCL_OK) {
		++*failures;
		return;
	}
	chain = bcl_team_force(world, BCL_OPERATION_REDUCE, "pipeline") ==
		BCL_OK;
	if (chain != (bcl_team_size(world) > 3))
		++*failures;
	for (k = 0; k < 2; k++)
		for (i = 0; i < 4 * n; i++)
			if (take_turn(world, turn_of(i / 4, i % 4),
				      turn_lengths[k],
				      (bcl_team_rank(world) + i / 3) % 5 == 0))
				++*failures;
	bcl_team_free(world);
}

/*
 * All sequences of four operations in which different members write. Now and
 * then a member starts an operation in the background while the other members
 * call the blocking form.
 */
START_TEST(turns_in_a_segment)
{
	unsigned size;

	for (size = 2; size <= 4; size++) {
		const unsigned hosts[] = { 0, 0, 0, 1 };
		struct mock_options options = { .size = size, .hosts = hosts };
		struct mock_world *world = mock_open(&options);
		atomic_uint failures = 0;

		mock_run(world, run_turns, &failures);
		ck_assert_uint_eq(failures, 0);
		mock_close(world);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("collectives");
	TCase *tests = tcase_create("cases");

	tcase_set_timeout(tests, 250);
	tcase_add_loop_test(tests, every_algorithm, 0, BCL_OPERATIONS);
	tcase_add_test(tests, mixed);
	tcase_add_test(tests, turns_in_a_segment);
	tcase_add_loop_test(tests, without_segment, 0, BCL_OPERATIONS);
	tcase_add_loop_test(tests, many_ranks, 0, BCL_OPERATIONS);
	tcase_add_loop_test(tests, shares_differ, 0, 3);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
