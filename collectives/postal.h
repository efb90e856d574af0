/* SPDX-License-Identifier: MIT */
/*
 * A broadcast tree for messages that take longer than the sender needs to send
 * the next one. In each step every member that has the message sends it to a
 * new member, which receives it `ahead` steps later. So n(t) = n(t - 1) +
 * n(t - ahead) members have the message after t steps, and no algorithm is
 * faster: A. Bar-Noy, S. Kipnis, "Designing broadcasting algorithms in the
 * postal model for message-passing systems", Mathematical Systems Theory 27
 * (1994); R. Karp et al., "Optimal broadcast and summation in the LogP model",
 * SPAA 1993. With ahead = 1 the tree is the binomial tree.
 *
 * The members of a subtree follow one another. The first child of a member gets
 * the last members and, in a full tree, the largest subtree. The last child is
 * next to its parent, and answers first if the tree is run backwards, as a
 * reduction.
 */
#ifndef BCL_COLLECTIVES_POSTAL_H
#define BCL_COLLECTIVES_POSTAL_H

#include <stdint.h>

enum {
	BCL_POSTAL_AHEAD = 8,	/* at most */
	BCL_POSTAL_STEPS = 128, /* among up to 2^32 members */
};

/* The place of a member in the tree; the root is member 0. */
struct bcl_postal {
	unsigned parent; /* the root's parent is the root */
	unsigned end; /* end of the own subtree, which begins with the member */
	unsigned children;
	unsigned child[BCL_POSTAL_STEPS]; /* in the order of sending */
};

void bcl_postal_init(struct bcl_postal *plan, unsigned size, unsigned me,
		     unsigned ahead);

/* The end of the subtree of child[child]. */
static inline unsigned bcl_postal_end(const struct bcl_postal *plan,
				      unsigned child)
{
	return child ? plan->child[child - 1] : plan->end;
}

/* known[t]: the number of members that have the message after t steps. Returns
 * the number of steps after which `size` members have it. */
unsigned bcl_postal_growth(uint64_t known[BCL_POSTAL_STEPS + 1], unsigned size,
			   unsigned ahead);

#endif
