/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <string.h>

#include "fiber_env.h"

static struct fiber_world *world;
static const struct bcl_env *env;
static int object, group;
static char trace[256];

static void note(char what)
{
	size_t length = strlen(trace);

	ck_assert_uint_lt(length, sizeof(trace) - 1);
	trace[length] = what;
	trace[length + 1] = 0;
}

static void setup(void)
{
	world = fiber_world_open(7, NULL);
	env = fiber_world_env(world);
	object = env->object_open(env->world);
	group = env->group_open(env->world, &object, 1);
	trace[0] = 0;
}

static void teardown(void)
{
	fiber_world_close(world);
}

static void sleeper(void *arg)
{
	env->wait(env->world, *(int *)arg, UINT64_MAX);
	env->clear(env->world, object);
	note('s');
}

static void waker(void *arg)
{
	(void)arg;
	fiber_compute(world, 1000);
	note('w');
	env->wake(env->world, object);
}

START_TEST(a_wake_up_ends_a_wait_on_object_and_group)
{
	fiber_spawn(world, sleeper, &object);
	fiber_spawn(world, waker, NULL);
	ck_assert_uint_eq(fiber_world_run(world, 1000000), 0);
	fiber_spawn(world, sleeper, &group);
	fiber_spawn(world, waker, NULL);
	ck_assert_uint_eq(fiber_world_run(world, 1000000), 0);
	ck_assert_str_eq(trace, "wsws");
}
END_TEST

START_TEST(nobody_wakes)
{
	fiber_spawn(world, sleeper, &object);
	ck_assert_uint_eq(fiber_world_run(world, UINT32_MAX), 1);
	ck_assert_str_eq(trace, "");
}
END_TEST

static void late(void *arg)
{
	uint64_t start = env->now(env->world);

	env->wait(env->world, object, start + 5000000000);
	ck_assert_uint_ge(env->now(env->world), start + 5000000000);
	note(*(char *)arg);
}

static void ring(void *arg)
{
	note('t');
	env->wake(env->world, *(int *)arg);
}

START_TEST(time_jumps_and_timers_run)
{
	fiber_spawn(world, late, "l");
	ck_assert_uint_eq(fiber_world_run(world, 10000000000), 0);
	fiber_spawn(world, sleeper, &object);
	fiber_at(world, env->now(env->world) + 777, ring, &object);
	ck_assert_uint_eq(fiber_world_run(world, 10000000000), 0);
	ck_assert_str_eq(trace, "lts");
}
END_TEST

static void spinner(void *arg)
{
	for (int i = 0; i < 20; i++) {
		note(*(char *)arg);
		env->yield(env->world);
	}
}

START_TEST(a_seed_replays)
{
	char first[sizeof(trace)];

	fiber_spawn(world, spinner, "a");
	fiber_spawn(world, spinner, "b");
	fiber_world_run(world, 1000000);
	strcpy(first, trace);
	teardown();
	setup();
	fiber_spawn(world, spinner, "a");
	fiber_spawn(world, spinner, "b");
	fiber_world_run(world, 1000000);
	ck_assert_str_eq(first, trace);
	ck_assert_ptr_nonnull(strstr(trace, "ab"));
	ck_assert_ptr_nonnull(strstr(trace, "ba"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fiber_env");
	TCase *tcase = tcase_create("fiber_env");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_wake_up_ends_a_wait_on_object_and_group);
	tcase_add_test(tcase, nobody_wakes);
	tcase_add_test(tcase, time_jumps_and_timers_run);
	tcase_add_test(tcase, a_seed_replays);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
