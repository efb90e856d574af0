/* SPDX-License-Identifier: MIT */
/* Waiting for messages by BCL and by PVM at once. A waiting task first spins:
 * it polls the port, yields the processor and looks at PVM's sockets now and
 * then. After that it sleeps on the descriptors of both. */
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "pvm-glue/glue.h"

enum {
	STOCK_PERIOD = 20000,  /* ns between looks at PVM's sockets */
	STOCK_SHARED = 200000, /* ns, if other processes want the processor: a
				  look takes a large part of a turn */
	SPIN_LONG = 50000, /* ns of spinning before a sleep: about the cost of a
			      sleep */
	SPIN_SHORT = 1000, /* ns of spinning where it did not pay */
	TURN = 1000,	   /* ns of a turn that count as spinning, at most */
	ALONE = 32,	   /* yields in a row without another process, until the
			      processor counts as free */
	LOOKS = 16,	   /* looks between two yields on a free processor */
	HURRY = 1000,	   /* us: shorter waits handle all events at once */
	SENDS = 16,	   /* sends between two looks at the clock */
	PATIENT = 8, /* waits that ended asleep before spinning does not pay */
	PROBE = 16,  /* then each PROBE-th wait spins long again */
	FDS_MAX = 256,
	NAP = 100000000, /* ns: without a helper thread only the task serves the
			    card's timers */
};

static uint64_t stock_looked;
static unsigned credit = PATIENT; /* waits left before spinning is cut short */

static int look_at_stock(uint64_t now)
{
	struct timeval none = { 0 };

	stock_looked = now;
	return libpvm.mroute(0, 0, 0, &none);
}

/* Yields in a row during which no other process ran on this processor. */
static unsigned alone;

static uint64_t stock_period(void)
{
	return alone < ALONE ? STOCK_SHARED : STOCK_PERIOD;
}

/* Sleep until a socket of PVM or the port has an event, or until `until`. */
static void sleep_on_all(uint64_t now, uint64_t until)
{
	struct pollfd polled[FDS_MAX];
	int i, n, *fds;

	n = libpvm.pvm_getfds(&fds);
	if (n < 0 || n >= FDS_MAX || bcl_arm(glue.port) != BCL_OK)
		return;
	for (i = 0; i < n; i++)
		polled[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	polled[n] = (struct pollfd){ .fd = bcl_port_fd(glue.port),
				     .events = POLLIN };
	until = receive_patience(until);
	if (until > now + NAP)
		until = now + NAP;
	if (until < now)
		until = now;
	poll(polled, (nfds_t)n + 1, (int)((until - now + 999999) / 1000000));
	for (i = 0; i < n; i++) {
		if (polled[i].revents)
			stock_looked = 0;
	}
}

/* A program that sleeps on the port's descriptor must wake for events from now
 * on. Events that are already there are handled first, and PVM gets their
 * messages. */
static void rearm_port(void)
{
	while (bcl_arm(glue.port) == BCL_ERR_AGAIN && events_poll())
		;
}

static uint64_t end_of(const struct timeval *limit, uint64_t now)
{
	if (!limit)
		return UINT64_MAX;
	return now + (uint64_t)limit->tv_sec * 1000000000 +
	       (uint64_t)limit->tv_usec * 1000;
}

static uint64_t spin_time(void)
{
	static unsigned waits;

	return credit || ++waits % PROBE == 0 ? SPIN_LONG : SPIN_SHORT;
}

/*
 * On a free processor looks find messages sooner than yields: a message that
 * comes during a yield, a system call, is seen when the call ends. True: a
 * message was received.
 */
static bool spin_for_message(unsigned long before)
{
	if (alone < ALONE)
		return false;
	for (int i = 0; i < LOOKS; i++) {
		if (events_step() && glue.received != before)
			return true;
	}
	return false;
}

static uint64_t time_left(uint64_t left, uint64_t time)
{
	return left < time ? 0 : left - time;
}

/* End a turn of spinning with a yield. At most TURN ns of it count as spinning:
 * time in which other processes ran or events were handled is not wasted.
 * Returns the time. */
static uint64_t yield_to_others(uint64_t since, uint64_t *spin)
{
	uint64_t before = glue_now(), now;

	sched_yield();
	now = glue_now();
	if (now - before > TURN)
		alone = 0;
	else
		alone += alone < ALONE;
	*spin = time_left(*spin, now - since < TURN ? now - since : TURN);
	return now;
}

static bool is_short(const struct timeval *limit)
{
	return limit && !limit->tv_sec && limit->tv_usec < HURRY;
}

/* all: handle all events, else a single event. A program that waits and gets a
 * message calls again if it wants the next. */
static void handle_events(bool all)
{
	meet_owed();
	receive_own();
	if (all)
		events_poll();
	else
		events_step();
}

int wait_after_send(unsigned long before)
{
	static unsigned sends;
	uint64_t now;
	int result;

	handle_events(true);
	if (++sends % SENDS == 0) {
		now = glue_now();
		result = now - stock_looked > STOCK_PERIOD ? look_at_stock(now)
							   : 0;
		if (result < 0)
			return result;
	}
	if (glue.watched)
		rearm_port();
	return (int)(glue.received - before);
}

int wait_messages(unsigned long before, const struct timeval *limit)
{
	bool slept = false, all = is_short(limit);
	uint64_t now = 0, end = 0, spin = 0;
	int result;

	for (;;) {
		result = 0;
		handle_events(all);
		if (glue.received != before)
			break;
		if (!now) {
			now = glue_now();
			end = end_of(limit, now);
			spin = spin_time();
		}
		/* Not after a message was received: a daemon that has ended
		 * makes this look fail. */
		if (now >= end || now - stock_looked > stock_period()) {
			result = look_at_stock(now);
			if (result < 0)
				return result;
		}
		if (glue.received != before)
			break;
		/* libpvm counts a note of the glue as a message and stops at
		 * it */
		if (now >= end && result > 0)
			continue;
		if (now >= end)
			break;
		if (spin && spin_for_message(before))
			break;
		if (spin) {
			now = yield_to_others(now, &spin);
		} else {
			slept = true;
			sleep_on_all(now, end);
			now = glue_now();
			/* spin between the frames of a long message */
			if (receive_pending() || loan_pending())
				spin = SPIN_LONG;
		}
	}
	if (slept && credit)
		credit--;
	else if (!slept && glue.received != before)
		credit = PATIENT;
	if (glue.watched)
		rearm_port();
	return (int)(glue.received - before);
}
