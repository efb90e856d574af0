/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/world.h"

static struct sim_world *world;
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
	world = sim_world_open(7, NULL, NULL);
	env = sim_world_env(world);
	object = env->object_open(env->world);
	group = env->group_open(env->world, &object, 1);
	trace[0] = 0;
}

static void teardown(void)
{
	sim_world_close(world);
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
	sim_compute(world, 1000);
	note('w');
	env->wake(env->world, object);
}

START_TEST(a_wake_up_ends_a_wait_on_object_and_group)
{
	sim_world_spawn(world, sleeper, &object);
	sim_world_spawn(world, waker, NULL);
	ck_assert_uint_eq(sim_world_run(world, 1000000), 0);
	sim_world_spawn(world, sleeper, &group);
	sim_world_spawn(world, waker, NULL);
	ck_assert_uint_eq(sim_world_run(world, 1000000), 0);
	ck_assert_str_eq(trace, "wsws");
}
END_TEST

START_TEST(nobody_wakes)
{
	sim_world_spawn(world, sleeper, &object);
	ck_assert_uint_eq(sim_world_run(world, UINT32_MAX), 1);
	ck_assert_str_eq(trace, "");
}
END_TEST

static int newest;

static void hoards(void *arg)
{
	(void)arg;
	ck_assert_ptr_nonnull(env->allocate(env->world, 1000));
	newest = env->object_open(env->world);
	env->group_open(env->world, &newest, 1);
	env->wait(env->world, newest, UINT64_MAX);
}

/* The objects of a killed process must be free again. The address sanitizer
 * checks the memory. */
START_TEST(who_is_killed_leaves_nothing)
{
	int number;

	sim_world_spawn(world, hoards, NULL);
	ck_assert_uint_eq(sim_world_run(world, 1000), 1);
	number = newest;
	sim_world_kill(world, 0);
	ck_assert_uint_eq(sim_world_run(world, 1000), 0);
	sim_world_restart(world, 0);
	ck_assert_uint_eq(sim_world_run(world, 1000), 1);
	ck_assert_int_le(newest, number + 1);
	sim_world_kill(world, 0);
}
END_TEST

static void late(void *arg)
{
	uint64_t start = env->now(env->world);

	env->wait(env->world, object, start + 5000000000);
	ck_assert_uint_ge(env->now(env->world), start + 5000000000);
	note(*(char *)arg);
}

static void ring(struct sim_event *event)
{
	(void)event;
	note('t');
	env->wake(env->world, object);
}

START_TEST(time_jumps_and_events_come)
{
	struct sim_event bell = { .call = ring };

	sim_world_spawn(world, late, "l");
	ck_assert_uint_eq(sim_world_run(world, 10000000000), 0);
	sim_world_spawn(world, sleeper, &object);
	sim_clock_set(sim_world_clock(world), &bell,
		      env->now(env->world) + 777);
	ck_assert_uint_eq(sim_world_run(world, 10000000000), 0);
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

	sim_world_spawn(world, spinner, "a");
	sim_world_spawn(world, spinner, "b");
	sim_world_run(world, 1000000);
	strcpy(first, trace);
	teardown();
	setup();
	sim_world_spawn(world, spinner, "a");
	sim_world_spawn(world, spinner, "b");
	sim_world_run(world, 1000000);
	ck_assert_str_eq(first, trace);
	ck_assert_ptr_nonnull(strstr(trace, "ab"));
	ck_assert_ptr_nonnull(strstr(trace, "ba"));
}
END_TEST

static void crasher(void *arg)
{
	sim_compute(world, 5000);
	if (arg)
		raise(SIGSEGV);
}

static void crash(int out)
{
	unsigned i;

	dup2(out, STDERR_FILENO);
	for (i = 0; i < 3; i++)
		sim_world_spawn_on(world, i / 2, crasher, i == 2 ? world : 0);
	sim_world_run(world, 1000000);
	_exit(0);
}

START_TEST(a_crash_says_where_it_was)
{
	char text[4096];
	int out[2], status;
	ssize_t length;
	pid_t pid;

	ck_assert_int_eq(pipe(out), 0);
	pid = fork();
	if (!pid)
		crash(out[1]);
	close(out[1]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	length = read(out[0], text, sizeof(text) - 1);
	ck_assert_int_gt(length, 0);
	text[length] = 0;
	ck_assert_msg(strstr(text, "crash of rank 2 on node1 at 1000005000 ns, "
				   "seed 7\n"),
		      "%s", text);
	ck_assert(!WIFEXITED(status) || WEXITSTATUS(status));
	close(out[0]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_world");
	TCase *tcase = tcase_create("sim_world");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_wake_up_ends_a_wait_on_object_and_group);
	tcase_add_test(tcase, nobody_wakes);
	tcase_add_test(tcase, who_is_killed_leaves_nothing);
	tcase_add_test(tcase, time_jumps_and_events_come);
	tcase_add_test(tcase, a_seed_replays);
	tcase_add_test(tcase, a_crash_says_where_it_was);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
