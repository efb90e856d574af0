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

static void pack(unsigned n, const struct bcl_step *step)
{
	unsigned char *to = step->to;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (!(i & step->rank))
			continue;
		memcpy(to, (const unsigned char *)step->from + i * step->length,
		       step->length);
		to += step->length;
	}
}

static void unpack(unsigned n, const struct bcl_step *step)
{
	const unsigned char *from = step->from;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (!(i & step->rank))
			continue;
		memcpy((unsigned char *)step->to + i * step->length, from,
		       step->length);
		from += step->length;
	}
}

static void pack_ranks(const struct bcl_team *team, const struct bcl_step *step)
{
	pack(team->size, step);
}

static void unpack_ranks(const struct bcl_team *team,
			 const struct bcl_step *step)
{
	unpack(team->size, step);
}

static void pack_nodes(const struct bcl_team *team, const struct bcl_step *step)
{
	pack(team->layout.nnodes, step);
}

static void unpack_nodes(const struct bcl_team *team,
			 const struct bcl_step *step)
{
	unpack(team->layout.nnodes, step);
}

/* Of all ranks, or of the leaders if `nodes`. */
static void build_rounds(struct bcl_schedule *schedule,
			 const struct bcl_group *group, bool nodes,
			 unsigned char *blocks, size_t length)
{
	unsigned n = group->size, me = group->me, distance, i;
	size_t half = (n / 2 + 1) * length;
	unsigned char *out = bcl_step_scratch(schedule, half);
	unsigned char *in = bcl_step_scratch(schedule, half);

	for (distance = 1; distance < n; distance *= 2) {
		size_t count = 0;

		for (i = 0; i < n; i++)
			count += (i & distance) != 0;
		bcl_step_call(schedule, nodes ? pack_nodes : pack_ranks, out,
			      blocks, length, distance);
		bcl_step_send(schedule,
			      bcl_group_rank(group, (me + distance) % n), out,
			      count * length);
		bcl_step_receive(schedule,
				 bcl_group_rank(group, (me + n - distance) % n),
				 in, count * length);
		bcl_step_round(schedule);
		bcl_step_call(schedule, nodes ? unpack_nodes : unpack_ranks,
			      blocks, in, length, distance);
	}
}

static void build_bruck(struct bcl_schedule *schedule,
			const struct bcl_call *call)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_all(team);
	size_t length = call->length;
	unsigned char *blocks = bcl_step_scratch(schedule, team->size * length);

	bcl_step_call(schedule, rotate, blocks, call->send, length, 0);
	build_rounds(schedule, &group, false, blocks, length);
	bcl_step_call(schedule, rotate_back, call->receive, blocks, length, 0);
}

/* ---- the same among leaders ------------------------------------------------
 *
 * They have what all members of their nodes, of which all have as many, send
 * and receive. What one node sends another is one block: by the member that
 * sends, then by the one that receives.
 */

/* from: by the member that sends, then by rank. */
static void to_blocks(const struct bcl_team *team, const struct bcl_step *step)
{
	const struct bcl_layout *layout = &team->layout;
	unsigned n = layout->nnodes, members = team->size / n, i, a, b;
	const unsigned char *from = step->from;
	unsigned char *to = step->to;

	for (i = 0; i < n; i++) {
		const uint32_t *ranks =
			layout->order + (team->my_node + i) % n * members;

		for (a = 0; a < members; a++)
			for (b = 0; b < members; b++) {
				memcpy(to,
				       from + (a * team->size + ranks[b]) *
						       step->length,
				       step->length);
				to += step->length;
			}
	}
}

/* to: by the member that receives, then by rank. */
static void from_blocks(const struct bcl_team *team,
			const struct bcl_step *step)
{
	const struct bcl_layout *layout = &team->layout;
	unsigned n = layout->nnodes, members = team->size / n, i, a, b;
	const unsigned char *from = step->from;
	unsigned char *to = step->to;

	for (i = 0; i < n; i++) {
		const uint32_t *ranks =
			layout->order + (team->my_node + n - i) % n * members;

		for (a = 0; a < members; a++)
			for (b = 0; b < members; b++) {
				memcpy(to + (b * team->size + ranks[a]) *
						       step->length,
				       from, step->length);
				from += step->length;
			}
	}
}

static void build_leaders(struct bcl_schedule *schedule,
			  const struct bcl_call *call)
{
	const struct bcl_team *team = schedule->team;
	unsigned leader = bcl_layout_leader(&team->layout, team->my_node);
	unsigned members = team->size / team->layout.nnodes;
	size_t length = call->length, one = team->size * length;
	unsigned char *all = NULL, *blocks;
	struct bcl_group leaders;

	if (team->rank == leader)
		all = bcl_step_scratch(schedule, members * one);
	bcl_inside_gather(schedule, leader, call->send, one, all);
	if (team->rank == leader) {
		leaders = bcl_group_leaders(team, leader);
		blocks = bcl_step_scratch(schedule, members * one);
		bcl_step_call(schedule, to_blocks, blocks, all, length, 0);
		build_rounds(schedule, &leaders, true, blocks,
			     members * members * length);
		bcl_step_call(schedule, from_blocks, all, blocks, length, 0);
		bcl_step_round(schedule);
	}
	bcl_inside_scatter(schedule, leader, all, call->receive, one);
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

/* All members of a node exchange at once, by the same wire, and by the same
 * card if it is not a part of each. */
static struct bcl_cost cost_at_once(const struct bcl_model *model,
				    double length)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	if (model->autonomous)
		cost.message += (model->members - 1) * cost.gap;
	cost.byte *= model->members;
	return cost;
}

static double cost_bruck(const struct bcl_model *model, double length)
{
	double half = model->size * length / 2;
	struct bcl_cost cost = cost_at_once(model, half);

	return bcl_log2_up(model->size) * (cost.message + half * cost.byte +
					   2 * half * model->segment.byte) +
	       4 * half * model->segment.byte;
}

static double cost_leaders(const struct bcl_model *model, double length)
{
	double members = model->members, one = model->size * length;
	double half = members * one / 2;
	struct bcl_cost cost = bcl_cost_exchange(model, half);
	double inside = bcl_cost_phases(model, one) +
			(1 + members) * one * model->segment.byte;

	return 2 * inside +
	       bcl_log2_up(model->nodes) * (cost.message + half * cost.byte +
					    2 * half * model->segment.byte) +
	       4 * half * model->segment.byte;
}

static double cost_pairs(const struct bcl_model *model, double length)
{
	struct bcl_cost cost = cost_at_once(model, length);

	return (model->size - 1) * (cost.message + length * cost.byte);
}

const struct bcl_algorithm bcl_alltoall_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_ALLTOALL, NULL, cost_node },
	{ "bruck", 0, 0, build_bruck, cost_bruck },
	{ "leaders", BCL_NEEDS_NODES | BCL_NEEDS_UNIFORM, 0, build_leaders,
	  cost_leaders },
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
