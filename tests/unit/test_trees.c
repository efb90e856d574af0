/* SPDX-License-Identifier: MIT */
/* Every member must be in both trees and pass data on in at most one tree, and
 * few edges may lead over a border between members. */
#include <stdbool.h>

#include "collectives/builders.h"
#include "collectives/nic/trees.h"
#include "tests/unit/unit.h"

enum {
	MEMBERS = 260,
};

static struct bcl_trees plans[MEMBERS];

/* Visit every member below a member. Returns the edges down to the lowest. */
static unsigned visit(unsigned tree, unsigned member, bool *seen)
{
	const struct bcl_tree_place *place = &plans[member].place[tree];
	unsigned height = 0, child, below;

	ck_assert(!seen[member]);
	seen[member] = true;
	for (child = 0; child < 2; child++) {
		int at = place->children[child];

		if (at == BCL_TREES_NONE)
			continue;
		ck_assert_int_eq(plans[at].place[tree].parent, (int)member);
		below = 1 + visit(tree, (unsigned)at, seen);
		if (height < below)
			height = below;
	}
	ck_assert_uint_le(height, place->height);
	return height;
}

static unsigned edges_over(unsigned tree, unsigned size, unsigned border)
{
	unsigned n = 0, i;

	for (i = 1; i < size; i++)
		n += (i < border) !=
		     ((unsigned)plans[i].place[tree].parent < border);
	return n;
}

START_TEST(shape)
{
	unsigned size = (unsigned)_i, i, tree, border;

	for (i = 0; i < size; i++) {
		bcl_trees_init(&plans[i], size, i);
		ck_assert_uint_eq(plans[i].trees, size > 2 ? 2 : 1);
	}
	for (tree = 0; tree < plans[0].trees; tree++) {
		bool seen[MEMBERS] = { false };

		ck_assert_int_eq(plans[0].place[tree].parent, BCL_TREES_NONE);
		ck_assert_int_eq(plans[0].place[tree].children[1],
				 BCL_TREES_NONE);
		ck_assert_uint_le(visit(tree, 0, seen), plans[0].height);
		for (i = 0; i < size; i++)
			ck_assert(seen[i]);
		/* Edges along one path, the root's edge, and the edge that was
		 * moved round. */
		for (border = 1; border < size; border++)
			ck_assert_uint_le(edges_over(tree, size, border),
					  bcl_log2_up(size) + 2);
	}
	ck_assert_uint_eq(plans[0].height, bcl_log2_up(size));
	for (i = 1; i < size && plans[0].trees == 2; i++) {
		ck_assert(!plans[i].place[0].height ||
			  !plans[i].place[1].height);
		/* or the parent would be granted the same window twice */
		ck_assert(plans[i].place[0].parent != plans[i].place[1].parent);
	}
}
END_TEST

/* Members are numbered along switches, so that few edges cross a border between
 * switches. */
START_TEST(switches)
{
	unsigned i;

	for (i = 0; i < 64; i++)
		bcl_trees_init(&plans[i], 64, i);
	for (i = 16; i < 64; i += 16) {
		ck_assert_uint_le(edges_over(0, 64, i), 3);
		ck_assert_uint_le(edges_over(1, 64, i), 5);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trees");
	TCase *tests = tcase_create("trees");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, shape, 2, MEMBERS);
	tcase_add_test(tests, switches);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
