/* SPDX-License-Identifier: MIT */
/*
 * Gather: the root gets a block of every rank. By the segment of a single node,
 * by a tree of the leaders (postal.h, backwards) or by one message from each
 * rank (direct.c).
 *
 * The tree of four nodes with the root on node 0 and `ahead` = 1:
 *
 *   1 -> 0   3 -> 2      one node's blocks
 *   2 -> 0               the blocks of nodes 2 and 3
 */
#include <math.h>

#include "collectives/builders.h"
#include "collectives/cost.h"
#include "collectives/postal.h"

/*
 * Gather inside the nodes, then up a tree of the leaders. A leader's buffer has
 * the blocks of its subtree in node order, counted from the root's node.
 */
static void build_tree(struct bcl_schedule *schedule,
		       const struct bcl_call *call, unsigned ahead)
{
	const struct bcl_team *team = schedule->team;
	const struct bcl_layout *layout = &team->layout;
	unsigned root_node = bcl_layout_node(layout, call->root);
	struct bcl_group leaders = bcl_group_leaders(team, call->root);
	unsigned n = leaders.size,
		 speaker = bcl_group_rank(&leaders, leaders.me);
	unsigned me = (leaders.me + n - root_node) % n, i;
	bool in_place = layout->contiguous && root_node == 0;
	struct bcl_postal plan;
	unsigned char *blocks;
	size_t mine, all;

	if (team->rank != speaker) {
		bcl_intranode_gather(schedule, speaker, call->send,
				     call->length, NULL);
		return;
	}
	bcl_postal_init(&plan, n, me, ahead);
	mine = bcl_node_offset(team, root_node, me, call->length);
	all = bcl_node_offset(team, root_node, plan.end, call->length) - mine;
	if (me == 0 && in_place)
		blocks = call->receive;
	else
		blocks = bcl_step_scratch(schedule, all);
	bcl_intranode_gather(schedule, speaker, call->send, call->length,
			     blocks);

	for (i = plan.children; i-- > 0;) {
		unsigned child = plan.child[i];
		size_t from, to;

		from = bcl_node_offset(team, root_node, child, call->length);
		to = bcl_node_offset(team, root_node, bcl_postal_end(&plan, i),
				     call->length);
		bcl_step_receive(
			schedule,
			bcl_group_rank(&leaders, (child + root_node) % n),
			blocks + from - mine, to - from);
	}
	bcl_step_round(schedule);
	if (me)
		bcl_step_send(
			schedule,
			bcl_group_rank(&leaders, (plan.parent + root_node) % n),
			blocks, all);
	else if (!in_place)
		bcl_step_to_ranks(schedule, call->receive, blocks, call->length,
				  root_node);
}

static void build_direct(struct bcl_schedule *schedule,
			 const struct bcl_call *call, unsigned parameter)
{
	struct bcl_group group = bcl_group_all(schedule->team);

	(void)parameter;
	bcl_build_gather_direct(schedule, &group, call->root, call->send,
				call->receive, call->length);
}

static double cost_node(const struct bcl_model *model, double length,
			unsigned parameter)
{
	(void)parameter;
	return bcl_cost_phases(model, length) +
	       (1 + model->members) * length * model->segment.byte;
}

static double cost_tree(const struct bcl_model *model, double length,
			unsigned ahead)
{
	return bcl_cost_rooted_tree(model, length, ahead, HUGE_VAL,
				    cost_node(model, length, 0));
}

const struct bcl_algorithm bcl_gather_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_GATHER, NULL, cost_node, 0 },
	{ "tree", 0, 0, build_tree, cost_tree, 1 },
	{ "tree_2", BCL_NEEDS_NODES, 0, build_tree, cost_tree, 2 },
	{ "tree_4", BCL_NEEDS_NODES, 0, build_tree, cost_tree, 4 },
	{ "tree_8", BCL_NEEDS_NODES, 0, build_tree, cost_tree, 8 },
	{ "direct", 0, 0, build_direct, bcl_cost_rooted_direct, 0 },
	{ 0 },
};
