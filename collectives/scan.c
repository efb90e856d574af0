/* SPDX-License-Identifier: MIT */
/*
 * Scan: rank i gets the reduction of the vectors of ranks 0 to i; in an
 * exclusive scan, of ranks 0 to i - 1. Both combine in the order of ranks, so
 * the operator need not be commutative.
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
 */
#include "collectives/builders.h"
#include "collectives/cost.h"

enum {
	PIECE = 32768, /* bytes */
};

/* ---- doubling ------------------------------------------------------------ */

static void build_doubling(struct bcl_schedule *schedule,
			   const struct bcl_call *call, bool exclusive)
{
	const struct bcl_reduction *reduction = call->reduction;
	unsigned n = schedule->team->size, me = schedule->team->rank, far;
	size_t length = call->length, count = length / reduction->element;
	unsigned char *arrived = bcl_step_scratch(schedule, length);
	unsigned char *mine =
		exclusive ? bcl_step_scratch(schedule, length) : call->receive;

	if (mine != call->send)
		bcl_step_copy(schedule, mine, call->send, length);
	for (far = 1; far < n; far *= 2) {
		if (me + far < n)
			bcl_step_send(schedule, me + far, mine, length);
		if (me < far) {
			bcl_step_round(schedule);
			continue;
		}
		bcl_step_receive(schedule, me - far, arrived, length);
		bcl_step_round(schedule);
		bcl_step_combine(schedule, reduction, arrived, mine, count);
		if (!exclusive)
			continue;
		if (far == 1)
			bcl_step_copy(schedule, call->receive, arrived, length);
		else
			bcl_step_combine(schedule, reduction, arrived,
					 call->receive, count);
	}
	bcl_step_round(schedule);
}

static void build_scan_doubling(struct bcl_schedule *schedule,
				const struct bcl_call *call, unsigned parameter)
{
	(void)parameter;
	build_doubling(schedule, call, false);
}

static void build_exscan_doubling(struct bcl_schedule *schedule,
				  const struct bcl_call *call,
				  unsigned parameter)
{
	(void)parameter;
	build_doubling(schedule, call, true);
}

/* combinations: of a round. */
static double cost_doubling(const struct bcl_model *model, double length,
			    double combinations)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	return bcl_log2_up(model->size) *
	       (cost.message +
		length * (cost.byte + combinations * model->combine));
}

static double cost_scan_doubling(const struct bcl_model *model, double length,
				 unsigned parameter)
{
	(void)parameter;
	return cost_doubling(model, length, 1);
}

static double cost_exscan_doubling(const struct bcl_model *model, double length,
				   unsigned parameter)
{
	(void)parameter;
	return cost_doubling(model, length, 2);
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
			const struct bcl_call *call, bool exclusive)
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

static void build_scan_chain(struct bcl_schedule *schedule,
			     const struct bcl_call *call, unsigned parameter)
{
	(void)parameter;
	build_chain(schedule, call, false);
}

static void build_exscan_chain(struct bcl_schedule *schedule,
			       const struct bcl_call *call, unsigned parameter)
{
	(void)parameter;
	build_chain(schedule, call, true);
}

static double cost_chain(const struct bcl_model *model, double length,
			 unsigned parameter)
{
	double pieces = bcl_cost_pieces(length, PIECE);
	struct bcl_cost cost = bcl_cost_exchange(model, length / pieces);

	(void)parameter;
	return (model->size - 2. + pieces) *
	       (cost.message +
		length / pieces * (cost.byte + model->combine + model->copy));
}

const struct bcl_algorithm bcl_scan_algorithms[] = {
	{ "doubling", BCL_FIXED_ORDER, 0, build_scan_doubling,
	  cost_scan_doubling, 0 },
	{ "chain", BCL_FIXED_ORDER, 0, build_scan_chain, cost_chain, 0 },
	{ 0 },
};

const struct bcl_algorithm bcl_exscan_algorithms[] = {
	{ "doubling", BCL_FIXED_ORDER, 0, build_exscan_doubling,
	  cost_exscan_doubling, 0 },
	{ "chain", BCL_FIXED_ORDER, 0, build_exscan_chain, cost_chain, 0 },
	{ 0 },
};
