/* SPDX-License-Identifier: MIT */
#include "collectives/trees.h"

#include <stdbool.h>

#include "collectives/builders.h"

/*
 * Members 1..n have the places 1..n of a search tree, in order: of those that
 * are multiples of 2^k and no more, which are k edges above the odd ones, each
 * has 2^k - 1 places behind it on either side. Of what would be beyond n only
 * the part below it is there.
 */

static unsigned lowest_bit(unsigned i)
{
	return i & -i;
}

static unsigned top(unsigned n)
{
	return 1u << (31 - __builtin_clz(n));
}

/* 0: none */
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

static unsigned right_child(unsigned n, unsigned i)
{
	unsigned half;

	for (half = lowest_bit(i) / 2; half; half /= 2)
		if (i + half <= n)
			return i + half;
	return 0;
}

/*
 * The second tree has the odd places for those who have even ones in the first:
 * it is the first one moved on by one or, if there is an even number, where the
 * first and the last would both be odd, turned round.
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

static struct bcl_tree_place find(unsigned n, bool second, unsigned me)
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
		plan->place[i] = find(n, i == 1, me);
}
