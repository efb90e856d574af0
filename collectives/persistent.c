/* SPDX-License-Identifier: MIT */
/*
 * Makes, runs, starts and frees persistent operations. Each way to run a call
 * is a function of its own, chosen when the operation is made. See
 * persistent.h.
 */
#include "collectives/persistent.h"

#include <stdlib.h>

#include "collectives/loss.h"

/* ---- running ------------------------------------------------------------- */

static enum bcl_status run_nothing(struct bcl_persistent *operation)
{
	return bcl_team_usable(operation->team);
}

/* The next run of the schedule begins. */
static enum bcl_status rewind_schedule(struct bcl_persistent *operation)
{
	enum bcl_status status = bcl_schedule_rewind(operation->schedule);

	if (status == BCL_OK)
		bcl_call_count_scheduled(operation->team,
					 operation->call.operation);
	return status;
}

static enum bcl_status run_schedule(struct bcl_persistent *operation)
{
	enum bcl_status status = bcl_team_usable(operation->team);

	if (status == BCL_OK)
		status = rewind_schedule(operation);
	return status == BCL_OK ? bcl_schedule_run(operation->schedule)
				: status;
}

/* By the node's flags, past the engine, unless the team has other operations
 * there, one of which may be this operation itself. */
static enum bcl_status run_direct(struct bcl_persistent *operation)
{
	struct bcl_team *team = operation->team;
	enum bcl_status status = bcl_team_usable(team);

	if (status != BCL_OK)
		return status;
	bcl_adi_lock(team->adi);
	if (bcl_call_is_alone(team)) {
		status = bcl_call_run_direct(team, operation->node,
					     &operation->call);
		bcl_adi_unlock(team->adi);
		return status;
	}
	bcl_adi_unlock(team->adi);
	return run_schedule(operation);
}

/* The short call, where the compiler knows `kind`. */
static bcl_always_inline struct bcl_call
short_call(const struct bcl_persistent *operation, enum bcl_operation kind)
{
	const struct bcl_call *call = &operation->call;
	bool reduces = kind == BCL_OPERATION_REDUCE ||
		       kind == BCL_OPERATION_ALLREDUCE ||
		       kind == BCL_OPERATION_REDUCE_SCATTER ||
		       kind == BCL_OPERATION_SCAN ||
		       kind == BCL_OPERATION_EXSCAN;

	return (struct bcl_call){
		.operation = kind,
		.send = call->send,
		.receive = call->receive,
		.length = call->length,
		.root = call->root,
		.reduction = reduces ? call->reduction : NULL,
	};
}

static bcl_always_inline enum bcl_status
run_short(struct bcl_persistent *operation, enum bcl_operation kind)
{
	const struct bcl_call call = short_call(operation, kind);
	struct bcl_team *team = operation->team;
	enum bcl_status status = bcl_team_usable(team);

	if (bcl_unlikely(status != BCL_OK))
		return status;
	bcl_adi_lock(team->adi);
	if (bcl_unlikely(!bcl_call_is_alone(team))) {
		bcl_adi_unlock(team->adi);
		return run_schedule(operation);
	}
	status = bcl_call_run_short(team, &call);
	bcl_adi_unlock(team->adi);
	return status;
}

/* ---- starting ------------------------------------------------------------ */

static enum bcl_status start_nothing(struct bcl_persistent *operation,
				     struct bcl_adi_request **request)
{
	(void)operation;
	*request = NULL;
	return BCL_OK;
}

static enum bcl_status start_schedule(struct bcl_persistent *operation,
				      struct bcl_adi_request **request)
{
	enum bcl_status status = rewind_schedule(operation);

	return status == BCL_OK
		       ? bcl_schedule_start(operation->schedule, request)
		       : status;
}

/* Other members have not started their part yet: the schedule goes on with the
 * operation. `op` is passed by value, as to bcl_call_go_on(). Lock held. */
static enum bcl_status resume_schedule(struct bcl_persistent *operation,
				       struct bcl_node_op op,
				       struct bcl_adi_request **request)
{
	struct bcl_team *team = operation->team;

	bcl_call_count(team->counters, operation->call.operation);
	bcl_count(team->counters, coll_scheduled);
	return bcl_schedule_resume(operation->schedule, &op, request);
}

/* The last member that starts a short call finds all data, and is done at
 * once. */
static bcl_always_inline enum bcl_status
start_short(struct bcl_persistent *operation, enum bcl_operation kind,
	    struct bcl_adi_request **request)
{
	const struct bcl_call call = short_call(operation, kind);
	struct bcl_team *team = operation->team;
	enum bcl_status status = BCL_OK;
	struct bcl_node_op op;

	bcl_adi_lock(team->adi);
	if (bcl_unlikely(team->nrunning || team->lost != BCL_OK)) {
		bcl_adi_unlock(team->adi);
		return start_schedule(operation, request);
	}
	bcl_assert(bcl_call_is_alone(team));
	bcl_node_begin(&op, (enum bcl_node_kind)kind, call.root, call.send,
		       call.receive, call.length, call.reduction);
	if (bcl_short_advance(&team->node, &op, team->polls)) {
		bcl_call_note_direct(team, &call);
		if (bcl_park_any(&team->node))
			bcl_park_wake(team);
		*request = NULL;
	} else {
		status = resume_schedule(operation, op, request);
	}
	bcl_adi_unlock(team->adi);
	return status;
}

/* ---- short calls ---- */

struct ways {
	enum bcl_status (*run)(struct bcl_persistent *operation);
	enum bcl_status (*start)(struct bcl_persistent *operation,
				 struct bcl_adi_request **request);
};

#define SHORT(name, kind)                                               \
	static enum bcl_status run_##name(struct bcl_persistent *op)    \
	{                                                               \
		return run_short(op, BCL_OPERATION_##kind);             \
	}                                                               \
                                                                        \
	static enum bcl_status start_##name(struct bcl_persistent *op,  \
					    struct bcl_adi_request **r) \
	{                                                               \
		return start_short(op, BCL_OPERATION_##kind, r);        \
	}

SHORT(barrier, BARRIER)
SHORT(broadcast, BROADCAST)
SHORT(reduce, REDUCE)
SHORT(allreduce, ALLREDUCE)
SHORT(gather, GATHER)
SHORT(scatter, SCATTER)
SHORT(allgather, ALLGATHER)
SHORT(alltoall, ALLTOALL)
SHORT(reduce_scatter, REDUCE_SCATTER)
SHORT(scan, SCAN)
SHORT(exscan, EXSCAN)

/* By the operations whose calls may be short. */
static const struct ways short_ways[BCL_OPERATIONS] = {
	[BCL_OPERATION_BARRIER] = { run_barrier, start_barrier },
	[BCL_OPERATION_BROADCAST] = { run_broadcast, start_broadcast },
	[BCL_OPERATION_REDUCE] = { run_reduce, start_reduce },
	[BCL_OPERATION_ALLREDUCE] = { run_allreduce, start_allreduce },
	[BCL_OPERATION_GATHER] = { run_gather, start_gather },
	[BCL_OPERATION_SCATTER] = { run_scatter, start_scatter },
	[BCL_OPERATION_ALLGATHER] = { run_allgather, start_allgather },
	[BCL_OPERATION_ALLTOALL] = { run_alltoall, start_alltoall },
	[BCL_OPERATION_REDUCE_SCATTER] = { run_reduce_scatter,
					   start_reduce_scatter },
	[BCL_OPERATION_SCAN] = { run_scan, start_scan },
	[BCL_OPERATION_EXSCAN] = { run_exscan, start_exscan },
};

/* ---- making -------------------------------------------------------------- */

/* Build the schedule, and choose the way to run. */
static enum bcl_status prepare(struct bcl_persistent *operation)
{
	const struct bcl_call *call = &operation->call;
	struct bcl_team *team = operation->team;
	const struct bcl_algorithm *algorithm;
	enum bcl_status status;

	operation->run = run_nothing;
	operation->start = start_nothing;
	if (bcl_call_is_empty(team, call))
		return BCL_OK;
	algorithm = bcl_call_choose(team, call);
	status = bcl_call_build(team, algorithm, call, &operation->schedule);
	if (status != BCL_OK)
		return status;
	status = operation->schedule->status;
	if (status != BCL_OK) {
		bcl_schedule_give(operation->schedule);
		return status;
	}
	bcl_schedule_keep(operation->schedule);
	operation->node = algorithm->node;
	/* without a schedule the operation would need the caller's arrays */
	operation->run = bcl_call_is_direct(team, algorithm) &&
					 !call->receive_lengths &&
					 !call->send_lengths
				 ? run_direct
				 : run_schedule;
	operation->start = start_schedule;
	if (bcl_call_is_short(team, call) && short_ways[call->operation].run) {
		operation->run = short_ways[call->operation].run;
		operation->start = short_ways[call->operation].start;
	}
	bcl_assert(operation->run && operation->start);
	return BCL_OK;
}

/* The team gets the operation. Lock held. */
static void join_team(struct bcl_persistent *operation)
{
	struct bcl_team *team = operation->team;

	operation->next = team->persistent;
	operation->link = &team->persistent;
	if (operation->next)
		operation->next->link = &operation->next;
	team->persistent = operation;
}

static void leave_team(struct bcl_persistent *operation)
{
	*operation->link = operation->next;
	if (operation->next)
		operation->next->link = operation->link;
	operation->team = NULL;
}

enum bcl_status bcl_persistent_make(struct bcl_team *team,
				    const struct bcl_call *call,
				    struct bcl_persistent **result)
{
	enum bcl_status status = bcl_team_usable(team);
	struct bcl_persistent *operation;

	if (status != BCL_OK)
		return status;
	if (!result)
		return BCL_ERR_ARG;
	operation = calloc(1, sizeof(*operation));
	status = BCL_ERR_NOMEM;
	if (operation) {
		operation->team = team;
		operation->call = *call;
		status = prepare(operation);
	}
	bcl_adi_lock(team->adi);
	if (status == BCL_OK)
		join_team(operation);
	else if (status == BCL_ERR_NOMEM)
		bcl_team_lose(team, status);
	bcl_adi_unlock(team->adi);
	if (status == BCL_OK)
		*result = operation;
	else
		free(operation);
	return status;
}

void bcl_persistent_part(struct bcl_team *team)
{
	struct bcl_persistent *operation;

	while ((operation = team->persistent)) {
		if (operation->schedule)
			bcl_schedule_free(operation->schedule);
		leave_team(operation);
	}
}

/* ---- bcl/coll.h ---------------------------------------------------------- */

enum bcl_status bcl_persistent_run(struct bcl_persistent *operation)
{
	return operation ? operation->run(operation) : BCL_ERR_ARG;
}

enum bcl_status bcl_persistent_start(struct bcl_persistent *operation,
				     struct bcl_adi_request **request)
{
	enum bcl_status status;

	if (!operation)
		return BCL_ERR_ARG;
	status = bcl_team_usable(operation->team);
	if (status != BCL_OK)
		return status;
	if (!request)
		return BCL_ERR_ARG;
	return operation->start(operation, request);
}

void bcl_persistent_free(struct bcl_persistent *operation)
{
	struct bcl_adi *adi;

	if (!operation)
		return;
	if (operation->team) {
		if (bcl_team_usable(operation->team) != BCL_OK)
			return;
		adi = operation->team->adi;
		if (operation->schedule)
			bcl_schedule_give(operation->schedule);
		bcl_adi_lock(adi);
		leave_team(operation);
		bcl_adi_unlock(adi);
	}
	free(operation);
}
