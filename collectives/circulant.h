/* SPDX-License-Identifier: MIT */
/*
 * Who sends which piece to whom, so that a vector of n pieces is everywhere
 * after as few rounds as possible: n - 1 + ceil(log2(size)). J. L. Träff,
 * "Round-optimal n-block broadcast schedules in logarithmic time", arXiv
 * 2312.11236 (2023). In each round a member sends one piece to one member and
 * receives one from another; backwards it is a reduction.
 *
 * In round k of each `period` rounds members send `skip[k]` places on, and
 * what they send is always received before.
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
	unsigned period, begin; /* the first round is `begin` of a period */
	unsigned skip[BCL_CIRCULANT_PERIOD_MAX + 1];
	/* In the first period; in the next ones `period` more each. */
	int send[BCL_CIRCULANT_PERIOD_MAX], receive[BCL_CIRCULANT_PERIOD_MAX];
};

struct bcl_circulant_round {
	unsigned to, from; /* members */
	int send, receive; /* pieces */
};

/* size: 2 or more */
void bcl_circulant_init(struct bcl_circulant *plan, unsigned size, unsigned me,
			unsigned pieces);

/* What the member does in a round, 0..plan->rounds - 1. */
struct bcl_circulant_round bcl_circulant_round(const struct bcl_circulant *plan,
					       unsigned i);

#endif
