/* SPDX-License-Identifier: MIT */
#include "tests/weak/ports.h"

#include <string.h>

#include "sim/fail.h"
#include "transport/internal.h"
#include "transport/shm/remote.h"

enum {
	SLOTS = BCL_SEGMENT_SLOTS_MIN,
	MEMORY = 1 << 17, /* bytes, for all */
};

struct side sides[2];
static struct bcl_segment segment;

/* ---- the environment ---- */

static uint64_t now(void *world)
{
	(void)world;
	return 1;
}

static void wake(void *world, int object)
{
	(void)world;
	atomic_fetch_or_explicit(&sides[object].woken, 1, memory_order_acq_rel);
}

static void clear(void *world, int object)
{
	(void)world;
	atomic_exchange_explicit(&sides[object].woken, 0, memory_order_acq_rel);
}

static void sleep(void *world, int object, uint64_t until)
{
	(void)world;
	(void)until;
	weak_until(atomic_load_explicit(&sides[object].woken,
					memory_order_acquire));
}

static void barrier(void *world)
{
	(void)world;
	weak_heavy_fence();
}

/* For set_up(): what it has made is gone at the next. */
static _Alignas(64) uint8_t memory[MEMORY];
static size_t used;

static void *allocate(void *world, size_t size)
{
	void *here = memory + used;

	(void)world;
	weak_assert(size <= MEMORY - used);
	memset(here, 0, size);
	used += (size + 63) / 64 * 64;
	return here;
}

static const struct bcl_env env = {
	.allocate = allocate,
	.now = now,
	.wake = wake,
	.clear = clear,
	.wait = sleep,
	.barrier = barrier,
	.sleeps_at_once = true,
};

/* ---- what else a port does, of which nothing is due ---- */

void bcl_shm_service(struct bcl_port *port, uint64_t time)
{
	(void)port;
	(void)time;
}

void bcl_peers_reap(struct bcl_port *port)
{
	(void)port;
}

bool bcl_mail_sleep(struct bcl_connection *connection)
{
	(void)connection;
	return false;
}

bool bcl_shm_copies_ready(struct bcl_connection *connection)
{
	(void)connection;
	return false;
}

/* ---- the ports ---- */

static void set_up_side(unsigned number)
{
	struct side *side = &sides[number], *other = &sides[!number];
	struct bcl_connection *connection = &side->connection;

	side->context = (struct bcl_context){
		.env = &env,
		.barrier = true,
		.card_id = number,
	};
	side->port = (struct bcl_port){
		.context = &side->context,
		.pairs = side->shm.pairs,
		.shm = &side->shm,
		.empty = 8,
		.looks = 8,
		.messages = 8,
		.counters = &side->counters,
		.object = (int)number,
		.group = (int)number,
		.npairs = 1,
	};
	side->shm.watch.active = side->active;
	side->shm.port = &side->port;
	side->shm.attention = side->attention;
	side->shm.active = side->active;
	side->shm.pairs[0] = &connection->pair;
	side->peer = (struct bcl_peer){ .port = &side->port,
					.pair = &connection->pair };
	bcl_segment_pair(&segment, number, &connection->pair);
	connection->pair.connection = connection;
	connection->pair.peer = &side->peer;
	connection->pair.attention = &other->attention[0];
	connection->shm = &side->shm;
	connection->side = (uint8_t)number;
	connection->segment = segment;
	connection->its_attention = other->attention;
	connection->its_active = other->active;
	connection->wake = (int)!number;
	connection->card = !number;
	connection->attach = true;
}

void ports_set_up(void)
{
	size_t ring = SLOTS * sizeof(struct bcl_slot);

	used = 0;
	if (!segment.head)
		sim_check(!bcl_segment_create(SLOTS, &segment), "no segment");
	memset(segment.head, 0, sizeof(*segment.head));
	memset(sides, 0, sizeof(sides));
	for (unsigned number = 0; number < 2; number++) {
		memset(segment.ring[number], 0, ring);
		weak_alias(segment.ring[number], segment.ring[number] + SLOTS,
			   ring);
		set_up_side(number);
	}
}
