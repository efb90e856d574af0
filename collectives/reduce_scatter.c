/* SPDX-License-Identifier: MIT */
/*
 * Reduce-scatter: member i of a group gets the reduction of block i. Also a
 * part of allreduce and of reduce. By a ring or, in the order of the group, by
 * a message for each pair of members; short blocks by a tree to member 0, who
 * scatters the result.
 *
 * The ring of four members, where b(1 2) is the sum of block b of members 1 and
 * 2:
 *
 *   to member        0           1           2           3
 *   round 0        2(3)        3(0)        0(1)        1(2)
 *   round 1      1(2 3)      2(3 0)      3(0 1)      0(1 2)
 *   round 2    0(1 2 3)    1(2 3 0)    2(3 0 1)    3(0 1 2)
 */
#include "collectives/builders.h"
#include "collectives/cost.h"

/*
 * A ring, for commutative operators: the partial result of block i travels from
 * member i + 1 around the ring to member i. Each member adds its own
 * contribution. P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms
 * for clusters of workstations", JPDC 69 (2009).
 */
static void build_ring(struct bcl_schedule *schedule,
		       const struct bcl_group *group, const unsigned char *send,
		       unsigned char *result, size_t length,
		       const struct bcl_reduction *reduction)
{
	unsigned n = group->size, me = group->me, k;
	unsigned next = bcl_group_rank(group, (me + 1) % n);
	unsigned previous = bcl_group_rank(group, (me + n - 1) % n);
	size_t element = reduction->element, most = 0;
	unsigned char *partial[2];

	for (k = 0; k < n; k++) {
		size_t begin = bcl_block_begin(length, element, n, k);
		size_t end = bcl_block_begin(length, element, n, k + 1);

		most = end - begin > most ? end - begin : most;
	}
	partial[0] = bcl_step_scratch(schedule, most);
	partial[1] = bcl_step_scratch(schedule, most);

	for (k = 0; k + 1 < n; k++) {
		unsigned out = (me + 2 * n - k - 1) % n, in = (out + n - 1) % n;
		size_t begin = bcl_block_begin(length, element, n, out);
		size_t end = bcl_block_begin(length, element, n, out + 1);

		if (end > begin)
			bcl_step_send(schedule, next,
				      k ? partial[(k - 1) % 2] : send + begin,
				      end - begin);
		begin = bcl_block_begin(length, element, n, in);
		end = bcl_block_begin(length, element, n, in + 1);
		if (end > begin)
			bcl_step_receive(schedule, previous, partial[k % 2],
					 end - begin);
		bcl_step_round(schedule);
		bcl_step_combine(schedule, reduction, send + begin,
				 partial[k % 2], (end - begin) / element);
		if (in == me)
			bcl_step_copy(schedule, result, partial[k % 2],
				      end - begin);
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
			 const unsigned char *send, unsigned char *result,
			 size_t length, const struct bcl_reduction *reduction)
{
	unsigned n = group->size, me = group->me, k;
	size_t element = reduction->element;
	size_t begin = bcl_block_begin(length, element, n, me);
	size_t mine = bcl_block_begin(length, element, n, me + 1) - begin;
	unsigned char *blocks = bcl_step_scratch(schedule, n * mine), *sum;

	for (k = 1; k < n; k++) {
		unsigned to = (me + k) % n, from = (me + n - k) % n;
		size_t first = bcl_block_begin(length, element, n, to);
		size_t end = bcl_block_begin(length, element, n, to + 1);

		if (end > first)
			bcl_step_send(schedule, bcl_group_rank(group, to),
				      send + first, end - first);
		if (mine)
			bcl_step_receive(schedule, bcl_group_rank(group, from),
					 blocks + from * mine, mine);
		bcl_step_round(schedule);
	}
	bcl_step_copy(schedule, blocks + me * mine, send + begin, mine);
	sum = blocks + (n - 1) * mine;
	for (k = n - 1; k-- > 0;)
		bcl_step_combine(schedule, reduction, blocks + k * mine, sum,
				 mine / element);
	bcl_step_copy(schedule, result, sum, mine);
	bcl_step_round(schedule);
}

void bcl_build_reduce_scatter(struct bcl_schedule *schedule,
			      const struct bcl_group *group, const void *send,
			      void *result, size_t length,
			      const struct bcl_reduction *reduction)
{
	if (group->size == 1) {
		bcl_step_copy(schedule, result, send, length);
		bcl_step_round(schedule);
	} else if (reduction->commutative) {
		build_ring(schedule, group, send, result, length, reduction);
	} else {
		build_spread(schedule, group, send, result, length, reduction);
	}
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

static double cost_apart(const struct bcl_model *model, double length,
			 unsigned parameter)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	(void)parameter;
	return (model->size - 1) *
	       (cost.message + length * (cost.byte + model->combine));
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
	{ "tree", BCL_FIXED_ORDER, 0, build_tree, cost_tree, 1 },
	{ "apart", BCL_FIXED_ORDER, 0, build_apart, cost_apart, 0 },
	{ 0 },
};
