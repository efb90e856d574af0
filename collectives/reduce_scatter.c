/* SPDX-License-Identifier: MIT */
/*
 * Reduce-scatter: member i of a group gets the reduction of block i, with
 * blocks of one length or of different lengths. Also a part of allreduce and of
 * reduce. By a ring or, in the order of the group, by a message for each pair
 * of members; short blocks by a tree to member 0, who scatters the result; on
 * one node through its segment, where each member reads its block of each
 * vector; on several nodes by columns: inside a node each member reduces the
 * blocks for the members that have its place in their nodes, and then exchanges
 * them with these.
 *
 * The ring of four members, where b(1 2) is the sum of block b of members 1 and
 * 2:
 *
 *   to member        0           1           2           3
 *   round 0        2(3)        3(0)        0(1)        1(2)
 *   round 1      1(2 3)      2(3 0)      3(0 1)      0(1 2)
 *   round 2    0(1 2 3)    1(2 3 0)    2(3 0 1)    3(0 1 2)
 */
#include <math.h>

#include "collectives/builders.h"
#include "collectives/cost.h"

/* A vector with a block for each member of a group. */
struct blocks {
	unsigned n;
	size_t length, element; /* bytes: of the vector, and of an element */
	/* Where each block begins, and the end of the vector; NULL: as
	 * bcl_block_begin() says. */
	const size_t *begin;
};

static size_t begin_of(const struct blocks *blocks, unsigned i)
{
	return blocks->begin ? blocks->begin[i]
			     : bcl_block_begin(blocks->length, blocks->element,
					       blocks->n, i);
}

static size_t bytes_of(const struct blocks *blocks, unsigned i)
{
	return begin_of(blocks, i + 1) - begin_of(blocks, i);
}

/*
 * A ring, for commutative operators: the partial result of block i travels from
 * member i + 1 around the ring to member i. Each member adds its own
 * contribution. P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms
 * for clusters of workstations", JPDC 69 (2009).
 */
static void build_ring(struct bcl_schedule *schedule,
		       const struct bcl_group *group,
		       const struct blocks *blocks, const unsigned char *send,
		       unsigned char *result,
		       const struct bcl_reduction *reduction)
{
	unsigned n = group->size, me = group->me, k;
	unsigned next = bcl_group_rank(group, (me + 1) % n);
	unsigned previous = bcl_group_rank(group, (me + n - 1) % n);
	unsigned char *partial[2];
	size_t most = 0;

	for (k = 0; k < n; k++)
		most = bytes_of(blocks, k) > most ? bytes_of(blocks, k) : most;
	partial[0] = bcl_step_scratch(schedule, most);
	partial[1] = bcl_step_scratch(schedule, most);

	for (k = 0; k + 1 < n; k++) {
		unsigned out = (me + 2 * n - k - 1) % n, in = (out + n - 1) % n;
		size_t leaving = bytes_of(blocks, out);
		size_t arriving = bytes_of(blocks, in);

		if (leaving)
			bcl_step_send(schedule, next,
				      k ? partial[(k - 1) % 2]
					: send + begin_of(blocks, out),
				      leaving);
		if (arriving)
			bcl_step_receive(schedule, previous, partial[k % 2],
					 arriving);
		bcl_step_round(schedule);
		bcl_step_combine(schedule, reduction,
				 send + begin_of(blocks, in), partial[k % 2],
				 arriving / blocks->element);
		if (in == me)
			bcl_step_copy(schedule, result, partial[k % 2],
				      arriving);
	}
	bcl_step_round(schedule);
}

/*
 * For operators that are not commutative: every member sends each block to the
 * owner of the block, who combines the blocks in the order of the group. In
 * round k a member sends to the member k places on, so every member receives
 * one block at a time.
 */
static void build_spread(struct bcl_schedule *schedule,
			 const struct bcl_group *group,
			 const struct blocks *blocks, const unsigned char *send,
			 unsigned char *result,
			 const struct bcl_reduction *reduction)
{
	unsigned n = group->size, me = group->me, k;
	size_t mine = bytes_of(blocks, me);
	unsigned char *arrived = bcl_step_scratch(schedule, n * mine), *sum;

	for (k = 1; k < n; k++) {
		unsigned to = (me + k) % n, from = (me + n - k) % n;

		if (bytes_of(blocks, to))
			bcl_step_send(schedule, bcl_group_rank(group, to),
				      send + begin_of(blocks, to),
				      bytes_of(blocks, to));
		if (mine)
			bcl_step_receive(schedule, bcl_group_rank(group, from),
					 arrived + from * mine, mine);
		bcl_step_round(schedule);
	}
	bcl_step_copy(schedule, arrived + me * mine,
		      send + begin_of(blocks, me), mine);
	sum = arrived + (n - 1) * mine;
	for (k = n - 1; k-- > 0;)
		bcl_step_combine(schedule, reduction, arrived + k * mine, sum,
				 mine / blocks->element);
	bcl_step_copy(schedule, result, sum, mine);
	bcl_step_round(schedule);
}

static void build_blocks(struct bcl_schedule *schedule,
			 const struct bcl_group *group,
			 const struct blocks *blocks, const unsigned char *send,
			 unsigned char *result,
			 const struct bcl_reduction *reduction)
{
	if (group->size == 1) {
		bcl_step_copy(schedule, result, send, blocks->length);
		bcl_step_round(schedule);
	} else if (reduction->commutative) {
		build_ring(schedule, group, blocks, send, result, reduction);
	} else {
		build_spread(schedule, group, blocks, send, result, reduction);
	}
}

void bcl_build_reduce_scatter(struct bcl_schedule *schedule,
			      const struct bcl_group *group, const void *send,
			      void *result, size_t length,
			      const struct bcl_reduction *reduction)
{
	const struct blocks blocks = {
		.n = group->size,
		.length = length,
		.element = reduction->element,
	};

	build_blocks(schedule, group, &blocks, send, result, reduction);
}

/* ---- the operation --------------------------------------------------------
 */

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

/* ---- blocks of different lengths ------------------------------------------
 */

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
	struct blocks blocks = { .n = group.size, .begin = begin };

	(void)parameter;
	if (!begin)
		return;
	blocks.length = begin[group.size];
	blocks.element = call->reduction->element;
	build_blocks(schedule, &group, &blocks, call->send, call->receive,
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

/* ---- costs; length: of a block, on average ---------------------------------
 */

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
	{ "tree", 0, 0, build_tree, cost_tree, 1 },
	{ "apart", 0, 0, build_apart, cost_apart, 0 },
	{ 0 },
};

const struct bcl_algorithm bcl_reduce_scatterv_algorithms[] = {
	{ "tree", 0, 0, build_various_tree, cost_tree, 1 },
	{ "apart", 0, 0, build_various_apart, cost_apart, 0 },
	{ 0 },
};
