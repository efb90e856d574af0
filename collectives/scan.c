/* SPDX-License-Identifier: MIT */
/*
 * Scan: rank i gets the reduction of the vectors of ranks 0 to i; in an
 * exclusive scan, of ranks 0 to i - 1. Both combine in the order of ranks, so
 * the operator need not be commutative.
 *
 * On one node through its segment: each rank reads the vectors of the ranks
 * before.
 *
 * By doubling, after W. D. Hillis, G. L. Steele, "Data parallel algorithms",
 * CACM 29 (1986): in round k each rank sends what it has of its last 2^k ranks
 * 2^k ranks on. Each round is a message and a combination of the whole vector.
 * With five ranks, where (1 2) is the reduction of 1 and 2:
 *
 *   at rank     0      1        2          3            4
 *   round 0    (0)   (0 1)    (1 2)      (2 3)        (3 4)
 *   round 1    (0)   (0 1)   (0 1 2)   (0 1 2 3)   (1 2 3 4)
 *   round 2    (0)   (0 1)   (0 1 2)   (0 1 2 3)  (0 1 2 3 4)
 *
 * By a chain, for long vectors: each rank receives a piece from the rank
 * before, combines, and sends the piece on while the next one comes.
 *
 * By nodes, if the ranks of each node follow one another: a scan inside each
 * node, after which its last member knows the sum of the node; an exclusive
 * scan by doubling among these last members; each node gets what is before it.
 */
#include <math.h>

#include "collectives/builders.h"
#include "collectives/cost.h"

enum {
	PIECE = 32768, /* bytes */
};

/* ---- doubling ------------------------------------------------------------ */

static void build_doubling(struct bcl_schedule *schedule,
			   const struct bcl_group *group, const void *send,
			   unsigned char *receive, size_t length,
			   const struct bcl_reduction *reduction,
			   bool exclusive)
{
	unsigned n = group->size, me = group->me, far;
	size_t count = length / reduction->element;
	unsigned char *arrived = bcl_step_scratch(schedule, length);
	unsigned char *mine =
		exclusive ? bcl_step_scratch(schedule, length) : receive;

	if (mine != send)
		bcl_step_copy(schedule, mine, send, length);
	for (far = 1; far < n; far *= 2) {
		if (me + far < n)
			bcl_step_send(schedule, bcl_group_rank(group, me + far),
				      mine, length);
		if (me < far) {
			bcl_step_round(schedule);
			continue;
		}
		bcl_step_receive(schedule, bcl_group_rank(group, me - far),
				 arrived, length);
		bcl_step_round(schedule);
		bcl_step_combine(schedule, reduction, arrived, mine, count);
		if (!exclusive)
			continue;
		if (far == 1)
			bcl_step_copy(schedule, receive, arrived, length);
		else
			bcl_step_combine(schedule, reduction, arrived, receive,
					 count);
	}
	bcl_step_round(schedule);
}

static void build_flat(struct bcl_schedule *schedule,
		       const struct bcl_call *call, unsigned exclusive)
{
	struct bcl_group group = bcl_group_all(schedule->team);

	build_doubling(schedule, &group, call->send, call->receive,
		       call->length, call->reduction, exclusive);
}

static double cost_rounds(unsigned n, const struct bcl_model *model,
			  struct bcl_cost cost, double length, bool exclusive)
{
	return bcl_log2_up(n) *
	       (cost.message +
		length * (cost.byte + (1 + exclusive) * model->combine));
}

static double cost_flat(const struct bcl_model *model, double length,
			unsigned exclusive)
{
	return cost_rounds(model->size, model, bcl_cost_exchange(model, length),
			   length, exclusive);
}

/* ---- chain --------------------------------------------------------------- */

struct chain {
	struct bcl_schedule *schedule;
	const struct bcl_call *call;
	bool exclusive;
	size_t piece; /* bytes */
	/* Pieces in turn: from the rank before, and for the rank behind. */
	unsigned char *arrived[2], *leaving[2];
};

static size_t bytes_of(const struct chain *chain, size_t begin)
{
	return bcl_min_size(chain->piece, chain->call->length - begin);
}

static void receive_piece(const struct chain *chain, size_t begin,
			  unsigned turn)
{
	unsigned me = chain->schedule->team->rank;

	if (me)
		bcl_step_receive(chain->schedule, me - 1, chain->arrived[turn],
				 bytes_of(chain, begin));
}

/* The piece of the rank before has arrived. */
static void pass_piece(const struct chain *chain, size_t begin, unsigned turn)
{
	const struct bcl_reduction *reduction = chain->call->reduction;
	const struct bcl_team *team = chain->schedule->team;
	size_t bytes = bytes_of(chain, begin);
	unsigned char *result = chain->call->receive + begin;
	unsigned char *sum = chain->exclusive ? chain->leaving[turn] : result;
	bool is_last = team->rank + 1 == team->size;

	if (!chain->exclusive || !is_last) {
		if (sum != chain->call->send + begin)
			bcl_step_copy(chain->schedule, sum,
				      chain->call->send + begin, bytes);
		if (team->rank)
			bcl_step_combine(chain->schedule, reduction,
					 chain->arrived[turn], sum,
					 bytes / reduction->element);
	}
	if (chain->exclusive && team->rank)
		bcl_step_copy(chain->schedule, result, chain->arrived[turn],
			      bytes);
	if (!is_last)
		bcl_step_send(chain->schedule, team->rank + 1, sum, bytes);
}

static void build_chain(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned exclusive)
{
	struct chain chain = {
		.schedule = schedule,
		.call = call,
		.exclusive = exclusive,
		.piece = bcl_pipeline_piece(call->length, PIECE,
					    call->reduction->element),
	};
	size_t begin;
	unsigned i;

	for (i = 0; i < 2; i++) {
		chain.arrived[i] = bcl_step_scratch(schedule, chain.piece);
		if (exclusive)
			chain.leaving[i] =
				bcl_step_scratch(schedule, chain.piece);
	}
	receive_piece(&chain, 0, 0);
	bcl_step_round(schedule);
	for (begin = 0, i = 0; begin < call->length;
	     begin += chain.piece, i = !i) {
		if (call->length - begin > chain.piece)
			receive_piece(&chain, begin + chain.piece, !i);
		pass_piece(&chain, begin, i);
		bcl_step_round(schedule);
	}
}

static double cost_chain(const struct bcl_model *model, double length,
			 unsigned exclusive)
{
	double pieces = bcl_cost_pieces(length, PIECE);
	struct bcl_cost cost = bcl_cost_exchange(model, length / pieces);

	(void)exclusive;
	return (model->size - 2. + pieces) *
	       (cost.message +
		length / pieces * (cost.byte + model->combine + model->copy));
}

/* ---- nodes --------------------------------------------------------------- */

/* The part inside the node. `total` gets the sum of the node at its last
 * member; of an inclusive scan `total` is the result. */
static void build_inside(struct bcl_schedule *schedule,
			 const struct bcl_call *call, unsigned char *total,
			 bool exclusive)
{
	struct bcl_group node = bcl_group_node(schedule->team);
	size_t count = call->length / call->reduction->element;
	bool sums = exclusive && node.me + 1 == node.size;

	if (sums)
		bcl_step_copy(schedule, total, call->send, call->length);
	if (bcl_intranode_pipelines(schedule->team, call->reduction) &&
	    node.size > 1)
		bcl_step_node(schedule,
			      exclusive ? BCL_NODE_EXSCAN : BCL_NODE_SCAN, 0,
			      call->send, call->receive, call->length,
			      call->reduction);
	else
		build_doubling(schedule, &node, call->send, call->receive,
			       call->length, call->reduction, exclusive);
	if (sums && node.size > 1)
		bcl_step_combine(schedule, call->reduction, call->receive,
				 total, count);
	bcl_step_round(schedule);
}

static void build_nodes(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned exclusive)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group column = bcl_group_column(team);
	struct bcl_group node = bcl_group_node(team);
	unsigned last = bcl_group_rank(&node, node.size - 1);
	unsigned char *before = bcl_step_scratch(schedule, call->length);
	unsigned char *total = call->receive;

	if (exclusive)
		total = bcl_step_scratch(schedule, call->length);
	build_inside(schedule, call, total, exclusive);
	if (team->rank == last)
		build_doubling(schedule, &column, total, before, call->length,
			       call->reduction, true);
	if (team->my_node == 0)
		return;
	if (node.size > 1)
		bcl_intranode_broadcast(schedule, last, before, call->length);
	bcl_step_round(schedule);
	if (exclusive && node.me == 0)
		bcl_step_copy(schedule, call->receive, before, call->length);
	else
		bcl_step_combine(schedule, call->reduction, before,
				 call->receive,
				 call->length / call->reduction->element);
	bcl_step_round(schedule);
}

/* us inside a node, of its last member */
static double cost_node(const struct bcl_model *model, double length,
			unsigned parameter)
{
	(void)parameter;
	return bcl_cost_phases(model, length) +
	       bcl_cost_first_piece(model, length) +
	       length * model->segment.byte +
	       (model->members - 1) * length * model->combine;
}

static double cost_nodes(const struct bcl_model *model, double length,
			 unsigned exclusive)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);
	double inside = cost_node(model, length, 0) +
			bcl_cost_phases(model, length) +
			length * (2 * model->segment.byte + model->combine);

	if (model->members == 1)
		return HUGE_VAL; /* as doubling, but with one vector more */
	return inside + cost_rounds(model->nodes, model, cost, length, true) +
	       exclusive * length * model->combine;
}

enum {
	BY_NODES = BCL_NEEDS_NODES | BCL_NEEDS_UNIFORM | BCL_NEEDS_ROWS,
	INCLUSIVE = 0,
	EXCLUSIVE = 1,
};

const struct bcl_algorithm bcl_scan_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_SCAN, NULL, cost_node, 0 },
	{ "nodes", BY_NODES, 0, build_nodes, cost_nodes, INCLUSIVE },
	{ "doubling", BCL_FIXED_ORDER, 0, build_flat, cost_flat, INCLUSIVE },
	{ "chain", BCL_FIXED_ORDER, 0, build_chain, cost_chain, INCLUSIVE },
	{ 0 },
};

const struct bcl_algorithm bcl_exscan_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_EXSCAN, NULL, cost_node, 0 },
	{ "nodes", BY_NODES, 0, build_nodes, cost_nodes, EXCLUSIVE },
	{ "doubling", BCL_FIXED_ORDER, 0, build_flat, cost_flat, EXCLUSIVE },
	{ "chain", BCL_FIXED_ORDER, 0, build_chain, cost_chain, EXCLUSIVE },
	{ 0 },
};
