/* SPDX-License-Identifier: MIT */
/*
 * A tree for messages that take longer than it takes to send the next one: by
 * whoever has been told, somebody is told every step, and hears of it `ahead`
 * steps later. So n(t) = n(t - 1) + n(t - ahead) members know after t steps,
 * and nothing is faster: A. Bar-Noy, S. Kipnis, "Designing broadcasting
 * algorithms in the postal model for message-passing systems", Mathematical
 * Systems Theory 27 (1994); R. Karp et al., "Optimal broadcast and summation in
 * the LogP model", SPAA 1993. With ahead = 1 it is the binomial tree.
 *
 * Subtrees are of members that follow one another. Who is told first has most
 * to pass on, and the last members; so who answers first, if the tree is gone
 * through backwards, is next to its parent.
 */
#ifndef BCL_COLLECTIVES_POSTAL_H
#define BCL_COLLECTIVES_POSTAL_H

#include <stdint.h>

enum {
	BCL_POSTAL_AHEAD = 8,	/* at most */
	BCL_POSTAL_STEPS = 128, /* among up to 2^32 members */
};

/* What a member does; the root is member 0. */
struct bcl_postal {
	unsigned parent; /* the root's is itself */
	unsigned end;	 /* of its subtree, which begins with it */
	unsigned children;
	unsigned child[BCL_POSTAL_STEPS]; /* as they are told */
};

void bcl_postal_init(struct bcl_postal *plan, unsigned size, unsigned me,
		     unsigned ahead);

/* Where the subtree of a child ends. */
static inline unsigned bcl_postal_end(const struct bcl_postal *plan,
				      unsigned child)
{
	return child ? plan->child[child - 1] : plan->end;
}

/* How many members know after 0, 1, ... steps; returns after how many steps
 * `size` do. */
unsigned bcl_postal_growth(uint64_t known[BCL_POSTAL_STEPS + 1], unsigned size,
			   unsigned ahead);

#endif
