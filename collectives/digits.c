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
 *
 * Blocks lie by the digit of the round, so messages leave from where they are
 * and come to the same place of the other of two buffers. Digits are taken from
 * the highest on: by that blocks lie from the beginning.
 */
#include <string.h>

#include "collectives/builders.h"

enum {
	BITS_MAX = 5,
};

/* What blocks lie by: first this digit, then how far they go. No bits: only
 * that. */
struct order {
	uint8_t shift, bits;
};

static unsigned digit(struct order order, unsigned block)
{
	return block >> order.shift & ((1u << order.bits) - 1);
}

/* How many blocks lie before those of each value, and behind the last: all. */
static void count_before(struct order order, unsigned n,
			 unsigned before[(1 << BITS_MAX) + 1])
{
	unsigned i;

	memset(before, 0, ((1 << BITS_MAX) + 1) * sizeof(*before));
	for (i = 0; i < n; i++)
		before[digit(order, i) + 1]++;
	for (i = 0; i < 1 << BITS_MAX; i++)
		before[i + 1] += before[i];
}

static uint32_t pack_orders(struct order from, struct order to)
{
	return from.shift | from.bits << 8 | to.shift << 16 |
	       (uint32_t)to.bits << 24;
}

static void sort(unsigned n, const struct bcl_step *step)
{
	const struct order from = { step->rank & 0xff, step->rank >> 8 & 0xff };
	const struct order to = { step->rank >> 16 & 0xff, step->rank >> 24 };
	unsigned old[(1 << BITS_MAX) + 1], new[(1 << BITS_MAX) + 1], i;

	count_before(from, n, old);
	count_before(to, n, new);
	for (i = 0; i < n; i++)
		memcpy((unsigned char *)step->to +
			       new[digit(to, i)]++ * step->length,
		       (const unsigned char *)step->from +
			       old[digit(from, i)]++ * step->length,
		       step->length);
}

static void sort_ranks(const struct bcl_team *team, const struct bcl_step *step)
{
	sort(team->size, step);
}

static void sort_nodes(const struct bcl_team *team, const struct bcl_step *step)
{
	sort(team->layout.nnodes, step);
}

struct rounds {
	struct bcl_schedule *schedule;
	const struct bcl_group *group;
	bool nodes; /* the group has one of each, not all ranks */
	unsigned char *blocks, *other;
	size_t length;
	struct order order;
};

static void build_sort(struct rounds *rounds, struct order order)
{
	bcl_step_call(rounds->schedule, rounds->nodes ? sort_nodes : sort_ranks,
		      rounds->other, rounds->blocks, rounds->length,
		      pack_orders(rounds->order, order));
	rounds->order = order;
}

/* All messages of one digit: from `blocks` to `other`. */
static void build_round(const struct rounds *rounds)
{
	const struct bcl_group *group = rounds->group;
	struct bcl_schedule *schedule = rounds->schedule;
	unsigned before[(1 << BITS_MAX) + 1];
	unsigned n = group->size, me = group->me, value;

	count_before(rounds->order, n, before);
	for (value = 1; before[value] < n; value++) {
		unsigned distance = value << rounds->order.shift;
		size_t at = before[value] * rounds->length;
		size_t size = before[value + 1] * rounds->length - at;

		bcl_step_send(schedule,
			      bcl_group_rank(group, (me + distance) % n),
			      rounds->blocks + at, size);
		bcl_step_receive(schedule,
				 bcl_group_rank(group, (me + n - distance) % n),
				 rounds->other + at, size);
	}
	bcl_step_copy(schedule, rounds->other, rounds->blocks,
		      before[1] * rounds->length);
	bcl_step_round(schedule);
}

static void swap(struct rounds *rounds)
{
	unsigned char *blocks = rounds->other;

	rounds->other = rounds->blocks;
	rounds->blocks = blocks;
}

void bcl_build_digits(struct bcl_schedule *schedule,
		      const struct bcl_group *group, bool nodes, unsigned bits,
		      unsigned char *blocks, unsigned char *other,
		      size_t length)
{
	const struct order by_distance = { 0, 0 };
	struct rounds rounds = {
		.schedule = schedule,
		.group = group,
		.nodes = nodes,
		.blocks = blocks,
		.other = other,
		.length = length,
		.order = by_distance,
	};
	unsigned shift = 0;

	while (1u << (shift + bits) < group->size)
		shift += bits;
	rounds.order = (struct order){ (uint8_t)shift, (uint8_t)bits };
	for (;;) {
		build_round(&rounds);
		swap(&rounds);
		if (!shift)
			break;
		shift -= bits;
		build_sort(&rounds,
			   (struct order){ (uint8_t)shift, (uint8_t)bits });
		swap(&rounds);
	}
	/* Each round but the first has two turns: this one ends in `blocks`. */
	build_sort(&rounds, by_distance);
}
