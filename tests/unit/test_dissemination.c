/* SPDX-License-Identifier: MIT */
/*
 * Every member must hear of every member once, for each number of messages
 * ahead. The number of messages must be as small as the growth of knowledge
 * allows.
 */
#include <stdbool.h>
#include <string.h>

#include "collectives/dissemination.h"
#include "tests/unit/unit.h"

enum {
	MEMBERS = 300,
};

/* After each message: the members before member 0 of which member 0 knows. */
struct history {
	bool of[BCL_DISSEMINATION_MESSAGES + 1][MEMBERS];
};

/* Message i comes from the member known[i] places before, and the sender had
 * the same history as member 0. */
static void take(struct history *history, const struct bcl_dissemination *plan,
		 unsigned i)
{
	unsigned before = i < plan->ahead ? 0 : i + 1 - plan->ahead, k;
	unsigned told = bcl_dissemination_told(plan, i);

	memcpy(history->of[i + 1], history->of[i], sizeof(history->of[i]));
	for (k = 0; k < told; k++) {
		unsigned of = (plan->known[i] + k) % plan->size;

		ck_assert(history->of[before][k]);
		ck_assert(!history->of[i + 1][of]);
		history->of[i + 1][of] = true;
	}
}

START_TEST(everyone_hears_of_everyone)
{
	static struct history history;
	struct bcl_dissemination plan;
	unsigned size = (unsigned)_i, ahead, i;

	for (ahead = 1; ahead <= BCL_DISSEMINATION_AHEAD; ahead++) {
		bcl_dissemination_init(&plan, size, ahead);
		memset(&history, 0, sizeof(history));
		history.of[0][0] = true;
		for (i = 0; i < plan.messages; i++)
			take(&history, &plan, i);
		for (i = 0; i < size; i++)
			ck_assert(history.of[plan.messages][i]);
	}
}
END_TEST

/* ceil(log2 n) messages with one message ahead, Fibonacci's growth with two. */
START_TEST(few_messages)
{
	struct bcl_dissemination plan;

	bcl_dissemination_init(&plan, 1, 1);
	ck_assert_uint_eq(plan.messages, 0);
	bcl_dissemination_init(&plan, 1024, 1);
	ck_assert_uint_eq(plan.messages, 10);
	bcl_dissemination_init(&plan, 1025, 1);
	ck_assert_uint_eq(plan.messages, 11);
	bcl_dissemination_init(&plan, 89, 2);
	ck_assert_uint_eq(plan.messages, 9);
	bcl_dissemination_init(&plan, 90, 2);
	ck_assert_uint_eq(plan.messages, 10);
	bcl_dissemination_init(&plan, UINT32_MAX, BCL_DISSEMINATION_AHEAD);
	ck_assert_uint_le(plan.messages, BCL_DISSEMINATION_MESSAGES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dissemination");
	TCase *tests = tcase_create("plan");

	tcase_add_loop_test(tests, everyone_hears_of_everyone, 1, MEMBERS + 1);
	tcase_add_test(tests, few_messages);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
