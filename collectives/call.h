/* SPDX-License-Identifier: MIT */
/*
 * One call of a collective operation, from the arguments that the caller gave
 * to the algorithm that runs. Short operations inside a node run in line here;
 * call.c does the rest.
 */
#ifndef BCL_COLLECTIVES_CALL_H
#define BCL_COLLECTIVES_CALL_H

#include "base/base.h"
#include "collectives/check.h"
#include "collectives/park.h"
#include "collectives/select.h"
#include "collectives/short.h"
#include "collectives/team.h"
#include "env/counters.h"

enum {
	/* Direct operations, past the engine, between two turns of the
	 * engine. */
	BCL_CALL_DIRECT_PER_TURN = 64,
};

struct bcl_call {
	enum bcl_operation operation;
	const unsigned char *send; /* in place: own block of `receive` */
	unsigned char *receive;
	/* Bytes of the vector, or of a block, which are the same at all
	 * members; of an allgatherv or a reduce_scatterv, of a block on
	 * average; of any other operation on blocks of different lengths, and
	 * of an allgatherv, between two members, of the longer block that
	 * passes between them; else 0. */
	size_t length;
	unsigned root;
	int distance; /* of a shift */
	const struct bcl_reduction *reduction;

	/* Blocks of different lengths only; the arrays as each operation needs
	 * them */
	size_t own;	      /* bytes of the own block, not of an alltoallv */
	const size_t *counts; /* of a reduce_scatterv: elements of each block */
	const struct bcl_blocks *to, *from; /* of an exchange */
	/* Received blocks replace the blocks that were sent; the own block is
	 * in its place. */
	bool in_place;
	const size_t *send_lengths, *send_offsets;
	const size_t *receive_lengths, *receive_offsets;
};

/* To be called when the team's choices have changed: sets `polls` and
 * `brief`. */
void bcl_call_prepare(struct bcl_team *team);

/* This member refuses the call for a wrong argument, while other members may
 * have made theirs: the team is lost, and its operations end with the status at
 * all members. A team of one is not lost. Returns the status. */
enum bcl_status bcl_call_refuse(struct bcl_team *team,
				enum bcl_operation operation,
				enum bcl_status status);

/* Start the call by a schedule. The operation has checked its own arguments
 * before. *request: NULL if there is nothing to do. */
enum bcl_status bcl_call_start(struct bcl_team *team,
			       const struct bcl_call *call,
			       struct bcl_adi_request **request);
/* The algorithm for the call. */
const struct bcl_algorithm *bcl_call_choose(const struct bcl_team *team,
					    const struct bcl_call *call);
/* Build a schedule for the call. Returns the status of bcl_schedule_get(). */
enum bcl_status bcl_call_build(struct bcl_team *team,
			       const struct bcl_algorithm *algorithm,
			       const struct bcl_call *call,
			       struct bcl_schedule **schedule);
/* Count a call that runs by a schedule. */
void bcl_call_count_scheduled(struct bcl_team *team,
			      enum bcl_operation operation);
/* Run the call by the operation inside the node, past the engine. Blocks. Lock
 * held; the team is alone (bcl_call_is_alone()). */
enum bcl_status bcl_call_run_direct(struct bcl_team *team,
				    enum bcl_node_kind kind,
				    const struct bcl_call *call);
/* Run a call that is not short to its end. Blocks. */
enum bcl_status bcl_call_run_long(struct bcl_team *team,
				  const struct bcl_call *call);
/* As bcl_call_run(), for blocks of different lengths. */
enum bcl_status bcl_call_run_various(struct bcl_team *team,
				     const struct bcl_call *call);

/* Advance an operation inside the node until it is over, or the team is lost.
 * Returns the team's status. Lock held. */
enum bcl_status bcl_call_finish(struct bcl_team *team, struct bcl_node_op *op);

/* True if each member gives lengths of its own, of which not all members
 * know. */
static inline bool bcl_call_differs(const struct bcl_call *call)
{
	return call->operation == BCL_OPERATION_ALLTOALLV ||
	       call->operation == BCL_OPERATION_GATHERV ||
	       call->operation == BCL_OPERATION_SCATTERV ||
	       call->operation == BCL_OPERATION_EXCHANGE;
}

/* True if the call has data to move, or members wait for one another. */
static inline bool bcl_call_moves(const struct bcl_call *call)
{
	return call->length || call->operation == BCL_OPERATION_BARRIER ||
	       bcl_call_differs(call);
}

/* True if there is nothing to do. */
static inline bool bcl_call_is_empty(const struct bcl_team *team,
				     const struct bcl_call *call)
{
	return !bcl_call_moves(call) && !bcl_check_wanted(team);
}

/* True if the algorithm is one operation inside the node, which may run past
 * the engine. */
static inline bool bcl_call_is_direct(const struct bcl_team *team,
				      const struct bcl_algorithm *algorithm)
{
	return !algorithm->build && !bcl_check_wanted(team);
}

/* Returns the first block from index i on that is of the rank; n: there is
 * none. */
static inline unsigned bcl_blocks_next(const struct bcl_blocks *blocks,
				       unsigned i, unsigned rank)
{
	while (i < blocks->n && blocks->ranks[i] != rank)
		i++;
	return i;
}

/* True if the flag lines alone can do the call. */
static bcl_always_inline bool bcl_call_is_short(const struct bcl_team *team,
						const struct bcl_call *call)
{
	return call->length < team->brief[call->operation] &&
	       bcl_short_reduces(call->reduction);
}

static inline void bcl_call_count(struct bcl_counter_page *counters,
				  enum bcl_operation operation)
{
	_Static_assert(BCL_COUNT_coll_barrier + BCL_OPERATIONS - 1 ==
			       BCL_COUNT_coll_exchange,
		       "counters are in the order of the operations");
	bcl_count_add(counters, BCL_COUNT_coll_barrier + (unsigned)operation,
		      1);
}

/* True if all earlier operations of the team inside the node are over, so that
 * nothing else uses the node's segment. Lock held. */
static inline bool bcl_call_is_alone(const struct bcl_team *team)
{
	return team->turn == team->tickets;
}

/* Count a direct operation, as members do that run the operation by a
 * schedule. */
static bcl_always_inline void bcl_call_note_direct(struct bcl_team *team,
						   const struct bcl_call *call)
{
	bcl_call_count(team->counters, call->operation);
	bcl_calls_note(&team->calls, team->sequence++,
		       bcl_calls_call(call->operation, call->length));
	if (++team->direct % BCL_CALL_DIRECT_PER_TURN == 0)
		bcl_adi_turn(team->adi);
}

/*
 * A direct operation begins: inside the node, past the engine, by the flags of
 * the members alone, with a turn of the engine now and then. All ranks of the
 * team are members of the node and call operations in the same order. Returns
 * false if the team is lost.
 */
static bcl_always_inline bool bcl_call_begin(struct bcl_team *team,
					     const struct bcl_call *call)
{
	if (team->lost != BCL_OK)
		return false;
	bcl_call_note_direct(team, call);
	return true;
}

/* `op` is passed by value on purpose: the address of the copy is passed on, so
 * the copy has to lie in memory, while the caller's object can stay in
 * registers. */
static bcl_always_inline enum bcl_status bcl_call_go_on(struct bcl_team *team,
							struct bcl_node_op op)
{
	return bcl_call_finish(team, &op);
}

/* Run a short operation that has begun, where the compiler knows the kind. */
static bcl_always_inline enum bcl_status
bcl_call_finish_short(struct bcl_team *team, struct bcl_node_op *op)
{
	if (!bcl_short_advance(&team->node, op, team->polls))
		return bcl_call_go_on(team, *op);
	if (bcl_park_any(&team->node))
		bcl_park_wake(team);
	return BCL_OK;
}

static bcl_always_inline enum bcl_status
bcl_call_run_short(struct bcl_team *team, const struct bcl_call *call)
{
	struct bcl_node_op op;

	_Static_assert((int)BCL_NODE_EXSCAN == (int)BCL_OPERATION_EXSCAN,
		       "inside a node operations have the same numbers");
	if (!bcl_call_begin(team, call))
		return team->lost;
	bcl_node_begin(&op, (enum bcl_node_kind)call->operation, call->root,
		       call->send, call->receive, call->length,
		       call->reduction);
	return bcl_call_finish_short(team, &op);
}

/*
 * Run a call to its end. Blocks. A short operation is done in line, where the
 * compiler knows the operation; all else goes to bcl_call_run_long().
 */
static bcl_always_inline enum bcl_status bcl_call_run(struct bcl_team *team,
						      struct bcl_call call)
{
	struct bcl_call shown; /* a copy in memory, as in bcl_call_go_on() */
	enum bcl_status status;

	status = bcl_team_usable(team);
	if (bcl_unlikely(status != BCL_OK))
		return status;
	if (bcl_call_is_empty(team, &call))
		return BCL_OK;
	if (bcl_call_is_short(team, &call)) {
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
