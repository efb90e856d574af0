/* SPDX-License-Identifier: MIT */
/*
 * Two threads of one context, each with separate ports, make all pairs of calls
 * that two threads may make at the same time. The thread sanitizer reports a
 * race even if the race does no harm in this run.
 */
#include "unit.h"

#include <pthread.h>

#include "need.h"
#include "pairs.h"

enum {
	ROUNDS = UNIT_SLOW ? 6 : 40,
	LENGTH = 3 << 16, /* bytes of a memory: more than BCL_RMA_AREA */
};

struct side {
	struct bcl_port *port;
	struct bcl_peer *peer; /* port of the partner */
	struct bcl_peer *self;
	struct bcl_memory *memory;
	uint8_t key[BCL_KEY_MAX]; /* of the partner's memory */
	uint8_t bytes[LENGTH];	  /* registered here */
	uint8_t target[LENGTH];	  /* registered by the partner */
};

static struct bcl_context *context;
static struct side sides[2];

static const unsigned rights =
	BCL_REMOTE_READ | BCL_REMOTE_WRITE | BCL_REMOTE_ATOMIC;

static void take_events(struct side *side)
{
	struct bcl_event event;

	while (!bcl_poll(side->port, &event))
		need(!event.status);
}

/* ---- what a thread may do ---- */

static void open_port(struct side *side)
{
	struct bcl_port *port;
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;

	(void)side;
	need(!bcl_port_open(context, NULL, &port));
	need(!bcl_port_address(port, address, &length));
	bcl_port_close(port);
}

/* A port is closed after its peer, or before. */
static void connect_port(struct side *side)
{
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_port *port, *other;
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	struct bcl_event event;
	struct bcl_peer *peer;
	size_t length;

	(void)side;
	need(!bcl_port_open(context, NULL, &port));
	need(!bcl_port_open(context, NULL, &other));
	need(!bcl_port_address(other, address, &length));
	need(!bcl_peer_open(port, address, length, &peer));
	do {
		bcl_poll(other, &event);
		bcl_poll(port, &event);
		bcl_peer_info(peer, &info);
	} while (info.state == BCL_PEER_CONNECTING);
	need(info.state == BCL_PEER_UP);
	bcl_peer_close(peer);
	bcl_port_close(other);
	bcl_port_close(port);
}

static void register_memory(struct side *side)
{
	struct bcl_memory *memory;
	uint8_t key[BCL_KEY_MAX];

	need(!bcl_memory_register(context, side->bytes, LENGTH, rights,
				  &memory));
	bcl_memory_key(memory, key);
	bcl_memory_release(memory);
}

static void allocate_memory(struct side *side)
{
	struct bcl_memory *memory;

	(void)side;
	need(!bcl_memory_allocate(context, LENGTH, rights, &memory));
	memset(bcl_memory_address(memory), 1, LENGTH);
	bcl_memory_release(memory);
}

static void ask(struct side *side)
{
	struct bcl_setting settings[64];
	struct bcl_counter counters[512];
	size_t n = 512;

	(void)side;
	bcl_counters(context, counters, &n);
	n = 64;
	bcl_settings(context, settings, &n);
	need(bcl_context_node(context));
}

static void say(struct side *side)
{
	const struct iovec iov = { side->bytes, 100 };
	enum bcl_status status;

	status = bcl_send(side->peer, 1, 0, &iov, 1, 0);
	need(!status || status == BCL_ERR_AGAIN);
	need(!bcl_send(side->self, 1, 0, &iov, 1, 0));
	take_events(side);
}

/* Accesses all of the partner's memory by each operation. */
static void reach(struct side *side)
{
	enum bcl_status status;
	uint64_t word;

	status = bcl_put(side->peer, side->key, 0, side->bytes, LENGTH, 1);
	need(!status || status == BCL_ERR_AGAIN);
	status = bcl_fetch_add(side->peer, side->key, 8, 1, &word, 2);
	need(!status || status == BCL_ERR_AGAIN);
	do {
		take_events(side);
		status = bcl_fence(side->peer, 3);
	} while (status == BCL_ERR_AGAIN);
	need(!status);
	take_events(side);
}

static void wait_shortly(struct side *side)
{
	enum bcl_status status = bcl_wait(side->port, 50000);

	need(!status || status == BCL_ERR_TIMEOUT);
	take_events(side);
	need(bcl_port_fd(side->port) >= 0);
	status = bcl_arm(side->port);
	need(!status || status == BCL_ERR_AGAIN);
	take_events(side);
}

static void post(struct side *side)
{
	need(!bcl_post(side->port, 1, side->bytes, LENGTH, 4));
	need(!bcl_unpost(side->port, 1));
}

static void (*const actions[])(struct side *side) = {
	open_port,	 connect_port, register_memory,
	allocate_memory, ask,	       say,
	reach,		 wait_shortly, post,
};

enum {
	NACTIONS = sizeof(actions) / sizeof(*actions),
};

/* ---- two threads ---- */

static void meet(bool card)
{
	const struct bcl_context_options options = { .struct_size =
							     sizeof(options),
						     .flags = BCL_THREADS };
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_peer_info info[2] = { { .struct_size = sizeof(info[0]) },
					 { .struct_size = sizeof(info[1]) } };
	size_t length;

	setenv("BCL_RAILS", card ? "udp" : "none", 1);
	setenv("BCL_NET", "lo", 1);
	ck_assert_int_eq(bcl_open(&options, &context), BCL_OK);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(bcl_port_open(context, NULL, &sides[i].port),
				 BCL_OK);
	for (unsigned i = 0; i < 2; i++) {
		struct side *side = &sides[i], *other = &sides[!i];

		ck_assert_int_eq(bcl_memory_register(context, side->target,
						     LENGTH, rights,
						     &side->memory),
				 BCL_OK);
		bcl_memory_key(side->memory, other->key);
		bcl_port_address(side->port, address, &length);
		ck_assert_int_eq(
			bcl_peer_open(side->port, address, length, &side->self),
			BCL_OK);
		ck_assert_int_eq(bcl_peer_open(other->port, address, length,
					       &other->peer),
				 BCL_OK);
	}
	do {
		for (unsigned i = 0; i < 2; i++) {
			take_events(&sides[i]);
			bcl_peer_info(sides[i].peer, &info[i]);
		}
	} while (info[0].state == BCL_PEER_CONNECTING ||
		 info[1].state == BCL_PEER_CONNECTING);
	ck_assert_int_eq(info[0].path, BCL_PATH_SHARED);
}

struct run {
	struct side *side;
	void (*action)(struct side *side);
};

static void *thread_main(void *arg)
{
	const struct run *run = arg;

	for (unsigned i = 0; i < ROUNDS; i++)
		run->action(run->side);
	return NULL;
}

START_TEST(together)
{
	meet(_i >= NACTIONS);
	for (unsigned i = 0; i < NACTIONS; i++) {
		struct run runs[2] = { { &sides[0], actions[_i % NACTIONS] },
				       { &sides[1], actions[i] } };
		pthread_t threads[2];

		for (unsigned k = 0; k < 2; k++)
			ck_assert_int_eq(pthread_create(&threads[k], NULL,
							thread_main, &runs[k]),
					 0);
		for (unsigned k = 0; k < 2; k++)
			pthread_join(threads[k], NULL);
	}
	bcl_close(context);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("calls");
	TCase *tcase = tcase_create("calls");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, together, 0, 2 * NACTIONS);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
