/* SPDX-License-Identifier: MIT */
/*
 * Collectives without a job, for PVM groups: the caller carries the messages
 * (bcl_carrier in bcl/coll.h). The builders make the same schedules as for a
 * team; here each schedule runs without an engine, step by step, and blocks.
 */
#include <stdlib.h>

#include "collectives/builders.h"
#include "transport/port.h"
#include "transport/sized.h"

struct bcl_carrier {
	struct bcl_team team; /* only rank, size and fork_generation are used */
	struct bcl_carrier_options options;
	struct bcl_schedule *idle;
};

static enum bcl_status usable(const struct bcl_carrier *carrier)
{
	return carrier ? bcl_team_usable(&carrier->team) : BCL_ERR_ARG;
}

enum bcl_status bcl_carrier_open(const struct bcl_carrier_options *given,
				 struct bcl_carrier **result)
{
	struct bcl_carrier_options options;
	struct bcl_carrier *carrier;
	enum bcl_status status = bcl_sized_read(&options, given, receive);

	if (status)
		return status;
	if (options.rank >= options.size || !options.port || !options.send ||
	    !options.receive || !result)
		return BCL_ERR_ARG;
	if (bcl_port_forked(options.port))
		return BCL_ERR_FORKED;
	carrier = calloc(1, sizeof(*carrier));
	if (!carrier)
		return BCL_ERR_NOMEM;
	carrier->options = options;
	carrier->team.fork_generation = bcl_fork_generation();
	carrier->team.rank = options.rank;
	carrier->team.size = options.size;
	*result = carrier;
	return BCL_OK;
}

void bcl_carrier_close(struct bcl_carrier *carrier)
{
	if (usable(carrier) != BCL_OK)
		return;
	if (carrier->idle)
		bcl_schedule_free(carrier->idle);
	free(carrier);
}

/* ---- schedules ----------------------------------------------------------- */

/* Get an empty schedule. The caller's send() or receive() may begin an
 * operation of its own meanwhile, so each operation has a schedule. */
static struct bcl_schedule *get_schedule(struct bcl_carrier *carrier)
{
	struct bcl_schedule *schedule = carrier->idle;

	carrier->idle = NULL;
	if (!schedule)
		schedule = calloc(1, sizeof(*schedule));
	if (!schedule)
		return NULL;
	schedule->team = &carrier->team;
	bcl_schedule_empty(schedule);
	return schedule;
}

static void put_schedule(struct bcl_carrier *carrier,
			 struct bcl_schedule *schedule)
{
	if (carrier->idle)
		bcl_schedule_free(schedule);
	else
		carrier->idle = schedule;
}

/* End a round whose steps are `from` to `last`: receive all its messages, after
 * all else was done. */
static enum bcl_status end_round(const struct bcl_carrier *carrier, void *arg,
				 const struct bcl_step *from,
				 const struct bcl_step *last)
{
	enum bcl_status status = BCL_OK;

	for (; from <= last && status == BCL_OK; from++) {
		if (from->kind == BCL_STEP_RECEIVE)
			status = carrier->options.receive(
				arg, from->rank, from->to, from->length);
	}
	return status;
}

static enum bcl_status begin_step(const struct bcl_carrier *carrier, void *arg,
				  const struct bcl_step *step)
{
	switch ((enum bcl_step_kind)step->kind) {
	case BCL_STEP_SEND:
		return carrier->options.send(arg, step->rank, step->from,
					     step->length);
	case BCL_STEP_COMBINE:
		step->reduction->apply(step->from, step->to, step->length,
				       step->reduction->arg);
		return BCL_OK;
	case BCL_STEP_CALL:
		step->call(&carrier->team, step);
		return BCL_OK;
	case BCL_STEP_RECEIVE:
		return BCL_OK;
	default:
		return BCL_ERR_UNSUPPORTED;
	}
}

static enum bcl_status carry(const struct bcl_carrier *carrier, void *arg,
			     struct bcl_schedule *schedule)
{
	enum bcl_status status = schedule->status;
	const struct bcl_step *step;
	unsigned i, round = 0;

	for (i = 0; status == BCL_OK && i < schedule->nsteps; i++) {
		step = &schedule->steps[i];
		status = begin_step(carrier, arg, step);
		if (status != BCL_OK || !step->last)
			continue;
		status = end_round(carrier, arg, &schedule->steps[round], step);
		round = i + 1;
	}
	return status;
}

/* ---- operations ---------------------------------------------------------- */

static void build_operation(struct bcl_schedule *schedule,
			    const struct bcl_call *call)
{
	struct bcl_group all = bcl_group_all(schedule->team);

	switch (call->operation) {
	case BCL_OPERATION_BARRIER:
		/* Messages of no bytes to the root and back: each member knows
		 * which member waits for it, and waits for one message itself.
		 * If many members share a processor, the turns on the processor
		 * are what takes time. */
		bcl_build_gather_direct(schedule, &all, 0, call, schedule, 0);
		bcl_build_scatter_direct(schedule, &all, 0, call, schedule, 0);
		break;
	case BCL_OPERATION_REDUCE:
		bcl_build_reduce_tree(schedule, &all, call->root, call->send,
				      call->receive, call->length,
				      call->reduction, 1);
		break;
	case BCL_OPERATION_GATHER:
		bcl_build_gather_direct(schedule, &all, call->root, call->send,
					call->receive, call->length);
		break;
	case BCL_OPERATION_SCATTER:
		bcl_build_scatter_direct(schedule, &all, call->root, call->send,
					 call->receive, call->length);
		break;
	default:
		schedule->status = BCL_ERR_UNSUPPORTED;
	}
}

/* True if a buffer is missing. Each member needs both buffers, except a buffer
 * in which the member has no part. */
static bool lies_nowhere(const struct bcl_carrier *carrier,
			 const struct bcl_call *call)
{
	bool root = call->root == carrier->team.rank;
	bool sends = root || call->operation != BCL_OPERATION_SCATTER;
	bool receives = root || call->operation == BCL_OPERATION_SCATTER;

	return call->length &&
	       ((sends && !call->send) || (receives && !call->receive));
}

static enum bcl_status run_call(struct bcl_carrier *carrier, void *arg,
				const struct bcl_call *call)
{
	enum bcl_status status = usable(carrier);
	struct bcl_schedule *schedule;

	if (status != BCL_OK)
		return status;
	if (call->root >= carrier->team.size || lies_nowhere(carrier, call))
		return BCL_ERR_ARG;
	schedule = get_schedule(carrier);
	if (!schedule)
		return BCL_ERR_NOMEM;
	build_operation(schedule, call);
	bcl_step_round(schedule);
	bcl_call_count(carrier->options.port->counters, call->operation);
	status = carry(carrier, arg, schedule);
	put_schedule(carrier, schedule);
	return status;
}

enum bcl_status bcl_carrier_barrier(struct bcl_carrier *carrier, void *arg)
{
	const struct bcl_call call = { .operation = BCL_OPERATION_BARRIER };

	return run_call(carrier, arg, &call);
}

enum bcl_status bcl_carrier_reduce(struct bcl_carrier *carrier, void *arg,
				   const void *send, void *receive,
				   size_t count,
				   const struct bcl_reduction *reduction,
				   unsigned root)
{
	struct bcl_call call = {
		.operation = BCL_OPERATION_REDUCE,
		.send = send,
		.receive = receive,
		.root = root,
		.reduction = reduction,
	};

	if (!reduction || !reduction->commutative || !reduction->element ||
	    count > SIZE_MAX / reduction->element)
		return BCL_ERR_ARG;
	call.length = count * reduction->element;
	return run_call(carrier, arg, &call);
}

enum bcl_status bcl_carrier_gather(struct bcl_carrier *carrier, void *arg,
				   const void *send, size_t length,
				   void *receive, unsigned root)
{
	const struct bcl_call call = {
		.operation = BCL_OPERATION_GATHER,
		.send = send,
		.receive = receive,
		.length = length,
		.root = root,
	};

	return run_call(carrier, arg, &call);
}

enum bcl_status bcl_carrier_scatter(struct bcl_carrier *carrier, void *arg,
				    const void *send, void *receive,
				    size_t length, unsigned root)
{
	const struct bcl_call call = {
		.operation = BCL_OPERATION_SCATTER,
		.send = send,
		.receive = receive,
		.length = length,
		.root = root,
	};

	return run_call(carrier, arg, &call);
}
