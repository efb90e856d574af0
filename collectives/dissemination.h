/* SPDX-License-Identifier: MIT */
/*
 * Dissemination: every member hears from every member, for messages that take
 * longer than the sender needs to send the next one. Each member has up to
 * `ahead` messages in flight. All members send in the same pattern. Message i
 * goes to the member known[i] places on (or before, as the caller chooses). By
 * then that member knows of itself and the known[i] - 1 members next to it. The
 * message carries the sender's knowledge after message i - ahead arrived. With
 * ahead = 1 the knowledge doubles with each message. In general it grows as in
 * the optimal broadcast, with each member as the root of one: A. Bar-Noy, S.
 * Kipnis, "Designing broadcasting algorithms in the postal model for
 * message-passing systems", SPAA 1992.
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
	unsigned messages; /* that each member sends, and receives */
	/* members, itself included, of which each member knows before
	 * message i */
	unsigned known[BCL_DISSEMINATION_MESSAGES + 1];
};

void bcl_dissemination_init(struct bcl_dissemination *plan, unsigned size,
			    unsigned ahead);

/* The number of members that message i tells its receiver about for the first
 * time. */
static inline unsigned
bcl_dissemination_told(const struct bcl_dissemination *plan, unsigned i)
{
	return plan->known[i + 1] - plan->known[i];
}

/* Add message i; it waits for the arrival of message i - ahead. The last
 * messages are waited for only when the caller ends the round. */
void bcl_dissemination_step(struct bcl_schedule *schedule,
			    const struct bcl_dissemination *plan, unsigned i,
			    unsigned to, const void *send, size_t sent,
			    unsigned from, void *receive, size_t received);

#endif
