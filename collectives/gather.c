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

/* Gather inside the nodes, then up the tree of the leaders. */
static void build_tree(struct bcl_schedule *schedule,
		       const struct bcl_call *call, unsigned ahead)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_leader_tree tree;
	unsigned char *blocks;
	size_t length, at;
	bool in_place;
	unsigned i;

	bcl_leader_tree_init(&tree, team, call->root, call->length, ahead);
	if (team->rank != tree.speaker) {
		bcl_intranode_gather(schedule, tree.speaker, call->send,
				     call->length, NULL);
		return;
	}
	in_place = team->layout.contiguous && tree.root_node == 0;
	if (tree.me == 0 && in_place)
		blocks = call->receive;
	else
		blocks = bcl_step_scratch(schedule, tree.size);
	bcl_intranode_gather(schedule, tree.speaker, call->send, call->length,
			     blocks);
	for (i = tree.plan.children; i-- > 0;) {
		length = bcl_leader_tree_child(&tree, i, &at);
		bcl_step_receive(
			schedule,
			bcl_leader_tree_rank(&tree, tree.plan.child[i]),
			blocks + at, length);
	}
	bcl_step_round(schedule);
	if (tree.me)
		bcl_step_send(schedule,
			      bcl_leader_tree_rank(&tree, tree.plan.parent),
			      blocks, tree.size);
	else if (!in_place)
		bcl_step_to_ranks(schedule, call->receive, blocks, call->length,
				  tree.root_node);
}

static void build_direct(struct bcl_schedule *schedule,
			 const struct bcl_call *call, unsigned parameter)
{
	struct bcl_group group = bcl_group_all(schedule->team);

	(void)parameter;
	bcl_build_gather_direct(schedule, &group, call->root, call->send,
				call->receive, call->length);
}

static double cost_tree(const struct bcl_model *model, double length,
			unsigned ahead)
{
	return bcl_cost_rooted_tree(model, length, ahead, HUGE_VAL,
				    bcl_cost_gather_inside(model, length, 0));
}

const struct bcl_algorithm bcl_gather_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_GATHER, NULL,
	  bcl_cost_gather_inside, 0 },
	{ "tree", 0, 0, build_tree, cost_tree, 1 },
	{ "tree_2", BCL_NEEDS_NODES, 0, build_tree, cost_tree, 2 },
	{ "tree_4", BCL_NEEDS_NODES, 0, build_tree, cost_tree, 4 },
	{ "tree_8", BCL_NEEDS_NODES, 0, build_tree, cost_tree, 8 },
	{ "direct", 0, 0, build_direct, bcl_cost_rooted_direct, 0 },
	{ 0 },
};
