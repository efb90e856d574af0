/* SPDX-License-Identifier: MIT */
/*
 * For any number of members and any digits: the distances from a member must
 * lead to all members, once each, the way back must lead to the member, and
 * each distance must be in one share. Where all digits have all their values,
 * no digit carries over.
 */
#include "collectives/radix.h"
#include "tests/unit/need.h"
#include "tests/unit/unit.h"

enum {
	MOST = 70, /* members */
	MOST_BITS = 5,
};

START_TEST(on_and_before)
{
	unsigned n, bits, me, i;

	for (n = 1; n <= MOST; n++)
		for (bits = 0; bits <= MOST_BITS; bits++) {
			struct bcl_radix digits =
				_i ? bcl_radix_from_low(n, bits, bits)
				   : bcl_radix_of(n, bits);

			for (me = 0; me < n; me++) {
				bool seen[MOST] = { false };

				for (i = 0; i < n; i++) {
					unsigned to =
						bcl_radix_on(&digits, me, i);

					need(to < n);
					need(!seen[to]);
					seen[to] = true;
					need_equal(bcl_radix_before(&digits, to,
								    i),
						   me);
				}
				need_equal(bcl_radix_on(&digits, me, 0), me);
			}
		}
}
END_TEST

/* 64 members, in fours of fours: a member that is on by a low digit must have
 * the same high digits. */
START_TEST(low_digits_stay_near)
{
	struct bcl_radix digits = bcl_radix_of(64, 2);
	unsigned me, i;

	for (me = 0; me < 64; me++)
		for (i = 0; i < 16; i++)
			need_equal(bcl_radix_on(&digits, me, i) / 16, me / 16);
}
END_TEST

/* Of 32 members in fours the lowest digit has two values, but for shares. */
START_TEST(lowest_digit_is_short)
{
	need_equal(bcl_radix_of(32, 2).low, 1);
	need_equal(bcl_radix_of(32, 2).whole, 5);
	need_equal(bcl_radix_of(64, 2).low, 2);
	need_equal(bcl_radix_of(17, 4).low, 1);
	need_equal(bcl_radix_from_low(32, 2, 2).low, 2);
	need_equal(bcl_radix_from_low(32, 2, 2).whole, 4);
}
END_TEST

START_TEST(each_distance_is_in_one_share)
{
	unsigned bits, of, place, i;

	for (bits = 1; bits <= MOST_BITS; bits++)
		for (of = 1; of <= 1u << bits; of++) {
			unsigned counted = 0;

			for (place = 0; place < of; place++) {
				struct bcl_share share = { (uint8_t)place,
							   (uint8_t)of };

				counted +=
					bcl_share_count(share, bits, 0, MOST);
			}
			need_equal(counted, MOST);
			for (i = 0; i < MOST; i++)
				need(bcl_share_place(of, bits, i) < of);
		}
}
END_TEST

/* If shares have two or more values. */
START_TEST(on_and_back_are_in_one_share)
{
	unsigned bits, of, i;

	for (bits = 1; bits <= MOST_BITS; bits++)
		for (of = 1; of < 1u << bits; of *= 2)
			for (i = 0; i < 1u << bits; i++)
				need_equal(bcl_share_place(of, bits, i),
					   bcl_share_place(of, bits,
							   (1u << bits) - i));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("digits");
	TCase *tcase = tcase_create("digits");

	tcase_add_loop_test(tcase, on_and_before, 0, 2);
	tcase_add_test(tcase, low_digits_stay_near);
	tcase_add_test(tcase, lowest_digit_is_short);
	tcase_add_test(tcase, each_distance_is_in_one_share);
	tcase_add_test(tcase, on_and_back_are_in_one_share);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
