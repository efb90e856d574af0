/* SPDX-License-Identifier: MIT */
/* One call of a collective operation, on its way to an algorithm. */
#ifndef BCL_COLLECTIVES_CALL_H
#define BCL_COLLECTIVES_CALL_H

#include "collectives/select.h"
#include "collectives/short.h"
#include "collectives/team.h"
#include "collectives/park.h"
#include "transport/counters.h"

enum {
	/* Operations that pass the engine by between two turns of it. */
	BCL_CALL_DIRECT_PER_TURN = 64,
};

struct bcl_call {
	enum bcl_operation operation;
	const unsigned char *send; /* in place: where the own block is */
	unsigned char *receive;
	size_t length; /* bytes: of the vector, or of a block */
	unsigned root;
	const struct bcl_reduction *reduction;

	/* alltoallv only */
	bool in_place; /* what comes replaces what goes */
	const size_t *send_lengths, *send_offsets;
	const size_t *receive_lengths, *receive_offsets;
};

/* The team's choices have changed. */
void bcl_call_prepare(struct bcl_team *team);

/* The call is refused here, while others may make theirs: the operations of the
 * team end with the status everywhere. Returns the status. */
enum bcl_status bcl_call_refuse(struct bcl_team *team,
				enum bcl_operation operation,
				enum bcl_status status);

/* The call as it was made, without the operation's own checks. */
enum bcl_status bcl_call_start(struct bcl_team *team,
			       const struct bcl_call *call,
			       struct bcl_adi_request **request);
/* The same to its end, for whatever is not short. */
enum bcl_status bcl_call_run_long(struct bcl_team *team,
				  const struct bcl_call *call);

/* Go on with an operation inside the node until it is over. Lock held. */
enum bcl_status bcl_call_finish(struct bcl_team *team, struct bcl_node_op *op);

/* Nothing to be moved, and nobody waits for anybody. */
static inline bool bcl_call_is_empty(const struct bcl_call *call)
{
	return !call->length && call->operation != BCL_OPERATION_BARRIER &&
	       call->operation != BCL_OPERATION_ALLTOALLV;
}

static inline void bcl_call_count(struct bcl_counter_page *counters,
				  enum bcl_operation operation)
{
	_Static_assert(BCL_COUNT_coll_barrier + BCL_OPERATION_ALLTOALLV ==
			       BCL_COUNT_coll_alltoallv,
		       "counters are in the order of the operations");
	bcl_count_add(counters, BCL_COUNT_coll_barrier + (unsigned)operation,
		      1);
}

/* With all operations before it over: nobody else uses the node's segment. */
static inline bool bcl_call_is_alone(const struct bcl_team *team)
{
	return team->turn == team->tickets;
}

/*
 * An operation inside the node, past the engine: nothing but the members'
 * flags, and a turn of the engine now and then. All ranks are members, in the
 * same order. False: the team is lost.
 */
static inline bool bcl_call_begin(struct bcl_team *team,
				  const struct bcl_call *call)
{
	if (team->lost != BCL_OK)
		return false;
	bcl_call_count(team->counters, call->operation);
	/* In step with the members that need a schedule for it. */
	bcl_calls_note(&team->calls, team->sequence++,
		       bcl_calls_call(call->operation, call->length));
	if (++team->direct % BCL_CALL_DIRECT_PER_TURN == 0)
		bcl_adi_turn(team->adi);
	return true;
}

/* Takes a copy: what others are shown lies in memory, which the way to here
 * goes without. */
static inline enum bcl_status bcl_call_go_on(struct bcl_team *team,
					     struct bcl_node_op op)
{
	return bcl_call_finish(team, &op);
}

static inline enum bcl_status bcl_call_run_short(struct bcl_team *team,
						 const struct bcl_call *call)
{
	struct bcl_node_op op;

	_Static_assert((int)BCL_NODE_ALLTOALL == (int)BCL_OPERATION_ALLTOALL,
		       "inside a node operations have the same numbers");
	if (!bcl_call_begin(team, call))
		return team->lost;
	bcl_node_begin(&op, (enum bcl_node_kind)call->operation, call->root,
		       call->send, call->receive, call->length,
		       call->reduction);
	if (!bcl_short_advance(&team->node, &op, team->polls))
		return bcl_call_go_on(team, op);
	if (bcl_park_any(&team->node))
		bcl_park_wake(team);
	return BCL_OK;
}

/*
 * The call to its end. Here it is decided how: what is short is done in line,
 * where the operation is known.
 */
static inline enum bcl_status bcl_call_run(struct bcl_team *team,
					   struct bcl_call call)
{
	struct bcl_call shown; /* as in bcl_call_go_on() */
	enum bcl_status status;

	status = bcl_team_usable(team);
	if (__builtin_expect(status != BCL_OK, 0))
		return status;
	if (bcl_call_is_empty(&call))
		return BCL_OK;
	if (call.length < team->brief[call.operation] &&
	    bcl_short_reduces(call.reduction)) {
		bcl_adi_lock(team->adi);
		if (bcl_call_is_alone(team)) {
			status = bcl_call_run_short(team, &call);
			bcl_adi_unlock(team->adi);
			return status;
		}
		bcl_adi_unlock(team->adi);
	}
	shown = call;
	return bcl_call_run_long(team, &shown);
}

#endif
