/* SPDX-License-Identifier: MIT */
/* See measure.h. */
#include <math.h>
#include <stdlib.h>

#include "bench/perf_call.h"
#include "collectives/call.h"
#include "env/env.h"
#include "tools/measure.h"

enum {
	ROUNDS = 7,	   /* the median of these counts */
	TURN = 20000,	   /* us of an algorithm in a round, about */
	CALLS_MAX = 10000, /* in a turn */
	TRIES = 3,	   /* calls that say how many fit into a turn */
};

struct measure {
	struct perf_call call;
	perf_call_function *function;
	enum bcl_operation operation;
	struct bcl_choices choices; /* of the team without measure */
	double us[MEASURE_ALGORITHMS_MAX][ROUNDS];
	unsigned calls[MEASURE_ALGORITHMS_MAX]; /* in a turn; 0: does not fit */
};

static double now(void)
{
	return (double)bcl_env_linux.now(NULL) / 1000;
}

/* us of one of n calls, back to back. The root moves on, so that each call
 * waits for the call before. */
static enum bcl_status time_calls(struct measure *measure, unsigned n,
				  double *us)
{
	struct perf_call *call = &measure->call;
	enum bcl_status status = bcl_barrier(call->team);
	double begun = now();
	unsigned i;

	for (i = 0; i < n && status == BCL_OK; i++) {
		call->root = i % bcl_team_size(call->team);
		status = measure->function(call);
	}
	if (status == BCL_OK)
		status = bcl_barrier(call->team);
	*us = (now() - begun) / n;
	return status;
}

static void restore(struct measure *measure)
{
	measure->call.team->choices = measure->choices;
	bcl_call_prepare(measure->call.team);
}

static bool force(struct measure *measure, unsigned i)
{
	return bcl_team_force(measure->call.team, measure->operation,
			      bcl_algorithms[measure->operation][i].name) ==
	       BCL_OK;
}

/* Finds out how many calls fit into a turn, at all ranks alike. */
static enum bcl_status try_algorithm(struct measure *measure, unsigned i)
{
	struct bcl_team *team = measure->call.team;
	enum bcl_status status;
	double us;

	if (!force(measure, i))
		return BCL_OK;
	status = time_calls(measure, TRIES, &us);
	measure->calls[i] = us * CALLS_MAX < TURN ? CALLS_MAX
			    : us < TURN		  ? (unsigned)(TURN / us)
						  : 1;
	restore(measure);
	if (status == BCL_OK)
		status = bcl_broadcast(team, &measure->calls[i],
				       sizeof(measure->calls[i]), 0);
	return status;
}

static enum bcl_status take_turns(struct measure *measure)
{
	enum bcl_status status = BCL_OK;
	unsigned round, i;

	for (i = 0;
	     bcl_algorithms[measure->operation][i].name && status == BCL_OK;
	     i++)
		status = try_algorithm(measure, i);
	for (round = 0; round < ROUNDS && status == BCL_OK; round++)
		for (i = 0; i < MEASURE_ALGORITHMS_MAX && status == BCL_OK; i++)
			if (measure->calls[i] && force(measure, i))
				status = time_calls(measure, measure->calls[i],
						    &measure->us[i][round]);
	restore(measure);
	return status;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sets the buffers and arrays of the call: NOMEM. */
static enum bcl_status make_buffers(struct perf_call *call)
{
	size_t ranks = bcl_team_size(call->team);
	size_t *arrays = calloc(2 * ranks, sizeof(*arrays));
	unsigned char *send = calloc(ranks, call->size + 1);
	unsigned char *receive = calloc(ranks, call->size + 1);

	if (arrays && send && receive) {
		perf_call_use(call, ranks, send, receive, arrays);
		return BCL_OK;
	}
	free(arrays);
	free(send);
	free(receive);
	return BCL_ERR_NOMEM;
}

bool measure_can(enum bcl_operation operation)
{
	return perf_call_find(bcl_operation_names[operation]);
}

enum bcl_status measure_algorithms(struct bcl_team *team,
				   enum bcl_operation operation, size_t length,
				   double us[MEASURE_ALGORITHMS_MAX])
{
	struct measure measure = {
		.call = {
			.team = team,
			.size = length,
			.sum = bcl_reduction(BCL_SUM, length % sizeof(double)
							      ? BCL_UINT8
							      : BCL_DOUBLE),
		},
		.function = perf_call_find(bcl_operation_names[operation]),
		.operation = operation,
		.choices = team->choices,
	};
	enum bcl_status status = make_buffers(&measure.call);
	unsigned i;

	if (status == BCL_OK)
		status = measure.function ? take_turns(&measure)
					  : BCL_ERR_UNSUPPORTED;
	for (i = 0; i < MEASURE_ALGORITHMS_MAX; i++) {
		qsort(measure.us[i], ROUNDS, sizeof(double), compare);
		us[i] = measure.calls[i] ? measure.us[i][ROUNDS / 2] : NAN;
	}
	free(measure.call.send);
	free(measure.call.receive);
	free((size_t *)measure.call.lengths);
	return status;
}
