/* SPDX-License-Identifier: MIT */
/*
 * Exchange of blocks with ranks of a list, such as the neighbours of a part of
 * a grid. Each rank knows only its own lists, so no rank can pass blocks on,
 * and rounds might wait for one another in a circle: all messages of a rank are
 * in flight at once. Empty blocks send no message, and the offsets of empty
 * blocks are not used.
 */
#include "collectives/builders.h"

/* The k-th block that a rank sends to itself is the k-th block that the rank
 * receives from itself. */
static void copy_own(struct bcl_schedule *schedule, const struct bcl_call *call)
{
	const struct bcl_blocks *to = call->to, *from = call->from;
	unsigned me = schedule->team->rank;
	unsigned i = bcl_blocks_next(to, 0, me);
	unsigned k = bcl_blocks_next(from, 0, me);

	while (i < to->n) {
		if (to->lengths[i])
			bcl_step_copy(
				schedule, call->receive + from->offsets[k],
				call->send + to->offsets[i], to->lengths[i]);
		i = bcl_blocks_next(to, i + 1, me);
		k = bcl_blocks_next(from, k + 1, me);
	}
}

static void build_direct(struct bcl_schedule *schedule,
			 const struct bcl_call *call, unsigned parameter)
{
	const struct bcl_blocks *to = call->to, *from = call->from;
	unsigned me = schedule->team->rank, i;

	(void)parameter;
	for (i = 0; i < from->n; i++)
		if (from->lengths[i] && from->ranks[i] != me)
			bcl_step_receive(schedule, from->ranks[i],
					 call->receive + from->offsets[i],
					 from->lengths[i]);
	for (i = 0; i < to->n; i++)
		if (to->lengths[i] && to->ranks[i] != me)
			bcl_step_send(schedule, to->ranks[i],
				      call->send + to->offsets[i],
				      to->lengths[i]);
	copy_own(schedule, call);
}

/* There is nothing to choose from. */
static double cost_direct(const struct bcl_model *model, double length,
			  unsigned parameter)
{
	(void)model;
	(void)parameter;
	return length;
}

const struct bcl_algorithm bcl_exchange_algorithms[] = {
	{ "direct", 0, 0, build_direct, cost_direct, 0 },
	{ 0 },
};
