/* SPDX-License-Identifier: MIT */
/*
 * Everyone to hear from everyone, where messages take longer than it takes to
 * send the next one: each has up to `ahead` messages on their way. All send
 * in the same pattern: message i goes to the member known[i] places on, which
 * by then knows of itself and the known[i] - 1 members before it, and tells it
 * of what the sender knew when message i - ahead had come. With ahead = 1 the
 * number doubles with each message; in general it grows as in the optimal
 * broadcast, A. Bar-Noy, S. Kipnis, "Designing broadcasting algorithms in the
 * postal model for message-passing systems", SPAA 1992, of which each member
 * is the root of one.
 */
#ifndef BCL_COLLECTIVES_DISSEMINATION_H
#define BCL_COLLECTIVES_DISSEMINATION_H

#include "collectives/schedule.h"

enum {
	BCL_DISSEMINATION_AHEAD = 8,	  /* at most */
	BCL_DISSEMINATION_MESSAGES = 128, /* among up to 2^32 members */
};

struct bcl_dissemination {
	unsigned size, ahead;
	unsigned messages; /* that each sends, and gets */
	/* Of how many members, with itself, each knows before message i. */
	unsigned known[BCL_DISSEMINATION_MESSAGES + 1];
};

void bcl_dissemination_init(struct bcl_dissemination *plan, unsigned size,
			    unsigned ahead);

/* Of how many members message i tells that its receiver does not know of. */
static inline unsigned
bcl_dissemination_told(const struct bcl_dissemination *plan, unsigned i)
{
	return plan->known[i + 1] - plan->known[i];
}

/* Add message i, after the one that must have come before. The last steps
 * that were added are not waited for: a round ends with them. */
void bcl_dissemination_step(struct bcl_schedule *schedule,
			    const struct bcl_dissemination *plan, unsigned i,
			    unsigned to, const void *send, size_t sent,
			    unsigned from, void *receive, size_t received);

#endif
