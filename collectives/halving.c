/* SPDX-License-Identifier: MIT */
/*
 * Reduce to everyone by halving what is still to be summed up, and gather it
 * the same way back: ceil(log2(size)) rounds each, and each byte sent as seldom
 * as can be, for any number of members. J. L. Träff, "Optimal, non-pipelined
 * reduce-scatter and allreduce algorithms", arXiv 2410.14234 (2024).
 *
 * A member sums up what is for itself and those behind it: for `skip[k]` of
 * them before round k, those beyond skip[k - 1] then go to the member there.
 */
#include "collectives/builders.h"

enum {
	ARRIVING = 1, /* lane: nobody waits for what was sent to be received */
};

struct halving {
	struct bcl_schedule *schedule;
	const struct bcl_group *group;
	unsigned char *vector;
	size_t length, element;
};

/* Bytes before a block. */
static size_t begin_of(const struct halving *halving, unsigned block)
{
	return bcl_block_begin(halving->length, halving->element,
			       halving->group->size, block);
}

enum what {
	SEND,
	RECEIVE,
	RECEIVE_BESIDE, /* into other memory */
	COMBINE,	/* with what is there */
};

static unsigned char *move(const struct halving *halving, enum what what,
			   unsigned rank, unsigned from, unsigned to,
			   unsigned char *beside,
			   const struct bcl_reduction *reduction)
{
	struct bcl_schedule *schedule = halving->schedule;
	size_t begin = begin_of(halving, from);
	size_t length = begin_of(halving, to) - begin;
	unsigned char *place = halving->vector + begin;

	if (!length)
		return beside;
	if (what == SEND) {
		bcl_step_send(schedule, rank, place, length);
	} else if (what != COMBINE) {
		bcl_step_lane(schedule, ARRIVING);
		bcl_step_receive(schedule, rank,
				 what == RECEIVE ? place : beside, length);
		bcl_step_lane(schedule, 0);
	} else {
		bcl_step_combine(schedule, reduction, beside, place,
				 length / halving->element);
	}
	return beside ? beside + length : NULL;
}

/* With `count` blocks from `first` on, of which there are first some at the
 * end of the vector, then some at its beginning. */
static void move_blocks(const struct halving *halving, enum what what,
			unsigned member, unsigned first, unsigned count,
			unsigned char *beside,
			const struct bcl_reduction *reduction)
{
	unsigned n = halving->group->size;
	unsigned rank = bcl_group_rank(halving->group, member);
	unsigned end = first + count < n ? first + count : n;

	beside = move(halving, what, rank, first, end, beside, reduction);
	if (first + count > n)
		move(halving, what, rank, 0, first + count - n, beside,
		     reduction);
}

void bcl_build_halving(struct bcl_schedule *schedule,
		       const struct bcl_group *group, void *vector,
		       size_t length, const struct bcl_reduction *reduction)
{
	const struct halving halving = { schedule, group, vector, length,
					 reduction->element };
	unsigned n = group->size, me = group->me, k;
	unsigned rounds = bcl_log2_up(n), skip[33];
	unsigned char *arrived;

	if (n == 1 || !length)
		return;
	arrived = bcl_step_scratch(schedule, length);
	skip[rounds] = n;
	for (k = rounds; k > 0; k--)
		skip[k - 1] = (skip[k] + 1) / 2;
	for (k = rounds; k-- > 0;) {
		unsigned count = skip[k + 1] - skip[k];
		unsigned to = (me + skip[k]) % n;
		unsigned from = (me + n - skip[k]) % n;

		move_blocks(&halving, SEND, to, to, count, NULL, NULL);
		move_blocks(&halving, RECEIVE_BESIDE, from, me, count, arrived,
			    NULL);
		bcl_step_await(schedule, ARRIVING);
		move_blocks(&halving, COMBINE, me, me, count, arrived,
			    reduction);
	}
	/* What was sent is overwritten from here on. */
	bcl_step_round(schedule);
	for (k = 0; k < rounds; k++) {
		unsigned count = skip[k + 1] - skip[k];
		unsigned to = (me + n - skip[k]) % n;
		unsigned from = (me + skip[k]) % n;

		move_blocks(&halving, SEND, to, me, count, NULL, NULL);
		move_blocks(&halving, RECEIVE, from, from, count, NULL, NULL);
		bcl_step_await(schedule, ARRIVING);
	}
	bcl_step_round(schedule);
}
