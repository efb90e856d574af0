/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <stdlib.h>

#include "sim/clock.h"
#include "sim/random.h"

enum {
	EVENTS = 50000, /* more than are kept in order at once */
};

struct note {
	struct sim_event event;
	unsigned number;
};

static struct sim_clock virtual;
static struct note notes[EVENTS];
static unsigned order[EVENTS], n;

static void note(struct sim_event *event)
{
	struct note *self = (struct note *)event;

	ck_assert_uint_eq(virtual.now, event->time);
	order[n++] = self->number;
}

static void setup(void)
{
	unsigned i;

	sim_clock_open(&virtual, 5);
	for (i = 0; i < EVENTS; i++)
		notes[i] = (struct note){ { .call = note }, i };
	n = 0;
}

static void teardown(void)
{
	sim_clock_close(&virtual);
}

static void run(void)
{
	while (sim_clock_next(&virtual) != UINT64_MAX)
		sim_clock_step(&virtual);
}

START_TEST(those_of_one_moment_keep_their_order)
{
	unsigned i;

	for (i = 0; i < EVENTS; i++)
		sim_clock_set(&virtual, &notes[i].event, 100 - i % 3);
	run();
	ck_assert_uint_eq(n, EVENTS);
	for (i = 1; i < EVENTS; i++) {
		const struct note *a = &notes[order[i - 1]];
		const struct note *b = &notes[order[i]];

		ck_assert(a->event.time < b->event.time ||
			  (a->event.time == b->event.time &&
			   a->number < b->number));
	}
}
END_TEST

START_TEST(events_move_and_are_cleared)
{
	uint64_t random = 3;
	unsigned i, left = 0;

	for (i = 0; i < EVENTS; i++)
		sim_clock_set(&virtual, &notes[i].event,
			      sim_random(&random) % 100000);
	for (i = 0; i < EVENTS; i++) {
		if (i % 3 == 0)
			sim_clock_clear(&virtual, &notes[i].event);
		else if (i % 3 == 1)
			sim_clock_set(&virtual, &notes[i].event,
				      sim_random(&random) % 100000);
		left += i % 3 != 0;
	}
	run();
	ck_assert_uint_eq(n, left);
	for (i = 0; i < n; i++)
		ck_assert_uint_ne(order[i] % 3, 0);
	for (i = 1; i < n; i++)
		ck_assert_uint_le(notes[order[i - 1]].event.time,
				  notes[order[i]].event.time);
}
END_TEST

/* The remaining events must keep their order, and cleared events take no
 * room. */
START_TEST(most_are_cleared)
{
	unsigned round, i;

	for (round = 0; round < 10; round++)
		for (i = 0; i < EVENTS; i++)
			sim_clock_set(&virtual, &notes[i].event, 100 + i % 7);
	ck_assert_uint_le(virtual.n + virtual.nfar, 3 * EVENTS);
	for (i = 0; i < EVENTS; i++)
		if (i % 5)
			sim_clock_clear(&virtual, &notes[i].event);
	ck_assert_uint_le(virtual.n + virtual.nfar, EVENTS);
	run();
	ck_assert_uint_eq(n, EVENTS / 5);
	for (i = 1; i < n; i++) {
		unsigned a = order[i - 1], b = order[i];

		ck_assert_uint_eq(b % 5, 0);
		ck_assert(a % 7 < b % 7 || (a % 7 == b % 7 && a < b));
	}
}
END_TEST

START_TEST(what_is_over_happens_now)
{
	sim_clock_set(&virtual, &notes[0].event, 1);
	ck_assert(sim_clock_is_set(&notes[0].event));
	run();
	ck_assert_uint_eq(virtual.now, 5);
	ck_assert(!sim_clock_is_set(&notes[0].event));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_clock");
	TCase *tcase = tcase_create("sim_clock");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, those_of_one_moment_keep_their_order);
	tcase_add_test(tcase, events_move_and_are_cleared);
	tcase_add_test(tcase, most_are_cleared);
	tcase_add_test(tcase, what_is_over_happens_now);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
