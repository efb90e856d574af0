/* SPDX-License-Identifier: MIT */
/*
 * Reduce-scatter: rank i gets the reduction of block i, with blocks of one
 * length or of different lengths. The algorithms:
 *
 *   node      through the segment of a single node: each rank reads its block
 *             of each vector
 *   columns   inside a node each member reduces the blocks for the members that
 *             have its place in their nodes, and then exchanges them with these
 *   tree      by a tree to rank 0, who scatters the result
 *   apart     by messages among all ranks (reduce_blocks.c)
 */
#include <math.h>

#include "collectives/builders.h"
#include "collectives/cost.h"

static void build_apart(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned parameter)
{
	struct bcl_group group = bcl_group_all(schedule->team);

	(void)parameter;
	bcl_build_reduce_scatter(schedule, &group, call->send, call->receive,
				 group.size * call->length, call->reduction);
}

static void build_tree(struct bcl_schedule *schedule,
		       const struct bcl_call *call, unsigned ahead)
{
	struct bcl_group group = bcl_group_all(schedule->team);
	size_t all = group.size * call->length;
	void *sum = NULL;

	if (group.me == 0)
		sum = bcl_step_scratch(schedule, all);
	bcl_build_reduce_tree(schedule, &group, 0, call->send, sum, all,
			      call->reduction, ahead);
	bcl_build_scatter_direct(schedule, &group, 0, sum, call->receive,
				 call->length);
}

/* Blocks from the order of ranks to the order of places in a node, and of nodes
 * for each place. */
static void to_columns(const struct bcl_team *team, const struct bcl_step *step)
{
	unsigned nodes = team->layout.nnodes, members = team->size / nodes;
	unsigned place, node;

	for (place = 0; place < members; place++)
		for (node = 0; node < nodes; node++)
			bcl_step_block(step, (size_t)place * nodes + node,
				       bcl_layout_rank(&team->layout,
						       node * members + place));
}

static void build_columns(struct bcl_schedule *schedule,
			  const struct bcl_call *call, unsigned parameter)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group column = bcl_group_column(team);
	size_t mine = column.size * call->length;
	unsigned char *blocks =
		bcl_step_scratch(schedule, team->size * call->length);
	unsigned char *sums = bcl_step_scratch(schedule, mine);

	(void)parameter;
	bcl_step_call(schedule, to_columns, blocks, call->send, call->length,
		      0);
	bcl_intranode_reduce_blocks(schedule, blocks, sums, mine,
				    call->reduction);
	bcl_step_round(schedule);
	bcl_build_reduce_scatter(schedule, &column, sums, call->receive, mine,
				 call->reduction);
}

/* ---- blocks of different lengths ---- */

/* Writes where each block begins into memory of the schedule; the lengths stand
 * behind the n + 1 places. NULL: there is no memory. */
static size_t *lay_out(struct bcl_schedule *schedule,
		       const struct bcl_call *call)
{
	unsigned n = schedule->team->size, i;
	size_t *begin = bcl_step_scratch(schedule,
					 (2 * (size_t)n + 1) * sizeof(*begin));
	size_t *lengths = begin + n + 1;

	if (schedule->status != BCL_OK)
		return NULL;
	begin[0] = 0;
	for (i = 0; i < n; i++) {
		lengths[i] = call->counts[i] * call->reduction->element;
		begin[i + 1] = begin[i] + lengths[i];
	}
	return begin;
}

static void build_various_apart(struct bcl_schedule *schedule,
				const struct bcl_call *call, unsigned parameter)
{
	struct bcl_group group = bcl_group_all(schedule->team);
	const size_t *begin = lay_out(schedule, call);

	(void)parameter;
	if (begin)
		bcl_build_reduce_scatterv(schedule, &group, call->send,
					  call->receive, begin,
					  call->reduction);
}

static void build_various_tree(struct bcl_schedule *schedule,
			       const struct bcl_call *call, unsigned ahead)
{
	struct bcl_group group = bcl_group_all(schedule->team);
	const size_t *begin = lay_out(schedule, call);
	struct bcl_call scatter = {
		.receive = call->receive,
		.own = call->own,
		.send_offsets = begin,
	};
	void *sum = NULL;

	if (!begin)
		return;
	if (group.me == 0)
		sum = bcl_step_scratch(schedule, begin[group.size]);
	bcl_build_reduce_tree(schedule, &group, 0, call->send, sum,
			      begin[group.size], call->reduction, ahead);
	scatter.send = sum;
	scatter.send_lengths = begin + group.size + 1;
	bcl_build_scatterv(schedule, &scatter, 0);
}

/* ---- costs; length: of a block, on average ---- */

static double cost_apart(const struct bcl_model *model, double length,
			 unsigned parameter)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	(void)parameter;
	return (model->size - 1) *
	       (cost.message + length * (cost.byte + model->combine));
}

static double cost_node(const struct bcl_model *model, double length,
			unsigned parameter)
{
	(void)parameter;
	return bcl_cost_phases(model, length * model->members) +
	       (model->members + 1) * length * model->segment.byte +
	       (model->members - 1) * length * model->combine;
}

static double cost_columns(const struct bcl_model *model, double length,
			   unsigned parameter)
{
	double mine = model->nodes * length;
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	if (model->members == 1)
		return HUGE_VAL; /* as apart, but with one copy more */
	return cost_node(model, mine, parameter) +
	       model->size * length * model->segment.byte +
	       (model->nodes - 1) *
		       (cost.message + model->members * length * cost.byte +
			length * model->combine);
}

static double cost_tree(const struct bcl_model *model, double length,
			unsigned ahead)
{
	double all = model->size * length;
	struct bcl_cost cost = bcl_cost_flat(model, all);

	(void)ahead;
	return bcl_log2_up(model->size) *
		       (cost.message + all * (cost.byte + model->combine)) +
	       bcl_cost_rooted_direct(model, length, 0);
}

const struct bcl_algorithm bcl_reduce_scatter_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_REDUCE_SCATTER, NULL, cost_node,
	  0 },
	{ "columns", BCL_NEEDS_NODES | BCL_NEEDS_UNIFORM | BCL_NEEDS_CONTIGUOUS,
	  0, build_columns, cost_columns, 0 },
	{ "tree", BCL_FIXED_ORDER, 0, build_tree, cost_tree, 1 },
	{ "apart", BCL_FIXED_ORDER, 0, build_apart, cost_apart, 0 },
	{ 0 },
};

const struct bcl_algorithm bcl_reduce_scatterv_algorithms[] = {
	{ "tree", BCL_FIXED_ORDER, 0, build_various_tree, cost_tree, 1 },
	{ "apart", BCL_FIXED_ORDER, 0, build_various_apart, cost_apart, 0 },
	{ 0 },
};
