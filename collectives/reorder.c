/* SPDX-License-Identifier: MIT */
/*
 * Steps that copy blocks between the order of ranks and the order of nodes.
 * Leaders use them in gather, scatter and allgather. See builders.h.
 */
#include "collectives/builders.h"

size_t bcl_node_offset(const struct bcl_team *team, unsigned node,
		       unsigned turn, size_t length)
{
	const struct bcl_layout *layout = &team->layout;
	unsigned n = layout->nnodes, ranks;

	if (turn == n)
		return team->size * length;
	ranks = (bcl_layout_first(layout, (node + turn) % n) + team->size -
		 bcl_layout_first(layout, node)) %
		team->size;
	return ranks * length;
}

/* Rank of block i in the order of nodes. step->rank: the place in this order at
 * which the blocks begin. */
static size_t place_of(const struct bcl_team *team, const struct bcl_step *step,
		       unsigned i)
{
	return bcl_layout_rank(&team->layout, (step->rank + i) % team->size);
}

static void to_ranks(const struct bcl_team *team, const struct bcl_step *step)
{
	unsigned i;

	for (i = 0; i < team->size; i++)
		bcl_step_block(step, place_of(team, step, i), i);
}

static void to_nodes(const struct bcl_team *team, const struct bcl_step *step)
{
	unsigned i;

	for (i = 0; i < team->size; i++)
		bcl_step_block(step, i, place_of(team, step, i));
}

void bcl_step_to_ranks(struct bcl_schedule *schedule, void *to,
		       const void *from, size_t length, unsigned node)
{
	if (length)
		bcl_step_call(schedule, to_ranks, to, from, length,
			      bcl_layout_first(&schedule->team->layout, node));
}

void bcl_step_to_nodes(struct bcl_schedule *schedule, void *to,
		       const void *from, size_t length, unsigned node)
{
	if (length)
		bcl_step_call(schedule, to_nodes, to, from, length,
			      bcl_layout_first(&schedule->team->layout, node));
}
