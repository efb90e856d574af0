/* SPDX-License-Identifier: MIT */
/*
 * The numbers of a group's members, and the distances between members, as
 * digits in a mixed radix. The member v places on at a digit is found by adding
 * v to that digit only, modulo the digit's number of values. Where each switch
 * has members with consecutive numbers, 16 for example, only the highest digits
 * lead from switch to switch, and no block crosses more links between switches
 * than needed. This holds for the lowest digits, as far as the group has all
 * values of a digit. The digits above form one number, counted modulo its
 * number of values.
 */
#ifndef BCL_COLLECTIVES_RADIX_H
#define BCL_COLLECTIVES_RADIX_H

#include <stdbool.h>
#include <stdint.h>

struct bcl_radix {
	unsigned n;	/* members of the group */
	unsigned low;	/* bits of the lowest digit */
	unsigned bits;	/* bits of each other digit; 0: there are no digits */
	unsigned whole; /* bits of the digits that have all values */
};

static inline unsigned bcl_radix_bits(const struct bcl_radix *digits,
				      unsigned shift)
{
	return shift ? digits->bits : digits->low;
}

/* The index of the highest digit, from 0 on. */
static inline unsigned bcl_radix_highest(const struct bcl_radix *digits)
{
	unsigned at = 0;

	while (1ull << (digits->low + at * digits->bits) < digits->n)
		at++;
	return at;
}

/* The lowest bit of the digit with this index. */
static inline unsigned bcl_radix_shift(const struct bcl_radix *digits,
				       unsigned at)
{
	return at ? digits->low + (at - 1) * digits->bits : 0;
}

/* The first distance at which the highest digit is not 0. With one digit only,
 * no distance is far: n. */
static inline unsigned bcl_radix_far(const struct bcl_radix *digits)
{
	unsigned highest = bcl_radix_highest(digits);

	return highest ? 1u << bcl_radix_shift(digits, highest) : digits->n;
}

/* Digits of `bits` bits above a lowest digit of `low` bits; the highest digit
 * may be shorter. */
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

/* Digits of `bits` bits; the lowest digit has the bits that are left over. The
 * lowest digit is for messages to near members. So messages to far members are
 * as many and as short as can be, and follow one another on shared links. */
static inline struct bcl_radix bcl_radix_of(unsigned n, unsigned bits)
{
	unsigned all = n > 1 ? 32 - (unsigned)__builtin_clz(n - 1) : 0;
	unsigned left = bits ? all % bits : 0;

	return bcl_radix_from_low(n, left ? left : bits, bits);
}

/* The member i places on. */
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

/* The member i places before: the inverse of bcl_radix_on(). */
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

/* ---- shares of the distances, by their lowest digits -------------------- */

struct bcl_share {
	uint8_t place, of; /* the share with this index out of `of`, which is at
			      most the number of values of a digit */
};

/* The index of the share that has distance i, by its lowest digit. The values
 * of the digit are ordered so that v and -v are neighbours, and this order is
 * cut into shares. So a member with several values mostly sends to the members
 * from which it receives, and the data carries the acknowledgements. */
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

/* The number of distances of a share from `begin` on and before `end`. */
static inline unsigned bcl_share_count(struct bcl_share share, unsigned bits,
				       unsigned begin, unsigned end)
{
	unsigned i, count = 0;

	for (i = begin; i < end; i++)
		count += bcl_share_has(share, bits, i);
	return count;
}

#endif
