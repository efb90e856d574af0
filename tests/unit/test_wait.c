/* SPDX-License-Identifier: MIT */
/* When a wait spins, yields and sleeps. The environment takes the clock, the
 * yields and the sleeps from the test. */
#include "unit.h"

#include <bcl/bcl.h>

#include "transport/context.h"

static struct {
	uint64_t now;
	uint64_t yield_takes; /* ns */
	unsigned yields, sleeps, moves;
	struct bcl_peer *self; /* sends to the port during a yield, or NULL */
	uint64_t first_yield, first_sleep; /* ns after the wait began */
	uint64_t began;
} world;

static struct bcl_env env;
static struct bcl_context *context;
static struct bcl_port *port;

static uint64_t now(void *arg)
{
	(void)arg;
	return world.now += 50;
}

static void yield(void *arg)
{
	(void)arg;
	if (!world.yields++)
		world.first_yield = world.now - world.began;
	world.now += world.yield_takes;
	if (world.self)
		ck_assert_int_eq(bcl_send(world.self, 0, 0, NULL, 0, 0),
				 BCL_OK);
}

static void move(void *arg)
{
	(void)arg;
	world.moves++;
}

static void sleep_until(void *arg, int object, uint64_t until)
{
	(void)arg;
	(void)object;
	if (!world.sleeps++)
		world.first_sleep = world.now - world.began;
	ck_assert_uint_lt(world.sleeps, 1000);
	if (until == UINT64_MAX)
		world.now += 1000000000;
	else if (until > world.now)
		world.now = until;
}

static unsigned processors(void *arg)
{
	(void)arg;
	return 2;
}

static void open_port(unsigned local_ranks)
{
	const struct bcl_context_options options = {
		.struct_size = sizeof(options),
		.local_ranks = local_ranks,
	};

	env = bcl_env_linux;
	env.now = now;
	env.yield = yield;
	env.move = move;
	env.wait = sleep_until;
	env.processors = processors;
	env.thread_start = NULL;
	env.rails = NULL;
	env.shm_host = NULL;
	world.now = 5000000000;
	world.yield_takes = 300;
	world.moves = 0;
	world.self = NULL;
	ck_assert_int_eq(bcl_context_open(&env, &options, -1, &context),
			 BCL_OK);
	ck_assert_int_eq(bcl_port_open(context, NULL, &port), BCL_OK);
}

/* Wait in vain for `ns`. */
static void wait_for(uint64_t ns)
{
	world.yields = world.sleeps = 0;
	world.first_yield = world.first_sleep = 0;
	world.began = world.now;
	ck_assert_int_eq(bcl_wait(port, ns), BCL_ERR_TIMEOUT);
	ck_assert_uint_ge(world.now - world.began, ns);
}

START_TEST(spins_then_yields_then_sleeps)
{
	open_port(2);
	wait_for(10000);
	ck_assert_uint_eq(world.yields, 0);
	ck_assert_uint_eq(world.sleeps, 0);
	wait_for(1000000);
	ck_assert_uint_ge(world.first_yield, 30000);
	ck_assert_uint_lt(world.first_yield, 50000);
	ck_assert_uint_gt(world.yields, 1000);
	ck_assert_uint_eq(world.sleeps, 0);
	wait_for(100000000);
	ck_assert_uint_ge(world.first_sleep, 20000000);
	ck_assert_uint_lt(world.first_sleep, 21000000);
	/* one sleep must be enough when nothing comes */
	ck_assert_uint_eq(world.sleeps, 1);
	bcl_close(context);
}
END_TEST

START_TEST(does_not_spin_when_crowded)
{
	open_port(3);
	wait_for(1000000);
	ck_assert_uint_lt(world.first_yield, 2000);
	ck_assert_uint_gt(world.yields, 1000);
	ck_assert_uint_eq(world.sleeps, 0);
	bcl_close(context);
}
END_TEST

START_TEST(spins_when_crowded_by_sleepers)
{
	open_port(3);
	/* each yield comes back at once, or soon where system calls are slow:
	 * the other threads sleep */
	world.yield_takes = 700;
	wait_for(5000000);
	/* or the scheduler has not come to their sessions yet */
	wait_for(500000);
	ck_assert_uint_lt(world.first_yield, 2000);
	wait_for(1000000);
	wait_for(1000000);
	ck_assert_uint_ge(world.first_yield, 30000);
	/* a yield takes longer: the other threads are awake */
	world.yield_takes = 2000;
	wait_for(1000000);
	ck_assert_uint_ge(world.first_yield, 30000);
	wait_for(1000000);
	ck_assert_uint_lt(world.first_yield, 2000);
	bcl_close(context);
}
END_TEST

/* Opens the port's peer that answers as soon as the owner yields. */
static void open_answerer(void)
{
	unsigned char address[BCL_ADDRESS_MAX];
	struct bcl_event event;
	struct bcl_peer *self;
	size_t length;

	ck_assert_int_eq(bcl_port_address(port, address, &length), BCL_OK);
	ck_assert_int_eq(bcl_peer_open(port, address, length, &self), BCL_OK);
	ck_assert_int_eq(bcl_poll(port, &event), BCL_OK);
	ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	world.self = self;
}

/* Waits for the answer. Returns how often the owner moved meanwhile. */
static unsigned moves_of_wait(uint64_t yield_takes)
{
	struct bcl_event event;
	unsigned moves = world.moves;

	world.yield_takes = yield_takes;
	ck_assert_int_eq(bcl_wait(port, 1000000), BCL_OK);
	while (bcl_poll(port, &event) == BCL_OK)
		;
	return world.moves - moves;
}

START_TEST(moves_away_from_the_peer)
{
	open_port(2);
	open_answerer();
	/* nobody ran in the yield: the peer has a processor */
	for (unsigned i = 0; i < 20; i++)
		ck_assert_uint_eq(moves_of_wait(300), 0);
	/* another program computes here */
	for (unsigned i = 0; i < 20; i++) {
		ck_assert_uint_eq(moves_of_wait(1400000), 0);
		world.now += 200000000;
	}
	ck_assert_uint_eq(moves_of_wait(35000), 0);
	ck_assert_uint_eq(moves_of_wait(35000), 0);
	ck_assert_uint_eq(moves_of_wait(35000), 1);
	/* not again at once */
	for (unsigned i = 0; i < 10; i++)
		ck_assert_uint_eq(moves_of_wait(35000), 0);
	world.now += 1000000;
	ck_assert_uint_eq(moves_of_wait(300), 0);
	ck_assert_uint_eq(moves_of_wait(35000), 0);
	ck_assert_uint_eq(moves_of_wait(35000), 0);
	ck_assert_uint_eq(moves_of_wait(35000), 1);
	bcl_close(context);
}
END_TEST

START_TEST(stays_where_all_are_crowded)
{
	open_port(3);
	open_answerer();
	for (unsigned i = 0; i < 20; i++)
		ck_assert_uint_eq(moves_of_wait(35000), 0);
	bcl_close(context);
}
END_TEST

START_TEST(sleeps_beside_one_who_computes)
{
	open_port(2);
	/* below half a slice of the scheduler: nothing special */
	world.yield_takes = 600000;
	wait_for(10000000);
	ck_assert_uint_eq(world.sleeps, 0);
	/* above half a slice once: sleep soon, also in the next waits */
	world.yield_takes = 1400000;
	wait_for(10000000);
	ck_assert_uint_eq(world.yields, 1);
	ck_assert_uint_ge(world.sleeps, 1);
	wait_for(10000000);
	ck_assert_uint_eq(world.yields, 0);
	/* but not before a spin, which costs no more than a sleep */
	ck_assert_uint_ge(world.first_sleep, 4000);
	ck_assert_uint_lt(world.first_sleep, 10000);
	/* soon after a spin in vain the wait must not spin again */
	wait_for(10000000);
	ck_assert_uint_lt(world.first_sleep, 1000);
	/* for 100 ms */
	world.now += 100000000;
	world.yield_takes = 300;
	wait_for(10000000);
	ck_assert_uint_gt(world.yields, 1000);
	ck_assert_uint_eq(world.sleeps, 0);
	bcl_close(context);
}
END_TEST

/* Four ranks share each processor: a yield lasts until three others have run.
 */
START_TEST(lets_many_ranks_run)
{
	open_port(8);
	world.yield_takes = 2700000;
	wait_for(10000000);
	ck_assert_uint_eq(world.sleeps, 0);
	world.yield_takes = 2900000;
	wait_for(10000000);
	ck_assert_uint_eq(world.yields, 1);
	ck_assert_uint_ge(world.sleeps, 1);
	bcl_close(context);
}
END_TEST

START_TEST(does_not_yield_where_sleep_is_free)
{
	open_port(2);
	env.sleeps_at_once = true;
	wait_for(10000000);
	ck_assert_uint_eq(world.yields, 0);
	ck_assert_uint_eq(world.sleeps, 1);
	bcl_close(context);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wait");
	TCase *tcase = tcase_create("wait");

	setenv("BCL_RAILS", "none", 1);
	tcase_add_test(tcase, spins_then_yields_then_sleeps);
	tcase_add_test(tcase, does_not_spin_when_crowded);
	tcase_add_test(tcase, spins_when_crowded_by_sleepers);
	tcase_add_test(tcase, moves_away_from_the_peer);
	tcase_add_test(tcase, stays_where_all_are_crowded);
	tcase_add_test(tcase, sleeps_beside_one_who_computes);
	tcase_add_test(tcase, lets_many_ranks_run);
	tcase_add_test(tcase, does_not_yield_where_sleep_is_free);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
