/* SPDX-License-Identifier: MIT */
/*
 * For any number of members and bytes: the part that a member sends in a round
 * must be the part that the partner receives, the sum must be complete
 * everywhere in the end, and parts that come in different rounds must not
 * overlap.
 */
#include "collectives/halving_plan.h"
#include "tests/unit/unit.h"

enum {
	MOST = 70, /* members */
	ELEMENT = 2,
	LENGTH = 150 * ELEMENT, /* of the longest vector */
	SWITCHES = 4,
};

static struct bcl_halving_plan halves[MOST];
/* By member, then by position: the number of members whose values are summed up
 * there. */
static unsigned sums[MOST][LENGTH], before[MOST][LENGTH];

static unsigned *at(unsigned member, size_t byte)
{
	const struct bcl_halving_plan *plan = &halves[member];

	return &sums[member][(plan->begin + byte) % plan->length];
}

static const unsigned *was_at(unsigned member, size_t byte)
{
	return &before[member][at(member, byte) - sums[member]];
}

static void down(unsigned n, unsigned k)
{
	unsigned me;
	size_t i;

	memcpy(before, sums, sizeof(sums));
	for (me = 0; me < n; me++) {
		const struct bcl_halving_round *round = &halves[me].rounds[k];
		const struct bcl_halving_round *there =
			&halves[round->to].rounds[k];

		ck_assert_uint_eq(there->from, me);
		ck_assert_uint_eq(there->comes.all.length,
				  round->goes.all.length);
		ck_assert_uint_le(round->goes.all.length, round->most);
		for (i = 0; i < round->goes.all.length; i++)
			*at(round->to, there->comes.all.begin + i) +=
				*was_at(me, round->goes.all.begin + i);
	}
}

static void up(unsigned n, unsigned k)
{
	unsigned me;
	size_t i;

	memcpy(before, sums, sizeof(sums));
	for (me = 0; me < n; me++) {
		const struct bcl_halving_round *round = &halves[me].rounds[k];

		ck_assert_uint_eq(halves[round->from].rounds[k].goes.all.begin,
				  round->there);
		for (i = 0; i < round->comes.all.length; i++)
			*at(round->from, round->there + i) =
				*was_at(me, round->comes.all.begin + i);
	}
}

static void start(unsigned n, size_t length, bool ring)
{
	unsigned me;
	size_t i;

	for (me = 0; me < n; me++) {
		bcl_halving_plan_init(&halves[me], n, me, length, ELEMENT,
				      ring);
		for (i = 0; i < length; i++)
			sums[me][i] = 1;
	}
}

static bool all_in(unsigned member, struct bcl_piece piece, unsigned all)
{
	size_t i;

	for (i = 0; i < piece.length; i++)
		if (*at(member, piece.begin + i) != all)
			return false;
	return true;
}

START_TEST(summed_up_everywhere)
{
	unsigned n, me, k;
	size_t length;

	for (n = 2; n <= MOST; n++)
		for (length = ELEMENT; length <= LENGTH; length += LENGTH / 5) {
			const struct bcl_piece whole = { 0, length };

			start(n, length, _i);
			for (k = halves[0].nrounds; k-- > 0;)
				down(n, k);
			for (me = 0; me < n; me++)
				ck_assert(all_in(me, halves[me].own, n));
			for (k = 0; k < halves[0].nrounds; k++)
				up(n, k);
			for (me = 0; me < n; me++)
				ck_assert(all_in(me, whole, n));
		}
}
END_TEST

static void same(const struct bcl_half *half)
{
	ck_assert_uint_eq(half->on.length + half->kept.length,
			  half->all.length);
	ck_assert(half->on.begin == half->all.begin ||
		  half->kept.begin == half->all.begin);
	ck_assert(half->on.begin + half->on.length == half->kept.begin ||
		  half->kept.begin + half->kept.length == half->on.begin ||
		  !half->on.length);
}

/* The part `on` of a round must go in the next round, from the same bytes. */
START_TEST(goes_on)
{
	unsigned n, me, k;

	for (n = 2; n <= MOST; n++) {
		start(n, LENGTH, _i);
		for (me = 0; me < n; me++)
			for (k = 0; k < halves[me].nrounds; k++) {
				const struct bcl_halving_round *round =
					&halves[me].rounds[k];

				same(&round->goes);
				same(&round->comes);
				ck_assert_uint_eq(
					round->stays.length +
						round->goes.all.length,
					k + 1 == halves[me].nrounds
						? LENGTH
						: round[1].stays.length);
				if (k && round->comes.on.length)
					ck_assert_uint_eq(
						round[-1].goes.all.begin,
						round->comes.on.begin);
			}
	}
}
END_TEST

START_TEST(each_has_its_place)
{
	unsigned n, k;

	for (n = 2; n <= MOST; n++) {
		size_t room;

		start(n, LENGTH, _i);
		room = halves[0].beside;
		for (k = 0; k < halves[0].nrounds; k++) {
			const struct bcl_halving_round *round =
				&halves[0].rounds[k];

			ck_assert_uint_le(round->beside + round->most, room);
			room = round->beside;
		}
	}
}
END_TEST

/* The members of an eight exchange with one another first, except in a short
 * ring. */
START_TEST(near_ones_first)
{
	unsigned n, me, k;

	for (n = 8; n <= MOST; n += 8) {
		unsigned near = 3;

		start(n, LENGTH, _i);
		if (halves[0].ring && halves[0].nrounds < near + 2)
			near = halves[0].nrounds - 2;
		for (me = 0; me < n; me++)
			for (k = 0; k < halves[me].nrounds; k++) {
				unsigned to = halves[me].rounds[k].to;
				unsigned first = halves[me].nrounds - 1 - k;

				ck_assert_uint_eq(
					to, bcl_halving_plan_to(n, me, k, _i));
				if (first < near)
					ck_assert_uint_eq(to >> (first + 1),
							  me >> (first + 1));
			}
	}
}
END_TEST

/* Among four switches in a ring all go to a neighbour, and as many each way. */
START_TEST(round_the_ring)
{
	unsigned n, me, k;

	for (n = 8; n <= 64; n *= 2)
		for (k = 0; k < 2; k++) {
			unsigned ways[SWITCHES][2] = { 0 }, i;

			for (me = 0; me < n; me++) {
				unsigned from = me / (n / SWITCHES);
				unsigned to =
					bcl_halving_plan_to(n, me, k, true) /
					(n / SWITCHES);

				ck_assert_uint_eq((to + from) % 2, 1);
				ways[from]
				    [(to + SWITCHES - from) % SWITCHES / 2]++;
			}
			for (i = 0; i < SWITCHES; i++)
				ck_assert_uint_eq(ways[i][0], ways[i][1]);
		}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("halves");
	TCase *tests = tcase_create("halves");

	tcase_add_loop_test(tests, summed_up_everywhere, 0, 2);
	tcase_add_loop_test(tests, goes_on, 0, 2);
	tcase_add_loop_test(tests, each_has_its_place, 0, 2);
	tcase_add_loop_test(tests, near_ones_first, 0, 2);
	tcase_add_test(tests, round_the_ring);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
