/* SPDX-License-Identifier: MIT */
/*
 * All-to-all: every rank sends a block to every rank. The algorithms:
 *
 *   node            through the segment of a single node
 *   bruck           Bruck et al. among all ranks (radix.c)
 *   leaders*        the members' blocks are gathered at the leaders; these
 *                   exchange by radix or, leaders_pairs, by pairs; scatter
 *   multileader*    each member carries a share of its node's blocks
 *                   (nic/multileader.c)
 *   columns*        each member carries the blocks for the members that have
 *                   its place in the other nodes
 *   pairs           one message for each pair of ranks (pairs.c)
 *   attached        each member of a single node copies its blocks out of the
 *                   memory of the others (attached.h)
 *
 * The number at the end of a name is the radix.
 */

#include "collectives/builders.h"
#include "collectives/cost.h"
#include "collectives/nic/nic.h"

static const struct bcl_share all_blocks = { 0, 1 };

/* ---- Bruck et al. (radix.c) ---------------------------------------------- */

/* Block i of `to` is for the member i places on. */
static void rotate(const struct bcl_team *team, const struct bcl_step *step)
{
	struct bcl_radix digits = bcl_radix_of(team->size, 1);
	unsigned i;

	for (i = 0; i < team->size; i++)
		bcl_step_block(step, i, bcl_radix_on(&digits, team->rank, i));
}

/* Block i of `from` came from the member i places before. */
static void rotate_back(const struct bcl_team *team,
			const struct bcl_step *step)
{
	struct bcl_radix digits = bcl_radix_of(team->size, 1);
	unsigned i;

	for (i = 0; i < team->size; i++)
		bcl_step_block(step, bcl_radix_before(&digits, team->rank, i),
			       i);
}

static void build_bruck(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned parameter)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_all(team);
	const struct bcl_rounds rounds = {
		.digits = bcl_radix_of(team->size, 1),
		.share = all_blocks,
	};
	size_t length = call->length;
	unsigned char *blocks = bcl_step_scratch(schedule, team->size * length);

	(void)parameter;
	bcl_step_call(schedule, rotate, blocks, call->send, length, 0);
	bcl_build_radix(schedule, &group, &rounds, blocks, call->receive,
			length);
	bcl_step_call(schedule, rotate_back, call->receive, blocks, length, 0);
}

/* ---- pairs ---- */

static void build_pairs(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned parameter)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_ordered(team);
	const unsigned char *send = call->send;
	size_t length = call->length, all = team->size * length;
	size_t own = team->rank * length;

	(void)parameter;
	if (send == call->receive) {
		send = bcl_step_scratch(schedule, all);
		bcl_step_copy(schedule, (void *)send, call->receive, all);
	}
	bcl_step_copy(schedule, call->receive + own, send + own, length);
	bcl_build_pairs(schedule, &group, send, call->receive, length, true);
}

/* ---- by attach ---- */

static void build_attached(struct bcl_schedule *schedule,
			   const struct bcl_call *call, unsigned parameter)
{
	const struct bcl_team *team = schedule->team;
	unsigned n = team->size, me = team->rank, k;
	struct bcl_offer *offers =
		bcl_step_scratch(schedule, n * sizeof(*offers));
	const unsigned char *send = call->send;
	size_t length = call->length;

	(void)parameter;
	if (send == call->receive) {
		send = bcl_step_scratch(schedule, n * length);
		bcl_step_copy(schedule, (void *)send, call->receive,
			      n * length);
	}
	if (schedule->status != BCL_OK)
		return;
	bcl_step_copy(schedule, call->receive + me * length, send + me * length,
		      length);
	offers[me] = (struct bcl_offer){ (uintptr_t)send, length };
	bcl_step_node(schedule, BCL_NODE_ALLGATHER, 0, &offers[me], offers,
		      sizeof(*offers), NULL);
	for (k = 1; k < n; k++) {
		unsigned from = (me + k) % n;

		bcl_step_fetch(schedule, from, &offers[from], me * length,
			       call->receive + from * length, length);
	}
	bcl_step_node(schedule, BCL_NODE_BARRIER, 0, NULL, NULL, 0, NULL);
	bcl_step_round(schedule);
}

/* ---- among the leaders ---------------------------------------------------
 *
 * A leader has all blocks that the members of its node send, then all that they
 * receive. All nodes have the same number of members. The data from a node to
 * another is one block: ordered by sending member, then by receiving member.
 */

/* from: by sending member, then by rank. to: by distance in nodes, then by
 * sending and receiving member. step->rank: bits of a digit. */
static void to_blocks(const struct bcl_team *team, const struct bcl_step *step)
{
	const struct bcl_layout *layout = &team->layout;
	unsigned n = layout->nnodes, members = team->size / n, i, a, b;
	struct bcl_radix digits = bcl_radix_of(n, step->rank);
	size_t block = 0;

	for (i = 0; i < n; i++) {
		unsigned place =
			bcl_radix_on(&digits, team->my_node, i) * members;

		for (a = 0; a < members; a++)
			for (b = 0; b < members; b++)
				bcl_step_block(
					step, block++,
					(size_t)a * team->size +
						bcl_layout_rank(layout,
								place + b));
	}
}

/* The reverse. to: by receiving member, then by rank. */
static void from_blocks(const struct bcl_team *team,
			const struct bcl_step *step)
{
	const struct bcl_layout *layout = &team->layout;
	unsigned n = layout->nnodes, members = team->size / n, i, a, b;
	struct bcl_radix digits = bcl_radix_of(n, step->rank);
	size_t block = 0;

	for (i = 0; i < n; i++) {
		unsigned place =
			bcl_radix_before(&digits, team->my_node, i) * members;

		for (a = 0; a < members; a++)
			for (b = 0; b < members; b++)
				bcl_step_block(
					step,
					(size_t)b * team->size +
						bcl_layout_rank(layout,
								place + a),
					block++);
	}
}

/* values: of a digit, a power of two. 1: by pairs. */
static void build_leaders(struct bcl_schedule *schedule,
			  const struct bcl_call *call, unsigned values)
{
	const struct bcl_team *team = schedule->team;
	const struct bcl_rounds rounds = {
		.digits = bcl_radix_of(team->layout.nnodes,
				       (unsigned)__builtin_ctz(values)),
		.nodes = true,
		.up = true,
		.share = all_blocks,
	};
	unsigned leader = bcl_layout_leader(&team->layout, team->my_node);
	unsigned members = team->size / team->layout.nnodes;
	size_t length = call->length, one = team->size * length;
	size_t block = members * members * length;
	unsigned char *all = NULL, *blocks;
	struct bcl_group leaders;

	if (team->rank == leader)
		all = bcl_step_scratch(schedule, members * one);
	bcl_intranode_gather(schedule, leader, call->send, one, all);
	if (team->rank == leader) {
		leaders = bcl_group_leaders(team, leader);
		blocks = bcl_step_scratch(schedule, members * one);
		bcl_step_call(schedule, to_blocks, blocks, all, length,
			      rounds.digits.bits);
		if (rounds.digits.bits) {
			bcl_build_radix(schedule, &leaders, &rounds, blocks,
					all, block);
		} else {
			unsigned char *arrived = all;

			bcl_step_copy(schedule, arrived, blocks, block);
			bcl_build_pairs(schedule, &leaders, blocks, arrived,
					block, false);
			all = blocks;
			blocks = arrived;
		}
		bcl_step_call(schedule, from_blocks, all, blocks, length,
			      rounds.digits.bits);
		bcl_step_round(schedule);
	}
	bcl_intranode_scatter(schedule, leader, all, call->receive, one);
}

/* ---- among the members with the same place in their nodes -----------------
 *
 * All nodes have the same number of members. Each member has the blocks that
 * the members of its node send to members with its own place in the other
 * nodes. It sends and receives no more bytes than without this step, and the
 * processors and ports of all members are busy. But a node's card has to send
 * the messages of all members.
 */

/* to: by the member of the own node with the receiver's place, then by distance
 * in nodes. */
static void to_columns(const struct bcl_team *team, const struct bcl_step *step)
{
	const struct bcl_layout *layout = &team->layout;
	unsigned n = layout->nnodes, members = team->size / n, i, b;
	struct bcl_radix digits = bcl_radix_of(n, step->rank);
	size_t block = 0;

	for (b = 0; b < members; b++)
		for (i = 0; i < n; i++) {
			unsigned node = bcl_radix_on(&digits, team->my_node, i);

			bcl_step_block(
				step, block++,
				bcl_layout_rank(layout, node * members + b));
		}
}

/* from: by sending member, then by distance in nodes. to: by distance, then by
 * sending member. */
static void by_node(const struct bcl_team *team, const struct bcl_step *step)
{
	unsigned n = team->layout.nnodes, members = team->size / n, i, a;
	size_t block = 0;

	for (i = 0; i < n; i++)
		for (a = 0; a < members; a++)
			bcl_step_block(step, block++, (size_t)a * n + i);
}

/* from: by distance in nodes, backwards, then by sending member. to: by
 * rank. */
static void from_columns(const struct bcl_team *team,
			 const struct bcl_step *step)
{
	const struct bcl_layout *layout = &team->layout;
	unsigned n = layout->nnodes, members = team->size / n, i, a;
	struct bcl_radix digits = bcl_radix_of(n, step->rank);
	size_t block = 0;

	for (i = 0; i < n; i++) {
		unsigned place =
			bcl_radix_before(&digits, team->my_node, i) * members;

		for (a = 0; a < members; a++)
			bcl_step_block(step, bcl_layout_rank(layout, place + a),
				       block++);
	}
}

/* values: of a digit, a power of two. */
static void build_columns(struct bcl_schedule *schedule,
			  const struct bcl_call *call, unsigned values)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group column = bcl_group_column(team);
	const struct bcl_rounds rounds = {
		.digits = bcl_radix_of(team->layout.nnodes,
				       (unsigned)__builtin_ctz(values)),
		.nodes = true,
		.up = team->my_member % 2 == 0,
		.share = all_blocks,
	};
	unsigned n = team->layout.nnodes, members = team->size / n;
	size_t length = call->length;
	unsigned char *blocks = bcl_step_scratch(schedule, team->size * length);

	bcl_step_call(schedule, to_columns, blocks, call->send, length,
		      rounds.digits.bits);
	bcl_step_round(schedule);
	bcl_intranode_alltoall(schedule, blocks, call->receive, n * length);
	bcl_step_call(schedule, by_node, blocks, call->receive, length, 0);
	bcl_build_radix(schedule, &column, &rounds, blocks, call->receive,
			members * length);
	bcl_step_call(schedule, from_columns, call->receive, blocks, length,
		      rounds.digits.bits);
}

/* ---- costs --------------------------------------------------------------- */

static double cost_node(const struct bcl_model *model, double length,
			unsigned parameter)
{
	(void)parameter;
	return bcl_cost_phases(model, length * model->members) +
	       2 * (model->members - 1) * length * model->segment.byte;
}

/* All members of a node exchange at once; between nodes over the same wire. An
 * autonomous card is shared, too. */
static struct bcl_cost cost_at_once(const struct bcl_model *model,
				    double length)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	if (model->autonomous)
		cost.message += (model->members - 1) *
				bcl_cost_next(model, model->members, cost.gap);
	if (model->nodes > 1)
		cost.byte *= model->members;
	return cost;
}

static double cost_bruck(const struct bcl_model *model, double length,
			 unsigned parameter)
{
	double half = model->size * length / 2;
	struct bcl_cost cost = cost_at_once(model, half);
	double round = cost.message + half * cost.byte +
		       2 * half * model->segment.byte;
	double links = bcl_cost_across(model, model->members * 2 * half,
				       2.0 * model->members);

	(void)parameter;
	return (bcl_log2_up(model->size) - 1) * round +
	       bcl_larger(round, cost.message + links) +
	       4 * half * model->segment.byte;
}

/* us from the members to the leaders' memory and back. */
static double cost_collected(const struct bcl_model *model, double length)
{
	double members = model->members, one = model->size * length;

	return 2 * (bcl_cost_phases(model, one) +
		    (1 + members) * one * model->segment.byte) +
	       2 * members * one * model->segment.byte;
}

/* us of `others` more messages of each member after the first message, where
 * `at_once` members send by one card. A member that still sends when messages
 * arrive receives them in between. If the processor does the card's work, that
 * holds from the first message on. */
static double cost_others(const struct bcl_model *model,
			  const struct bcl_cost *cost, double others,
			  double at_once)
{
	double both = bcl_cost_gap(model, cost), next, late;

	if (!model->autonomous)
		return others * both;
	next = bcl_cost_next(model, at_once, cost->gap);
	late = bcl_larger(0, others - cost->message / cost->gap);
	return (at_once - 1) * next +
	       at_once * ((others - late) * next +
			  late * bcl_cost_next(model, at_once, both));
}

/* us of all rounds with digits of `values` values, where `at_once` members of
 * each node have `all` bytes each for all nodes. The messages of the highest
 * digit go to the other half of the nodes. */
static double cost_radix(const struct bcl_model *model, double all,
			 unsigned values, double at_once)
{
	struct bcl_radix digits =
		bcl_radix_of(model->nodes, (unsigned)__builtin_ctz(values));
	unsigned place, of = 1u << digits.low;
	double time = 0;

	for (place = 1; place < model->nodes; place *= of, of = values) {
		double used = bcl_min_size(of, (model->nodes - 1) / place + 1);
		double part = all / used;
		struct bcl_cost cost = bcl_cost_exchange(model, part);
		double far =
			cost.message +
			bcl_cost_across(model, at_once * all, at_once * used);
		double others = cost_others(model, &cost, used - 2, at_once);
		double round =
			cost.message + others +
			(used - 1) * part *
				(at_once * cost.byte + 2 * model->segment.byte);

		if (values >= model->nodes)
			round = bcl_cost_direct(model, round, at_once * all,
						at_once * used);
		else if (place * of >= model->nodes)
			round = bcl_larger(round, far);
		time += round;
	}
	return time;
}

static double cost_leaders(const struct bcl_model *model, double length,
			   unsigned values)
{
	return cost_radix(model, model->members * model->size * length, values,
			  1) +
	       cost_collected(model, length);
}

static double cost_columns(const struct bcl_model *model, double length,
			   unsigned values)
{
	double all = model->size * length;

	return cost_radix(model, all, values, model->members) +
	       bcl_cost_phases(model, all) + 5 * all * model->segment.byte;
}

/*
 * us of rounds of pairs among `size` members, by `at_once` members of a node at
 * once. An autonomous card begins the next message `gap` after the last byte of
 * the message before, but not before earlier rounds have come. The model waits
 * for the round two before. The schedule waits for the third (BCL_PAIRS_LAG),
 * and this makes up for late members.
 */
static double cost_rounds(const struct bcl_model *model, double size,
			  double length, double at_once)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);
	double bytes = at_once * length * cost.byte;
	double first = cost.message + bytes;
	double work = bcl_cost_gap(model, &cost);
	double next = at_once * bcl_cost_next(model, at_once, work) + bytes;

	if (!model->autonomous)
		next = first;
	else if (next < first / BCL_ROUND_LAG)
		next = first / BCL_ROUND_LAG;
	return bcl_cost_direct(model, first + (size - 2) * next,
			       at_once * size * length, at_once * size);
}

static double cost_leaders_pairs(const struct bcl_model *model, double length,
				 unsigned parameter)
{
	double block = model->members * model->members * length;

	(void)parameter;
	return cost_rounds(model, model->nodes, block, 1) +
	       cost_collected(model, length);
}

/* us. The messages inside a node go beside the first rounds if they take no
 * time of the card. */
static double cost_pairs(const struct bcl_model *model, double length,
			 unsigned parameter)
{
	double members = model->members, rounds, inside;
	struct bcl_cost cost = bcl_cost_intranode(model, length);

	(void)parameter;
	if (model->nodes == 1)
		return cost_rounds(model, model->size, length, 1);
	rounds = cost_rounds(model, model->size - members + 1, length, members);
	inside = (members - 1) * (cost.message + length * cost.byte);
	if (!model->autonomous)
		return rounds + inside;
	return inside > rounds ? inside : rounds;
}

enum {
	UNIFORM = BCL_NEEDS_NODES | BCL_NEEDS_UNIFORM,
};

const struct bcl_algorithm bcl_alltoall_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_ALLTOALL, NULL, cost_node, 0 },
	{ "bruck", 0, 0, build_bruck, cost_bruck, 0 },
	{ "leaders", UNIFORM, 0, build_leaders, cost_leaders, 2 },
	{ "leaders_4", UNIFORM, 0, build_leaders, cost_leaders, 4 },
	{ "leaders_16", UNIFORM, 0, build_leaders, cost_leaders, 16 },
	{ "leaders_32", UNIFORM, 0, build_leaders, cost_leaders, 32 },
	{ "multileader_4", UNIFORM | BCL_PAYS_AUTONOMOUS, 0,
	  bcl_build_multileader, bcl_cost_multileader, 4 },
	{ "multileader_8", UNIFORM | BCL_PAYS_AUTONOMOUS, 0,
	  bcl_build_multileader, bcl_cost_multileader, 8 },
	{ "multileader_16", UNIFORM | BCL_PAYS_AUTONOMOUS, 0,
	  bcl_build_multileader, bcl_cost_multileader, 16 },
	{ "leaders_pairs", UNIFORM, 0, build_leaders, cost_leaders_pairs, 1 },
	{ "columns", UNIFORM, 0, build_columns, cost_columns, 2 },
	{ "columns_4", UNIFORM, 0, build_columns, cost_columns, 4 },
	{ "columns_8", UNIFORM, 0, build_columns, cost_columns, 8 },
	{ "columns_16", UNIFORM, 0, build_columns, cost_columns, 16 },
	{ "pairs", 0, 0, build_pairs, cost_pairs, 0 },
	{ "attached", BCL_NEEDS_ATTACH, 0, build_attached, bcl_cost_attached,
	  0 },
	{ 0 },
};
