/* SPDX-License-Identifier: MIT */
/*
 * Computes which blocks a member sends and receives in each round of halving.c,
 * see halving_plan.h. A power of two of members exchange in pairs, other
 * numbers of members send around a circle.
 */
#include "collectives/halving_plan.h"

#include "collectives/builders.h"

/* ---- a power of two: pairs ----------------------------------------------- */

static bool has_ring(unsigned size, bool ring)
{
	return ring && size >= 8 && !(size & (size - 1));
}

/* True if the member exchanges the other way round the ring. The lowest bit
 * does not decide it, because that bit may select one of several links between
 * two switches. */
static bool turned(unsigned size, unsigned member)
{
	return member / (size / 8) % 2;
}

static unsigned partner(unsigned size, unsigned member, unsigned skip,
			bool ring)
{
	if (!ring || skip > 2)
		return member ^ size / 2 / skip;
	if (turned(size, member) == (skip == 1))
		return member ^ size / 4;
	return member ^ size / 4 * 3;
}

/* Members that exchange first differ in the highest bit of their virtual
 * ranks. */
static unsigned rank_in_pairs(const struct bcl_halving_plan *halves,
			      unsigned member)
{
	unsigned n = halves->size, vrank = 0, skip, swapped;

	for (skip = n / 2; skip; skip /= 2)
		if (member & n / 2 / skip)
			vrank += skip;
	if (!halves->ring)
		return vrank;
	/* A member three quarters on is a quarter and a half on. With this
	 * change the virtual ranks of the two differ in the lowest bit only. */
	vrank ^= vrank % 2 * 2;
	if (!turned(n, member))
		return vrank;
	swapped = vrank % 2 * 2 + vrank / 2 % 2;
	return vrank - vrank % 4 + swapped;
}

/* Of a vector in order: `count` blocks, a power of two, from the block `first`
 * (by exclusive or) after `vrank` on, aligned to their number. */
static struct bcl_piece aligned(const struct bcl_halving_plan *halves,
				unsigned vrank, unsigned first, unsigned count)
{
	unsigned block = count ? (vrank ^ first) / count * count : 0;
	size_t begin = bcl_block_begin(halves->length, halves->element,
				       halves->size, block);

	return (struct bcl_piece){
		begin, bcl_block_begin(halves->length, halves->element,
				       halves->size, block + count) -
			       begin
	};
}

/* ---- other sizes: a circle ----------------------------------------------- */

/* Factors of two of the size come first, and exchange in the highest bits. */
static unsigned rank_in_circle(unsigned n, unsigned member)
{
	unsigned vrank = 0;

	for (; n % 2 == 0; n /= 2, member /= 2)
		vrank += member % 2 * (n / 2);
	return vrank + member;
}

static unsigned member_of(unsigned n, unsigned vrank)
{
	unsigned member = 0, bit = 1;

	for (; n % 2 == 0; n /= 2, vrank %= n, bit *= 2)
		member += vrank / (n / 2) * bit;
	return member + vrank * bit;
}

/* Offset of block i in a vector that begins with block `vrank`. */
static size_t rotated(const struct bcl_halving_plan *halves, unsigned vrank,
		      unsigned i)
{
	unsigned n = halves->size;
	size_t element = halves->element, length = halves->length;
	size_t own = bcl_block_begin(length, element, n, vrank);

	if (vrank + i <= n)
		return bcl_block_begin(length, element, n, vrank + i) - own;
	return length - own +
	       bcl_block_begin(length, element, n, vrank + i - n);
}

/* ---- both ---------------------------------------------------------------- */

static unsigned rank_of(const struct bcl_halving_plan *halves, unsigned member)
{
	return halves->pairs ? rank_in_pairs(halves, member)
			     : rank_in_circle(halves->size, member);
}

/* Where `count` blocks from the `first` on lie in the vector of a virtual
 * rank. */
static struct bcl_piece blocks(const struct bcl_halving_plan *halves,
			       unsigned vrank, unsigned first, unsigned count)
{
	size_t begin;

	if (halves->pairs)
		return aligned(halves, vrank, first, count);
	begin = rotated(halves, vrank, first);
	return (struct bcl_piece){
		begin, rotated(halves, vrank, first + count) - begin
	};
}

/* `count` blocks of a virtual rank from the `first` on. `kept` of them stay at
 * their receiver, the rest goes on in the next round. */
static struct bcl_half half(const struct bcl_halving_plan *halves,
			    unsigned vrank, unsigned first, unsigned count,
			    unsigned kept)
{
	return (struct bcl_half){
		.all = blocks(halves, vrank, first, count),
		.on = blocks(halves, vrank, first + kept, count - kept),
		.kept = blocks(halves, vrank, first, kept),
	};
}

/* The member `skip` virtual ranks on in the circle; size - skip: as many
 * before. */
static unsigned moved(const struct bcl_halving_plan *halves, unsigned skip)
{
	unsigned n = halves->size;

	return member_of(n, (rank_in_circle(n, halves->me) + skip) % n);
}

/* behind: the skip of the round before, and the number of blocks that the
 * member still has to sum up. */
static void plan(const struct bcl_halving_plan *halves, unsigned skip,
		 unsigned behind, struct bcl_halving_round *round)
{
	unsigned n = halves->size, count = behind - skip, kept = count;
	unsigned vrank = rank_of(halves, halves->me), from;

	round->to = halves->pairs ? partner(n, halves->me, skip, halves->ring)
				  : moved(halves, skip);
	round->from = halves->pairs ? round->to : moved(halves, n - skip);
	from = rank_of(halves, round->from);
	if (skip > 1)
		kept = bcl_min_size((skip + 1) / 2, count);
	/* In pairs the half lies at the same place in the vector of the sender
	 * and of the receiver. */
	round->goes = halves->pairs ? half(halves, rank_of(halves, round->to),
					   0, count, kept)
				    : half(halves, vrank, skip, count, kept);
	round->comes = half(halves, vrank, 0, count, kept);
	round->stays = blocks(halves, vrank, 0, skip);
	round->there = blocks(halves, from, skip, count).begin;
	round->most = count * halves->beside / n;
	round->beside = (n - behind) * halves->beside / n;
}

void bcl_halving_plan_init(struct bcl_halving_plan *halves, unsigned size,
			   unsigned me, size_t length, size_t element,
			   bool ring)
{
	size_t largest = (length / element + size - 1) / size * element;
	unsigned vrank, behind, skip, k;

	*halves = (struct bcl_halving_plan){
		.size = size,
		.me = me,
		.length = length,
		.element = element,
		.pairs = !(size & (size - 1)),
		.ring = has_ring(size, ring),
		.beside = size * largest,
		.nrounds = bcl_log2_up(size),
	};
	vrank = rank_of(halves, me);
	if (!halves->pairs)
		halves->begin = bcl_block_begin(length, element, size, vrank);
	halves->own = blocks(halves, vrank, 0, 1);
	for (k = halves->nrounds, behind = size; k-- > 0; behind = skip) {
		skip = (behind + 1) / 2;
		plan(halves, skip, behind, &halves->rounds[k]);
	}
}

unsigned bcl_halving_plan_to(unsigned size, unsigned member, unsigned k,
			     bool ring)
{
	const struct bcl_halving_plan halves = { .size = size, .me = member };
	unsigned skip = size, i;

	for (i = bcl_log2_up(size); i > k; i--)
		skip = (skip + 1) / 2;
	return size & (size - 1)
		       ? moved(&halves, skip)
		       : partner(size, member, skip, has_ring(size, ring));
}
