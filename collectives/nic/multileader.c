/* SPDX-License-Identifier: MIT */
/*
 * All-to-all where cards work alone and all nodes have the same number of
 * members. Each member of a node carries a share of the node's blocks: the
 * blocks for nodes at some values of the lowest digit of the distance
 * (radix.h). So a node sends no more messages of that digit than a single
 * leader would, and the work is not left to a single processor.
 *
 *   to_shares           each member sorts its blocks by share
 *   exchange            inside the node each share goes to its carrier
 *   to_nodes            into messages, by node
 *   travel              rounds of radix.c among the carriers of that share
 *   to_members          out of messages, by member
 *   exchange            inside the node to the receivers
 *   from_shares         back into rank order
 *
 * Half of the members, every second place, begin with the lowest digit, inside
 * the switches. The others begin with the highest digit, between switches. So
 * the links between switches are never idle, and never wanted by all members at
 * once.
 *
 * A far block is a block with a highest digit other than 0. Far blocks pass
 * inside the node in an exchange of their own: before the near blocks on the
 * way out, so that the first messages leave early, and after the near blocks on
 * the way in, so that less is left to pass when the last messages have come.
 */
#include <math.h>
#include <string.h>

#include "collectives/builders.h"
#include "collectives/cost.h"
#include "collectives/nic/nic.h"

enum {
	SHARES_MAX = 32,
};

enum part {
	NEAR,
	FAR,
};

/* Argument of a step, packed into step->rank. */
union plan {
	struct {
		struct bcl_share share; /* of the caller, if place < of */
		uint8_t bits;		/* of a digit */
		uint8_t part;
	};
	uint32_t packed;
};

static union plan plan_of(const struct bcl_step *step)
{
	return (union plan){ .packed = step->rank };
}

/* The lowest digit has all its values, so that it can be shared out. */
static struct bcl_radix radix_of(unsigned n, union plan plan)
{
	return bcl_radix_from_low(n, plan.bits, plan.bits);
}

/* Distances, in nodes, of a part. */
struct range {
	unsigned begin, end;
};

static struct range range_of(unsigned n, union plan plan)
{
	struct bcl_radix digits = radix_of(n, plan);
	unsigned far = bcl_radix_far(&digits);

	return plan.part == NEAR ? (struct range){ 0, far }
				 : (struct range){ far, n };
}

static unsigned count(unsigned n, union plan plan, struct bcl_share share)
{
	struct range range = range_of(n, plan);

	return bcl_share_count(share, plan.bits, range.begin, range.end);
}

/* For how many nodes the largest share has blocks. Every share has room for as
 * many. */
static unsigned largest_share(unsigned n, union plan plan)
{
	struct bcl_share share = { 0, plan.share.of };
	unsigned most = 0, blocks;

	for (; share.place < share.of; share.place++) {
		blocks = count(n, plan, share);
		if (blocks > most)
			most = blocks;
	}
	return most;
}

/* Place of the blocks of the node at distance i: by share, then by distance.
 * Unit: blocks of one node. used: places taken in each share, counted up
 * here. */
static size_t place(union plan plan, unsigned room, unsigned i,
		    unsigned used[SHARES_MAX])
{
	unsigned share = bcl_share_place(plan.share.of, plan.bits, i);

	return share * room + used[share]++;
}

/* Between blocks by rank and blocks by share, where the blocks of a node are by
 * its member. gives: to shares; else from them. */
static void by_share(const struct bcl_team *team, const struct bcl_step *step,
		     bool gives)
{
	const struct bcl_layout *layout = &team->layout;
	unsigned n = layout->nnodes, members = team->size / n, i, k;
	union plan plan = plan_of(step);
	struct bcl_radix digits = radix_of(n, plan);
	struct range range = range_of(n, plan);
	unsigned used[SHARES_MAX] = { 0 }, each = largest_share(n, plan);

	for (i = range.begin; i < range.end; i++) {
		unsigned node =
			gives ? bcl_radix_on(&digits, team->my_node, i)
			      : bcl_radix_before(&digits, team->my_node, i);
		size_t block = place(plan, each, i, used) * members;

		for (k = 0; k < members; k++, block++) {
			size_t rank =
				bcl_layout_rank(layout, node * members + k);

			bcl_step_block(step, gives ? block : rank,
				       gives ? rank : block);
		}
	}
}

/* from: by rank. to: by share; the blocks for a node by receiving member. */
static void to_shares(const struct bcl_team *team, const struct bcl_step *step)
{
	by_share(team, step, true);
}

/* from: by share; the blocks of a node by sending member. to: by rank. */
static void from_shares(const struct bcl_team *team,
			const struct bcl_step *step)
{
	by_share(team, step, false);
}

/* from: blocks of the own share, by the member that gave them. to: messages, by
 * node, then by sending member. */
static void to_nodes(const struct bcl_team *team, const struct bcl_step *step)
{
	unsigned n = team->layout.nnodes, members = team->size / n, i, a;
	union plan plan = plan_of(step);
	unsigned used = count(n, plan, plan.share),
		 each = largest_share(n, plan);
	size_t row = members * step->length;
	unsigned char *to = step->to;

	for (i = 0; i < used; i++)
		for (a = 0; a < members; a++, to += row)
			memcpy(to,
			       (const unsigned char *)step->from +
				       (a * each + i) * row,
			       row);
}

/* from: messages as above. to: by receiving member, then by node, then by
 * sending member. */
static void to_members(const struct bcl_team *team, const struct bcl_step *step)
{
	unsigned n = team->layout.nnodes, members = team->size / n, i, a, b;
	union plan plan = plan_of(step);
	unsigned used = count(n, plan, plan.share),
		 each = largest_share(n, plan);
	size_t block = 0;

	for (i = 0; i < used; i++)
		for (a = 0; a < members; a++)
			for (b = 0; b < members; b++)
				bcl_step_block(
					step,
					((size_t)b * each + i) * members + a,
					block++);
}

/* ---- steps --------------------------------------------------------------- */

struct shares {
	struct bcl_schedule *schedule;
	union plan plan;
	unsigned members; /* of each node */
	size_t length;	  /* bytes of a block from rank to rank */
	size_t room[2];	  /* bytes of each part */
	bool has;	  /* the caller carries a share */
	bool up;	  /* begins with near nodes: lowest digit first */
	unsigned char *given, *taken; /* near blocks, then far ones */
};

static union plan with_part(const struct shares *shares, enum part part)
{
	union plan plan = shares->plan;

	plan.part = (uint8_t)part;
	return plan;
}

static void move(const struct shares *shares, enum part part,
		 void (*call)(const struct bcl_team *team,
			      const struct bcl_step *step),
		 void *to, const void *from)
{
	bcl_step_call(shares->schedule, call, to, from, shares->length,
		      with_part(shares, part).packed);
}

static size_t begin_blocks(const struct shares *shares, enum part part)
{
	return part == NEAR ? 0 : shares->room[NEAR];
}

/* Begin of the messages of a part. Messages of near blocks lie at the end of
 * their room, next to those of far blocks. */
static size_t begin_messages(const struct shares *shares, enum part part)
{
	unsigned n = shares->schedule->team->layout.nnodes;
	unsigned members = shares->members;
	union plan near = with_part(shares, NEAR);

	if (part == FAR)
		return shares->room[NEAR];
	return shares->room[NEAR] -
	       count(n, near, near.share) * members * members * shares->length;
}

static void exchange(const struct shares *shares, enum part part,
		     const unsigned char *from, unsigned char *to)
{
	size_t at = begin_blocks(shares, part);

	bcl_intranode_alltoall(shares->schedule, from + at, to + at,
			       shares->room[part] / shares->members);
}

/* Collect the own share inside the node: from `given` to `taken`, then as
 * messages back to `given`. */
static void bring(const struct shares *shares, enum part part)
{
	if (!shares->room[part])
		return;
	exchange(shares, part, shares->given, shares->taken);
	if (shares->has)
		move(shares, part, to_nodes,
		     shares->given + begin_messages(shares, part),
		     shares->taken + begin_blocks(shares, part));
}

/* Hand messages out inside the node: to `other`, then back to `messages`. */
static void hand_out(const struct shares *shares, enum part part,
		     unsigned char *messages, unsigned char *other)
{
	if (!shares->room[part])
		return;
	if (shares->has)
		move(shares, part, to_members,
		     other + begin_blocks(shares, part),
		     messages + begin_messages(shares, part));
	exchange(shares, part, other, messages);
}

/* Near blocks pass inside the node while the messages of the highest digit are
 * in flight. */
static void meanwhile(const void *arg)
{
	const struct shares *shares = arg;

	if (shares->up)
		hand_out(shares, NEAR, shares->taken, shares->given);
	else
		bring(shares, NEAR);
}

/* Exchange the own share with its carriers in the other nodes. */
static void travel(const struct shares *shares)
{
	const struct bcl_team *team = shares->schedule->team;
	struct bcl_group column = bcl_group_column(team);
	const struct bcl_rounds rounds = {
		.digits = radix_of(team->layout.nnodes, shares->plan),
		.nodes = true,
		.up = shares->up,
		.share = shares->plan.share,
		.meanwhile = shares->room[FAR] ? meanwhile : NULL,
		.arg = shares,
	};
	size_t begin = begin_messages(shares, NEAR);

	bcl_build_radix(shares->schedule, &column, &rounds,
			shares->given + begin, shares->taken + begin,
			shares->members * shares->members * shares->length);
}

static void build_shares(const struct shares *shares,
			 const struct bcl_call *call)
{
	/* Near blocks pass inside the node in meanwhile(). */
	bool overlap = shares->has && shares->room[FAR];
	unsigned char *given = shares->given, *taken = shares->taken;
	enum part part;

	for (part = NEAR; part <= FAR; part++)
		move(shares, part, to_shares,
		     given + begin_blocks(shares, part), call->send);
	bcl_step_round(shares->schedule);
	bring(shares, FAR);
	if (!overlap || shares->up)
		bring(shares, NEAR);
	if (shares->has)
		travel(shares);
	if (!overlap || !shares->up)
		hand_out(shares, NEAR, given, taken);
	else
		bcl_step_copy(shares->schedule, given, taken,
			      shares->room[NEAR]);
	hand_out(shares, FAR, given, taken);
	for (part = NEAR; part <= FAR; part++)
		move(shares, part, from_shares, call->receive,
		     given + begin_blocks(shares, part));
}

void bcl_build_multileader(struct bcl_schedule *schedule,
			   const struct bcl_call *call, unsigned values)
{
	const struct bcl_team *team = schedule->team;
	unsigned n = team->layout.nnodes, members = team->size / n;
	unsigned of = (unsigned)bcl_min_size(members, values);
	size_t row = members * call->length, all = 0;
	struct shares shares = {
		.schedule = schedule,
		.plan = { .share = { (uint8_t)team->my_member, (uint8_t)of },
			  .bits = (uint8_t)__builtin_ctz(values) },
		.members = members,
		.length = call->length,
		.has = team->my_member < of,
		.up = team->my_member % 2 == 0,
	};
	enum part part;

	bcl_assert(of <= SHARES_MAX);
	for (part = NEAR; part <= FAR; part++) {
		shares.room[part] = largest_share(n, with_part(&shares, part)) *
				    members * row;
		all += shares.room[part];
	}
	shares.given = bcl_step_scratch(schedule, all);
	shares.taken =
		all > n * row ? bcl_step_scratch(schedule, all) : call->receive;
	build_shares(&shares, call);
}

/* ---- costs --------------------------------------------------------------- */

/* us of a node's card for `messages` messages one after another, with `bytes`
 * in total, from `members` members. */
static double cost_sent(const struct bcl_model *model, double messages,
			double bytes, double members)
{
	struct bcl_cost cost = bcl_cost_exchange(model, bytes / messages);
	double card = model->between.byte, copies = cost.byte - card;
	double work = bcl_cost_gap(model, &cost);

	return messages * bcl_cost_next(model, members, work) +
	       bytes * bcl_larger(card, copies / members);
}

double bcl_cost_multileader(const struct bcl_model *model, double length,
			    unsigned values)
{
	double own = model->size * length, all = model->members * own;
	double shares = bcl_min_size(model->members, values);
	double copied = 8 * own + 2 * all / shares, time = 0, last = 0;
	/* If the number of nodes is no multiple of `values`, the lowest digit
	 * lacks values, and messages to near nodes cross the links as well. */
	double crossings = model->nodes % values ? 2 : 1;
	unsigned place;

	/* Not used where the capacity of links is unknown: one processor keeps
	 * them busy. Not used for long blocks, which keep them busy without
	 * it. */
	if (model->members < 2 || model->across[0] <= 0 ||
	    model->members * model->members * length > BCL_UNGRANTED_MAX)
		return HUGE_VAL;
	for (place = 1; place < model->nodes; place *= values) {
		double used =
			bcl_min_size(values, (model->nodes - 1) / place + 1);

		last = used * (place > 1 ? shares : 1);
		time += cost_sent(model, last * (used - 1) / used,
				  all * (used - 1) / used, shares);
		copied += 2 * all / shares;
	}
	if (values >= model->nodes)
		time = bcl_cost_direct(model, time, all, last);
	else /* half of the bytes cross first, half last */
		time = bcl_larger(
			time, crossings * bcl_cost_across(model, all, last));
	return model->between.message + time + 2 * bcl_cost_phases(model, own) +
	       copied * model->segment.byte;
}
