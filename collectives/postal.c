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

	*plan = (struct bcl_postal){ .end = size };
	while (end - begin > 1) {
		uint64_t told;
		unsigned child;

		while (known[steps - 1] >= end - begin)
			steps--;
		/* The same part as of a full tree: neither is too large then
		 * for the time it has. */
		told = (end - begin) * known[steps - ahead] / known[steps];
		child = end - (told ? (unsigned)told : 1);
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
