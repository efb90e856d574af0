/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <string.h>

#include "sim/random.h"
#include "sim/shrink.h"

enum {
	ITEMS = 1000
};

/* The items fail if all of `needed` are there, in order. */
struct fault {
	unsigned n, needed[8];
	unsigned tries;
};

static bool fails(void *arg, const void *items, size_t n)
{
	const unsigned *item = items;
	struct fault *fault = arg;
	unsigned found = 0;
	size_t i;

	fault->tries++;
	for (i = 0; i < n; i++) {
		if (i)
			ck_assert_uint_lt(item[i - 1], item[i]);
		if (found < fault->n && item[i] == fault->needed[found])
			found++;
	}
	return found == fault->n;
}

static size_t shrink(struct fault *fault, unsigned *item, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		item[i] = i;
	return sim_shrink(item, n, sizeof(*item), fails, fault);
}

START_TEST(what_is_needed_is_left)
{
	static const struct fault faults[] = {
		{ .n = 0 },
		{ .n = 1, .needed = { 0 } },
		{ .n = 1, .needed = { ITEMS - 1 } },
		{ .n = 2, .needed = { 499, 500 } },
		{ .n = 5, .needed = { 3, 17, 170, 171, 998 } },
	};
	struct fault fault = faults[_i];
	unsigned item[ITEMS];

	ck_assert_uint_eq(shrink(&fault, item, ITEMS), fault.n);
	ck_assert_mem_eq(item, fault.needed, fault.n * sizeof(*item));
	/* The search must not try the items one by one. */
	ck_assert_uint_lt(fault.tries, 200);
}
END_TEST

START_TEST(any_that_are_needed_are_left)
{
	uint64_t random = (uint64_t)_i;
	unsigned item[ITEMS], i;
	struct fault fault = { .n = 8 };

	for (i = 0; i < fault.n; i++)
		fault.needed[i] = i * ITEMS / 8 +
				  (unsigned)(sim_random(&random) % (ITEMS / 8));
	ck_assert_uint_eq(shrink(&fault, item, ITEMS), fault.n);
	ck_assert_mem_eq(item, fault.needed, fault.n * sizeof(*item));
}
END_TEST

/* An odd number of items fails. One item fewer never fails, two items fewer
 * always fail. */
static bool is_odd(void *arg, const void *items, size_t n)
{
	(void)arg;
	(void)items;
	return n % 2;
}

START_TEST(what_is_not_monotonous_ends)
{
	char items[ITEMS + 1] = { 0 };
	size_t left = sim_shrink(items, ITEMS + 1, 1, is_odd, NULL);

	ck_assert_uint_eq(left % 2, 1);
}
END_TEST

/* Item 3 is not needed once item 5 is gone. The search tries 5 later. */
static bool needs_three_for_five(void *arg, const void *items, size_t n)
{
	bool has[8] = { false };
	size_t i;

	(void)arg;
	for (i = 0; i < n; i++)
		has[((const unsigned char *)items)[i]] = true;
	return has[7] && (has[3] || !has[5]);
}

START_TEST(what_became_needless_goes_too)
{
	unsigned char items[] = { 3, 5, 7 };

	ck_assert_uint_eq(sim_shrink(items, 3, 1, needs_three_for_five, NULL),
			  1);
	ck_assert_uint_eq(items[0], 7);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_shrink");
	TCase *tcase = tcase_create("sim_shrink");

	tcase_add_loop_test(tcase, what_is_needed_is_left, 0, 5);
	tcase_add_loop_test(tcase, any_that_are_needed_are_left, 0, 20);
	tcase_add_test(tcase, what_is_not_monotonous_ends);
	tcase_add_test(tcase, what_became_needless_goes_too);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
