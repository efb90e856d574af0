/* SPDX-License-Identifier: MIT */
/*
 * Broadcast down a tree of a group (postal.h), and reduce up the same tree. The
 * binomial tree of four members, where (0 1) is the sum of 0 and 1:
 *
 *   1 -> 0, 3 -> 2     (0 1) at member 0, (2 3) at member 2
 *   2 -> 0             all sums at member 0
 */
#include "collectives/builders.h"
#include "collectives/postal.h"

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
