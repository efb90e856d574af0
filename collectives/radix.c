/* SPDX-License-Identifier: MIT */
/*
 * All-to-all in few messages: J. Bruck et al., "Efficient algorithms for
 * all-to-all communications in multiport message-passing systems", IEEE TPDS 8
 * (1997).
 *
 * Block i is for the member i places on. There is a round for each digit of i.
 * Blocks with the same value of the digit travel together, that many places on.
 * Digits of one bit take log2(size) messages in place of size; longer digits
 * take more messages and fewer bytes. With 8 members and digits of one bit,
 * from the highest on:
 *
 *   round 0    blocks 4 5 6 7 to the member 4 places on
 *   round 1    blocks 2 3 6 7 to the member 2 places on
 *   round 2    blocks 1 3 5 7 to the member 1 place on
 *
 * Blocks are sorted by the digit of the round, so a message is sent from where
 * its blocks lie and arrives at the same place in the second buffer. From the
 * highest digit on, no sort is needed before the first round.
 *
 * In the round of the highest digit messages go to far members. Half of the
 * members begin with the lowest value, half with the highest. If switches form
 * a ring, links in both directions are busy from the first message to the last.
 * Neighbours in pairs begin alike, because they may use different links between
 * two switches.
 */
#include <string.h>

#include "collectives/builders.h"
#include "collectives/radix.h"

enum {
	BITS_MAX = 5,
};

/* The blocks in a buffer: for `n` members, or a share of these. */
struct blocks {
	unsigned n, bits;
	struct bcl_share share;
};

static bool has(const struct blocks *blocks, unsigned i)
{
	return bcl_share_has(blocks->share, blocks->bits, i);
}

/* Order of the blocks: by this digit, then by distance. bits = 0: by distance
 * only. */
struct order {
	uint8_t shift, bits;
};

static unsigned digit(struct order order, unsigned block)
{
	return block >> order.shift & ((1u << order.bits) - 1);
}

/* before[v]: number of blocks before those of value v. The last entry is the
 * number of all blocks. */
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

/* Argument of a step that sorts, packed into step->rank. */
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
			bcl_step_block(step, new[digit(to, i)]++,
				       old[digit(from, i)]++);
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
	bool back; /* highest value first */
	bool far;  /* the highest digit, and the caller has a meanwhile() */
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

/* All messages of a digit. */
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

	bcl_assert(digits->low <= BITS_MAX && digits->bits <= BITS_MAX);
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
	/* With `up` the last order, by the highest digit, is by distance. */
	if (!how->up)
		build_sort(&rounds, by_distance);
}
