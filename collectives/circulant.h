/* SPDX-License-Identifier: MIT */
/*
 * Circulant broadcast schedule: in each round a member sends one piece of a
 * vector to one member and receives one piece from another. A vector of n
 * pieces is at all members after n - 1 + ceil(log2(size)) rounds, the fewest
 * possible. J. L. Träff, "Round-optimal n-block broadcast schedules in
 * logarithmic time", arXiv 2312.11236 (2023). Run backwards, the schedule is a
 * reduction.
 *
 * In round k of each `period` rounds each member sends to the member `skip[k]`
 * places on. A member always receives a piece before the round in which it
 * sends the piece.
 */
#ifndef BCL_COLLECTIVES_CIRCULANT_H
#define BCL_COLLECTIVES_CIRCULANT_H

enum {
	BCL_CIRCULANT_PERIOD_MAX = 32,
	BCL_CIRCULANT_NONE = -1, /* no piece */
};

struct bcl_circulant {
	unsigned size, me; /* the root is member 0 */
	unsigned pieces, rounds;
	unsigned period, begin; /* round 0 is round `begin` of a period */
	unsigned skip[BCL_CIRCULANT_PERIOD_MAX + 1];
	/* The pieces of the first period. Each later period adds `period` to a
	 * piece. */
	int send[BCL_CIRCULANT_PERIOD_MAX], receive[BCL_CIRCULANT_PERIOD_MAX];
};

struct bcl_circulant_round {
	unsigned to, from; /* members */
	int send, receive; /* pieces */
};

/* size: 2 or more */
void bcl_circulant_init(struct bcl_circulant *plan, unsigned size, unsigned me,
			unsigned pieces);

/* The partners and the pieces of a member in round i, 0..plan->rounds - 1. */
struct bcl_circulant_round bcl_circulant_round(const struct bcl_circulant *plan,
					       unsigned i);

#endif
