/* SPDX-License-Identifier: MIT */
#include "collectives/postal.h"

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

	plan->parent = 0;
	plan->end = size;
	plan->children = 0;
	while (end - begin > 1) {
		unsigned child;

		while (known[steps - 1] >= end - begin)
			steps--;
		/* Who goes on at once keeps as many as it has time for. */
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
