/* SPDX-License-Identifier: MIT */
/*
 * All-to-all by one message for each pair of members. In a round every member
 * sends to the member some nodes and some places on, and receives from the
 * member as far before. No two messages of a round have the same sender or
 * receiver, and each link between nodes carries the same number.
 *
 *   4 nodes of 2 members, round   0      1      2      3      4      5
 *   nodes on                      1      3      1      3      2      2
 *   places on                     0      0      1      1      0      1
 *
 * A round of some nodes on is followed by the round as many nodes back, near
 * nodes first. If consecutive nodes are near each other, the load of cables
 * between switches changes little from round to round, and is equal in both
 * directions.
 *
 * Rounds overlap. Before a member sends in a round, its messages of the round
 * BCL_PAIRS_LAG before must be over. So no member runs ahead and meets other
 * senders at the same receiver. The members of a node exchange beside the first
 * rounds.
 */
#include "collectives/builders.h"

enum {
	/* Lanes in use: receives of BCL_PAIRS_LAG rounds are posted early, and
	 * as many rounds are in flight. */
	LANES = 2 * BCL_PAIRS_LAG,
};

struct pairs {
	struct bcl_schedule *schedule;
	const struct bcl_group *group;
	bool by_rank; /* blocks lie by rank, not by distance */
	const unsigned char *send;
	unsigned char *receive;
	size_t length;
	/* `nodes` nodes have `members` members each. If the nodes differ in
	 * size, each member counts as a node. */
	unsigned nodes, members, rounds;
};

/* How far a message goes. */
struct way {
	unsigned nodes, places;
};

static unsigned members_of(const struct bcl_group *group)
{
	const struct bcl_layout *layout = group->layout;
	unsigned members, i;

	if (!layout || group->by_node || group->size != layout->size)
		return 1;
	members = bcl_layout_members(layout, 0);
	for (i = 1; i < layout->nnodes; i++)
		if (bcl_layout_members(layout, i) != members)
			return 1;
	return layout->nnodes > 1 ? members : 1;
}

/* Messages of a round to another node. */
static struct way way_of(const struct pairs *pairs, unsigned round)
{
	unsigned on = 1 + round / (2 * pairs->members);
	unsigned rest = round % (2 * pairs->members);

	if (2 * on == pairs->nodes) /* as far on as back */
		return (struct way){ on, rest };
	return (struct way){ rest % 2 ? pairs->nodes - on : on, rest / 2 };
}

/* The place in the group of the member at this distance. */
static unsigned place_on(const struct pairs *pairs, struct way way)
{
	unsigned me = pairs->group->me, members = pairs->members;

	return (me / members + way.nodes) % pairs->nodes * members +
	       (me % members + way.places) % members;
}

static unsigned place_before(const struct pairs *pairs, struct way way)
{
	way.nodes = pairs->nodes - way.nodes;
	way.places = pairs->members - way.places;
	return place_on(pairs, way);
}

static size_t block_of(const struct pairs *pairs, unsigned rank,
		       unsigned distance)
{
	return (pairs->by_rank ? rank : distance % pairs->group->size) *
	       pairs->length;
}

static unsigned lane_of(unsigned round)
{
	return 1 + round % LANES;
}

static void receive_block(const struct pairs *pairs, struct way way)
{
	const struct bcl_group *group = pairs->group;
	unsigned place = place_before(pairs, way);
	unsigned from = bcl_group_rank(group, place);

	bcl_step_receive(
		pairs->schedule, from,
		pairs->receive +
			block_of(pairs, from, group->me + group->size - place),
		pairs->length);
}

static void send_block(const struct pairs *pairs, struct way way)
{
	const struct bcl_group *group = pairs->group;
	unsigned place = place_on(pairs, way);
	unsigned to = bcl_group_rank(group, place);

	bcl_step_send(pairs->schedule, to,
		      pairs->send + block_of(pairs, to,
					     place + group->size - group->me),
		      pairs->length);
}

/* True if members of a node exchange beside this round. */
static bool has_inside(const struct pairs *pairs, unsigned round)
{
	return round + 1 < pairs->members;
}

static void post_receives(const struct pairs *pairs, unsigned round)
{
	bcl_step_lane(pairs->schedule, lane_of(round));
	receive_block(pairs, way_of(pairs, round));
	if (has_inside(pairs, round))
		receive_block(pairs, (struct way){ 0, round + 1 });
	bcl_step_lane(pairs->schedule, 0);
}

void bcl_build_pairs(struct bcl_schedule *schedule,
		     const struct bcl_group *group, const unsigned char *from,
		     unsigned char *to, size_t length, bool by_rank)
{
	unsigned members = members_of(group), k;
	const struct pairs pairs = {
		.schedule = schedule,
		.group = group,
		.by_rank = by_rank,
		.send = from,
		.receive = to,
		.length = length,
		.nodes = group->size / members,
		.members = members,
		.rounds = group->size - members,
	};

	for (k = 0; k < pairs.rounds && k + 1 < BCL_PAIRS_LAG; k++)
		post_receives(&pairs, k);
	for (k = 0; k < pairs.rounds; k++) {
		if (k + BCL_PAIRS_LAG - 1 < pairs.rounds)
			post_receives(&pairs, k + BCL_PAIRS_LAG - 1);
		if (k >= BCL_PAIRS_LAG)
			bcl_step_await(schedule, lane_of(k - BCL_PAIRS_LAG));
		bcl_step_lane(schedule, lane_of(k));
		send_block(&pairs, way_of(&pairs, k));
		if (has_inside(&pairs, k))
			send_block(&pairs, (struct way){ 0, k + 1 });
		bcl_step_lane(schedule, 0);
	}
	bcl_step_round(schedule);
}
