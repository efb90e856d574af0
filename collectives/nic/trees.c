/* SPDX-License-Identifier: MIT */
/*
 * The two trees of trees.h: parent, children and height of each member,
 * computed from its number. Used by two_trees.c.
 */
#include "collectives/nic/trees.h"

#include <stdbool.h>

#include "collectives/builders.h"

/*
 * Members 1..n have the places 1..n of a search tree, in order. Places that are
 * multiples of 2^k but not of 2^(k + 1) are k edges above the odd places, with
 * 2^k - 1 places below on either side. Where places would be beyond n, the part
 * of their subtree up to n takes their position.
 *
 *   n = 7       4               n = 6       4
 *           2       6                   2       6
 *         1   3   5   7               1   3   5
 */

static unsigned lowest_bit(unsigned i)
{
	return i & -i;
}

static unsigned top(unsigned n)
{
	return 1u << (31 - __builtin_clz(n));
}

/* The place above; 0: place i is the top. */
static unsigned parent(unsigned n, unsigned i)
{
	unsigned bit = lowest_bit(i);

	if (i == top(n))
		return 0;
	do {
		i = (i & ~bit) | 2 * bit;
		bit *= 2;
	} while (i > n);
	return i;
}

/* The place below on the right; 0: none. */
static unsigned right_child(unsigned n, unsigned i)
{
	unsigned half;

	for (half = lowest_bit(i) / 2; half; half /= 2)
		if (i + half <= n)
			return i + half;
	return 0;
}

/*
 * In the second tree members with an even place in the first have an odd place.
 * If n is odd, the second tree is the first moved on by one. If n is even, a
 * move would leave odd places to both the first and the last member, so the
 * tree is mirrored.
 */
static unsigned place_of(unsigned n, bool second, unsigned member)
{
	if (!second)
		return member;
	return n % 2 ? (member + n - 2) % n + 1 : n + 1 - member;
}

static int member_at(unsigned n, bool second, unsigned place)
{
	if (!place)
		return BCL_TREES_NONE;
	if (!second)
		return (int)place;
	return (int)(n % 2 ? place % n + 1 : n + 1 - place);
}

static struct bcl_tree_place find_place(unsigned n, bool second, unsigned me)
{
	struct bcl_tree_place found = {
		.parent = BCL_TREES_NONE,
		.children = { BCL_TREES_NONE, BCL_TREES_NONE },
	};
	unsigned i, above;

	if (!me) {
		found.children[0] = member_at(n, second, top(n));
		found.height = 1 + bcl_log2_up(top(n));
		return found;
	}
	i = place_of(n, second, me);
	above = parent(n, i);
	found.parent = above ? member_at(n, second, above) : 0;
	found.height = bcl_log2_up(lowest_bit(i));
	if (i % 2)
		return found;
	found.children[0] = member_at(n, second, i - lowest_bit(i) / 2);
	found.children[1] = member_at(n, second, right_child(n, i));
	return found;
}

void bcl_trees_init(struct bcl_trees *plan, unsigned size, unsigned me)
{
	unsigned n = size - 1, i;

	*plan = (struct bcl_trees){
		.trees = n > 1 ? 2 : 1,
		.height = 1 + bcl_log2_up(top(n)),
	};
	for (i = 0; i < 2; i++)
		plan->place[i] = find_place(n, i == 1, me);
}
