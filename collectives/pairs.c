/* SPDX-License-Identifier: MIT */
/*
 * Blocks from everyone to everyone, each by a message of its own. In round k
 * everyone sends to the member k places on, and receives from the one k places
 * before: no two messages of a round have the same end. In node order the links
 * between nodes carry the same number of them, too. Rounds overlap: that of two
 * rounds before must be over.
 */
#include "collectives/builders.h"

struct pairs {
	struct bcl_schedule *schedule;
	const struct bcl_group *group;
	bool by_rank; /* the blocks lie, or else by round */
	const unsigned char *send;
	unsigned char *receive;
	size_t length;
};

static size_t place_of(const struct pairs *pairs, unsigned rank, unsigned k)
{
	return (pairs->by_rank ? rank : k) * pairs->length;
}

static void post(const struct pairs *pairs, unsigned k)
{
	const struct bcl_group *group = pairs->group;
	unsigned n = group->size;
	unsigned from = bcl_group_rank(group, (group->me + n - k) % n);

	bcl_step_lane(pairs->schedule, bcl_round_lane(k));
	bcl_step_receive(pairs->schedule, from,
			 pairs->receive + place_of(pairs, from, k),
			 pairs->length);
	bcl_step_lane(pairs->schedule, 0);
}

void bcl_build_pairs(struct bcl_schedule *schedule,
		     const struct bcl_group *group, const unsigned char *send,
		     unsigned char *receive, size_t length, bool by_rank)
{
	const struct pairs pairs = { schedule, group,	by_rank,
				     send,     receive, length };
	unsigned n = group->size, k;

	for (k = 1; k < n && k < BCL_ROUND_LAG; k++)
		post(&pairs, k);
	for (k = 1; k < n; k++) {
		unsigned to = bcl_group_rank(group, (group->me + k) % n);

		if (k + BCL_ROUND_LAG - 1 < n)
			post(&pairs, k + BCL_ROUND_LAG - 1);
		if (k > BCL_ROUND_LAG)
			bcl_step_await(schedule,
				       bcl_round_lane(k - BCL_ROUND_LAG));
		bcl_step_send(schedule, to, send + place_of(&pairs, to, k),
			      length);
	}
	bcl_step_round(schedule);
}
