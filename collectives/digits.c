/* SPDX-License-Identifier: MIT */
/*
 * Blocks from everyone to everyone in few messages: J. Bruck et al., "Efficient
 * algorithms for all-to-all communications in multiport message-passing
 * systems", IEEE TPDS 8 (1997).
 *
 * Block i is for the member i places on. In the round of a digit of i those
 * blocks travel together that have the same value there, as many places: with
 * digits of one bit log2(size) messages instead of size, with longer ones more
 * messages and fewer bytes.
 */
#include <string.h>

#include "collectives/builders.h"

/* Which blocks travel: those that have this value as a digit. */
static uint32_t digit_of(unsigned shift, unsigned bits, unsigned value)
{
	return shift | bits << 8 | value << 16;
}

static bool travels(unsigned block, uint32_t digit)
{
	unsigned shift = digit & 0xff, bits = digit >> 8 & 0xff;

	return (block >> shift & ((1u << bits) - 1)) == digit >> 16;
}

static size_t count_travelling(unsigned n, uint32_t digit)
{
	size_t count = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		count += travels(i, digit);
	return count;
}

static void pack(unsigned n, const struct bcl_step *step)
{
	unsigned char *to = step->to;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (!travels(i, step->rank))
			continue;
		memcpy(to, (const unsigned char *)step->from + i * step->length,
		       step->length);
		to += step->length;
	}
}

static void unpack(unsigned n, const struct bcl_step *step)
{
	const unsigned char *from = step->from;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (!travels(i, step->rank))
			continue;
		memcpy((unsigned char *)step->to + i * step->length, from,
		       step->length);
		from += step->length;
	}
}

static void pack_ranks(const struct bcl_team *team, const struct bcl_step *step)
{
	pack(team->size, step);
}

static void unpack_ranks(const struct bcl_team *team,
			 const struct bcl_step *step)
{
	unpack(team->size, step);
}

static void pack_nodes(const struct bcl_team *team, const struct bcl_step *step)
{
	pack(team->layout.nnodes, step);
}

static void unpack_nodes(const struct bcl_team *team,
			 const struct bcl_step *step)
{
	unpack(team->layout.nnodes, step);
}

struct rounds {
	struct bcl_schedule *schedule;
	const struct bcl_group *group;
	bool nodes; /* the group is that of the leaders, not of all ranks */
	unsigned char *blocks, *out, *in;
	size_t length;
};

/* All messages of one digit. */
static void build_round(const struct rounds *rounds, unsigned shift,
			unsigned bits)
{
	const struct bcl_group *group = rounds->group;
	struct bcl_schedule *schedule = rounds->schedule;
	unsigned n = group->size, me = group->me, value, distance;
	size_t at = 0, size;

	for (value = 1; value < 1u << bits; value++) {
		uint32_t digit = digit_of(shift, bits, value);

		distance = value << shift;
		if (distance >= n)
			break;
		size = count_travelling(n, digit) * rounds->length;
		bcl_step_call(schedule, rounds->nodes ? pack_nodes : pack_ranks,
			      rounds->out + at, rounds->blocks, rounds->length,
			      digit);
		bcl_step_send(schedule,
			      bcl_group_rank(group, (me + distance) % n),
			      rounds->out + at, size);
		bcl_step_receive(schedule,
				 bcl_group_rank(group, (me + n - distance) % n),
				 rounds->in + at, size);
		at += size;
	}
	bcl_step_round(schedule);
	at = 0;
	for (value = 1; value < 1u << bits && value << shift < n; value++) {
		uint32_t digit = digit_of(shift, bits, value);

		bcl_step_call(
			schedule, rounds->nodes ? unpack_nodes : unpack_ranks,
			rounds->blocks, rounds->in + at, rounds->length, digit);
		at += count_travelling(n, digit) * rounds->length;
	}
}

void bcl_build_digits(struct bcl_schedule *schedule,
		      const struct bcl_group *group, bool nodes, unsigned bits,
		      unsigned char *blocks, size_t length)
{
	size_t most = bits > 1 ? group->size : group->size / 2 + 1;
	struct rounds rounds = {
		.schedule = schedule,
		.group = group,
		.nodes = nodes,
		.blocks = blocks,
		.out = bcl_step_scratch(schedule, most * length),
		.in = bcl_step_scratch(schedule, most * length),
		.length = length,
	};
	unsigned shift;

	for (shift = 0; 1u << shift < group->size; shift += bits)
		build_round(&rounds, shift, bits);
}
