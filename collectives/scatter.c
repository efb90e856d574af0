/* SPDX-License-Identifier: MIT */
/*
 * Scatter: every rank gets a block of the root. By the segment of a single
 * node, by a tree of the leaders (postal.h) or by one message to each rank
 * (direct.c).
 *
 * The tree of four nodes with the root on node 0 and `ahead` = 1:
 *
 *   0 -> 2             the blocks of nodes 2 and 3
 *   0 -> 1   2 -> 3    one node's blocks
 */
#include "collectives/builders.h"
#include "collectives/cost.h"
#include "collectives/postal.h"

enum {
	/* Bytes. Longer messages go one after another: to wait until a message
	 * has been fetched takes less time than to send the bytes of the
	 * next. */
	AT_ONCE = 16384,
};

/*
 * Down a tree of the leaders, then inside the nodes. A leader's buffer has the
 * blocks of its subtree in node order, counted from the root's node.
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
	struct bcl_postal plan;
	const unsigned char *blocks;
	unsigned char *scratch;
	size_t mine, all;

	if (team->rank != speaker) {
		bcl_intranode_scatter(schedule, speaker, NULL, call->receive,
				      call->length);
		return;
	}
	bcl_postal_init(&plan, n, me, ahead);
	mine = bcl_node_offset(team, root_node, me, call->length);
	all = bcl_node_offset(team, root_node, plan.end, call->length) - mine;
	if (me) {
		blocks = scratch = bcl_step_scratch(schedule, all);
		bcl_step_receive(
			schedule,
			bcl_group_rank(&leaders, (plan.parent + root_node) % n),
			scratch, all);
	} else if (layout->contiguous && root_node == 0) {
		blocks = call->send;
	} else {
		blocks = scratch = bcl_step_scratch(schedule, all);
		bcl_step_to_nodes(schedule, scratch, call->send, call->length,
				  root_node);
	}
	bcl_step_round(schedule);
	for (i = 0; i < plan.children; i++) {
		unsigned child = plan.child[i];
		size_t from, to;

		from = bcl_node_offset(team, root_node, child, call->length);
		to = bcl_node_offset(team, root_node, bcl_postal_end(&plan, i),
				     call->length);
		bcl_step_send(schedule,
			      bcl_group_rank(&leaders, (child + root_node) % n),
			      blocks + from - mine, to - from);
		/* Otherwise all children would fetch at once, and the first
		 * child, with most to pass on, would wait for the others. */
		if (to - from > AT_ONCE)
			bcl_step_round(schedule);
	}
	bcl_step_round(schedule);
	bcl_intranode_scatter(schedule, speaker, blocks, call->receive,
			      call->length);
}

static void build_direct(struct bcl_schedule *schedule,
			 const struct bcl_call *call, unsigned parameter)
{
	struct bcl_group group = bcl_group_all(schedule->team);

	(void)parameter;
	bcl_build_scatter_direct(schedule, &group, call->root, call->send,
				 call->receive, call->length);
}

static double cost_node(const struct bcl_model *model, double length,
			unsigned parameter)
{
	(void)parameter;
	return bcl_cost_phases(model, length * model->members) +
	       (1 + model->members) * length * model->segment.byte;
}

static double cost_tree(const struct bcl_model *model, double length,
			unsigned ahead)
{
	return bcl_cost_rooted_tree(model, length, ahead, AT_ONCE,
				    cost_node(model, length, 0));
}

const struct bcl_algorithm bcl_scatter_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_SCATTER, NULL, cost_node, 0 },
	{ "tree", 0, 0, build_tree, cost_tree, 1 },
	{ "tree_2", BCL_NEEDS_NODES, 0, build_tree, cost_tree, 2 },
	{ "tree_4", BCL_NEEDS_NODES, 0, build_tree, cost_tree, 4 },
	{ "tree_8", BCL_NEEDS_NODES, 0, build_tree, cost_tree, 8 },
	{ "direct", 0, 0, build_direct, bcl_cost_rooted_direct, 0 },
	{ 0 },
};
