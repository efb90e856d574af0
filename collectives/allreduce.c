/* SPDX-License-Identifier: MIT */
/*
 * Allreduce: every rank gets the reduction of all vectors. The algorithms:
 *
 *   node, node_sliced  through the segment of a single node
 *   doubling           inside the nodes, recursive doubling among the leaders,
 *                      broadcast inside the nodes
 *   gathered           the same, but each leader gets the sums of all nodes
 *                      (allgather.c) and combines them
 *   flat_doubling      recursive doubling among all ranks
 *   ring               reduce-scatter, then allgather, around a ring in the
 *                      order of nodes
 *   ring_by_rank       the same in the order of ranks, so that the layout does
 *                      not change the sums
 *   halving*           reduce-scatter and allgather by halving (halving.c),
 *                      with a slice of the vector for each member of a node
 *   halving_leaders*   the same by the leaders alone
 *   trees              to rank 0 and back by two trees (nic/two_trees.c)
 *
 * Recursive doubling among 6 members, where (0 1) is the sum of 0 and 1:
 *
 *   0 -> 1, 2 -> 3                members 1 and 3 work for 0 and 2
 *   1 <-> 3, 4 <-> 5              (0 1 2 3) at 1 and 3, (4 5) at 4 and 5
 *   1 <-> 4, 3 <-> 5              all sums at 1, 3, 4 and 5
 *   1 -> 0, 3 -> 2
 */
#include <math.h>

#include "collectives/builders.h"
#include "collectives/cost.h"
#include "collectives/nic/nic.h"

/*
 * Recursive doubling with two buffers: `sum` has the sum so far, `other` is
 * room for the vector that arrives. Combining with a higher range of ranks
 * leaves the result in `other`; then the buffers change roles. Both sides of an
 * exchange combine the same two vectors in the same order, even if the operator
 * is commutative. So their sums are equal for any operator, even for an
 * operator that returns the first of two NaN.
 */
struct doubling {
	struct bcl_schedule *schedule;
	const struct bcl_group *group;
	const struct bcl_reduction *reduction;
	size_t length;
	void *sum, *other;
};

static void exchange(struct doubling *doubling, unsigned place, bool sends,
		     bool receives)
{
	struct bcl_schedule *schedule = doubling->schedule;
	unsigned rank = bcl_group_rank(doubling->group, place);
	size_t count = doubling->length / doubling->reduction->element;
	bool higher = place > doubling->group->me;
	void *sum = doubling->sum, *other = doubling->other;

	if (sends)
		bcl_step_send(schedule, rank, sum, doubling->length);
	if (receives)
		bcl_step_receive(schedule, rank, other, doubling->length);
	bcl_step_round(schedule);
	if (!receives)
		return;
	if (higher) {
		bcl_step_combine(schedule, doubling->reduction, sum, other,
				 count);
		doubling->sum = other;
		doubling->other = sum;
	} else {
		bcl_step_combine(schedule, doubling->reduction, other, sum,
				 count);
	}
}

/* Place of member `me` among the members that take part in the doubling, where
 * the first `extra` pairs count as one member each. */
static unsigned place_of(unsigned me, unsigned extra)
{
	return me < 2 * extra ? me / 2 : me - extra;
}

/* True if the buffers change roles an odd number of times. They change in each
 * exchange with a higher range. */
static bool changes_places(const struct bcl_group *group, unsigned power)
{
	unsigned extra = group->size - power, me = group->me;

	if (me < 2 * extra && me % 2 == 0)
		return false;
	return __builtin_popcount(~place_of(me, extra) & (power - 1)) % 2;
}

/*
 * R. Thakur, R. Rabenseifner, W. Gropp (2005), see ring.c. If the size is not a
 * power of two, the first 2 * extra members form pairs of neighbours. The odd
 * member of a pair works for both and sends the result back to the even member.
 * Ranges stay in order, because the members of a pair are neighbours.
 */
static void build_exchanges(struct bcl_schedule *schedule,
			    const struct bcl_group *group, const void *send,
			    void *receive, size_t length,
			    const struct bcl_reduction *reduction)
{
	unsigned n = group->size, me = group->me, distance;
	unsigned power = 1u << (31 - __builtin_clz(n)), extra = n - power;
	struct doubling doubling = { schedule, group,	reduction,
				     length,   receive, NULL };

	if (n > 1)
		doubling.other = bcl_step_scratch(schedule, length);
	/* The last change of roles must leave the sum in `receive`. */
	if (changes_places(group, power)) {
		doubling.sum = doubling.other;
		doubling.other = receive;
	}
	bcl_step_copy(schedule, doubling.sum, send, length);
	if (me < 2 * extra && me % 2 == 0) {
		exchange(&doubling, me + 1, true, false);
		bcl_step_receive(schedule, bcl_group_rank(group, me + 1),
				 receive, length);
		bcl_step_round(schedule);
		return;
	}
	if (me < 2 * extra)
		exchange(&doubling, me - 1, false, true);
	me = place_of(me, extra);
	for (distance = 1; distance < power; distance *= 2) {
		unsigned peer = me ^ distance;

		exchange(&doubling, peer < extra ? 2 * peer + 1 : peer + extra,
			 true, true);
	}
	if (group->me < 2 * extra)
		bcl_step_send(schedule, bcl_group_rank(group, group->me - 1),
			      receive, length);
	bcl_step_round(schedule);
}

static void build_doubling(struct bcl_schedule *schedule,
			   const struct bcl_call *call, unsigned parameter)
{
	const struct bcl_team *team = schedule->team;
	unsigned leader = bcl_layout_leader(&team->layout, team->my_node);
	const void *sum = call->send;
	struct bcl_group leaders;

	(void)parameter;
	if (bcl_layout_members(&team->layout, team->my_node) > 1) {
		bcl_intranode_reduce(schedule, leader, sum, call->receive,
				     call->length, call->reduction);
		sum = call->receive;
	}
	if (team->rank == leader) {
		leaders = bcl_group_leaders(team, leader);
		build_exchanges(schedule, &leaders, sum, call->receive,
				call->length, call->reduction);
	}
	bcl_intranode_broadcast(schedule, leader, call->receive, call->length);
}

/* Every leader gets the sums of all nodes and combines them in the order of
 * nodes. Unlike doubling, no extra round is needed if the number of nodes is
 * not a power of two. */
static void build_gathered(struct bcl_schedule *schedule,
			   const struct bcl_call *call, unsigned ahead)
{
	const struct bcl_team *team = schedule->team;
	unsigned leader = bcl_layout_leader(&team->layout, team->my_node);
	unsigned n = team->layout.nnodes, node;
	size_t length = call->length;
	unsigned char *sums = NULL;
	struct bcl_group leaders;

	if (team->rank == leader)
		sums = bcl_step_scratch(schedule, n * length);
	bcl_intranode_reduce(schedule, leader, call->send, sums, length,
			     call->reduction);
	if (team->rank == leader) {
		leaders = bcl_group_leaders(team, leader);
		bcl_build_bruck(schedule, &leaders, sums, length, true, ahead);
		for (node = n; node-- > 0;) {
			size_t at = (node + n - team->my_node) % n * length;

			if (node == n - 1)
				bcl_step_copy(schedule, call->receive,
					      sums + at, length);
			else
				bcl_step_combine(
					schedule, call->reduction, sums + at,
					call->receive,
					length / call->reduction->element);
		}
		bcl_step_round(schedule);
	}
	bcl_intranode_broadcast(schedule, leader, call->receive, length);
}

/* Doubling over all ranks, for operators that need the order of ranks. */
static void build_flat_doubling(struct bcl_schedule *schedule,
				const struct bcl_call *call, unsigned parameter)
{
	struct bcl_group group = bcl_group_all(schedule->team);

	(void)parameter;
	build_exchanges(schedule, &group, call->send, call->receive,
			call->length, call->reduction);
}

/* Reduce each block at its owner (reduce_blocks.c), then send the blocks
 * around the ring (ring.c). */
static void build_ring(struct bcl_schedule *schedule,
		       const struct bcl_call *call, unsigned by_rank)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = call->reduction->commutative && !by_rank
					 ? bcl_group_ordered(team)
					 : bcl_group_all(team);
	size_t element = call->reduction->element;

	bcl_build_reduce_scatter(schedule, &group, call->send,
				 call->receive +
					 bcl_block_begin(call->length, element,
							 group.size, group.me),
				 call->length, call->reduction);
	bcl_build_ring(schedule, &group, 0, call->receive, call->length,
		       element);
}

/* Each member of a node owns a slice of the vector. The slice is reduced at its
 * owner inside the node, then among the owners in all nodes (the column), then
 * given to the other members of the node. fetched: inside the nodes by
 * messages. */
static void build_slices(struct bcl_schedule *schedule,
			 const struct bcl_call *call, bool fetched,
			 enum bcl_halving_way way)
{
	const struct bcl_team *team = schedule->team;
	const struct bcl_reduction *reduction = call->reduction;
	struct bcl_group node = bcl_group_node(team);
	struct bcl_group column = bcl_group_column(team);
	size_t element = reduction->element, length = call->length;
	size_t begin = bcl_block_begin(length, element, node.size, node.me);
	size_t end = bcl_block_begin(length, element, node.size, node.me + 1);
	unsigned char *mine = call->receive + begin;

	if (fetched)
		bcl_build_reduce_scatter(schedule, &node, call->send, mine,
					 length, reduction);
	else
		bcl_intranode_reduce_scatter(schedule, call->send,
					     call->receive, length, reduction);
	bcl_build_halving(schedule, &column, false, mine, mine, end - begin,
			  reduction, way);
	if (fetched)
		bcl_build_ring(schedule, &node, 0, call->receive, length,
			       element);
	else
		bcl_intranode_gather_slices(schedule, call->receive, length,
					    element);
}

static void build_halving(struct bcl_schedule *schedule,
			  const struct bcl_call *call, unsigned way)
{
	build_slices(schedule, call, false, (enum bcl_halving_way)way);
}

static void build_halving_fetched(struct bcl_schedule *schedule,
				  const struct bcl_call *call,
				  unsigned parameter)
{
	(void)parameter;
	build_slices(schedule, call, true, BCL_HALVING_PLAIN);
}

/* Halving among the leaders. If the node pipelines, its own part runs beside
 * the messages. */
static void build_halving_leaders(struct bcl_schedule *schedule,
				  const struct bcl_call *call, unsigned way)
{
	const struct bcl_team *team = schedule->team;
	const struct bcl_reduction *reduction = call->reduction;
	unsigned leader = bcl_layout_leader(&team->layout, team->my_node);
	struct bcl_group leaders = bcl_group_leaders(team, leader);

	if (bcl_intranode_pipelines(team, reduction)) {
		bcl_build_halving(schedule, &leaders, true, call->send,
				  call->receive, call->length, reduction,
				  (enum bcl_halving_way)way);
		return;
	}
	bcl_intranode_reduce(schedule, leader, call->send, call->receive,
			     call->length, reduction);
	if (team->rank == leader)
		bcl_build_halving(schedule, &leaders, true, call->receive,
				  call->receive, call->length, reduction,
				  (enum bcl_halving_way)way);
	bcl_intranode_broadcast(schedule, leader, call->receive, call->length);
}

/* Reduce to rank 0 by two trees, then broadcast from there. */
static void build_trees(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned piece)
{
	bcl_build_reduce_trees(schedule, call, piece);
	bcl_step_round(schedule);
	bcl_build_broadcast_trees(schedule, call, piece);
}

static double cost_node(const struct bcl_model *model, double length,
			unsigned parameter)
{
	(void)parameter;
	return bcl_cost_phases(model, length) +
	       2 * length * model->segment.byte +
	       (model->members - 1) * length * model->combine;
}

/* us. A member copies the whole vector into the segment and out of it, and its
 * own share once more. It combines its share only. */
static double cost_node_sliced(const struct bcl_model *model, double length,
			       unsigned parameter)
{
	double members = model->members;

	(void)parameter;
	return 2 * bcl_cost_phases(model, length) +
	       (2 + 1 / members) * length * model->segment.byte +
	       (members - 1) / members * length * model->combine;
}

/* Rounds of recursive doubling: two more than for the next smaller power of two
 * if n is not a power of two. */
static double doubling_rounds(unsigned n)
{
	unsigned rounds = bcl_log2_up(n);

	return n == 1u << rounds ? rounds : rounds + 1;
}

/* us of the reduce to the leaders and of the broadcast inside the nodes. */
static double cost_collected(const struct bcl_model *model, double length)
{
	if (model->members == 1)
		return 0;
	return cost_node(model, length, 0) + bcl_cost_phases(model, length) +
	       2 * length * model->segment.byte;
}

/* us that thin links between far nodes add. Only the slower of the two far
 * rounds counts: a member delayed by links in one round comes later to the next
 * round. */
static double cost_links(const struct bcl_model *model, double length)
{
	double byte = model->across[0] > model->across[1] ? model->across[0]
							  : model->across[1];

	return bcl_cost_links(byte, length, 1);
}

static double cost_doubling(const struct bcl_model *model, double length,
			    unsigned parameter)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	(void)parameter;
	return doubling_rounds(model->nodes) *
		       (cost.message + length * (cost.byte + model->combine)) +
	       cost_links(model, length) + cost_collected(model, length);
}

static double cost_gathered(const struct bcl_model *model, double length,
			    unsigned ahead)
{
	return bcl_cost_dissemination(model, length, ahead) +
	       (model->nodes - 1) * length * model->combine +
	       cost_collected(model, length);
}

/* All members of a node exchange with other nodes at once, so each has the card
 * for 1 / members of the time. */
static double cost_flat_doubling(const struct bcl_model *model, double length,
				 unsigned parameter)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	(void)parameter;
	if (model->nodes > 1)
		cost.byte *= model->members;
	return length * model->segment.byte +
	       cost_links(model, model->members * length) +
	       doubling_rounds(model->size) *
		       (cost.message + length * (cost.byte + model->combine));
}

/* The fraction of a vector that a node sends in the k-th round down, from 0. */
static double fraction_sent(unsigned nodes, unsigned k)
{
	unsigned left = nodes;

	while (k-- > 0)
		left = (left + 1) / 2;
	return (double)(left / 2) / nodes;
}

/* us that a byte takes on links between far nodes in the k-th round down. Pairs
 * are the farther apart the later they exchange. If the number of nodes has an
 * odd factor, that factor goes round and round after the pairs, at first by
 * half of the circle. */
static double far_byte(const struct bcl_model *model,
		       const double far[BCL_MODEL_FAR], unsigned k)
{
	unsigned before_last = bcl_log2_up(model->nodes) - 1 - k;
	unsigned pairs = (unsigned)__builtin_ctz(model->nodes);

	if (before_last < BCL_MODEL_FAR)
		return far[before_last];
	return k >= pairs && k - pairs < BCL_MODEL_FAR
		       ? model->circled[k - pairs]
		       : 0;
}

/*
 * us of a turn: every part of the vectors does one round, down or up. round[i]
 * is the round of part i; at `rounds` or above the part pauses. All members of
 * a node exchange their slices at once. An autonomous card sends them one after
 * another. Otherwise each processor attends to its peer and to the other
 * members. The bytes of all parts add up on the card, and so do bytes on links
 * between far nodes.
 */
static double cost_turn(const struct bcl_model *model, double length,
			unsigned parts, const unsigned round[],
			const double far[BCL_MODEL_FAR])
{
	unsigned rounds = bcl_log2_up(model->nodes), i;
	double time = 0, card = 0, links = 0;

	for (i = 0; i < parts; i++) {
		struct bcl_cost cost;
		double bytes, other;

		if (round[i] >= rounds)
			continue;
		bytes = fraction_sent(model->nodes, round[i]) * length / parts;
		cost = bcl_cost_granted(model, bytes / model->members);
		other = model->autonomous ? cost.gap : cost.message;
		time += time > 0 ? model->members * bcl_cost_gap(model, &cost)
				 : cost.message + (model->members - 1) * other;
		card += bytes * cost.byte;
		links += bytes * far_byte(model, far, round[i]);
	}
	return time + bcl_larger(card, links);
}

/* us of halving between the nodes. */
static double cost_halving_plan(const struct bcl_model *model, double length,
				enum bcl_halving_way way)
{
	unsigned rounds = bcl_log2_up(model->nodes), turn, i;
	unsigned far = way == BCL_HALVING_RING ? 0 : way, parts = far ? 2 : 1;
	unsigned lag = rounds - (unsigned)bcl_min_size(far, rounds);
	double nodes = model->nodes, time = 0;

	if (way != BCL_HALVING_PLAIN && model->halved[0][0] <= 0)
		return HUGE_VAL;
	for (turn = 0; turn < 2 * rounds + (parts - 1) * lag; turn++) {
		unsigned round[2];

		for (i = 0; i < parts; i++) {
			round[i] = turn - i * lag;
			if (round[i] < 2 * rounds && round[i] >= rounds)
				round[i] = 2 * rounds - 1 - round[i];
		}
		time += cost_turn(model, length, parts, round,
				  model->halved[way == BCL_HALVING_RING]);
	}
	return time + (nodes - 1) / nodes * length * model->combine;
}

static double cost_halving(const struct bcl_model *model, double length,
			   unsigned way)
{
	double others = model->members - 1;
	double inside = others > 0 ? cost_node_sliced(model, length, 0) : 0;

	return cost_halving_plan(model, length, (enum bcl_halving_way)way) +
	       inside + 2 * others * model->segment.message;
}

/* us. The factor was measured on simulated clusters of 15 to 64 nodes: reduce
 * and broadcast together take a fifth more than the model gives for the two
 * alone. */
static double cost_trees(const struct bcl_model *model, double length,
			 unsigned piece)
{
	return 1.2 * (bcl_cost_trees(model, length, piece, model->combine,
				     cost_node) +
		      bcl_cost_trees(model, length, piece, 0, cost_node));
}

/* us. Inside the nodes the slices go around rings. */
static double cost_halving_fetched(const struct bcl_model *model, double length,
				   unsigned parameter)
{
	double members = model->members, slice = length / members;
	struct bcl_cost cost = bcl_cost_intranode(model, slice);

	(void)parameter;
	return cost_halving_plan(model, length, BCL_HALVING_PLAIN) +
	       (members - 1) * (2 * (cost.message + slice * cost.byte) +
				slice * model->combine);
}

/* us. The part inside the nodes runs beside the messages, except for the first
 * and the last pieces, if the card is autonomous. Otherwise a processor attends
 * to both, and nothing overlaps. */
static double cost_halving_leaders(const struct bcl_model *model, double length,
				   unsigned way)
{
	struct bcl_model leaders = *model;
	double pieces = 2 * BCL_HALVING_PIECES;
	double gap = model->autonomous ? model->card.gap : model->between.gap;
	double beside = model->autonomous ? length - BCL_HALVING_PIECE : 0;

	leaders.members = 1;
	if (beside < 0)
		beside = 0;
	return cost_halving_plan(&leaders, length, (enum bcl_halving_way)way) +
	       pieces * gap + cost_collected(model, length - beside);
}

static double cost_ring(const struct bcl_model *model, double length,
			unsigned parameter)
{
	double size = model->size;
	struct bcl_cost cost = bcl_cost_exchange(model, length / size);

	(void)parameter;
	return 2 * (size - 1) * cost.message +
	       (size - 1) / size * length * (2 * cost.byte + model->combine);
}

enum {
	GATHERED = BCL_NEEDS_NODES | BCL_NEEDS_CONTIGUOUS,
	LEADERS = BCL_NEEDS_NODES | BCL_NEEDS_COMMUTATIVE,
	COLUMNS = BCL_NEEDS_NODES | BCL_NEEDS_UNIFORM | BCL_NEEDS_COMMUTATIVE,
};

const struct bcl_algorithm bcl_allreduce_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_ALLREDUCE, NULL, cost_node, 0 },
	{ "node_sliced", BCL_NEEDS_SEGMENT, BCL_NODE_ALLREDUCE_SLICED, NULL,
	  cost_node_sliced, 0 },
	{ "doubling", BCL_NEEDS_CONTIGUOUS, 0, build_doubling, cost_doubling,
	  0 },
	{ "gathered", GATHERED, 0, build_gathered, cost_gathered, 1 },
	{ "gathered_2", GATHERED, 0, build_gathered, cost_gathered, 2 },
	{ "gathered_4", GATHERED, 0, build_gathered, cost_gathered, 4 },
	{ "gathered_8", GATHERED, 0, build_gathered, cost_gathered, 8 },
	{ "flat_doubling", BCL_FIXED_ORDER, 0, build_flat_doubling,
	  cost_flat_doubling, 0 },
	{ "ring", 0, 0, build_ring, cost_ring, false },
	{ "ring_by_rank", BCL_FIXED_ORDER, 0, build_ring, cost_ring, true },
	{ "halving", COLUMNS, 0, build_halving, cost_halving,
	  BCL_HALVING_PLAIN },
	{ "halving_far_1", COLUMNS | BCL_PAYS_AUTONOMOUS, 0, build_halving,
	  cost_halving, BCL_HALVING_FAR_1 },
	{ "halving_far_2", COLUMNS | BCL_PAYS_AUTONOMOUS, 0, build_halving,
	  cost_halving, BCL_HALVING_FAR_2 },
	{ "halving_ring", COLUMNS | BCL_PAYS_AUTONOMOUS, 0, build_halving,
	  cost_halving, BCL_HALVING_RING },
	{ "halving_fetched", COLUMNS, 0, build_halving_fetched,
	  cost_halving_fetched, 0 },
	{ "halving_leaders", LEADERS, 0, build_halving_leaders,
	  cost_halving_leaders, BCL_HALVING_PLAIN },
	{ "halving_leaders_far_1", LEADERS | BCL_PAYS_AUTONOMOUS, 0,
	  build_halving_leaders, cost_halving_leaders, BCL_HALVING_FAR_1 },
	{ "halving_leaders_far_2", LEADERS | BCL_PAYS_AUTONOMOUS, 0,
	  build_halving_leaders, cost_halving_leaders, BCL_HALVING_FAR_2 },
	{ "halving_leaders_ring", LEADERS | BCL_PAYS_AUTONOMOUS, 0,
	  build_halving_leaders, cost_halving_leaders, BCL_HALVING_RING },
	{ "trees", LEADERS | BCL_PAYS_AUTONOMOUS, 0, build_trees, cost_trees,
	  BCL_TREES_PIECE },
	{ 0 },
};
