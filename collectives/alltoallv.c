/* SPDX-License-Identifier: MIT */
/*
 * All-to-all with a length and an offset for each pair of ranks. In round k
 * each member sends to the member k places on and receives from the member k
 * places before, in node order. Rounds do not overlap.
 */
#include "collectives/builders.h"

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

/* Empty blocks send no message, and their offsets are not used. */
static void build_pairs(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned parameter)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_ordered(team);
	unsigned n = group.size, me = team->rank, k;
	const unsigned char *copy = NULL;

	(void)parameter;
	if (call->in_place)
		copy = copy_out(schedule, &group, call);
	else if (call->send_lengths[me])
		bcl_step_copy(schedule,
			      call->receive + call->receive_offsets[me],
			      call->send + call->send_offsets[me],
			      call->send_lengths[me]);
	for (k = 1; k < n; k++) {
		unsigned to = rank_on(&group, k);
		unsigned from = rank_on(&group, n - k);

		if (call->receive_lengths[from])
			bcl_step_receive(schedule, from,
					 call->receive +
						 call->receive_offsets[from],
					 call->receive_lengths[from]);
		if (call->send_lengths[to]) {
			bcl_step_send(schedule, to,
				      copy ? copy
					   : call->send +
						      call->send_offsets[to],
				      call->send_lengths[to]);
			if (copy)
				copy += call->send_lengths[to];
		}
		bcl_step_round(schedule);
	}
}

static double cost_pairs(const struct bcl_model *model, double length,
			 unsigned parameter)
{
	(void)parameter;
	(void)model;
	return length;
}

const struct bcl_algorithm bcl_alltoallv_algorithms[] = {
	{ "pairs", 0, 0, build_pairs, cost_pairs, 0 },
	{ 0 },
};
