/* SPDX-License-Identifier: MIT */
/*
 * Members of a group in digits. To be v places on at a digit is to be so many
 * on, round and round, among those whose other digits are the same: where
 * switches have members whose numbers follow one another, 16 of them, say, only
 * the highest digits leave them, and no block passes more links between them
 * than it must. That goes for the lowest digits, as far as the group has all
 * values of them; what is left above is one number, counted round.
 */
#ifndef BCL_COLLECTIVES_RADIX_H
#define BCL_COLLECTIVES_RADIX_H

#include <stdbool.h>
#include <stdint.h>

struct bcl_radix {
	unsigned n;	/* members of the group */
	unsigned low;	/* bits of the lowest digit, */
	unsigned bits;	/* of each other one; 0: there are none */
	unsigned whole; /* bits of those that have all values */
};

static inline unsigned bcl_radix_bits(const struct bcl_radix *digits,
				      unsigned shift)
{
	return shift ? digits->bits : digits->low;
}

/* The number of the highest one, from 0 on. */
static inline unsigned bcl_radix_highest(const struct bcl_radix *digits)
{
	unsigned at = 0;

	while (1ull << (digits->low + at * digits->bits) < digits->n)
		at++;
	return at;
}

/* The lowest bit of the one of that number. */
static inline unsigned bcl_radix_shift(const struct bcl_radix *digits,
				       unsigned at)
{
	return at ? digits->low + (at - 1) * digits->bits : 0;
}

/* From so many places on the highest digit is not 0. If there is but one, none
 * are far. */
static inline unsigned bcl_radix_far(const struct bcl_radix *digits)
{
	unsigned highest = bcl_radix_highest(digits);

	return highest ? 1u << bcl_radix_shift(digits, highest) : digits->n;
}

/* Each of so many bits, but the highest one, if there are less. */
static inline struct bcl_radix bcl_radix_from_low(unsigned n, unsigned low,
						  unsigned bits)
{
	struct bcl_radix digits = { .n = n, .low = low, .bits = bits };
	unsigned next = low;

	while (bits && (n >> digits.whole) % (1u << next) == 0) {
		digits.whole += next;
		next = bits;
	}
	return digits;
}

/* The lowest one has what is left over: there are messages to near ones, so
 * that those to far ones are as many and as short as can be, one after another
 * on links that they share. */
static inline struct bcl_radix bcl_radix_of(unsigned n, unsigned bits)
{
	unsigned all = n > 1 ? 32 - (unsigned)__builtin_clz(n - 1) : 0;
	unsigned left = bits ? all % bits : 0;

	return bcl_radix_from_low(n, left ? left : bits, bits);
}

/* The member that is i places on. */
static inline unsigned bcl_radix_on(const struct bcl_radix *digits,
				    unsigned member, unsigned i)
{
	unsigned above = digits->n >> digits->whole, shift, bits, on;

	on = ((member >> digits->whole) + (i >> digits->whole)) % above
	     << digits->whole;
	for (shift = 0; shift < digits->whole; shift += bits) {
		bits = bcl_radix_bits(digits, shift);
		on |= (((member >> shift) + (i >> shift)) & ((1u << bits) - 1))
		      << shift;
	}
	return on;
}

/* The one that is as many before: the former's inverse. */
static inline unsigned bcl_radix_before(const struct bcl_radix *digits,
					unsigned member, unsigned i)
{
	unsigned above = digits->n >> digits->whole, shift, bits, before;

	before = ((member >> digits->whole) + above - (i >> digits->whole)) %
			 above
		 << digits->whole;
	for (shift = 0; shift < digits->whole; shift += bits) {
		bits = bcl_radix_bits(digits, shift);
		before |= (((member >> shift) - (i >> shift)) &
			   ((1u << bits) - 1))
			  << shift;
	}
	return before;
}

/* ---- shares of the distances, by their lowest digits --------------------- */

struct bcl_share {
	uint8_t place,
		of; /* which of how many, no more than a digit's values */
};

/* As many places back as on are in the same share: who is sent to sends, and
 * acknowledges with what it sends. */
static inline unsigned bcl_share_place(unsigned of, unsigned bits, unsigned i)
{
	unsigned values = 1u << bits, value = i & (values - 1), nth;

	if (2 * value < values)
		nth = 2 * value;
	else
		nth = 2 * value == values ? 1 : 2 * (values - value) + 1;
	return nth * of >> bits;
}

static inline bool bcl_share_has(struct bcl_share share, unsigned bits,
				 unsigned i)
{
	return bcl_share_place(share.of, bits, i) == share.place;
}

/* How many there are from begin on and before end. */
static inline unsigned bcl_share_count(struct bcl_share share, unsigned bits,
				       unsigned begin, unsigned end)
{
	unsigned i, count = 0;

	for (i = begin; i < end; i++)
		count += bcl_share_has(share, bits, i);
	return count;
}

#endif
