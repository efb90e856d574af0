/* SPDX-License-Identifier: MIT */
#include "collectives/builders.h"

/*
 * Dissemination among the leaders: D. Hensgen, R. Finkel, U. Manber, "Two
 * algorithms for barrier synchronization", Int. J. of Parallel Programming 17
 * (1988). In round k everyone signals 2^k places on.
 */
static void disseminate(struct bcl_schedule *schedule,
			const struct bcl_group *group)
{
	unsigned n = group->size, me = group->me, distance;

	for (distance = 1; distance < n; distance *= 2) {
		bcl_step_send(schedule,
			      bcl_group_rank(group, (me + distance) % n), NULL,
			      0);
		bcl_step_receive(schedule,
				 bcl_group_rank(group, (me + n - distance) % n),
				 NULL, 0);
		bcl_step_round(schedule);
	}
}

static void build_dissemination(struct bcl_schedule *schedule,
				const struct bcl_call *call)
{
	const struct bcl_team *team = schedule->team;
	unsigned leader = bcl_layout_leader(&team->layout, team->my_node);
	struct bcl_group leaders;

	/* Of no bytes from and to any address. */
	bcl_inside_gather(schedule, leader, call, 0, schedule);
	if (team->rank == leader) {
		leaders = bcl_group_leaders(team, leader);
		disseminate(schedule, &leaders);
	}
	bcl_inside_broadcast(schedule, leader, schedule, 0);
}

static double cost_node(const struct bcl_model *model, double length)
{
	(void)length;
	return model->segment.message;
}

static double cost_dissemination(const struct bcl_model *model, double length)
{
	(void)length;
	return 2 * model->segment.message +
	       bcl_log2_up(model->nodes) * model->between.message;
}

const struct bcl_algorithm bcl_barrier_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_BARRIER, NULL, cost_node },
	{ "dissemination", 0, 0, build_dissemination, cost_dissemination },
	{ 0 },
};

static const struct bcl_call call = { .operation = BCL_OPERATION_BARRIER };

enum bcl_status bcl_barrier(struct bcl_team *team)
{
	return bcl_call_run(team, call);
}

enum bcl_status bcl_ibarrier(struct bcl_team *team,
			     struct bcl_adi_request **request)
{
	return bcl_call_start(team, &call, request);
}
