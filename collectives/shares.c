/* SPDX-License-Identifier: MIT */
/*
 * Blocks from everyone to everyone, where cards work alone and all nodes have
 * as many members. Each member of a node has a share of what the node sends,
 * the blocks for nodes that are some values of the lowest digit on (digits.h).
 * So a node sends no more messages of that digit than one member would, and it
 * is not one member's processor that all wait for.
 *
 * Every other member begins with the highest digit, between switches, the rest
 * with the lowest, inside them: so the links between switches are never idle,
 * nor do all want them at once.
 */
#include <string.h>

#include "collectives/builders.h"

enum {
	SHARES_MAX = 32,
};

/* What a step is told. */
union plan {
	struct {
		struct bcl_share share; /* the own one, if there are as many */
		uint16_t bits;		/* of a digit */
	};
	uint32_t packed;
};

static union plan plan_of(const struct bcl_step *step)
{
	return (union plan){ .packed = step->rank };
}

/* All values of the lowest one, to be shared. */
static struct bcl_digits digits_of(unsigned n, union plan plan)
{
	return bcl_digits_from_low(n, plan.bits, plan.bits);
}

/* Of how many nodes a share has blocks; all have room for as many. */
static unsigned room(unsigned n, union plan plan)
{
	struct bcl_share share = { 0, plan.share.of };
	unsigned most = 0, count;

	for (; share.place < share.of; share.place++) {
		count = bcl_share_count(share, plan.bits, n);
		if (count > most)
			most = count;
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
	struct bcl_digits digits = digits_of(n, plan);
	unsigned used[SHARES_MAX] = { 0 }, each = room(n, plan);

	for (i = 0; i < n; i++) {
		unsigned first =
			bcl_digits_on(&digits, team->my_node, i) * members;
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
	struct bcl_digits digits = digits_of(n, plan);
	unsigned used[SHARES_MAX] = { 0 }, each = room(n, plan);

	for (i = 0; i < n; i++) {
		unsigned first =
			bcl_digits_before(&digits, team->my_node, i) * members;
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
	unsigned used = bcl_share_count(plan.share, plan.bits, n);
	unsigned each = room(n, plan);
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
	unsigned used = bcl_share_count(plan.share, plan.bits, n);
	unsigned each = room(n, plan);
	const unsigned char *from = step->from;

	for (i = 0; i < used; i++)
		for (a = 0; a < members; a++)
			for (b = 0; b < members; b++, from += step->length)
				memcpy((unsigned char *)step->to +
					       ((b * each + i) * members + a) *
						       step->length,
				       from, step->length);
}

/* The own share, from where the members have given it to the other buffer and
 * back. Returns where it is then. */
static unsigned char *exchange(struct bcl_schedule *schedule, union plan plan,
			       unsigned char *taken, unsigned char *other,
			       size_t length)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group column = bcl_group_column(team);
	unsigned members = team->size / team->layout.nnodes;
	const struct bcl_rounds rounds = {
		.digits = digits_of(team->layout.nnodes, plan),
		.nodes = true,
		.up = team->my_member % 2 == 0,
		.share = plan.share,
	};
	unsigned char *blocks;

	bcl_step_call(schedule, to_nodes, other, taken, length, plan.packed);
	blocks = bcl_build_digits(schedule, &column, &rounds, other, taken,
				  members * members * length);
	other = blocks == other ? taken : other;
	bcl_step_call(schedule, to_members, other, blocks, length, plan.packed);
	bcl_step_round(schedule);
	return other;
}

void bcl_build_shares(struct bcl_schedule *schedule,
		      const struct bcl_call *call, unsigned bits)
{
	const struct bcl_team *team = schedule->team;
	unsigned n = team->layout.nnodes, members = team->size / n;
	unsigned shares = (unsigned)bcl_least(members, 1u << bits);
	union plan plan = {
		.share = { (uint8_t)team->my_member, (uint8_t)shares },
		.bits = (uint16_t)bits,
	};
	size_t each = room(n, plan) * members * call->length;
	size_t all = each * members;
	unsigned char *given = bcl_step_scratch(schedule, all);
	unsigned char *taken = call->receive, *ready, *got;

	if (all > team->size * call->length)
		taken = bcl_step_scratch(schedule, all);
	bcl_step_call(schedule, to_shares, given, call->send, call->length,
		      plan.packed);
	bcl_step_round(schedule);
	bcl_inside_alltoall(schedule, given, taken, each);
	ready = taken;
	if (team->my_member < shares)
		ready = exchange(schedule, plan, taken, given, call->length);
	got = ready == taken ? given : taken;
	bcl_inside_alltoall(schedule, ready, got, each);
	if (got == call->receive) {
		bcl_step_copy(schedule, given, got, all);
		got = given;
	}
	bcl_step_call(schedule, from_shares, call->receive, got, call->length,
		      plan.packed);
}
