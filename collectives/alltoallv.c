/* SPDX-License-Identifier: MIT */
/*
 * All-to-all with a length and an offset for each pair of ranks. The
 * algorithms:
 *
 *   node      two members of a node use its segment (swap.h)
 *   pairs     in round k each member sends to the member k places on and
 *             receives from the member k places before, in node order; rounds
 *             do not overlap
 *   attached  each member of a single node copies its blocks out of the memory
 *             of the others (attached.h)
 */
#include "collectives/builders.h"
#include "collectives/cost.h"

/* Rank of the member `places` on in the group. */
static unsigned rank_on(const struct bcl_group *group, unsigned places)
{
	return bcl_group_rank(group, (group->me + places) % group->size);
}

/* Copy the blocks for other members, nearest first, before received blocks
 * overwrite them. Only blocks are copied, no gaps between them. */
static const unsigned char *copy_out(struct bcl_schedule *schedule,
				     const struct bcl_group *group,
				     const struct bcl_call *call)
{
	unsigned char *copies, *copy;
	size_t total = 0;
	unsigned k;

	for (k = 1; k < group->size; k++)
		total += call->send_lengths[rank_on(group, k)];
	copies = copy = bcl_step_scratch(schedule, total);
	for (k = 1; k < group->size; k++) {
		unsigned to = rank_on(group, k);

		if (!call->send_lengths[to])
			continue;
		bcl_step_copy(schedule, copy,
			      call->send + call->send_offsets[to],
			      call->send_lengths[to]);
		copy += call->send_lengths[to];
	}
	return copies;
}

/* The place from which the block for a member is sent; members come in the
 * order of copy_out(). *copy: NULL, or the next copy. */
static const unsigned char *place_of(const struct bcl_call *call, unsigned to,
				     const unsigned char **copy)
{
	const unsigned char *place = *copy;

	if (!call->send_lengths[to])
		return NULL;
	if (!place)
		return call->send + call->send_offsets[to];
	*copy += call->send_lengths[to];
	return place;
}

static void copy_own(struct bcl_schedule *schedule, const struct bcl_call *call)
{
	unsigned me = schedule->team->rank;

	if (call->send_lengths[me])
		bcl_step_copy(schedule,
			      call->receive + call->receive_offsets[me],
			      call->send + call->send_offsets[me],
			      call->send_lengths[me]);
}

/* Empty blocks send no message, and their offsets are not used. */
static void build_pairs(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned parameter)
{
	struct bcl_group group = bcl_group_ordered(schedule->team);
	unsigned n = group.size, k;
	const unsigned char *copy = NULL;

	(void)parameter;
	if (call->in_place)
		copy = copy_out(schedule, &group, call);
	else
		copy_own(schedule, call);
	for (k = 1; k < n; k++) {
		unsigned to = rank_on(&group, k);
		unsigned from = rank_on(&group, n - k);

		if (call->receive_lengths[from])
			bcl_step_receive(schedule, from,
					 call->receive +
						 call->receive_offsets[from],
					 call->receive_lengths[from]);
		if (call->send_lengths[to])
			bcl_step_send(schedule, to, place_of(call, to, &copy),
				      call->send_lengths[to]);
		bcl_step_round(schedule);
	}
}

static void build_offers(struct bcl_schedule *schedule,
			 const struct bcl_group *group,
			 const struct bcl_call *call, unsigned char *given)
{
	size_t size = bcl_offer_size(schedule->team);
	const unsigned char *copy = NULL;
	unsigned k;

	if (call->in_place)
		copy = copy_out(schedule, group, call);
	else
		copy_own(schedule, call);
	/* an ALLTOALL moves the own block, too */
	memset(given + schedule->team->rank * size, 0, size);
	for (k = 1; k < group->size; k++) {
		unsigned to = rank_on(group, k);

		bcl_step_offer(
			schedule, (struct bcl_offer *)(given + to * size),
			place_of(call, to, &copy), call->send_lengths[to]);
	}
}

/* Members of a single node copy out of the memory of all. Short blocks, and the
 * addresses of long blocks, go through the segment. */
static void build_attached(struct bcl_schedule *schedule,
			   const struct bcl_call *call, unsigned parameter)
{
	struct bcl_group group = bcl_group_ordered(schedule->team);
	size_t size = bcl_offer_size(schedule->team);
	unsigned char *given = bcl_step_scratch(schedule, group.size * size);
	unsigned char *taken = bcl_step_scratch(schedule, group.size * size);
	unsigned k;

	(void)parameter;
	if (schedule->status != BCL_OK)
		return;
	build_offers(schedule, &group, call, given);
	bcl_step_node(schedule, BCL_NODE_ALLTOALL, 0, given, taken, size, NULL);
	for (k = 1; k < group.size; k++) {
		unsigned from = rank_on(&group, k);
		size_t length = call->receive_lengths[from];

		bcl_step_fetch(
			schedule, from,
			(const struct bcl_offer *)(taken + from * size), 0,
			length ? call->receive + call->receive_offsets[from]
			       : NULL,
			length);
	}
	bcl_step_node(schedule, BCL_NODE_BARRIER, 0, NULL, NULL, 0, NULL);
	bcl_step_round(schedule);
}

/* Only two members know lengths here. */
static double cost_pairs(const struct bcl_model *model, double length,
			 unsigned parameter)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	(void)parameter;
	return (model->size - 1) * (cost.message + length * cost.byte);
}

const struct bcl_algorithm bcl_alltoallv_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT | BCL_NEEDS_PAIR, BCL_NODE_SWAP, NULL,
	  bcl_cost_allgather_inside, 0 },
	{ "pairs", 0, 0, build_pairs, cost_pairs, 0 },
	{ "attached", BCL_NEEDS_ATTACH, 0, build_attached, bcl_cost_attached,
	  0 },
	{ 0 },
};
