/* SPDX-License-Identifier: MIT */
/*
 * All members hear from all members, with several messages in flight: see
 * dissemination.h. The number of messages and the distance of each are computed
 * here.
 *
 * With `ahead` = 2 and 8 members, message i goes known[i] places on and tells
 * of known[i + 1] - known[i] members:
 *
 *   i             0   1   2   3   4
 *   known[i]      1   2   3   5   8 = all
 *   told          1   1   2   3
 */
#include "collectives/dissemination.h"

#include "collectives/builders.h"

void bcl_dissemination_init(struct bcl_dissemination *plan, unsigned size,
			    unsigned ahead)
{
	unsigned i = 0, *known = plan->known;

	bcl_assert(ahead && ahead <= BCL_DISSEMINATION_AHEAD);
	known[0] = 1;
	for (; known[i] < size; i++) {
		unsigned told = i < ahead ? 1 : known[i + 1 - ahead];

		known[i + 1] = known[i] +
			       (unsigned)bcl_min_size(told, size - known[i]);
	}
	plan->size = size;
	plan->ahead = ahead;
	plan->messages = i;
}

void bcl_dissemination_step(struct bcl_schedule *schedule,
			    const struct bcl_dissemination *plan, unsigned i,
			    unsigned to, const void *send, size_t sent,
			    unsigned from, void *receive, size_t received)
{
	/* Message i - ahead used the same lane, so its receive is awaited
	 * first. */
	unsigned lane = 1 + i % plan->ahead;

	bcl_step_await(schedule, lane);
	bcl_step_send(schedule, to, send, sent);
	bcl_step_lane(schedule, lane);
	bcl_step_receive(schedule, from, receive, received);
	bcl_step_lane(schedule, 0);
}
