/* SPDX-License-Identifier: MIT */
/*
 * Scatter: every rank gets a block of the root. By the segment of a single
 * node, by a tree of the leaders (postal.h), by one message to each rank
 * (direct.c), or by copies out of the root's memory (attached.h).
 *
 * The tree of four nodes with the root on node 0 and `ahead` = 1:
 *
 *   0 -> 2             the blocks of nodes 2 and 3
 *   0 -> 1   2 -> 3    one node's blocks
 */
#include "collectives/builders.h"
#include "collectives/cost.h"

enum {
	/* Bytes. Longer messages go one after another: to wait until a message
	 * has been fetched takes less time than to send the bytes of the
	 * next. */
	AT_ONCE = 16384,
};

/* Down the tree of the leaders, then inside the nodes. */
static void build_tree(struct bcl_schedule *schedule,
		       const struct bcl_call *call, unsigned ahead)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_leader_tree tree;
	const unsigned char *blocks;
	unsigned char *scratch;
	size_t length, at;
	unsigned i;

	bcl_leader_tree_init(&tree, team, call->root, call->length, ahead);
	if (team->rank != tree.speaker) {
		bcl_intranode_scatter(schedule, tree.speaker, NULL,
				      call->receive, call->length);
		return;
	}
	if (tree.me) {
		blocks = scratch = bcl_step_scratch(schedule, tree.size);
		bcl_step_receive(schedule,
				 bcl_leader_tree_rank(&tree, tree.plan.parent),
				 scratch, tree.size);
	} else if (team->layout.contiguous && tree.root_node == 0) {
		blocks = call->send;
	} else {
		blocks = scratch = bcl_step_scratch(schedule, tree.size);
		bcl_step_to_nodes(schedule, scratch, call->send, call->length,
				  tree.root_node);
	}
	bcl_step_round(schedule);
	for (i = 0; i < tree.plan.children; i++) {
		length = bcl_leader_tree_child(&tree, i, &at);
		bcl_step_send(schedule,
			      bcl_leader_tree_rank(&tree, tree.plan.child[i]),
			      blocks + at, length);
		/* Otherwise all children would fetch at once, and the first
		 * child, with most to pass on, would wait for the others. */
		if (length > AT_ONCE)
			bcl_step_round(schedule);
	}
	bcl_step_round(schedule);
	bcl_intranode_scatter(schedule, tree.speaker, blocks, call->receive,
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

/* The root offers its blocks, and hears from each member that has its block. */
static void build_attached(struct bcl_schedule *schedule,
			   const struct bcl_call *call, unsigned parameter)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_offer *offer = bcl_step_scratch(schedule, sizeof(*offer));
	unsigned char *heard = bcl_step_scratch(schedule, team->size);
	size_t own = team->rank * call->length;

	(void)parameter;
	if (schedule->status != BCL_OK)
		return;
	*offer = (struct bcl_offer){ (uintptr_t)call->send, call->length };
	heard[team->rank] = 0;
	bcl_step_node(schedule, BCL_NODE_BROADCAST, call->root, offer, offer,
		      sizeof(*offer), NULL);
	if (team->rank == call->root)
		bcl_step_copy(schedule, call->receive, call->send + own,
			      call->length);
	else
		bcl_step_fetch(schedule, call->root, offer, own, call->receive,
			       call->length);
	bcl_step_node(schedule, BCL_NODE_GATHER, call->root, &heard[team->rank],
		      heard, 1, NULL);
	bcl_step_round(schedule);
}

static double cost_node(const struct bcl_model *model, double length,
			unsigned parameter)
{
	(void)parameter;
	return bcl_cost_phases(model, length * model->members) +
	       bcl_cost_first_piece(model, length) +
	       (model->members - 1) * length * model->segment.byte;
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
	{ "attached", BCL_NEEDS_ATTACH, 0, build_attached, bcl_cost_attached,
	  1 },
	{ 0 },
};
