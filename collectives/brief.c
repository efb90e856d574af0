/* SPDX-License-Identifier: MIT */
/*
 * Decides which operations of a team go through the flag lines of its node
 * alone, from the team's choices. See call.h.
 */
#include "collectives/call.h"
#include "transport/context.h"

enum {
	/* Looks at a flag between two turns of the engine, if each rank has a
	 * processor. */
	POLLS = 64,
};

/* The limit below which an operation goes through the flag lines alone. 0,
 * unless all lengths below the limit choose the operation inside the node. 0
 * where members compare their calls, too. */
static size_t brief_of(const struct bcl_team *team,
		       enum bcl_operation operation)
{
	enum bcl_node_kind node = (enum bcl_node_kind)operation;
	size_t below = bcl_node_brief(&team->node, node), length;
	const struct bcl_algorithm *algorithm;
	unsigned ordered;

	if (bcl_check_wanted(team))
		return 0;
	for (length = 0; length < below; length++)
		for (ordered = 0; ordered < 2; ordered++) {
			algorithm = bcl_choice(&team->choices, operation,
					       ordered, length);
			if (algorithm->build || algorithm->node != node)
				return 0;
		}
	return below;
}

void bcl_call_prepare(struct bcl_team *team)
{
	unsigned i;

	team->polls = bcl_adi_context(team->adi)->crowded ? 0 : POLLS;
	for (i = 0; i < BCL_OPERATIONS; i++)
		team->brief[i] = brief_of(team, (enum bcl_operation)i);
}
