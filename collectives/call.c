/* SPDX-License-Identifier: MIT */
#include "collectives/call.h"
#include "transport/context.h"

enum {
	/* Operations that pass the engine by between two turns of it. */
	DIRECT_PER_TURN = 64,
	/* Looks at a flag between two turns of it where the processor is ours;
	 * else one look between two yields, and so many yields. */
	POLLS = 64,
	YIELDS_PER_TURN = 16,
};

/* Nothing to be moved, and nobody waits for anybody. */
static bool is_empty(const struct bcl_call *call)
{
	return !call->length && call->operation != BCL_OPERATION_BARRIER &&
	       call->operation != BCL_OPERATION_ALLTOALLV;
}

static const struct bcl_algorithm *choose(const struct bcl_team *team,
					  const struct bcl_call *call)
{
	const struct bcl_reduction *reduction = call->reduction;
	const struct bcl_algorithm *algorithm =
		bcl_choice(&team->choices, call->operation,
			   reduction && !reduction->commutative, call->length);

	/* An element that is longer than a chunk goes by messages. */
	if (!algorithm->build && reduction &&
	    reduction->element > team->node.chunk) {
		algorithm = bcl_algorithms[call->operation];
		while (!algorithm->build)
			algorithm++;
	}
	return algorithm;
}

/*
 * The operation inside the node, past the engine: nothing but the members'
 * flags, and a turn of the engine now and then. All ranks are members, in the
 * same order. Lock held.
 */
static enum bcl_status run_direct(struct bcl_team *team,
				  const struct bcl_algorithm *algorithm,
				  const struct bcl_call *call)
{
	bool crowded = bcl_adi_context(team->adi)->crowded;
	unsigned polls = crowded ? 0 : POLLS, rounds = 0;
	unsigned per_turn = crowded ? YIELDS_PER_TURN : 1;
	struct bcl_adi_idle idle = { 0 };
	struct bcl_vigil vigil = { 0 };
	struct bcl_node_op operation;

	if (team->lost != BCL_OK)
		return team->lost;
	/* In step with the members that need a schedule for it. */
	team->sequence++;
	if (++team->direct % DIRECT_PER_TURN == 0)
		bcl_adi_turn(team->adi);
	bcl_node_begin(&operation, algorithm->node, call->root, call->send,
		       call->receive, call->length, call->reduction);
	while (!bcl_node_advance(&team->node, &operation, polls)) {
		if (++rounds % per_turn == 0 && bcl_adi_turn(team->adi))
			idle = (struct bcl_adi_idle){ 0 };
		bcl_adi_idle(team->adi, &idle);
		bcl_team_watch(team, &vigil);
		if (team->lost != BCL_OK)
			return team->lost;
	}
	return BCL_OK;
}

static enum bcl_status build(struct bcl_team *team,
			     const struct bcl_algorithm *algorithm,
			     const struct bcl_call *call,
			     struct bcl_schedule **schedule)
{
	enum bcl_status status = bcl_schedule_get(team, schedule);

	if (status != BCL_OK)
		return status;
	if (algorithm->build)
		algorithm->build(*schedule, call);
	else
		bcl_step_node(*schedule, algorithm->node, call->root,
			      call->send, call->receive, call->length,
			      call->reduction);
	return BCL_OK;
}

enum bcl_status bcl_call_run(struct bcl_team *team, const struct bcl_call *call)
{
	const struct bcl_algorithm *algorithm;
	struct bcl_schedule *schedule;
	enum bcl_status status;

	if (is_empty(call))
		return BCL_OK;
	algorithm = choose(team, call);
	if (!algorithm->build) {
		bcl_adi_lock(team->adi);
		if (team->turn == team->tickets) {
			status = run_direct(team, algorithm, call);
			bcl_adi_unlock(team->adi);
			return status;
		}
		bcl_adi_unlock(team->adi);
	}
	status = build(team, algorithm, call, &schedule);
	if (status != BCL_OK)
		return status;
	return bcl_schedule_run(schedule);
}

enum bcl_status bcl_call_start(struct bcl_team *team,
			       const struct bcl_call *call,
			       struct bcl_adi_request **request)
{
	struct bcl_schedule *schedule;
	enum bcl_status status;

	if (is_empty(call)) {
		*request = NULL;
		return BCL_OK;
	}
	status = build(team, choose(team, call), call, &schedule);
	if (status != BCL_OK)
		return status;
	return bcl_schedule_start(schedule, request);
}
