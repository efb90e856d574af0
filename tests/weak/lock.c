/* SPDX-License-Identifier: MIT */
/*
 * Model checking (weak.h) of the in-process card's lock, of the bias of the
 * lock, and of doorbells that ring while another thread holds the lock:
 * card/inproc/lock.c, turn.c. Also of deferred doorbells:
 * card/doorbell_batch.c.
 */
#include <string.h>

#include "card/inproc/inproc.h"
#include "nicfw/hal.h"
#include "tests/weak/weak.h"
#include "transport/card/doorbell_batch.h"

enum {
	PORTS = BCL_INPROC_PORTS,
	REQUESTS = 2,
};

static struct bcl_inproc host;
static struct bcl_context context;
static struct bcl_counter_page counters;

/* The requests that a port has submitted, and the card's progress with them. */
static struct port {
	_Atomic uint32_t made; /* number submitted */
	uint32_t submits[REQUESTS];
	uint32_t served; /* number handled; protected by the card's lock */
} ports[PORTS];
static uint32_t sum; /* protected by the card's lock */

/* The library's side of port 0, in the middle of a row of messages, so that
 * doorbells may be deferred. */
static struct bcl_port owned;
static struct bcl_host_port queues;

/* ---- the card ---- */

/* Called under the lock. `sum` is plain memory: the checker reports an access
 * without the lock as a data race. */
void bcl_card_doorbell(struct bcl_card *card, uint16_t number, uint32_t made,
		       uint64_t now, unsigned budget,
		       struct bcl_card_next *next)
{
	struct port *port = &ports[number - 1];

	(void)card;
	(void)now;
	(void)budget;
	for (; port->served < made; port->served++)
		sum += port->submits[port->served];
	*next = (struct bcl_card_next){ .more = 0 };
}

/* ---- the environment ---- */

static uint64_t now(void *world)
{
	(void)world;
	return 1;
}

static const struct bcl_env env = {
	.now = now,
	.yield = weak_yield,
	.barrier = weak_barrier,
};

static void set_up(void)
{
	memset(&host.seats, 0, sizeof(host.seats));
	memset(&ports, 0, sizeof(ports));
	memset(&counters, 0, sizeof(counters));
	sum = 0;
	host.setup.counters = &counters;
	host.setup.barrier = true;
	host.setup.env = &env;
	host.lock = BCL_INPROC_FREE;
	host.base.deadline = 0;
	host.now = host.clock = host.clock_cycles = 0;
	host.last = NULL;
	host.alone = 0;
	for (unsigned i = 0; i < PORTS; i++) {
		host.seats[i].number = (uint16_t)(i + 1);
		host.seats[i].bias = BCL_INPROC_BIASED + i;
		host.seats[i].made = &ports[i].made;
	}
}

static void set_up_row(void)
{
	static const struct bcl_host_ops ops = { .defer = bcl_inproc_defer };

	set_up();
	host.base.ops = &ops;
	context.helper = (struct bcl_helper *)&host; /* not NULL */
	context.deferred = false;
	queues.host = &host.base;
	queues.seat = &host.seats[0];
	queues.batch =
		(struct bcl_doorbell_batch){ .messages = BCL_BATCH_AFTER };
	owned.context = &context;
	owned.card = &queues;
	owned.flags = 0;
}

static void set_up_biased(void)
{
	set_up();
	host.lock = host.seats[0].bias;
}

/* ---- the threads ---- */

static void submit(unsigned number, uint32_t request)
{
	struct port *port = &ports[number];

	port->submits[request - 1] = request;
	atomic_store_explicit(&port->made, request, memory_order_release);
	bcl_inproc_doorbell(&host.base, &host.seats[number]);
}

/* Submits two messages of a row with deferred doorbells, and ends: the program
 * does not enter the library afterwards. */
static void hold_twice(void)
{
	for (uint32_t request = 1; request <= 2; request++) {
		ports[0].submits[request - 1] = request;
		atomic_store_explicit(&ports[0].made, request,
				      memory_order_release);
		weak_assert(bcl_doorbell_defer_in_batch(&owned, 8));
	}
}

static void submit_0(void)
{
	submit(0, 1);
}

static void submit_1(void)
{
	submit(1, 1);
}

static void submit_0_twice(void)
{
	submit(0, 1);
	submit(0, 2);
}

static void submit_1_twice(void)
{
	submit(1, 1);
	submit(1, 2);
}

/* Another thread that makes progress: works under the lock if no thread holds
 * the lock. */
static void help(void)
{
	if (!bcl_inproc_try_lock(&host, NULL))
		return;
	sum++;
	bcl_inproc_unlock(&host, NULL);
}

/* The helper: bcl_inproc_poll() without a port also serves doorbells under the
 * lock. */
static void serve(void)
{
	if (!bcl_inproc_try_lock(&host, NULL))
		return;
	bcl_inproc_serve_doorbells(&host);
	bcl_inproc_unlock(&host, NULL);
}

/* A call that must take effect, such as a post: the thread waits for the
 * lock. */
static void command(void)
{
	bcl_inproc_lock(&host, NULL);
	sum += 10;
	bcl_inproc_unlock(&host, NULL);
}

/* ---- checks at the end: each request that was rung for is served ---- */

static void check(void)
{
	weak_assert(host.lock == BCL_INPROC_FREE ||
		    host.lock >= BCL_INPROC_BIASED);
	for (unsigned i = 0; i < PORTS; i++) {
		weak_assert(ports[i].served == ports[i].made);
		weak_assert(!host.seats[i].inside);
	}
}

/* The requests with deferred doorbells are served, or seat->rung is set. Then
 * the helper's next call serves the requests. */
static void check_row(void)
{
	weak_assert(host.seats[0].rung || ports[0].served == ports[0].made);
	bcl_inproc_serve_doorbells(&host);
	check();
}

static void check_command(void)
{
	check();
	weak_assert(sum >= 10);
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "a doorbell and a command",
		  set_up,
		  { submit_0, command },
		  check_command },
		{ "two doorbells", set_up, { submit_0, submit_1 }, check },
		{ "two doorbells and one",
		  set_up,
		  { submit_0_twice, submit_1 },
		  check },
		{ "two doorbells and a command",
		  set_up,
		  { submit_0_twice, command },
		  check_command },
		{ "two and two doorbells",
		  set_up,
		  { submit_0_twice, submit_1_twice },
		  check },
		{ "doorbells of two ports and a command",
		  set_up,
		  { submit_0, submit_1, command },
		  check_command },
		{ "left to a port: a command",
		  set_up_biased,
		  { submit_0, command },
		  check_command },
		{ "left to a port: two doorbells and a command",
		  set_up_biased,
		  { submit_0_twice, command },
		  check_command },
		{ "left to a port: two and two doorbells",
		  set_up_biased,
		  { submit_0_twice, submit_1_twice },
		  check },
		{ "left to a port: doorbells of two ports and a helper",
		  set_up_biased,
		  { submit_0, submit_1, help },
		  check },
		{ "held back, and the helper",
		  set_up_row,
		  { hold_twice, serve },
		  check_row },
		{ "held back, and a doorbell of another port",
		  set_up_row,
		  { hold_twice, submit_1, serve },
		  check_row },
		{ .name = NULL },
	};

	return weak_main(tests);
}
