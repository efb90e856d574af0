/* SPDX-License-Identifier: MIT */
/*
 * Gather and scatter of blocks of different lengths, by one message between the
 * root and each other rank: only the root knows all lengths, so no other rank
 * can pass blocks on. Empty blocks send no message, and the offsets of empty
 * blocks are not used. Two members of a node use its segment (swap.h).
 */
#include "collectives/builders.h"
#include "collectives/cost.h"

enum {
	AT_A_TIME = 32, /* messages that the root has in flight */
};

/* The blocks of all ranks at the root, and the own block of the rank. */
struct rooted {
	struct bcl_schedule *schedule;
	unsigned char *blocks, *own;
	const size_t *lengths, *offsets;
	bool gathers; /* towards the root */
};

static void move_block(const struct rooted *rooted, unsigned rank, void *block,
		       size_t length, bool sends)
{
	if (sends)
		bcl_step_send(rooted->schedule, rank, block, length);
	else
		bcl_step_receive(rooted->schedule, rank, block, length);
}

static void copy_own(const struct rooted *rooted, size_t length)
{
	unsigned char *block =
		rooted->blocks + rooted->offsets[rooted->schedule->team->rank];

	bcl_step_copy(rooted->schedule, rooted->gathers ? block : rooted->own,
		      rooted->gathers ? rooted->own : block, length);
}

static void build(const struct rooted *rooted, const struct bcl_call *call)
{
	const struct bcl_team *team = rooted->schedule->team;
	unsigned i, moved = 0;

	if (team->rank != call->root) {
		if (call->own)
			move_block(rooted, call->root, rooted->own, call->own,
				   rooted->gathers);
		bcl_step_round(rooted->schedule);
		return;
	}
	if (call->own && !call->in_place)
		copy_own(rooted, call->own);
	for (i = 0; i < team->size; i++) {
		if (i == team->rank || !rooted->lengths[i])
			continue;
		move_block(rooted, i, rooted->blocks + rooted->offsets[i],
			   rooted->lengths[i], !rooted->gathers);
		if (++moved % AT_A_TIME == 0)
			bcl_step_round(rooted->schedule);
	}
	bcl_step_round(rooted->schedule);
}

static void build_gatherv(struct bcl_schedule *schedule,
			  const struct bcl_call *call, unsigned parameter)
{
	const struct rooted rooted = {
		.schedule = schedule,
		.blocks = call->receive,
		.own = (unsigned char *)call->send,
		.lengths = call->receive_lengths,
		.offsets = call->receive_offsets,
		.gathers = true,
	};

	(void)parameter;
	build(&rooted, call);
}

void bcl_build_scatterv(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned parameter)
{
	const struct rooted rooted = {
		.schedule = schedule,
		.blocks = (unsigned char *)call->send,
		.own = call->receive,
		.lengths = call->send_lengths,
		.offsets = call->send_offsets,
	};

	(void)parameter;
	build(&rooted, call);
}

enum {
	TWO_MEMBERS = BCL_NEEDS_SEGMENT | BCL_NEEDS_PAIR,
};

const struct bcl_algorithm bcl_gatherv_algorithms[] = {
	{ "node", TWO_MEMBERS, BCL_NODE_SWAP, NULL, bcl_cost_gather_inside, 0 },
	{ "direct", 0, 0, build_gatherv, bcl_cost_rooted_direct, 0 },
	{ 0 },
};

const struct bcl_algorithm bcl_scatterv_algorithms[] = {
	{ "node", TWO_MEMBERS, BCL_NODE_BROADCAST, NULL, bcl_cost_gather_inside,
	  0 },
	{ "direct", 0, 0, bcl_build_scatterv, bcl_cost_rooted_direct, 0 },
	{ 0 },
};
