/* SPDX-License-Identifier: MIT */
/*
 * Allgather: every rank gets a block of every rank. The algorithms:
 *
 *   node    through the segment of a single node
 *   bruck   inside the nodes to their leaders, Bruck et al. among the leaders,
 *           reorder from node order to rank order, broadcast inside the nodes
 *   ring    all ranks in node order pass their blocks around (ring.c)
 *
 * Bruck among five leaders. Leader p sends the first blocks of its buffer and
 * appends the blocks received:
 *
 *   message   to      from    sent       leader 0 then has the blocks of nodes
 *      0      p - 1   p + 1   1 block    0 1
 *      1      p - 2   p + 2   2 blocks   0 1 2 3
 *      2      p - 4   p + 4   1 block    0 1 2 3 4
 */
#include "collectives/builders.h"
#include "collectives/cost.h"
#include "collectives/dissemination.h"

/* Offset in a leader's buffer of the blocks of the node `turn` places after the
 * own node. by_node: there is a single block for each node. */
static size_t begin_of(const struct bcl_team *team, unsigned turn,
		       size_t length, bool by_node)
{
	return by_node ? turn * length
		       : bcl_node_offset(team, team->my_node, turn, length);
}

/*
 * J. Bruck et al., "Efficient algorithms for all-to-all communications in
 * multiport message-passing systems", IEEE TPDS 8 (1997), among the leaders. A
 * leader holds the blocks of its own node and of the nodes after it. With
 * `ahead` = 1 each message doubles their number; otherwise several messages are
 * in flight (dissemination.h).
 */
void bcl_build_bruck(struct bcl_schedule *schedule,
		     const struct bcl_group *leaders, unsigned char *blocks,
		     size_t length, bool by_node, unsigned ahead)
{
	const struct bcl_team *team = schedule->team;
	unsigned n = leaders->size, me = leaders->me, i;
	struct bcl_dissemination plan;

	bcl_dissemination_init(&plan, n, ahead);
	for (i = 0; i < plan.messages; i++) {
		unsigned known = plan.known[i];
		unsigned to = bcl_group_rank(leaders, (me + n - known) % n);
		unsigned from = bcl_group_rank(leaders, (me + known) % n);
		size_t sent = begin_of(team, bcl_dissemination_told(&plan, i),
				       length, by_node);
		size_t begin = begin_of(team, known, length, by_node);
		size_t end = begin_of(team, plan.known[i + 1], length, by_node);

		bcl_dissemination_step(schedule, &plan, i, to, blocks, sent,
				       from, blocks + begin, end - begin);
	}
	bcl_step_round(schedule);
}

static void build_bruck(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned ahead)
{
	const struct bcl_team *team = schedule->team;
	unsigned leader = bcl_layout_leader(&team->layout, team->my_node);
	size_t length = call->length, all = team->size * length;
	struct bcl_group leaders;
	unsigned char *blocks = NULL;

	if (team->rank == leader)
		blocks = bcl_step_scratch(schedule, all);
	bcl_intranode_gather(schedule, leader, call->send, length, blocks);
	if (team->rank == leader) {
		leaders = bcl_group_leaders(team, leader);
		bcl_build_bruck(schedule, &leaders, blocks, length, false,
				ahead);
		bcl_step_to_ranks(schedule, call->receive, blocks, length,
				  team->my_node);
		bcl_step_round(schedule);
	}
	bcl_intranode_broadcast(schedule, leader, call->receive, all);
}

static void build_ring(struct bcl_schedule *schedule,
		       const struct bcl_call *call, unsigned parameter)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_ordered(team);

	(void)parameter;
	bcl_step_copy(schedule, call->receive + team->rank * call->length,
		      call->send, call->length);
	bcl_build_ring_by_rank(schedule, &group, call->receive, call->length);
}

static double cost_bruck(const struct bcl_model *model, double length,
			 unsigned ahead)
{
	double all = model->size * length;
	double inside = model->members > 1
				? bcl_cost_allgather_inside(model, length, 0) +
					  bcl_cost_phases(model, all) +
					  2 * all * model->segment.byte
				: 0;

	return bcl_cost_dissemination(model, length * model->members, ahead) +
	       all * model->segment.byte + inside;
}

static double cost_ring(const struct bcl_model *model, double length,
			unsigned parameter)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	(void)parameter;
	return (model->size - 1) * (cost.message + length * cost.byte);
}

const struct bcl_algorithm bcl_allgather_algorithms[] = {
	{ "node", BCL_NEEDS_SEGMENT, BCL_NODE_ALLGATHER, NULL,
	  bcl_cost_allgather_inside, 0 },
	{ "bruck", 0, 0, build_bruck, cost_bruck, 1 },
	{ "bruck_2", 0, 0, build_bruck, cost_bruck, 2 },
	{ "bruck_4", 0, 0, build_bruck, cost_bruck, 4 },
	{ "bruck_8", 0, 0, build_bruck, cost_bruck, 8 },
	{ "ring", 0, 0, build_ring, cost_ring, 0 },
	{ 0 },
};
