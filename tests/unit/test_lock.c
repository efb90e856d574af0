/* SPDX-License-Identifier: MIT */
/* The lock of the card in the process is left to a port that uses the card
 * alone. The port loses the lock when other threads come. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <bcl/bcl.h>

#include "counter.h"
#include "env/env.h"
#include "need.h"

enum {
	ALONE = 3000, /* trips of an undisturbed port */
	DISTURBED = 2000,
	VISITS = 40, /* trips of the visitor */
};

static struct bcl_context *context[2];
static struct bcl_port *busy, *visitor, *answerer;
static atomic_bool over;

static void open_nodes(void)
{
	static const char *const names[] = { "a", "b" };

	setenv("BCL_RAILS", "udp", 1);
	setenv("BCL_NET", "lo", 1);
	for (unsigned i = 0; i < 2; i++) {
		setenv("BCL_NODE", names[i], 1);
		need(!bcl_open(NULL, &context[i]));
	}
	need(!bcl_port_open(context[0], NULL, &busy));
	need(!bcl_port_open(context[0], NULL, &visitor));
	need(!bcl_port_open(context[1], NULL, &answerer));
}

static uint64_t times_left(void)
{
	return counter_of(context[0], "host.lock_left");
}

/* ---- the threads ---- */

static void *answer(void *unused)
{
	struct bcl_event event;
	struct iovec iov;

	(void)unused;
	while (!atomic_load(&over)) {
		if (bcl_poll(answerer, &event)) {
			sched_yield(); /* let other threads run */
			continue;
		}
		if (event.kind != BCL_EVENT_MESSAGE)
			continue;
		iov = (struct iovec){ (void *)(uintptr_t)event.data,
				      event.length };
		need(!bcl_send(event.peer, 0, 0, &iov, 1, 0));
	}
	return NULL;
}

static struct bcl_peer *meet(struct bcl_port *port)
{
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_event event;
	struct bcl_peer *peer;
	size_t length;

	need(!bcl_port_address(answerer, address, &length));
	need(!bcl_peer_open(port, address, length, &peer));
	while (bcl_poll(port, &event))
		;
	need(event.kind == BCL_EVENT_PEER && !event.status);
	return peer;
}

static void trip(struct bcl_port *port, struct bcl_peer *peer, uint32_t number)
{
	const struct iovec iov = { &number, sizeof(number) };
	struct bcl_event event;

	need(!bcl_send(peer, 0, 0, &iov, 1, 0));
	while (bcl_poll(port, &event))
		sched_yield();
	need(event.kind == BCL_EVENT_MESSAGE);
	need(event.length == sizeof(number));
	need(!memcmp(event.data, &number, sizeof(number)));
}

static void *visit(void *unused)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	struct bcl_peer *peer = meet(visitor);

	(void)unused;
	for (uint32_t i = 0; i < VISITS; i++) {
		nanosleep(&pause, NULL);
		trip(visitor, peer, i);
	}
	return NULL;
}

START_TEST(it_is_left_and_taken_away)
{
	pthread_t answering, visiting;
	struct bcl_peer *peer;
	uint64_t left;
	uint32_t i;

	open_nodes();
	need(!pthread_create(&answering, NULL, answer, NULL));
	peer = meet(busy);
	for (i = 0; i < ALONE; i++)
		trip(busy, peer, i);
	left = times_left();
	need(!pthread_create(&visiting, NULL, visit, NULL));
	for (i = 0; i < DISTURBED; i++)
		trip(busy, peer, i);
	need(!pthread_join(visiting, NULL));
	atomic_store(&over, true);
	need(!pthread_join(answering, NULL));
	if (bcl_env_linux.barrier_register(NULL))
		ck_assert_uint_gt(left, 0);
	else
		ck_assert_uint_eq(left, 0);
	for (i = 0; i < 2; i++)
		bcl_close(context[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lock");
	TCase *tcase = tcase_create("lock");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, it_is_left_and_taken_away);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
