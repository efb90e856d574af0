/* SPDX-License-Identifier: MIT */
/*
 * Allgather of blocks of different lengths, which all ranks know. Through the
 * segment of a single node. Or around a ring in node order, so that each link
 * between nodes carries each block once (see ring.c), or by a message for each
 * pair of ranks, for short blocks. Empty blocks send no message, and their
 * offsets are not used.
 */
#include <math.h>

#include "collectives/builders.h"
#include "collectives/cost.h"

static void copy_own(struct bcl_schedule *schedule, const struct bcl_call *call)
{
	unsigned me = schedule->team->rank;

	if (call->own && !call->in_place)
		bcl_step_copy(schedule,
			      call->receive + call->receive_offsets[me],
			      call->send, call->own);
}

static void send_block(struct bcl_schedule *schedule,
		       const struct bcl_call *call, unsigned to, unsigned of)
{
	if (call->receive_lengths[of])
		bcl_step_send(schedule, to,
			      call->receive + call->receive_offsets[of],
			      call->receive_lengths[of]);
}

static void receive_block(struct bcl_schedule *schedule,
			  const struct bcl_call *call, unsigned from,
			  unsigned of)
{
	if (call->receive_lengths[of])
		bcl_step_receive(schedule, from,
				 call->receive + call->receive_offsets[of],
				 call->receive_lengths[of]);
}

static void build_ring(struct bcl_schedule *schedule,
		       const struct bcl_call *call, unsigned parameter)
{
	struct bcl_group group = bcl_group_ordered(schedule->team);
	unsigned n = group.size, me = group.me, k;
	unsigned next = bcl_group_rank(&group, (me + 1) % n);
	unsigned previous = bcl_group_rank(&group, (me + n - 1) % n);

	(void)parameter;
	copy_own(schedule, call);
	for (k = 0; k + 1 < n; k++) {
		send_block(schedule, call, next,
			   bcl_group_rank(&group, (me + n - k) % n));
		receive_block(schedule, call, previous,
			      bcl_group_rank(&group, (me + n - k - 1) % n));
		bcl_step_round(schedule);
	}
	bcl_step_round(schedule);
}

static void build_pairs(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned parameter)
{
	unsigned n = schedule->team->size, me = schedule->team->rank, k;

	(void)parameter;
	copy_own(schedule, call);
	for (k = 1; k < n; k++)
		receive_block(schedule, call, (me + n - k) % n,
			      (me + n - k) % n);
	for (k = 1; k < n; k++)
		send_block(schedule, call, (me + k) % n, me);
	bcl_step_round(schedule);
}

/* length: of a block, on average. */
static double cost_ring(const struct bcl_model *model, double length,
			unsigned parameter)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	(void)parameter;
	return (model->size - 1.) * (cost.message + length * cost.byte);
}

/* Blocks that are announced would all be fetched at once, by everybody. */
static double cost_pairs(const struct bcl_model *model, double length,
			 unsigned parameter)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);
	/* the ranks of a node share the way to other nodes */
	double members = model->nodes > 1 ? model->members : 1;

	(void)parameter;
	if (length > model->eager)
		return HUGE_VAL;
	return cost.message +
	       (model->size - 1.) * members *
		       (bcl_cost_gap(model, &cost) + length * cost.byte);
}

const struct bcl_algorithm bcl_allgatherv_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_ALLGATHERV, NULL,
	  bcl_cost_allgather_inside, 0 },
	{ "pairs", 0, 0, build_pairs, cost_pairs, 0 },
	{ "ring", 0, 0, build_ring, cost_ring, 0 },
	{ 0 },
};
