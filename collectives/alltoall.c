/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "collectives/builders.h"
#include "collectives/cost.h"

/* ---- Bruck et al. (see allgather.c) --------------------------------------
 *
 * Block i is for the member i places on. In the round of distance d all
 * blocks whose number has the bit d travel d places: log2(size) messages
 * instead of size.
 */

static void rotate(const struct bcl_team *team, const struct bcl_step *step)
{
	const unsigned char *from = step->from;
	size_t length = step->length;
	size_t tail = (team->size - team->rank) * length;

	memcpy(step->to, from + team->rank * length, tail);
	memcpy((unsigned char *)step->to + tail, from, team->rank * length);
}

/* Block i came from i places before. */
static void rotate_back(const struct bcl_team *team,
			const struct bcl_step *step)
{
	unsigned n = team->size, i;

	for (i = 0; i < n; i++)
		memcpy((unsigned char *)step->to +
			       (team->rank + n - i) % n * step->length,
		       (const unsigned char *)step->from + i * step->length,
		       step->length);
}

static void pack(const struct bcl_team *team, const struct bcl_step *step)
{
	unsigned char *to = step->to;
	unsigned i;

	for (i = 0; i < team->size; i++) {
		if (!(i & step->rank))
			continue;
		memcpy(to, (const unsigned char *)step->from + i * step->length,
		       step->length);
		to += step->length;
	}
}

static void unpack(const struct bcl_team *team, const struct bcl_step *step)
{
	const unsigned char *from = step->from;
	unsigned i;

	for (i = 0; i < team->size; i++) {
		if (!(i & step->rank))
			continue;
		memcpy((unsigned char *)step->to + i * step->length, from,
		       step->length);
		from += step->length;
	}
}

static void build_bruck(struct bcl_schedule *schedule,
			const struct bcl_call *call)
{
	const struct bcl_team *team = schedule->team;
	unsigned n = team->size, distance, i;
	size_t length = call->length, half = (n / 2 + 1) * length;
	unsigned char *blocks = bcl_step_scratch(schedule, n * length);
	unsigned char *out = bcl_step_scratch(schedule, half);
	unsigned char *in = bcl_step_scratch(schedule, half);

	bcl_step_call(schedule, rotate, blocks, call->send, length, 0);
	for (distance = 1; distance < n; distance *= 2) {
		size_t count = 0;

		for (i = 0; i < n; i++)
			count += (i & distance) != 0;
		bcl_step_call(schedule, pack, out, blocks, length, distance);
		bcl_step_send(schedule, (team->rank + distance) % n, out,
			      count * length);
		bcl_step_receive(schedule, (team->rank + n - distance) % n, in,
				 count * length);
		bcl_step_round(schedule);
		bcl_step_call(schedule, unpack, blocks, in, length, distance);
	}
	bcl_step_call(schedule, rotate_back, call->receive, blocks, length, 0);
}

/* ---- pairs ----------------------------------------------------------------
 */

/*
 * In round k everyone sends to the member k places on in node order, and
 * receives from the one k places before: no two messages of a round have the
 * same end, and the links between nodes carry the same number of them.
 */
static void build_pairs(struct bcl_schedule *schedule,
			const struct bcl_call *call)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_ordered(team);
	unsigned n = group.size, k;
	const unsigned char *send = call->send;
	size_t length = call->length;

	if (send == call->receive) {
		send = bcl_step_scratch(schedule, n * length);
		bcl_step_copy(schedule, (void *)send, call->receive,
			      n * length);
	}
	bcl_step_copy(schedule, call->receive + team->rank * length,
		      send + team->rank * length, length);
	for (k = 1; k < n; k++) {
		unsigned to = bcl_group_rank(&group, (group.me + k) % n);
		unsigned from = bcl_group_rank(&group, (group.me + n - k) % n);

		bcl_step_receive(schedule, from, call->receive + from * length,
				 length);
		bcl_step_send(schedule, to, send + to * length, length);
		bcl_step_round(schedule);
	}
}

static double cost_node(const struct bcl_model *model, double length)
{
	return bcl_cost_phases(model, length * model->members) +
	       2 * model->members * length * model->segment.byte;
}

/* In both of the following all members of a node send at once. */
static double cost_bruck(const struct bcl_model *model, double length)
{
	double half = model->size * length / 2;
	struct bcl_cost cost = bcl_cost_exchange(model, half);

	return bcl_log2_up(model->size) *
		       (cost.message + model->members * half * cost.byte +
			2 * half * model->segment.byte) +
	       4 * half * model->segment.byte;
}

static double cost_pairs(const struct bcl_model *model, double length)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	return (model->size - 1) *
	       (cost.message + model->members * length * cost.byte);
}

const struct bcl_algorithm bcl_alltoall_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_ALLTOALL, NULL, cost_node },
	{ "bruck", 0, 0, build_bruck, cost_bruck },
	{ "pairs", 0, 0, build_pairs, cost_pairs },
	{ 0 },
};

static enum bcl_status check(const void *send, void *receive, size_t length,
			     struct bcl_call *call)
{
	if (length && (!send || !receive))
		return BCL_ERR_ARG;
	*call = (struct bcl_call){
		.operation = BCL_OPERATION_ALLTOALL,
		.send = send == BCL_IN_PLACE ? receive : send,
		.receive = receive,
		.length = length,
	};
	return BCL_OK;
}

enum bcl_status bcl_alltoall(struct bcl_team *team, const void *send,
			     void *receive, size_t length)
{
	struct bcl_call call;
	enum bcl_status status = check(send, receive, length, &call);

	if (status != BCL_OK)
		return status;
	return bcl_call_run(team, call);
}

enum bcl_status bcl_ialltoall(struct bcl_team *team, const void *send,
			      void *receive, size_t length,
			      struct bcl_adi_request **request)
{
	struct bcl_call call;
	enum bcl_status status = check(send, receive, length, &call);

	if (status != BCL_OK)
		return status;
	return bcl_call_start(team, &call, request);
}
