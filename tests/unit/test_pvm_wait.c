/* SPDX-License-Identifier: MIT */
/*
 * How a PVM task waits for a message (pvm-glue/wait.c). The tests include the
 * source file with mocks of the clock, sched_yield() and poll(), and count
 * polls of the port ("looks"), looks at PVM's sockets, yields and sleeps. The
 * task is alone on the processor, shares the processor, or waits for a message
 * that comes late.
 */
#include "unit.h"

#include <poll.h>
#include <sched.h>
#include <time.h>

static int test_clock(clockid_t id, struct timespec *time);
#define clock_gettime test_clock
#include "pvm-glue/glue.h"

static uint64_t clock_now = 1000000000; /* ns */
static uint64_t due;	     /* time at which a message comes; 0: no message */
static uint64_t yield_takes; /* ns of a call of sched_yield() */
static unsigned looks, socket_looks, yields, sleeps, arms;
static bool came_before_sleep; /* bcl_arm() finds an event */

enum {
	LOOK_TAKES = 20, /* ns */
	FDS = 2,	 /* number of PVM's sockets */
	PORT_FD = 77,
};

/* ---- mocks of the functions that wait.c calls ---- */

struct glue glue;
struct libpvm libpvm;

bool events_step(void)
{
	looks++;
	clock_now += LOOK_TAKES;
	if (!due || clock_now < due)
		return false;
	due = 0;
	glue.received++;
	return true;
}

unsigned events_poll(void)
{
	return events_step();
}

void meet_owed(void)
{
}

void receive_own(void)
{
}

bool receive_pending(void)
{
	return false;
}

bool loan_pending(void)
{
	return false;
}

uint64_t receive_patience(uint64_t until)
{
	return until;
}

enum bcl_status bcl_arm(struct bcl_port *port)
{
	ck_assert_ptr_eq(port, glue.port);
	arms++;
	return came_before_sleep ? BCL_ERR_AGAIN : BCL_OK;
}

int bcl_port_fd(struct bcl_port *port)
{
	ck_assert_ptr_eq(port, glue.port);
	return PORT_FD;
}

static int look_at_sockets(int id, int tid, int tag, struct timeval *limit)
{
	ck_assert_int_eq(id + tid + tag, 0);
	ck_assert(!timerisset(limit));
	socket_looks++;
	return 0;
}

static int sockets(int **fds)
{
	static int all[FDS] = { 5, 6 };

	*fds = all;
	return FDS;
}

static int test_clock(clockid_t id, struct timespec *time)
{
	(void)id;
	time->tv_sec = (time_t)(clock_now / 1000000000);
	time->tv_nsec = (long)(clock_now % 1000000000);
	return 0;
}

static int test_yield(void)
{
	yields++;
	clock_now += yield_takes;
	return 0;
}

static int test_poll(struct pollfd *fds, nfds_t n, int ms)
{
	uint64_t until = clock_now + (uint64_t)ms * 1000000;

	ck_assert_uint_eq(n, FDS + 1);
	ck_assert_int_eq(fds[FDS].fd, PORT_FD);
	sleeps++;
	clock_now = due && due < until ? due : until;
	for (nfds_t i = 0; i < n; i++)
		fds[i].revents = 0;
	return 0;
}

#define sched_yield test_yield
#define poll	    test_poll
#include "pvm-glue/wait.c"

/* ---- tests ---- */

enum {
	ALONE_TAKES = 400,    /* ns of a yield while no other process runs */
	SHARED_TAKES = 20000, /* ns of a yield to a process that runs */
	LATE = 2000000,	      /* ns: longer than a task spins */
};

/* Wait for a message that comes after `delay` ns. */
static void wait_for(uint64_t delay)
{
	looks = socket_looks = yields = sleeps = arms = 0;
	due = clock_now + delay;
	ck_assert_int_eq(wait_messages(glue.received, NULL), 1);
}

static void set_up(void)
{
	libpvm.mroute = look_at_sockets;
	libpvm.pvm_getfds = sockets;
	yield_takes = ALONE_TAKES;
}

/*
 * All messages come late. The first PATIENT waits spin for SPIN_LONG, about the
 * cost of a sleep. Later waits spin for SPIN_SHORT, except each PROBE-th wait.
 */
START_TEST(who_waits_in_vain_sleeps_soon)
{
	unsigned i, tries = 0;

	for (i = 0; i < PATIENT; i++) {
		wait_for(LATE);
		ck_assert_uint_eq(sleeps, 1);
		ck_assert_uint_ge(yields, SPIN_LONG / TURN);
		ck_assert_uint_le(yields, SPIN_LONG / ALONE_TAKES + 1);
	}
	for (i = 0; i < 4 * PROBE; i++) {
		wait_for(LATE);
		ck_assert_uint_eq(sleeps, 1);
		if (yields > SPIN_LONG / TURN)
			tries++;
		else
			ck_assert_uint_le(yields, 1 + SPIN_SHORT / ALONE_TAKES);
	}
	ck_assert_uint_eq(tries, 4);
}
END_TEST

/* Waits spin briefly after many late messages. One message that comes during
 * the short spin makes the next waits spin for SPIN_LONG. */
START_TEST(who_is_answered_spins_again)
{
	unsigned i;

	for (i = 0; i < 2 * PATIENT; i++)
		wait_for(LATE);
	wait_for(SPIN_SHORT / 2);
	ck_assert_uint_eq(sleeps, 0);
	wait_for(SPIN_LONG / 2);
	ck_assert_uint_eq(sleeps, 0);
	wait_for(LATE);
	ck_assert_uint_ge(yields, SPIN_LONG / TURN);
}
END_TEST

/*
 * Each yield lets another process run for SHARED_TAKES ns. Only TURN ns of a
 * yield count as spinning, so the task does not sleep, although the wait is
 * longer than SPIN_LONG. The task polls the port once per yield.
 */
START_TEST(others_on_the_processor_get_their_turns)
{
	yield_takes = SHARED_TAKES;
	wait_for(20 * SHARED_TAKES);
	ck_assert_uint_eq(sleeps, 0);
	ck_assert_uint_ge(yields, 19);
	ck_assert_uint_le(yields, 21);
	ck_assert_uint_le(looks, yields + 2);
}
END_TEST

/* A task alone on the processor polls the port LOOKS times between two
 * yields. */
START_TEST(who_is_alone_looks_between_yields)
{
	wait_for(SPIN_LONG / 2);
	wait_for(SPIN_LONG / 2);
	ck_assert_uint_eq(sleeps, 0);
	ck_assert_uint_ge(looks, LOOKS * (yields - 1));
	/* another process runs: back to one poll per yield */
	yield_takes = SHARED_TAKES;
	wait_for(2 * SHARED_TAKES);
	wait_for(20 * SHARED_TAKES);
	ck_assert_uint_le(looks, yields + 2);
}
END_TEST

/*
 * A look at PVM's sockets takes a large part of a turn. So a task that shares
 * the processor looks once in STOCK_SHARED ns, not in each turn. A task alone
 * on the processor looks once in STOCK_PERIOD ns.
 */
START_TEST(sockets_are_looked_at_seldom_in_turns)
{
	const struct timeval none = { 0 };

	yield_takes = SHARED_TAKES;
	wait_for(20 * SHARED_TAKES);
	ck_assert_uint_ge(socket_looks, 2);
	ck_assert_uint_le(socket_looks, 20 * SHARED_TAKES / STOCK_SHARED + 1);
	/* a call with a limit of 0 looks each time */
	socket_looks = 0;
	for (unsigned i = 0; i < 5; i++) {
		clock_now += STOCK_PERIOD + 1;
		ck_assert_int_eq(wait_messages(glue.received, &none), 0);
	}
	ck_assert_uint_eq(socket_looks, 5);
	yield_takes = ALONE_TAKES;
	wait_for(SPIN_LONG / 2);
	wait_for(SPIN_LONG - 5 * TURN);
	ck_assert_uint_ge(socket_looks, 2);
}
END_TEST

/* A message comes after the last poll and before the sleep: bcl_arm() returns
 * BCL_ERR_AGAIN, and the task does not call poll(). */
START_TEST(nobody_sleeps_on_a_message)
{
	came_before_sleep = true;
	wait_for(LATE / 10);
	ck_assert_uint_gt(arms, 0);
	ck_assert_uint_eq(sleeps, 0);
}
END_TEST

/* No message comes within the limit of 30 ms. The wait returns 0 within 2 ms
 * after the limit, and has slept once. */
START_TEST(time_is_over)
{
	const struct timeval limit = { 0, 30000 };
	uint64_t before = clock_now;

	ck_assert_int_eq(wait_messages(glue.received, &limit), 0);
	ck_assert_uint_ge(clock_now, before + 30000000);
	ck_assert_uint_le(clock_now, before + 32000000);
	ck_assert_uint_eq(sleeps, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pvm_wait");
	TCase *tests = tcase_create("wait");

	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_test(tests, who_waits_in_vain_sleeps_soon);
	tcase_add_test(tests, who_is_answered_spins_again);
	tcase_add_test(tests, others_on_the_processor_get_their_turns);
	tcase_add_test(tests, who_is_alone_looks_between_yields);
	tcase_add_test(tests, sockets_are_looked_at_seldom_in_turns);
	tcase_add_test(tests, nobody_sleeps_on_a_message);
	tcase_add_test(tests, time_is_over);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
