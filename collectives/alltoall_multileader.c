/* SPDX-License-Identifier: MIT */
/*
 * Blocks from everyone to everyone, where cards work alone and all nodes have
 * as many members. Each member of a node has a share of what the node sends,
 * the blocks for nodes that are some values of the lowest digit on (radix.h).
 * So a node sends no more messages of that digit than one member would, and it
 * is not one member's processor that all wait for.
 *
 * Every other member begins with the highest digit, between switches, the rest
 * with the lowest, inside them: so the links between switches are never idle,
 * nor do all want them at once. Far blocks, for which that digit is not 0, pass
 * inside the node by themselves: before the near ones on their way out, after
 * them on their way in. So the first can leave before all have been passed, and
 * less is to be passed when the last have come.
 */
#include <string.h>

#include "collectives/builders.h"

enum {
	SHARES_MAX = 32,
};

enum part {
	NEAR,
	FAR,
};

/* What a step is told. */
union plan {
	struct {
		struct bcl_share share; /* the own one, if there are as many */
		uint8_t bits;		/* of a digit */
		uint8_t part;
	};
	uint32_t packed;
};

static union plan plan_of(const struct bcl_step *step)
{
	return (union plan){ .packed = step->rank };
}

/* All values of the lowest one, to be shared. */
static struct bcl_radix radix_of(unsigned n, union plan plan)
{
	return bcl_radix_from_low(n, plan.bits, plan.bits);
}

/* Distances of the part. */
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

/* Of how many nodes a share has blocks; all have room for as many. */
static unsigned room(unsigned n, union plan plan)
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

/* Where the blocks of a node i places away lie, in blocks: by share, by
 * distance. used: of each share before. */
static size_t place(union plan plan, unsigned room, unsigned i,
		    unsigned used[SHARES_MAX])
{
	unsigned share = bcl_share_place(plan.share.of, plan.bits, i);

	return share * room + used[share]++;
}

/* From blocks by rank; in a node's, by the member that receives. */
static void to_shares(const struct bcl_team *team, const struct bcl_step *step)
{
	const struct bcl_layout *layout = &team->layout;
	unsigned n = layout->nnodes, members = team->size / n, i, b;
	union plan plan = plan_of(step);
	struct bcl_radix digits = radix_of(n, plan);
	struct range range = range_of(n, plan);
	unsigned used[SHARES_MAX] = { 0 }, each = room(n, plan);

	for (i = range.begin; i < range.end; i++) {
		unsigned first =
			bcl_radix_on(&digits, team->my_node, i) * members;
		unsigned char *to = step->to;

		to += place(plan, each, i, used) * members * step->length;
		for (b = 0; b < members; b++, to += step->length)
			memcpy(to,
			       (const unsigned char *)step->from +
				       bcl_layout_rank(layout, first + b) *
					       step->length,
			       step->length);
	}
}

/* To blocks by rank; in a node's, by the member that has sent. */
static void from_shares(const struct bcl_team *team,
			const struct bcl_step *step)
{
	const struct bcl_layout *layout = &team->layout;
	unsigned n = layout->nnodes, members = team->size / n, i, a;
	union plan plan = plan_of(step);
	struct bcl_radix digits = radix_of(n, plan);
	struct range range = range_of(n, plan);
	unsigned used[SHARES_MAX] = { 0 }, each = room(n, plan);

	for (i = range.begin; i < range.end; i++) {
		unsigned first =
			bcl_radix_before(&digits, team->my_node, i) * members;
		const unsigned char *from = step->from;

		from += place(plan, each, i, used) * members * step->length;
		for (a = 0; a < members; a++, from += step->length)
			memcpy((unsigned char *)step->to +
				       bcl_layout_rank(layout, first + a) *
					       step->length,
			       from, step->length);
	}
}

/* From what the members have given of the own share, by member: to messages, by
 * node, then by the member that sends. */
static void to_nodes(const struct bcl_team *team, const struct bcl_step *step)
{
	unsigned n = team->layout.nnodes, members = team->size / n, i, a;
	union plan plan = plan_of(step);
	unsigned used = count(n, plan, plan.share), each = room(n, plan);
	size_t row = members * step->length;
	unsigned char *to = step->to;

	for (i = 0; i < used; i++)
		for (a = 0; a < members; a++, to += row)
			memcpy(to,
			       (const unsigned char *)step->from +
				       (a * each + i) * row,
			       row);
}

/* From such messages to what each member gets, then by node, then by the member
 * that has sent. */
static void to_members(const struct bcl_team *team, const struct bcl_step *step)
{
	unsigned n = team->layout.nnodes, members = team->size / n, i, a, b;
	union plan plan = plan_of(step);
	unsigned used = count(n, plan, plan.share), each = room(n, plan);
	const unsigned char *from = step->from;

	for (i = 0; i < used; i++)
		for (a = 0; a < members; a++)
			for (b = 0; b < members; b++, from += step->length)
				memcpy((unsigned char *)step->to +
					       ((b * each + i) * members + a) *
						       step->length,
				       from, step->length);
}

/* ---- steps --------------------------------------------------------------- */

struct shares {
	struct bcl_schedule *schedule;
	union plan plan;
	unsigned members; /* of each node */
	size_t length;	  /* of a block, from a member to another */
	size_t room[2];	  /* bytes of each part */
	bool has;	  /* a share */
	bool up;	  /* begins with near nodes */
	unsigned char *given, *taken; /* near blocks, then far ones */
};

static union plan with(const struct shares *shares, enum part part)
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
		      with(shares, part).packed);
}

static size_t begin(const struct shares *shares, enum part part)
{
	return part == NEAR ? 0 : shares->room[NEAR];
}

/* Of messages: there the near ones end where the far ones begin. */
static size_t begin_messages(const struct shares *shares, enum part part)
{
	unsigned n = shares->schedule->team->layout.nnodes;
	unsigned members = shares->members;
	union plan near = with(shares, NEAR);

	if (part == FAR)
		return shares->room[NEAR];
	return shares->room[NEAR] - count(n, near, near.share) * members *
					    members * shares->length;
}

static void exchange(const struct shares *shares, enum part part,
		     const unsigned char *from, unsigned char *to)
{
	size_t at = begin(shares, part);

	bcl_intranode_alltoall(shares->schedule, from + at, to + at,
			    shares->room[part] / shares->members);
}

/* What the members have for the own share, from where it was given to be taken
 * and back, in messages. */
static void bring(const struct shares *shares, enum part part)
{
	if (!shares->room[part])
		return;
	exchange(shares, part, shares->given, shares->taken);
	if (shares->has)
		move(shares, part, to_nodes,
		     shares->given + begin_messages(shares, part),
		     shares->taken + begin(shares, part));
}

/* From messages to the members, by the other buffer and back. */
static void hand_out(const struct shares *shares, enum part part,
		     unsigned char *messages, unsigned char *other)
{
	if (!shares->room[part])
		return;
	if (shares->has)
		move(shares, part, to_members, other + begin(shares, part),
		     messages + begin_messages(shares, part));
	exchange(shares, part, other, messages);
}

/* The messages of the highest digit are on their way. */
static void meanwhile(const void *arg)
{
	const struct shares *shares = arg;

	if (shares->up)
		hand_out(shares, NEAR, shares->taken, shares->given);
	else
		bring(shares, NEAR);
}

/* The own share, with the others of the column. */
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

static void build(const struct shares *shares, const struct bcl_call *call)
{
	/* Near blocks pass inside the node while far ones travel: meanwhile() */
	bool overlap = shares->has && shares->room[FAR];
	unsigned char *given = shares->given, *taken = shares->taken;
	enum part part;

	for (part = NEAR; part <= FAR; part++)
		move(shares, part, to_shares, given + begin(shares, part),
		     call->send);
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
		     given + begin(shares, part));
}

void bcl_build_multileader(struct bcl_schedule *schedule,
		      const struct bcl_call *call, unsigned bits)
{
	const struct bcl_team *team = schedule->team;
	unsigned n = team->layout.nnodes, members = team->size / n;
	unsigned of = (unsigned)bcl_least(members, 1u << bits);
	size_t row = members * call->length, all = 0;
	struct shares shares = {
		.schedule = schedule,
		.plan = { .share = { (uint8_t)team->my_member, (uint8_t)of },
			  .bits = (uint8_t)bits },
		.members = members,
		.length = call->length,
		.has = team->my_member < of,
		.up = team->my_member % 2 == 0,
	};
	enum part part;

	for (part = NEAR; part <= FAR; part++) {
		shares.room[part] =
			room(n, with(&shares, part)) * members * row;
		all += shares.room[part];
	}
	shares.given = bcl_step_scratch(schedule, all);
	shares.taken = all > n * row ? bcl_step_scratch(schedule, all)
				     : call->receive;
	build(&shares, call);
}
