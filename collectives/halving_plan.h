/* SPDX-License-Identifier: MIT */
/*
 * Who sums up what of a vector: in ceil(log2(size)) rounds each member gives
 * away half of what is still to be summed up, until only its own block is left,
 * and gets all back the same way. halving.c sends it.
 *
 * Members have virtual ranks, which are the blocks' numbers. In the round of so
 * many `skip`, the half of what was the skip before, what is for the member
 * that many ranks on and for those behind it goes to that member. Two members
 * always go to neighbours first, with half of the vector, then to one of the
 * next four with half as much, as far as their number can be halved: those that
 * are far apart, with thin links between them, exchange least.
 *
 * A power of two of members exchange in pairs: recursive halving, R. Thakur, R.
 * Rabenseifner, W. Gropp, IJHPCA 19 (2005). Other numbers send round and round:
 * J. L. Träff, "Optimal, non-pipelined reduce-scatter and allreduce
 * algorithms", arXiv 2410.14234 (2024). There each has a vector that begins
 * with its own block, so that what goes in a round is never in two parts.
 */
#ifndef BCL_COLLECTIVES_HALVING_PLAN_H
#define BCL_COLLECTIVES_HALVING_PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum {
	BCL_HALVES_MAX = 32, /* rounds */
};

/* Bytes of the own vector. */
struct bcl_piece {
	size_t begin, length;
};

/* Of a round: all, that which goes on in the next round, and that which stays
 * where it came. Nothing goes on from the last round. */
struct bcl_half {
	struct bcl_piece all, on, kept;
};

/* Down; on the way up to and from, goes and comes are exchanged. */
struct bcl_halving_round {
	unsigned to, from; /* members */
	struct bcl_half goes, comes;
	struct bcl_piece stays; /* all that does not go */
	size_t there;  /* where what comes begins in the vector of `from` */
	size_t beside; /* where it can be put: no other round's is there */
	size_t most;   /* bytes that any member sends */
};

struct bcl_halving_plan {
	unsigned size, me;
	size_t length, element;
	bool pairs; /* a power of two */
	bool ring;
	size_t begin;  /* where in order the own vector begins */
	size_t beside; /* bytes of room for what comes */
	struct bcl_piece own;
	unsigned nrounds;
	/* The last one down is rounds[0]. */
	struct bcl_halving_round rounds[BCL_HALVES_MAX];
};

/*
 * size: 2 or more; ring: as if quarters of the members were on switches in a
 * ring, where pairs a quarter and three quarters of them apart are neighbours:
 * half of the members go either way. For a power of two, of 8 or more; others
 * take no notice.
 */
void bcl_halving_plan_init(struct bcl_halving_plan *halves, unsigned size,
			   unsigned me, size_t length, size_t element,
			   bool ring);

/* To whom a member's goes in the k-th last round, from 0. */
unsigned bcl_halving_plan_to(unsigned size, unsigned member, unsigned k,
			     bool ring);

#endif
