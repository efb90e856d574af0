/* SPDX-License-Identifier: MIT */
/*
 * Trees (postal.h): the tree of leaders for gather and scatter; broadcast down
 * a tree of a group, and reduce up the same tree. The binomial tree of four
 * members, where (0 1) is the sum of 0 and 1:
 *
 *   1 -> 0, 3 -> 2     (0 1) at member 0, (2 3) at member 2
 *   2 -> 0             all sums at member 0
 */
#include "collectives/builders.h"

/* Bytes of all blocks before this place. */
static size_t leader_offset(const struct bcl_leader_tree *tree, unsigned place)
{
	return bcl_node_offset(tree->team, tree->root_node, place,
			       tree->length);
}

void bcl_leader_tree_init(struct bcl_leader_tree *tree,
			  const struct bcl_team *team, unsigned root,
			  size_t length, unsigned ahead)
{
	unsigned n;

	tree->team = team;
	tree->length = length;
	tree->root_node = bcl_layout_node(&team->layout, root);
	tree->leaders = bcl_group_leaders(team, root);
	tree->speaker = bcl_group_rank(&tree->leaders, tree->leaders.me);
	if (team->rank != tree->speaker)
		return;
	n = tree->leaders.size;
	tree->me = (tree->leaders.me + n - tree->root_node) % n;
	bcl_postal_init(&tree->plan, n, tree->me, ahead);
	tree->begin = leader_offset(tree, tree->me);
	tree->size = leader_offset(tree, tree->plan.end) - tree->begin;
}

unsigned bcl_leader_tree_rank(const struct bcl_leader_tree *tree,
			      unsigned place)
{
	return bcl_group_rank(&tree->leaders,
			      (place + tree->root_node) % tree->leaders.size);
}

size_t bcl_leader_tree_child(const struct bcl_leader_tree *tree, unsigned i,
			     size_t *at)
{
	size_t begin = leader_offset(tree, tree->plan.child[i]);

	*at = begin - tree->begin;
	return leader_offset(tree, bcl_postal_end(&tree->plan, i)) - begin;
}

void bcl_build_broadcast_tree(struct bcl_schedule *schedule,
			      const struct bcl_group *group, unsigned root,
			      void *buffer, size_t length, unsigned ahead)
{
	unsigned n = group->size, me = (group->me + n - root) % n, i;
	struct bcl_postal plan;

	bcl_postal_init(&plan, n, me, ahead);
	if (me) {
		bcl_step_receive(
			schedule,
			bcl_group_rank(group, (plan.parent + root) % n), buffer,
			length);
		bcl_step_round(schedule);
	}
	for (i = 0; i < plan.children; i++)
		bcl_step_send(schedule,
			      bcl_group_rank(group, (plan.child[i] + root) % n),
			      buffer, length);
	bcl_step_round(schedule);
}

/*
 * A member combines its own vector with those of its subtree, from the nearest
 * child on, so vectors are combined in the order of the group. If the operator
 * is commutative, the tree begins at the root. Otherwise it begins at member 0,
 * and member 0 sends the result to the root.
 */
void bcl_build_reduce_tree(struct bcl_schedule *schedule,
			   const struct bcl_group *group, unsigned root,
			   const void *send, void *receive, size_t length,
			   const struct bcl_reduction *reduction,
			   unsigned ahead)
{
	unsigned n = group->size, i;
	unsigned top = reduction->commutative ? root : 0;
	unsigned me = (group->me + n - top) % n;
	struct bcl_postal plan;
	const void *sum = send;
	void *arrived[2];

	bcl_postal_init(&plan, n, me, ahead);
	if (plan.children) {
		arrived[0] = bcl_step_scratch(schedule, length);
		arrived[1] = bcl_step_scratch(schedule, length);
	}
	for (i = plan.children; i-- > 0;) {
		void *from = arrived[i % 2];

		bcl_step_receive(
			schedule,
			bcl_group_rank(group, (plan.child[i] + top) % n), from,
			length);
		bcl_step_round(schedule);
		bcl_step_combine(schedule, reduction, sum, from,
				 length / reduction->element);
		sum = from;
	}
	if (me)
		bcl_step_send(schedule,
			      bcl_group_rank(group, (plan.parent + top) % n),
			      sum, length);
	else if (top != root)
		bcl_step_send(schedule, bcl_group_rank(group, root), sum,
			      length);
	else
		bcl_step_copy(schedule, receive, sum, length);
	bcl_step_round(schedule);
	if (group->me == root && top != root) {
		bcl_step_receive(schedule, bcl_group_rank(group, top), receive,
				 length);
		bcl_step_round(schedule);
	}
}
