/* SPDX-License-Identifier: MIT */
/*
 * Gather and scatter by one message between the root and each other member.
 * Both have the same steps, with the direction reversed.
 */
#include "collectives/builders.h"

enum {
	AT_A_TIME = 32, /* messages that the root has in flight */
};

static void move_block(struct bcl_schedule *schedule, unsigned rank,
		       void *block, size_t length, bool sends)
{
	if (sends)
		bcl_step_send(schedule, rank, block, length);
	else
		bcl_step_receive(schedule, rank, block, length);
}

/* own: the caller's block; at the root a copy of the block at its place in
 * `blocks`. gathers: towards the root. */
static void build_direct(struct bcl_schedule *schedule,
			 const struct bcl_group *group, unsigned root,
			 unsigned char *blocks, void *own, size_t length,
			 bool gathers)
{
	unsigned i, moved = 0;

	if (group->me != root) {
		move_block(schedule, bcl_group_rank(group, root), own, length,
			   gathers);
		bcl_step_round(schedule);
		return;
	}
	for (i = 0; i < group->size; i++) {
		unsigned char *block = blocks + i * length;

		if (i == group->me) {
			bcl_step_copy(schedule, gathers ? block : own,
				      gathers ? own : block, length);
			continue;
		}
		move_block(schedule, bcl_group_rank(group, i), block, length,
			   !gathers);
		if (++moved % AT_A_TIME == 0)
			bcl_step_round(schedule);
	}
	bcl_step_round(schedule);
}

void bcl_build_gather_direct(struct bcl_schedule *schedule,
			     const struct bcl_group *group, unsigned root,
			     const void *send, void *receive, size_t length)
{
	build_direct(schedule, group, root, receive, (void *)send, length,
		     true);
}

void bcl_build_scatter_direct(struct bcl_schedule *schedule,
			      const struct bcl_group *group, unsigned root,
			      const void *send, void *receive, size_t length)
{
	build_direct(schedule, group, root, (void *)send, receive, length,
		     false);
}
