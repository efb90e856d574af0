/* SPDX-License-Identifier: MIT */
/*
 * Trees of the postal model, see postal.h. Used by broadcast, reduce, gather,
 * scatter and by the cost model. With 8 members and `ahead` = 2 a message takes
 * two steps, and all members have it after five:
 *
 *   in step                            1  2  3  4
 *   member 0 sends to                  5  3  2  1
 *   member 5, told after step 2              7  6
 *   member 3, told after step 3                 4
 */
#include "collectives/postal.h"

#include "base/base.h"

unsigned bcl_postal_growth(uint64_t known[BCL_POSTAL_STEPS + 1], unsigned size,
			   unsigned ahead)
{
	unsigned t = 0;

	known[0] = 1;
	while (known[t] < size) {
		t++;
		known[t] = known[t - 1] + (t < ahead ? 0 : known[t - ahead]);
	}
	return t;
}

void bcl_postal_init(struct bcl_postal *plan, unsigned size, unsigned me,
		     unsigned ahead)
{
	uint64_t known[BCL_POSTAL_STEPS + 1];
	unsigned steps = bcl_postal_growth(known, size, ahead);
	unsigned begin = 0, end = size; /* of the subtree of `begin` */

	bcl_assert(me < size && ahead && ahead <= BCL_POSTAL_AHEAD);
	plan->parent = 0;
	plan->end = size;
	plan->children = 0;
	while (end - begin > 1) {
		unsigned child;

		while (known[steps - 1] >= end - begin)
			steps--;
		/* The parent sends again in the next step. So it keeps as many
		 * members as it can reach in the remaining steps, and the child
		 * gets the others. */
		child = begin + (unsigned)known[steps - 1];
		if (me >= child) {
			plan->parent = begin;
			plan->end = end;
			begin = child;
			steps -= ahead;
			plan->children = 0;
			continue;
		}
		plan->child[plan->children++] = child;
		end = child;
		steps--;
	}
}
