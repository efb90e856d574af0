/* SPDX-License-Identifier: MIT */
#include "collectives/call.h"
#include "collectives/flags.h"
#include "transport/context.h"
#include "transport/counters.h"

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

/* Go on with an operation inside the node until it is over. */
static __attribute__((noinline)) enum bcl_status
finish_direct(struct bcl_team *team, struct bcl_node_op *op)
{
	unsigned per_turn = team->polls ? 1 : YIELDS_PER_TURN, rounds = 0;
	struct bcl_adi_idle idle = { 0 };
	struct bcl_vigil vigil = { 0 };

	while (!bcl_node_advance(&team->node, op, team->polls) &&
	       team->lost == BCL_OK) {
		bcl_vigil_tell(team, &team->node, &vigil);
		if (++rounds % per_turn == 0 && bcl_adi_turn(team->adi)) {
			idle = (struct bcl_adi_idle){ 0 };
			bcl_vigil_end(team, &vigil);
		} else if (!bcl_adi_linger(team->adi, &idle) &&
			   bcl_vigil_sleep(team, &vigil)) {
			bcl_adi_turn(team->adi);
		}
		bcl_vigil_watch(team, &vigil);
	}
	bcl_vigil_end(team, &vigil);
	bcl_vigil_tell(team, &team->node, &vigil);
	return team->lost;
}

static inline void count(const struct bcl_team *team,
			 enum bcl_operation operation)
{
	_Static_assert(BCL_COUNT_coll_barrier + BCL_OPERATION_ALLTOALLV ==
			       BCL_COUNT_coll_alltoallv,
		       "counters are in the order of the operations");
	bcl_count_add(team->counters,
		      BCL_COUNT_coll_barrier + (unsigned)operation, 1);
}

/*
 * An operation inside the node, past the engine: nothing but the members'
 * flags, and a turn of the engine now and then. All ranks are members, in the
 * same order.
 */
static inline bool begin_direct(struct bcl_team *team,
				enum bcl_operation operation)
{
	if (team->lost != BCL_OK)
		return false;
	count(team, operation);
	/* In step with the members that need a schedule for it. */
	team->sequence++;
	if (++team->direct % DIRECT_PER_TURN == 0)
		bcl_adi_turn(team->adi);
	return true;
}

static enum bcl_status run_direct(struct bcl_team *team,
				  enum bcl_node_kind kind,
				  const struct bcl_call *call)
{
	struct bcl_node_op op;

	if (!begin_direct(team, call->operation))
		return team->lost;
	bcl_node_begin(&op, kind, call->root, call->send, call->receive,
		       call->length, call->reduction);
	return finish_direct(team, &op);
}

/* It begins, and perhaps some have come, but `next` or all have not yet. */
static __attribute__((noinline)) enum bcl_status
finish_short(struct bcl_team *team, enum bcl_node_kind kind,
	     const struct bcl_call *call, bool written, unsigned next)
{
	struct bcl_node_op op;

	bcl_node_begin(&op, kind, call->root, call->send, call->receive,
		       call->length, call->reduction);
	if (written)
		bcl_node_written(&op, next);
	return finish_direct(team, &op);
}

static inline enum bcl_status run_short(struct bcl_team *team,
					enum bcl_node_kind kind,
					const struct bcl_call *call)
{
	struct bcl_node *node = &team->node;
	unsigned next = node->members;
	bool written, over;

	if (!begin_direct(team, call->operation))
		return team->lost;
	if (kind == BCL_NODE_ALLREDUCE && node->members == 2 &&
	    call->length == sizeof(uint64_t)) {
		over = bcl_short_pair(node, call->send, call->receive,
				      call->reduction, team->polls, &written);
	} else {
		written = bcl_short_write(node, kind, call->root, call->send,
					  call->length);
		over = written && bcl_short_arrived(node, kind, call->root,
						    &next, team->polls);
		if (over)
			bcl_short_read(node, kind, call->root, call->receive,
				       call->length, call->reduction);
	}
	if (!over)
		return finish_short(team, kind, call, written, next);
	if (bcl_vigil_asleep(node))
		bcl_vigil_wake(team);
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
	bcl_adi_lock(team->adi);
	count(team, call->operation);
	bcl_count(team->counters, coll_scheduled);
	bcl_adi_unlock(team->adi);
	return BCL_OK;
}

/* All lengths up to what fits into a flag line go the same way, or none. */
static struct bcl_brief brief_of(const struct bcl_team *team,
				 enum bcl_operation operation)
{
	enum bcl_node_kind node = bcl_algorithms[operation]->node;
	size_t below = bcl_node_brief(&team->node, node), length;
	const struct bcl_algorithm *algorithm;
	unsigned ordered;

	for (length = 0; length < below; length++)
		for (ordered = 0; ordered < 2; ordered++) {
			algorithm = bcl_choice(&team->choices, operation,
					       ordered, length);
			if (algorithm->build || algorithm->node != node)
				return (struct bcl_brief){ 0 };
		}
	return (struct bcl_brief){ below, node };
}

void bcl_call_prepare(struct bcl_team *team)
{
	unsigned i;

	team->polls = bcl_adi_context(team->adi)->crowded ? 0 : POLLS;
	for (i = 0; i < BCL_OPERATIONS; i++)
		team->brief[i] = brief_of(team, (enum bcl_operation)i);
}

/* With all operations before it over: nobody else uses the node's segment. */
static bool is_free(const struct bcl_team *team)
{
	return team->turn == team->tickets;
}

static __attribute__((noinline)) enum bcl_status
run(struct bcl_team *team, const struct bcl_call *call)
{
	const struct bcl_algorithm *algorithm = choose(team, call);
	struct bcl_schedule *schedule;
	enum bcl_status status;

	if (!algorithm->build) {
		bcl_adi_lock(team->adi);
		if (is_free(team)) {
			status = run_direct(team, algorithm->node, call);
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

enum bcl_status bcl_call_run(struct bcl_team *team, const struct bcl_call *call)
{
	const struct bcl_brief *brief = &team->brief[call->operation];
	enum bcl_status status;

	if (is_empty(call))
		return BCL_OK;
	if (call->length < brief->below && bcl_short_reduces(call->reduction)) {
		bcl_adi_lock(team->adi);
		if (is_free(team)) {
			status = run_short(team, brief->node, call);
			bcl_adi_unlock(team->adi);
			return status;
		}
		bcl_adi_unlock(team->adi);
	}
	return run(team, call);
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
