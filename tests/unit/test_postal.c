/* SPDX-License-Identifier: MIT */
/*
 * Every member must be in the tree, each subtree must consist of consecutive
 * members, all members must compute the same tree, and no tree may be faster.
 */
#include "collectives/builders.h"
#include "collectives/postal.h"
#include "tests/unit/need.h"
#include "tests/unit/unit.h"

enum {
	MEMBERS = 400,
};

static struct bcl_postal plans[MEMBERS];

/* The step at which the last member of the subtree of `me` knows, if `me` knows
 * at step `now`. The children divide the members behind their parent. */
static unsigned visit(unsigned me, unsigned now, unsigned ahead)
{
	const struct bcl_postal *plan = &plans[me];
	unsigned last = now, end = plan->end, i;

	need(end > me);
	for (i = 0; i < plan->children; i++) {
		unsigned child = plan->child[i], at;

		need(child > me);
		need(child < end);
		need_equal(bcl_postal_end(plan, i), end);
		need_equal(plans[child].parent, me);
		need_equal(plans[child].end, end);
		at = visit(child, now + i + ahead, ahead);
		if (last < at)
			last = at;
		end = child;
	}
	need_equal(end, me + 1);
	return last;
}

/* How many members can know after `steps` steps: all members that knew one step
 * before, and one more for each member that knew `ahead` steps before. */
static unsigned most(unsigned steps, unsigned ahead)
{
	if (steps < ahead)
		return 1;
	return most(steps - 1, ahead) + most(steps - ahead, ahead);
}

START_TEST(as_fast_as_any)
{
	unsigned size = (unsigned)_i, ahead, i, steps;

	for (ahead = 1; ahead <= BCL_POSTAL_AHEAD; ahead++) {
		for (i = 0; i < size; i++)
			bcl_postal_init(&plans[i], size, i, ahead);
		need_equal(plans[0].parent, 0);
		need_equal(plans[0].end, size);
		steps = visit(0, 0, ahead);
		need(most(steps, ahead) >= size);
		if (steps)
			need(most(steps - 1, ahead) < size);
	}
}
END_TEST

/* Known numbers: powers of two, Fibonacci's, Narayana's cows. */
START_TEST(growth)
{
	uint64_t known[BCL_POSTAL_STEPS + 1];

	need_equal(bcl_postal_growth(known, 1, 4), 0);
	need_equal(bcl_postal_growth(known, 1024, 1), 10);
	need_equal(bcl_postal_growth(known, 1025, 1), 11);
	need_equal(bcl_postal_growth(known, 89, 2), 10);
	need_equal(bcl_postal_growth(known, 90, 2), 11);
	need_equal(bcl_postal_growth(known, 60, 3), 12);
	need_equal(bcl_postal_growth(known, 61, 3), 13);
	need(bcl_postal_growth(known, UINT32_MAX, BCL_POSTAL_AHEAD) <=
	     BCL_POSTAL_STEPS);
}
END_TEST

/* With one step ahead, a parent's number is the number of the child without the
 * lowest bit, for any number of members. */
START_TEST(binomial)
{
	unsigned i;

	for (i = 0; i < 200; i++) {
		bcl_postal_init(&plans[i], 200, i, 1);
		need_equal(plans[i].parent, i & (i - 1));
	}
}
END_TEST

/* A member needs no table of all members, even with the most possible
 * members. */
START_TEST(many)
{
	unsigned ahead, i, n;

	for (ahead = 1; ahead <= BCL_POSTAL_AHEAD; ahead++) {
		n = 0;
		/* Go along the children that are told first, to a leaf. */
		for (i = 0; n < BCL_POSTAL_STEPS; i = plans[0].child[0], n++) {
			bcl_postal_init(&plans[0], UINT32_MAX, i, ahead);
			if (!plans[0].children)
				break;
			bcl_postal_init(&plans[1], UINT32_MAX,
					plans[0].child[0], ahead);
			need_equal(plans[1].parent, i);
			need_equal(plans[1].end, plans[0].end);
		}
		need_equal(i, UINT32_MAX - 1);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("postal");
	TCase *tests = tcase_create("tree");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, as_fast_as_any, 1, MEMBERS + 1);
	tcase_add_test(tests, growth);
	tcase_add_test(tests, binomial);
	tcase_add_test(tests, many);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
