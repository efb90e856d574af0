/* SPDX-License-Identifier: MIT */
/*
 * BCL_COLL_FIXED: sums of floating-point numbers must have the same bits on
 * every layout of the same ranks. Without the setting the bits of these numbers
 * differ, or the test could not fail.
 */
#include <math.h>
#include <string.h>

#include "collectives/team.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

enum {
	MOST_RANKS = 9,
	MOST_COUNT = 40000, /* doubles; the longest vectors go around a ring */
	ROOT = 2,
};

static const unsigned sizes[] = { 4, MOST_RANKS };
static const size_t counts[] = { 1, 700, MOST_COUNT };

static unsigned one_node(unsigned rank)
{
	return rank - rank;
}

static unsigned two_nodes(unsigned rank)
{
	return rank / 3 % 2;
}

static unsigned two_in_turn(unsigned rank)
{
	return rank % 2;
}

static unsigned four_nodes(unsigned rank)
{
	return rank / 2 % 4;
}

static unsigned apart(unsigned rank)
{
	return rank;
}

static unsigned (*const layouts[])(unsigned rank) = {
	one_node, two_nodes, two_in_turn, four_nodes, apart,
};

enum {
	LAYOUTS = sizeof(layouts) / sizeof(layouts[0]),
};

/* A number whose sums are rounded differently with other brackets. */
static double number(unsigned rank, size_t i)
{
	uint64_t bits = (rank * 7919 + i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	bits ^= bits >> 29;
	return ldexp((double)(int64_t)bits, (int)(bits % 12));
}

struct run {
	enum bcl_operation operation;
	size_t count;
	bool ordered; /* the operator is not commutative */
	uint64_t hash[MOST_RANKS];
	unsigned failures;
};

static uint64_t hash_of(const double *vector, size_t count)
{
	uint64_t hash = 14695981039346656037u, bits;
	size_t i;

	for (i = 0; i < count; i++) {
		memcpy(&bits, &vector[i], sizeof(bits));
		hash = (hash ^ bits) * 1099511628211u;
		hash ^= hash >> 31;
	}
	return hash;
}

static enum bcl_status combine(struct bcl_team *team, const struct run *run,
			       const double *send, double *receive,
			       const struct bcl_reduction *sum)
{
	switch (run->operation) {
	case BCL_OPERATION_REDUCE:
		return bcl_reduce(team, send, receive, run->count, sum, ROOT);
	case BCL_OPERATION_ALLREDUCE:
		return bcl_allreduce(team, send, receive, run->count, sum);
	case BCL_OPERATION_REDUCE_SCATTER:
		return bcl_reduce_scatter(team, send, receive, run->count, sum);
	case BCL_OPERATION_SCAN:
		return bcl_scan(team, send, receive, run->count, sum);
	default:
		return bcl_exscan(team, send, receive, run->count, sum);
	}
}

static void run_rank(struct bcl_adi *adi, void *arg)
{
	struct bcl_reduction sum = *bcl_reduction(BCL_SUM, BCL_DOUBLE);
	struct run *run = arg;
	struct bcl_team *world;
	double *send, *receive;
	unsigned rank;
	size_t all, i;

	if (bcl_team_world(adi, &world) != BCL_OK) {
		__atomic_add_fetch(&run->failures, 1, __ATOMIC_RELAXED);
		return;
	}
	sum.commutative = !run->ordered;
	rank = bcl_team_rank(world);
	all = run->count * bcl_team_size(world);
	send = malloc(all * sizeof(*send));
	receive = calloc(run->count, sizeof(*receive));
	for (i = 0; i < all; i++)
		send[i] = number(rank, i);
	if (combine(world, run, send, receive, &sum) != BCL_OK)
		__atomic_add_fetch(&run->failures, 1, __ATOMIC_RELAXED);
	run->hash[rank] = hash_of(receive, run->count);
	free(send);
	free(receive);
	bcl_team_free(world);
}

/* Runs the operation on a layout; run->hash tells what the ranks got. */
static void run_layout(struct run *run, unsigned size,
		       unsigned (*host)(unsigned rank), bool fixed)
{
	unsigned hosts[MOST_RANKS], rank;
	const struct mock_options options = {
		.size = size,
		.hosts = hosts,
		.coll_fixed = fixed,
	};
	struct mock_world *world;

	for (rank = 0; rank < size; rank++)
		hosts[rank] = host(rank);
	world = mock_open(&options);
	mock_run(world, run_rank, run);
	mock_close(world);
	ck_assert_uint_eq(run->failures, 0);
}

/* The number of layouts whose bits are not those of the first layout. */
static unsigned differing(enum bcl_operation operation, unsigned size,
			  size_t count, bool ordered, bool fixed)
{
	struct run first = { 0 }, other;
	unsigned i, differ = 0;

	first.operation = operation;
	first.count = count;
	first.ordered = ordered;
	other = first;
	run_layout(&first, size, layouts[0], fixed);
	for (i = 1; i < LAYOUTS; i++) {
		run_layout(&other, size, layouts[i], fixed);
		differ +=
			memcmp(first.hash, other.hash, sizeof(first.hash)) != 0;
	}
	return differ;
}

static const enum bcl_operation operations[] = {
	BCL_OPERATION_REDUCE,	      BCL_OPERATION_ALLREDUCE,
	BCL_OPERATION_REDUCE_SCATTER, BCL_OPERATION_SCAN,
	BCL_OPERATION_EXSCAN,
};

START_TEST(same_bits_on_every_layout)
{
	unsigned i, k, ordered;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
			for (ordered = 0; ordered < 2; ordered++)
				ck_assert_msg(
					!differing(operations[_i], sizes[i],
						   counts[k], ordered, true),
					"%s of %zu doubles by %u ranks, "
					"ordered %u",
					bcl_operation_names[operations[_i]],
					counts[k], sizes[i], ordered);
}
END_TEST

/* The numbers must be able to tell: with the model's choices they do. */
START_TEST(other_bits_without_the_setting)
{
	unsigned k;

	for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
		ck_assert_uint_gt(differing(operations[_i], MOST_RANKS,
					    counts[k], false, false),
				  0);
}
END_TEST

static void check_choices(struct bcl_adi *adi, void *arg)
{
	bool *fixed = arg;
	struct bcl_team *world;
	unsigned i, size;

	if (bcl_team_world(adi, &world) != BCL_OK)
		return;
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		for (size = 0; size < BCL_CHOICE_SIZES; size++)
			if (!(bcl_choice(&world->choices, operations[i], false,
					 bcl_choice_longest(size))
				      ->needs &
			      BCL_FIXED_ORDER))
				*fixed = false;
	if (strcmp(bcl_choice(&world->choices, BCL_OPERATION_ALLREDUCE, false,
			      8)
			   ->name,
		   "ring_by_rank") ||
	    strcmp(bcl_choice(&world->choices, BCL_OPERATION_GATHER, false, 8)
			   ->name,
		   "direct"))
		*fixed = false;
	bcl_team_free(world);
}

/* BCL_COLL must not bring back an algorithm whose order depends on the layout,
 * but it may choose among the others. */
START_TEST(fixed_before_preferred)
{
	const struct mock_options options = {
		.size = 1,
		.coll = "reduce:tree,allreduce:ring_by_rank,gather:direct",
		.coll_fixed = true,
	};
	struct mock_world *world = mock_open(&options);
	bool fixed = true;

	mock_run(world, check_choices, &fixed);
	mock_close(world);
	ck_assert(fixed);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("coll_fixed");
	TCase *tests = tcase_create("layouts");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, same_bits_on_every_layout, 0,
			    sizeof(operations) / sizeof(operations[0]));
	/* of reduce and allreduce */
	tcase_add_loop_test(tests, other_bits_without_the_setting, 0, 2);
	tcase_add_test(tests, fixed_before_preferred);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
