/* SPDX-License-Identifier: MIT */
/*
 * Plan of a reduce-scatter by recursive halving: the blocks of the vector that
 * a member sends to another in each round. There are ceil(log2(size)) rounds
 * down. In each a member gives away half of the blocks that it still sums up,
 * until only its own block is left. In the rounds up the member gets all blocks
 * back by the same way. halving.c sends the messages.
 *
 * Members have virtual ranks; virtual rank v owns block v. The `skip` of a
 * round is half of the skip of the round before, rounded up. In a round each
 * member sends to the member `skip` virtual ranks on: the blocks of that member
 * and of the members behind, as far as the sender still sums them up. Virtual
 * ranks are chosen so that two neighbours exchange first, with half of the
 * vector, then members of neighbouring pairs with a quarter, and so on, as far
 * as the number of members can be halved: members that are far apart, with thin
 * links between them, exchange least.
 *
 * A power of two of members exchange in pairs: recursive halving, R. Thakur, R.
 * Rabenseifner, W. Gropp, IJHPCA 19 (2005). Other numbers of members send round
 * a circle: J. L. Träff, "Optimal, non-pipelined reduce-scatter and allreduce
 * algorithms", arXiv 2410.14234 (2024). There the vector of each member begins
 * with the member's own block, so that the blocks of a message are never in two
 * parts.
 */
#ifndef BCL_COLLECTIVES_HALVING_PLAN_H
#define BCL_COLLECTIVES_HALVING_PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum {
	BCL_HALVES_MAX = 32, /* rounds */
};

/* A range of bytes in the own vector. */
struct bcl_piece {
	size_t begin, length;
};

/* The blocks of a message: `all`; `on`, the part that goes on in the next
 * round; `kept`, the part that stays with the receiver. After the last round
 * nothing goes on. */
struct bcl_half {
	struct bcl_piece all, on, kept;
};

/* A round down. On the way up `to` and `from` change places, and so do `goes`
 * and `comes`. */
struct bcl_halving_round {
	unsigned to, from; /* members */
	struct bcl_half goes, comes;
	struct bcl_piece stays; /* all blocks that do not go */
	size_t there;		/* offset of `comes` in the vector of `from` */
	size_t beside; /* offset for `comes` in the room beside the vector, used
			  by no other round */
	size_t most;   /* most bytes that a member sends */
};

struct bcl_halving_plan {
	unsigned size, me;
	size_t length, element;
	bool pairs; /* a power of two */
	bool ring;
	size_t begin;  /* offset of the own vector in block order */
	size_t beside; /* bytes of room for received blocks */
	struct bcl_piece own;
	unsigned nrounds;
	/* rounds[0] is the last round down */
	struct bcl_halving_round rounds[BCL_HALVES_MAX];
};

/*
 * size: 2 or more. ring: quarters of the members are on switches in a ring, so
 * pairs a quarter and three quarters apart are neighbours; half of the members
 * go either way round. Applies to powers of two of 8 or more, and is ignored
 * for other sizes.
 */
void bcl_halving_plan_init(struct bcl_halving_plan *halves, unsigned size,
			   unsigned me, size_t length, size_t element,
			   bool ring);

/* The member that receives from `member` in the k-th last round down, from
 * 0. */
unsigned bcl_halving_plan_to(unsigned size, unsigned member, unsigned k,
			     bool ring);

#endif
