/* SPDX-License-Identifier: MIT */
/*
 * Reduce: the root gets the reduction of all vectors. The algorithms:
 *
 *   node            through the segment of a single node
 *   tree*           inside the nodes, then up a tree of the leaders (postal.h);
 *                   the number is `ahead`
 *   flat_tree       up a binomial tree of all ranks
 *   pipeline*       pieces by a circulant schedule of the leaders (pipeline.c)
 *   trees           pieces by two trees of the leaders (nic/two_trees.c)
 *   scatter_gather  each member reduces a block, by a ring in the order of
 *                   nodes, and the root collects the blocks
 *   scatter_gather_by_rank  the same in the order of ranks, so that the layout
 *                   does not change the sums
 */
#include "collectives/builders.h"
#include "collectives/cost.h"
#include "collectives/nic/nic.h"
#include "collectives/postal.h"

static void build_tree(struct bcl_schedule *schedule,
		       const struct bcl_call *call, unsigned ahead)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group leaders = bcl_group_leaders(team, call->root);
	unsigned speaker = bcl_group_rank(&leaders, leaders.me);
	void *sum = NULL;

	if (bcl_layout_members(&team->layout, team->my_node) == 1) {
		sum = (void *)call->send;
	} else {
		if (team->rank == speaker)
			sum = bcl_step_scratch(schedule, call->length);
		bcl_intranode_reduce(schedule, speaker, call->send, sum,
				     call->length, call->reduction);
	}
	if (team->rank == speaker)
		bcl_build_reduce_tree(
			schedule, &leaders,
			bcl_layout_node(&team->layout, call->root), sum,
			call->receive, call->length, call->reduction, ahead);
}

/* The same over all ranks, for operators that need the order of ranks. */
static void build_flat_tree(struct bcl_schedule *schedule,
			    const struct bcl_call *call, unsigned parameter)
{
	struct bcl_group group = bcl_group_all(schedule->team);

	(void)parameter;
	bcl_build_reduce_tree(schedule, &group, call->root, call->send,
			      call->receive, call->length, call->reduction, 1);
}

/*
 * R. Rabenseifner, "Optimization of collective reduction operations", ICCS
 * 2004: each member reduces a block, then the root gathers the blocks.
 */
static void build_scatter_gather(struct bcl_schedule *schedule,
				 const struct bcl_call *call, unsigned by_rank)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = call->reduction->commutative && !by_rank
					 ? bcl_group_ordered(team)
					 : bcl_group_all(team);
	unsigned n = group.size, i;
	size_t element = call->reduction->element, begin, end;
	bool is_root = team->rank == call->root;
	unsigned char *mine;

	begin = bcl_block_begin(call->length, element, n, group.me);
	end = bcl_block_begin(call->length, element, n, group.me + 1);
	mine = is_root ? call->receive + begin
		       : bcl_step_scratch(schedule, end - begin);
	bcl_build_reduce_scatter(schedule, &group, call->send, mine,
				 call->length, call->reduction);
	if (!is_root && end > begin)
		bcl_step_send(schedule, call->root, mine, end - begin);
	for (i = 0; is_root && i < n; i++) {
		begin = bcl_block_begin(call->length, element, n, i);
		end = bcl_block_begin(call->length, element, n, i + 1);
		if (i != group.me && end > begin)
			bcl_step_receive(schedule, bcl_group_rank(&group, i),
					 call->receive + begin, end - begin);
	}
	bcl_step_round(schedule);
}

static double cost_node(const struct bcl_model *model, double length,
			unsigned parameter)
{
	(void)parameter;
	return bcl_cost_phases(model, length) +
	       bcl_cost_first_piece(model, length) +
	       length * model->segment.byte +
	       (model->members - 1) * length * model->combine;
}

static double cost_tree(const struct bcl_model *model, double length,
			unsigned ahead)
{
	double inside = model->members > 1 ? cost_node(model, length, 0) : 0;

	return bcl_cost_postal(model, length, ahead, model->combine) + inside;
}

static double cost_flat_tree(const struct bcl_model *model, double length,
			     unsigned parameter)
{
	struct bcl_cost cost = bcl_cost_flat(model, length);

	(void)parameter;
	return bcl_log2_up(model->size) *
	       (cost.message + length * (cost.byte + model->combine));
}

/* us. A ring reduces the blocks; then the root receives all blocks but its own,
 * one after another. */
static double cost_scatter_gather(const struct bcl_model *model, double length,
				  unsigned parameter)
{
	double size = model->size;
	struct bcl_cost ring = bcl_cost_exchange(model, length / size);
	struct bcl_cost gather = bcl_cost_flat(model, length / size);

	(void)parameter;
	return (size - 1) * (ring.message + gather.message) +
	       (size - 1) / size * length *
		       (ring.byte + gather.byte + model->combine);
}

static double cost_pipeline(const struct bcl_model *model, double length,
			    unsigned piece)
{
	return bcl_cost_pipeline(model, length, piece, model->combine,
				 cost_node);
}

/* Pieces of twice as many bytes pass faster through the members of a node. */
static unsigned trees_piece(unsigned piece, unsigned size, unsigned nodes)
{
	return size > nodes ? 2 * piece : piece;
}

static void build_trees(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned piece)
{
	const struct bcl_team *team = schedule->team;

	bcl_build_reduce_trees(
		schedule, call,
		trees_piece(piece, team->size, team->layout.nnodes));
}

static double cost_trees(const struct bcl_model *model, double length,
			 unsigned piece)
{
	return bcl_cost_trees(model, length,
			      trees_piece(piece, model->size, model->nodes),
			      model->combine, cost_node);
}

enum {
	TREE = BCL_NEEDS_NODES | BCL_NEEDS_CONTIGUOUS,
	PIECES = BCL_NEEDS_NODES | BCL_NEEDS_COMMUTATIVE,
};

const struct bcl_algorithm bcl_reduce_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_REDUCE, NULL, cost_node, 0 },
	{ "tree", BCL_NEEDS_CONTIGUOUS, 0, build_tree, cost_tree, 1 },
	{ "tree_2", TREE, 0, build_tree, cost_tree, 2 },
	{ "tree_4", TREE, 0, build_tree, cost_tree, 4 },
	{ "tree_8", TREE, 0, build_tree, cost_tree, 8 },
	{ "flat_tree", BCL_FIXED_ORDER, 0, build_flat_tree, cost_flat_tree, 0 },
	{ "pipeline", PIECES, 0, bcl_build_reduce_pipeline, cost_pipeline,
	  4096 },
	{ "pipeline_8k", PIECES, 0, bcl_build_reduce_pipeline, cost_pipeline,
	  8192 },
	{ "pipeline_16k", PIECES, 0, bcl_build_reduce_pipeline, cost_pipeline,
	  16384 },
	{ "pipeline_32k", PIECES, 0, bcl_build_reduce_pipeline, cost_pipeline,
	  32768 },
	{ "trees", PIECES | BCL_PAYS_AUTONOMOUS, 0, build_trees, cost_trees,
	  BCL_TREES_PIECE },
	{ "scatter_gather", 0, 0, build_scatter_gather, cost_scatter_gather,
	  false },
	{ "scatter_gather_by_rank", BCL_FIXED_ORDER, 0, build_scatter_gather,
	  cost_scatter_gather, true },
	{ 0 },
};
