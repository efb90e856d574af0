/* SPDX-License-Identifier: MIT */
/*
 * Broadcast. The algorithms:
 *
 *   node          through the segment of a single node
 *   tree*         a tree of the leaders (postal.h), then inside the nodes; the
 *                 number is `ahead`
 *   pipeline*     pieces by a circulant schedule of the leaders (pipeline.c)
 *   trees         pieces by two trees of the leaders (nic/two_trees.c)
 *   chain         pieces through all ranks in node order
 *   scatter_ring  a block for each rank down a tree, then around a ring
 *
 * The chain, with pieces a, b, c and members counted from the root, step by
 * step:
 *
 *   0 -a-> 1
 *   0 -b-> 1 -a-> 2
 *   0 -c-> 1 -b-> 2 -a-> 3
 */
#include "collectives/builders.h"
#include "collectives/cost.h"
#include "collectives/nic/nic.h"
#include "collectives/postal.h"

enum {
	/* Bytes: long enough for a rendezvous to pay, short enough for pieces
	 * to overlap. */
	CHAIN_PIECE = 65536,
	CHAIN_PIECES = 64, /* at most; longer vectors have longer pieces */
};

static void build_tree(struct bcl_schedule *schedule,
		       const struct bcl_call *call, unsigned ahead)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group leaders = bcl_group_leaders(team, call->root);
	unsigned speaker = bcl_group_rank(&leaders, leaders.me);

	if (team->rank == speaker)
		bcl_build_broadcast_tree(
			schedule, &leaders,
			bcl_layout_node(&team->layout, call->root),
			call->receive, call->length, ahead);
	bcl_intranode_broadcast(schedule, speaker, call->receive, call->length);
}

/* Pieces follow each other through all members, in node order. */
static void build_chain(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned parameter)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_ordered(team);
	unsigned n = group.size,
		 root = bcl_layout_place(&team->layout, call->root);
	unsigned me = (group.me + n - root) % n;
	unsigned next = bcl_group_rank(&group, (group.me + 1) % n);
	unsigned previous = bcl_group_rank(&group, (group.me + n - 1) % n);
	size_t length = call->length, piece = length / CHAIN_PIECES, offset;

	(void)parameter;
	if (piece < CHAIN_PIECE)
		piece = CHAIN_PIECE;
	/* One round more than pieces: a piece is sent while the next piece
	 * arrives. */
	for (offset = 0; offset < length + piece; offset += piece) {
		if (me && offset < length)
			bcl_step_receive(schedule, previous,
					 call->receive + offset,
					 bcl_min_size(length - offset, piece));
		if (me < n - 1 && offset)
			bcl_step_send(
				schedule, next, call->receive + offset - piece,
				bcl_min_size(length - offset + piece, piece));
		bcl_step_round(schedule);
	}
}

/*
 * A scatter by a binomial tree, then a ring: M. Barnett et al., "Building a
 * high-performance collective communication library", Supercomputing 1994 (van
 * de Geijn's algorithm).
 */
static void build_scatter_ring(struct bcl_schedule *schedule,
			       const struct bcl_call *call, unsigned parameter)
{
	enum {
		ALIGNMENT = 64,
	};
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_ordered(team);
	unsigned n = group.size,
		 root = bcl_layout_place(&team->layout, call->root);
	unsigned me = (group.me + n - root) % n, i;
	struct bcl_postal plan;
	size_t from, to;

	(void)parameter;
	bcl_postal_init(&plan, n, me, 1);
	if (me) {
		from = bcl_block_begin(call->length, ALIGNMENT, n, me);
		to = bcl_block_begin(call->length, ALIGNMENT, n, plan.end);
		if (to > from)
			bcl_step_receive(schedule,
					 bcl_group_rank(&group, (plan.parent +
								 root) % n),
					 call->receive + from, to - from);
		bcl_step_round(schedule);
	}
	for (i = 0; i < plan.children; i++) {
		from = bcl_block_begin(call->length, ALIGNMENT, n,
				       plan.child[i]);
		to = bcl_block_begin(call->length, ALIGNMENT, n,
				     bcl_postal_end(&plan, i));
		if (to > from)
			bcl_step_send(schedule,
				      bcl_group_rank(&group, (plan.child[i] +
							      root) % n),
				      call->receive + from, to - from);
	}
	bcl_step_round(schedule);
	bcl_build_ring(schedule, &group, root, call->receive, call->length,
		       ALIGNMENT);
}

static double cost_node(const struct bcl_model *model, double length,
			unsigned parameter)
{
	(void)parameter;
	return bcl_cost_phases(model, length) +
	       bcl_cost_first_piece(model, length) +
	       length * model->segment.byte;
}

static double cost_tree(const struct bcl_model *model, double length,
			unsigned ahead)
{
	double inside = model->members > 1 ? cost_node(model, length, 0) : 0;

	return bcl_cost_postal(model, length, ahead, 0) + inside;
}

/* us. The first piece passes all members, the other pieces follow it. */
static double cost_chain(const struct bcl_model *model, double length,
			 unsigned parameter)
{
	double pieces = length < CHAIN_PIECE ? 1
			: length < (double)CHAIN_PIECE * CHAIN_PIECES
				? length / CHAIN_PIECE
				: CHAIN_PIECES;
	double piece = length / pieces;
	struct bcl_cost cost = bcl_cost_exchange(model, piece);

	(void)parameter;
	return (model->size - 2 + pieces) * (cost.message + piece * cost.byte);
}

/* us. The root sends all blocks but its own. In the ring every member sends as
 * many bytes again. */
static double cost_scatter_ring(const struct bcl_model *model, double length,
				unsigned parameter)
{
	double size = model->size;
	struct bcl_cost scatter = bcl_cost_flat(model, length / size);
	struct bcl_cost ring = bcl_cost_exchange(model, length / size);

	(void)parameter;
	return bcl_log2_up(model->size) * scatter.message +
	       (size - 1) * ring.message +
	       (size - 1) / size * length * (scatter.byte + ring.byte);
}

static double cost_pipeline(const struct bcl_model *model, double length,
			    unsigned piece)
{
	return bcl_cost_pipeline(model, length, piece, 0, cost_node);
}

static double cost_trees(const struct bcl_model *model, double length,
			 unsigned piece)
{
	return bcl_cost_trees(model, length, piece, 0, cost_node);
}

const struct bcl_algorithm bcl_broadcast_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_BROADCAST, NULL, cost_node, 0 },
	{ "tree", 0, 0, build_tree, cost_tree, 1 },
	{ "tree_2", BCL_NEEDS_NODES, 0, build_tree, cost_tree, 2 },
	{ "tree_4", BCL_NEEDS_NODES, 0, build_tree, cost_tree, 4 },
	{ "tree_8", BCL_NEEDS_NODES, 0, build_tree, cost_tree, 8 },
	{ "pipeline", BCL_NEEDS_NODES, 0, bcl_build_broadcast_pipeline,
	  cost_pipeline, 4096 },
	{ "pipeline_8k", BCL_NEEDS_NODES, 0, bcl_build_broadcast_pipeline,
	  cost_pipeline, 8192 },
	{ "pipeline_16k", BCL_NEEDS_NODES, 0, bcl_build_broadcast_pipeline,
	  cost_pipeline, 16384 },
	{ "pipeline_32k", BCL_NEEDS_NODES, 0, bcl_build_broadcast_pipeline,
	  cost_pipeline, 32768 },
	{ "trees", BCL_NEEDS_NODES | BCL_PAYS_AUTONOMOUS, 0,
	  bcl_build_broadcast_trees, cost_trees, BCL_TREES_PIECE },
	{ "chain", 0, 0, build_chain, cost_chain, 0 },
	{ "scatter_ring", 0, 0, build_scatter_ring, cost_scatter_ring, 0 },
	{ 0 },
};
