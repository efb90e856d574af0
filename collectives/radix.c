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
 * and come to the same place of the other of two buffers. Where digits are
 * taken from the highest on, blocks lie by the first one from the beginning.
 *
 * Far ones, of the highest digit, go to the lowest value first from half of the
 * members, from others to the highest: if switches are in a ring, links either
 * way are busy from the first message to the last. Neighbours in pairs begin
 * alike, for they may use different links between two switches.
 */
#include <string.h>

#include "collectives/builders.h"
#include "collectives/radix.h"

enum {
	BITS_MAX = 5,
};

/* Those that there are: of n members, some have a share only. */
struct blocks {
	unsigned n, bits;
	struct bcl_share share;
};

static bool has(const struct blocks *blocks, unsigned i)
{
	return bcl_share_has(blocks->share, blocks->bits, i);
}

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
static void count_before(const struct blocks *of, struct order order,
			 unsigned before[(1 << BITS_MAX) + 1])
{
	unsigned i;

	memset(before, 0, ((1 << BITS_MAX) + 1) * sizeof(*before));
	for (i = 0; i < of->n; i++)
		if (has(of, i))
			before[digit(order, i) + 1]++;
	for (i = 0; i < 1 << BITS_MAX; i++)
		before[i + 1] += before[i];
}

/* What a step that sorts is told. */
union sort {
	struct {
		uint32_t from : 5, from_bits : 3, to : 5, to_bits : 3;
		uint32_t bits : 3, place : 5, of : 6;
	};
	uint32_t packed;
};

static void sort(unsigned n, const struct bcl_step *step)
{
	const union sort sort = { .packed = step->rank };
	const struct order from = { sort.from, sort.from_bits };
	const struct order to = { sort.to, sort.to_bits };
	const struct blocks blocks = { n, sort.bits, { sort.place, sort.of } };
	unsigned old[(1 << BITS_MAX) + 1], new[(1 << BITS_MAX) + 1], i;

	count_before(&blocks, from, old);
	count_before(&blocks, to, new);
	for (i = 0; i < n; i++)
		if (has(&blocks, i))
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
	const struct bcl_rounds *rounds;
	struct blocks of;
	unsigned char *blocks, *other;
	size_t length;
	struct order order;
	bool back; /* the highest value first */
	bool far;  /* the highest digit, and the caller does something then */
};

static void swap(struct rounds *rounds)
{
	unsigned char *blocks = rounds->other;

	rounds->other = rounds->blocks;
	rounds->blocks = blocks;
}

static void build_sort(struct rounds *rounds, struct order order)
{
	const union sort sort = {
		.from = rounds->order.shift,
		.from_bits = rounds->order.bits,
		.to = order.shift,
		.to_bits = order.bits,
		.bits = rounds->of.bits,
		.place = rounds->of.share.place,
		.of = rounds->of.share.of,
	};

	bcl_step_call(rounds->schedule,
		      rounds->rounds->nodes ? sort_nodes : sort_ranks,
		      rounds->other, rounds->blocks, rounds->length,
		      sort.packed);
	rounds->order = order;
	swap(rounds);
}

/* All messages of one digit. */
static void build_round(struct rounds *rounds)
{
	const struct bcl_group *group = rounds->group;
	struct bcl_schedule *schedule = rounds->schedule;
	const struct bcl_radix *digits = &rounds->rounds->digits;
	unsigned before[(1 << BITS_MAX) + 1], i;

	count_before(&rounds->of, rounds->order, before);
	for (i = 1; i < 1 << BITS_MAX; i++) {
		unsigned value = rounds->back ? (1 << BITS_MAX) - i : i;
		unsigned distance = value << rounds->order.shift;
		size_t at = before[value] * rounds->length;
		size_t size = before[value + 1] * rounds->length - at;
		unsigned to, from;

		if (!size)
			continue;
		to = bcl_radix_on(digits, group->me, distance);
		from = bcl_radix_before(digits, group->me, distance);
		bcl_step_send(schedule, bcl_group_rank(group, to),
			      rounds->blocks + at, size);
		bcl_step_receive(schedule, bcl_group_rank(group, from),
				 rounds->other + at, size);
	}
	if (rounds->far)
		rounds->rounds->meanwhile(rounds->rounds->arg);
	if (!rounds->far || !rounds->rounds->up)
		bcl_step_copy(schedule, rounds->other, rounds->blocks,
			      before[1] * rounds->length);
	bcl_step_round(schedule);
	swap(rounds);
}

void bcl_build_radix(struct bcl_schedule *schedule,
		     const struct bcl_group *group,
		     const struct bcl_rounds *how, unsigned char *blocks,
		     unsigned char *other, size_t length)
{
	const struct order by_distance = { 0, 0 };
	const struct bcl_radix *digits = &how->digits;
	struct rounds rounds = {
		.schedule = schedule,
		.group = group,
		.rounds = how,
		.of = { group->size, digits->low, how->share },
		.blocks = blocks,
		.other = other,
		.length = length,
		.order = by_distance,
	};
	unsigned highest = bcl_radix_highest(digits), i;

	for (i = 0; i <= highest; i++) {
		unsigned at = how->up ? i : highest - i;
		unsigned shift = bcl_radix_shift(digits, at);
		bool far = at && at == highest;
		const struct order order = {
			(uint8_t)shift,
			(uint8_t)bcl_radix_bits(digits, shift),
		};

		rounds.far = far && how->meanwhile;
		rounds.back = far && group->me / 2 % 2;
		if (i || how->up)
			build_sort(&rounds, order);
		else
			rounds.order = order;
		build_round(&rounds);
	}
	if (!how->up) /* by the highest digit first they lie so already */
		build_sort(&rounds, by_distance);
}
