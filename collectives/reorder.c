/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "collectives/builders.h"

size_t bcl_node_offset(const struct bcl_team *team, unsigned node,
		       unsigned turn, size_t length)
{
	const struct bcl_layout *layout = &team->layout;
	unsigned n = layout->nnodes, ranks;

	if (turn == n)
		return team->size * length;
	ranks = (layout->first[(node + turn) % n] + team->size -
		 layout->first[node]) %
		team->size;
	return ranks * length;
}

/* step->rank: where in the order of nodes the other order begins */
static void to_ranks(const struct bcl_team *team, const struct bcl_step *step)
{
	const uint32_t *order = team->layout.order;
	const unsigned char *from = step->from;
	unsigned char *to = step->to;
	size_t length = step->length;
	unsigned i;

	for (i = 0; i < team->size; i++)
		memcpy(to + order[(step->rank + i) % team->size] * length,
		       from + i * length, length);
}

static void to_nodes(const struct bcl_team *team, const struct bcl_step *step)
{
	const uint32_t *order = team->layout.order;
	const unsigned char *from = step->from;
	unsigned char *to = step->to;
	size_t length = step->length;
	unsigned i;

	for (i = 0; i < team->size; i++)
		memcpy(to + i * length,
		       from + order[(step->rank + i) % team->size] * length,
		       length);
}

void bcl_step_to_ranks(struct bcl_schedule *schedule, void *to,
		       const void *from, size_t length, unsigned node)
{
	if (length)
		bcl_step_call(schedule, to_ranks, to, from, length,
			      schedule->team->layout.first[node]);
}

void bcl_step_to_nodes(struct bcl_schedule *schedule, void *to,
		       const void *from, size_t length, unsigned node)
{
	if (length)
		bcl_step_call(schedule, to_nodes, to, from, length,
			      schedule->team->layout.first[node]);
}
