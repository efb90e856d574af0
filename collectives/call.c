/* SPDX-License-Identifier: MIT */
/*
 * Runs and starts collective calls, for the functions of bcl/coll.h: chooses
 * the algorithm, then runs the operation directly by the flags of the node, or
 * builds a schedule. See call.h.
 */
#include "collectives/call.h"
#include "collectives/compare.h"
#include "collectives/loss.h"
#include "collectives/swap.h"
#include "env/log.h"
#include "transport/context.h"

enum {
	/* Looks at a flag between two turns of the engine, if each rank has a
	 * processor. On shared processors a member looks once between two
	 * yields, and yields this many times between two turns. */
	POLLS = 64,
	YIELDS_PER_TURN = 16,
};

const struct bcl_algorithm *bcl_call_choose(const struct bcl_team *team,
					    const struct bcl_call *call)
{
	const struct bcl_reduction *reduction = call->reduction;
	const struct bcl_algorithm *algorithm =
		bcl_choice(&team->choices, call->operation,
			   reduction && !reduction->commutative, call->length);

	/* an element longer than a chunk goes by messages */
	if (!algorithm->build &&
	    !bcl_node_able(&team->node, algorithm->node, reduction)) {
		algorithm = bcl_algorithms[call->operation];
		while (!algorithm->build)
			algorithm++;
	}
	return algorithm;
}

enum bcl_status bcl_call_finish(struct bcl_team *team, struct bcl_node_op *op)
{
	unsigned per_turn = team->polls ? 1 : YIELDS_PER_TURN, rounds = 0;
	struct bcl_adi_idle idle = { 0 };
	struct bcl_park park = { 0 };

	while (!bcl_node_advance(&team->node, op, team->polls) &&
	       team->lost == BCL_OK) {
		if (team->node.differs)
			bcl_compare_node(team, team->sequence - 1, op);
		bcl_park_tell(team, &team->node, &park);
		if (++rounds % per_turn == 0 && bcl_adi_wait_turn(team->adi)) {
			rounds--; /* there may be more to do: yields can wait */
			bcl_adi_came(team->adi, &idle);
			bcl_park_end(team, &park);
		} else if (!bcl_adi_linger(team->adi, &idle) &&
			   bcl_park_sleep(team, &park)) {
			bcl_adi_turn(team->adi);
		}
		bcl_park_watch(team, &park);
	}
	bcl_adi_came(team->adi, &idle);
	bcl_park_end(team, &park);
	bcl_park_tell(team, &team->node, &park);
	return team->lost;
}

/* The call as an operation inside the node. *swap stays valid as long as *op.
 */
static void begin_inside(const struct bcl_team *team,
			 const struct bcl_call *call, enum bcl_node_kind kind,
			 struct bcl_swap *swap, struct bcl_node_op *op)
{
	const unsigned char *send = call->send;

	if (call->operation == BCL_OPERATION_SCATTERV) {
		*swap = bcl_swap_of(team, call);
		bcl_swap_begin_scatter(swap, call, op);
		return;
	}
	if (kind == BCL_NODE_SWAP) {
		*swap = bcl_swap_of(team, call);
		bcl_swap_begin(swap, op);
		return;
	}
	swap->own = 0;
	if (kind != BCL_NODE_ALLGATHERV) {
		bcl_node_begin(op, kind, call->root, send, call->receive,
			       call->length, call->reduction);
		return;
	}
	/* the offset of an empty block may be anything */
	if (call->in_place && call->receive_lengths[team->rank])
		send = call->receive + call->receive_offsets[team->rank];
	bcl_node_begin_blocks(op, kind, send, call->receive,
			      call->receive_lengths, call->receive_offsets,
			      team->size);
}

enum bcl_status bcl_call_run_direct(struct bcl_team *team,
				    enum bcl_node_kind kind,
				    const struct bcl_call *call)
{
	struct bcl_node_op op;
	struct bcl_swap swap;

	if (!bcl_call_begin(team, call))
		return team->lost;
	begin_inside(team, call, kind, &swap, &op);
	bcl_swap_copy_own(&swap);
	return bcl_call_finish(team, &op);
}

enum bcl_status bcl_call_build(struct bcl_team *team,
			       const struct bcl_algorithm *algorithm,
			       const struct bcl_call *call,
			       struct bcl_schedule **schedule)
{
	enum bcl_status status = bcl_schedule_get(team, schedule);
	struct bcl_node_op op;
	struct bcl_swap swap;

	if (status != BCL_OK)
		return status;
	if (bcl_check_wanted(team))
		bcl_check_build(*schedule, call);
	if (algorithm->build && bcl_call_moves(call)) {
		algorithm->build(*schedule, call, algorithm->parameter);
	} else if (bcl_call_moves(call)) {
		begin_inside(team, call, algorithm->node, &swap, &op);
		if (swap.own)
			bcl_step_copy(*schedule, swap.to, swap.from, swap.own);
		bcl_step_operation(*schedule, &op);
	}
	(*schedule)->call = bcl_calls_call(call->operation, call->length);
	return BCL_OK;
}

void bcl_call_count_scheduled(struct bcl_team *team,
			      enum bcl_operation operation)
{
	bcl_adi_lock(team->adi);
	bcl_call_count(team->counters, operation);
	bcl_count(team->counters, coll_scheduled);
	bcl_adi_unlock(team->adi);
}

/* The kind inside the node of a short operation, whose length all members know
 * as the length of the call. BCL_NODE_BARRIER: there is none, or a barrier. */
static enum bcl_node_kind short_kind(const struct bcl_team *team,
				     enum bcl_operation operation)
{
	switch (operation) {
	case BCL_OPERATION_ALLTOALLV:
	case BCL_OPERATION_GATHERV:
		return BCL_NODE_SWAP;
	case BCL_OPERATION_SCATTERV:
		return BCL_NODE_BROADCAST;
	case BCL_OPERATION_ALLGATHERV:
		return team->size == 2 ? BCL_NODE_ALLGATHERV : BCL_NODE_BARRIER;
	default:
		return operation <= BCL_OPERATION_EXSCAN
			       ? (enum bcl_node_kind)operation
			       : BCL_NODE_BARRIER;
	}
}

/* The limit below which an operation goes through the flag lines alone. 0,
 * unless all lengths below the limit choose the operation inside the node. 0
 * where members compare their calls, too. */
static size_t brief_of(const struct bcl_team *team,
		       enum bcl_operation operation)
{
	enum bcl_node_kind node = short_kind(team, operation);
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

enum bcl_status bcl_call_refuse(struct bcl_team *team,
				enum bcl_operation operation,
				enum bcl_status status)
{
	if (!team || team->size == 1)
		return status;
	bcl_adi_lock(team->adi);
	if (team->lost == BCL_OK)
		bcl_log(&bcl_adi_context(team->adi)->config, BCL_LOG_WARN,
			"coll",
			"rank %u of a team of %u calls %s with a wrong "
			"argument: the team is of no use any more",
			team->rank, team->size, bcl_operation_names[operation]);
	bcl_team_lose(team, status);
	bcl_adi_unlock(team->adi);
	return status;
}

enum bcl_status bcl_call_run_long(struct bcl_team *team,
				  const struct bcl_call *call)
{
	const struct bcl_algorithm *algorithm = bcl_call_choose(team, call);
	struct bcl_schedule *schedule;
	enum bcl_status status;

	if (bcl_call_is_direct(team, algorithm)) {
		bcl_adi_lock(team->adi);
		if (bcl_call_is_alone(team)) {
			status = bcl_call_run_direct(team, algorithm->node,
						     call);
			bcl_adi_unlock(team->adi);
			return status;
		}
		bcl_adi_unlock(team->adi);
	}
	status = bcl_call_build(team, algorithm, call, &schedule);
	if (status != BCL_OK)
		return status;
	bcl_call_count_scheduled(team, call->operation);
	return bcl_schedule_run(schedule);
}

/* Run a short call of two members to its end, as bcl_call_run_direct(). In its
 * short form an allgatherv of two members is a swap, too. */
static enum bcl_status run_swap(struct bcl_team *team,
				const struct bcl_call *call)
{
	struct bcl_node_op op;
	struct bcl_swap swap;

	if (!bcl_call_begin(team, call))
		return team->lost;
	swap = bcl_swap_of(team, call);
	bcl_swap_copy_own(&swap);
	if (call->operation == BCL_OPERATION_SCATTERV) {
		bcl_swap_begin_scatter(&swap, call, &op);
		return bcl_call_finish_short(team, &op);
	}
	bcl_swap_begin(&swap, &op);
	return bcl_call_finish_short(team, &op);
}

enum bcl_status bcl_call_run_various(struct bcl_team *team,
				     const struct bcl_call *call)
{
	enum bcl_status status = bcl_team_usable(team);

	if (status != BCL_OK)
		return status;
	if (bcl_call_is_empty(team, call))
		return BCL_OK;
	if (call->length < team->brief[call->operation]) {
		bcl_adi_lock(team->adi);
		if (bcl_call_is_alone(team)) {
			status = run_swap(team, call);
			bcl_adi_unlock(team->adi);
			return status;
		}
		bcl_adi_unlock(team->adi);
	}
	return bcl_call_run_long(team, call);
}

enum bcl_status bcl_call_start(struct bcl_team *team,
			       const struct bcl_call *call,
			       struct bcl_adi_request **request)
{
	enum bcl_status status = bcl_team_usable(team);
	struct bcl_schedule *schedule;

	if (status != BCL_OK)
		return status;
	if (!request)
		return BCL_ERR_ARG;
	if (bcl_call_is_empty(team, call)) {
		*request = NULL;
		return BCL_OK;
	}
	status = bcl_call_build(team, bcl_call_choose(team, call), call,
				&schedule);
	if (status != BCL_OK)
		return status;
	bcl_call_count_scheduled(team, call->operation);
	return bcl_schedule_start(schedule, request);
}
