/* SPDX-License-Identifier: MIT */
/*
 * Which piece a member sends and receives in each round of a circulant
 * broadcast: the schedule of J. L. Träff, arXiv 2312.11236. See circulant.h.
 * Used by pipeline.c.
 *
 * With 5 members the period is 3 and the skips are 1, 2, 3. In the rounds of a
 * period member p sends to p + 1, p + 2, p + 3 and receives from p - 1, p - 2,
 * p - 3.
 */
#include "collectives/circulant.h"

/*
 * Search for the pieces that a member receives in a period. The search follows
 * paths of skips from the root to members before this one, whose first pieces
 * it gets one after another. Pieces that were found are not looked for again:
 * `next` and `last` link the remaining pieces, from the longest skip down.
 */
struct search {
	const struct bcl_circulant *plan;
	int next[BCL_CIRCULANT_PERIOD_MAX + 2];
	int last[BCL_CIRCULANT_PERIOD_MAX + 2];
	unsigned target; /* size + member */
	unsigned border; /* place of the piece found last */
	unsigned found;
	int *pieces;
};

static int first_of_list(const struct search *search)
{
	return search->next[search->plan->period + 1];
}

/* Remove a found piece from the list. */
static void remove_piece(struct search *search, int piece)
{
	int before = search->last[piece], after = search->next[piece];

	search->next[before] = after;
	if (after >= 0)
		search->last[after] = before;
}

/* Continue the search from place `at`. */
static void search_from(struct search *search, unsigned at, int piece)
{
	const struct bcl_circulant *plan = search->plan;
	const unsigned *skip = plan->skip;

	for (; piece >= 0 && search->found < plan->period;
	     piece = search->next[piece]) {
		unsigned there = at + skip[piece];

		if (there > search->target - skip[search->found] ||
		    there >= search->border)
			continue;
		if (there <= search->target - skip[search->found + 1])
			search_from(search, there, piece);
		if (search->found == plan->period ||
		    at > search->target - skip[search->found + 1])
			return;
		search->border = there;
		search->pieces[search->found++] = piece;
		remove_piece(search, piece);
	}
}

/* The first piece that a member gets: the last skip of its path from the root,
 * if each skip of the path is as long as possible. */
static int first_piece(const struct bcl_circulant *plan, unsigned member)
{
	unsigned k = plan->period, at = 0;

	while (k-- > 0) {
		if (at + plan->skip[k] == member)
			return (int)k;
		if (at + plan->skip[k] < member)
			at += plan->skip[k];
	}
	return (int)plan->period;
}

static void find_pieces(const struct bcl_circulant *plan, unsigned member,
			int *pieces)
{
	int first = first_piece(plan, member), period = (int)plan->period, k;
	struct search search = {
		.plan = plan,
		.target = plan->size + member,
		.border = 2 * plan->size,
		.pieces = pieces,
	};

	for (k = 0; k <= period + 1; k++) {
		search.next[k] = k - 1;
		search.last[k] = k + 1;
	}
	remove_piece(&search, first);
	search_from(&search, 0, first_of_list(&search));
	for (k = 0; k < period; k++)
		pieces[k] = pieces[k] == period ? first : pieces[k] - period;
}

void bcl_circulant_init(struct bcl_circulant *plan, unsigned size, unsigned me,
			unsigned pieces)
{
	int received[BCL_CIRCULANT_PERIOD_MAX];
	unsigned period = 32 - __builtin_clz(size - 1), k;

	*plan = (struct bcl_circulant){
		.size = size,
		.me = me,
		.pieces = pieces,
		.rounds = pieces - 1 + period,
		.period = period,
		.begin = (period - (pieces - 1) % period) % period,
	};
	plan->skip[period] = size;
	for (k = period; k > 0; k--)
		plan->skip[k - 1] = (plan->skip[k] + 1) / 2;
	find_pieces(plan, me, plan->receive);
	for (k = 0; k < period; k++) {
		find_pieces(plan, (me + plan->skip[k]) % size, received);
		plan->send[k] = received[k];
	}
}

/* Piece number in round i, from a number in the first period. In place of
 * pieces after the last, the last piece goes again. */
static int piece_of(const struct bcl_circulant *plan, int piece, unsigned i)
{
	piece += (int)(i / plan->period * plan->period) - (int)plan->begin;
	if (piece < 0)
		return BCL_CIRCULANT_NONE;
	return piece < (int)plan->pieces ? piece : (int)plan->pieces - 1;
}

struct bcl_circulant_round bcl_circulant_round(const struct bcl_circulant *plan,
					       unsigned i)
{
	unsigned n = plan->size, k = (i + plan->begin) % plan->period;
	struct bcl_circulant_round round = {
		.to = (plan->me + plan->skip[k]) % n,
		.from = (plan->me + n - plan->skip[k]) % n,
		.send = BCL_CIRCULANT_NONE,
		.receive = BCL_CIRCULANT_NONE,
	};

	/* Nobody sends to the root, which has all pieces. */
	if (round.to != 0)
		round.send = piece_of(plan, plan->send[k], i + plan->begin);
	if (plan->me != 0)
		round.receive =
			piece_of(plan, plan->receive[k], i + plan->begin);
	return round;
}
