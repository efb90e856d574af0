/* SPDX-License-Identifier: MIT */
/*
 * Barrier: a gather of zero bytes inside each node, dissemination among the
 * leaders, a broadcast of zero bytes inside each node. A single node uses its
 * segment.
 *
 * Dissemination among the leaders, with one message in flight:
 *
 *   message   to      from    leader p then knows of
 *      0      p + 1   p - 1   p - 1, p
 *      1      p + 2   p - 2   p - 3 ... p
 *      2      p + 4   p - 4   p - 7 ... p
 */
#include "collectives/builders.h"
#include "collectives/cost.h"
#include "collectives/dissemination.h"

/*
 * Dissemination among the leaders: D. Hensgen, R. Finkel, U. Manber, "Two
 * algorithms for barrier synchronization", Int. J. of Parallel Programming 17
 * (1988), with up to `ahead` messages in flight (dissemination.h).
 */
static void disseminate(struct bcl_schedule *schedule,
			const struct bcl_group *group, unsigned ahead)
{
	unsigned n = group->size, me = group->me, i;
	struct bcl_dissemination plan;

	bcl_dissemination_init(&plan, n, ahead);
	for (i = 0; i < plan.messages; i++) {
		unsigned distance = plan.known[i];
		unsigned to = bcl_group_rank(group, (me + distance) % n);
		unsigned from = bcl_group_rank(group, (me + n - distance) % n);

		bcl_dissemination_step(schedule, &plan, i, to, NULL, 0, from,
				       NULL, 0);
	}
	bcl_step_round(schedule);
}

static void build_dissemination(struct bcl_schedule *schedule,
				const struct bcl_call *call, unsigned ahead)
{
	const struct bcl_team *team = schedule->team;
	unsigned leader = bcl_layout_leader(&team->layout, team->my_node);
	struct bcl_group leaders;

	/* Zero bytes: the addresses are not used. */
	bcl_intranode_gather(schedule, leader, call, 0, schedule);
	if (team->rank == leader) {
		leaders = bcl_group_leaders(team, leader);
		disseminate(schedule, &leaders, ahead);
	}
	bcl_intranode_broadcast(schedule, leader, schedule, 0);
}

static double cost_node(const struct bcl_model *model, double length,
			unsigned parameter)
{
	(void)length;
	(void)parameter;
	return model->segment.message;
}

static double cost_dissemination(const struct bcl_model *model, double length,
				 unsigned ahead)
{
	return 2 * model->segment.message +
	       bcl_cost_dissemination(model, length, ahead);
}

const struct bcl_algorithm bcl_barrier_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_BARRIER, NULL, cost_node, 0 },
	{ "dissemination", 0, 0, build_dissemination, cost_dissemination, 1 },
	{ "dissemination_2", 0, 0, build_dissemination, cost_dissemination, 2 },
	{ "dissemination_4", 0, 0, build_dissemination, cost_dissemination, 4 },
	{ "dissemination_8", 0, 0, build_dissemination, cost_dissemination, 8 },
	{ 0 },
};
