/* SPDX-License-Identifier: MIT */
#include "tests/weak/ports.h"

#include <string.h>

#include "sim/fail.h"
#include "transport/internal.h"
#include "transport/shm/audit.h"
#include "transport/shm/host.h"
#include "transport/shm/remote.h"

enum {
	SLOTS = BCL_SEGMENT_SLOTS_MIN,
	MEMORY = 1 << 17, /* bytes, for all sides */
};

struct side sides[SIDES];
static struct bcl_segment segments[2];

/* ---- the environment ---- */

static uint64_t now(void *world)
{
	(void)world;
	return 1;
}

/* The same value in each execution. */
static uint64_t draw(void *world)
{
	(void)world;
	return 4096;
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

/* Memory for set_up(), valid until the next set_up(). */
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

static void release(void *world, void *here, size_t size)
{
	(void)world;
	(void)here;
	(void)size;
}

static const struct bcl_env env = {
	.allocate = allocate,
	.release = release,
	.yield = weak_yield,
	.now = now,
	.random = draw,
	.wake = wake,
	.clear = clear,
	.wait = sleep,
	.barrier = weak_barrier,
	.sleeps_at_once = true,
	.shm_host = &bcl_shm_linux,
};

/* ---- other work of a port: nothing is due ---- */

void bcl_shm_service(struct bcl_port *port, uint64_t time)
{
	(void)port;
	(void)time;
}

void bcl_peers_reap(struct bcl_port *port)
{
	(void)port;
}

bool bcl_peers_room(struct bcl_port *port, bool take)
{
	(void)port;
	(void)take;
	return false;
}

bool bcl_rma_sleep(struct bcl_connection *connection)
{
	(void)connection;
	return false;
}

/* Weak, because claim.weak uses pull.c with this function. */
__attribute__((weak)) bool bcl_pulls_ready(struct bcl_connection *connection)
{
	(void)connection;
	return false;
}

bool bcl_rma_ready(struct bcl_connection *connection)
{
	(void)connection;
	return false;
}

/* ---- the ports ---- */

static void set_up_side(unsigned number)
{
	struct side *side = &sides[number];

	side->context = (struct bcl_context){
		.env = &env,
		.barrier = true,
		.card_id = number,
	};
	side->port = (struct bcl_port){
		.context = &side->context,
		.ready = true,
		.pairs = side->shm.pairs,
		.shm = &side->shm,
		.network.empty = 8,
		.clock = { .messages = 8, .looks = 8 },
		.counters = &side->counters,
		.object = (int)number,
		.group = (int)number,
	};
	side->shm.watch.active = side->active;
	side->shm.port = &side->port;
	side->shm.attention = side->attention;
	side->shm.active = side->active;
}

static void set_up_segment(struct bcl_segment *segment)
{
	size_t ring = SLOTS * sizeof(struct bcl_slot);

	if (!segment->head)
		sim_check(!bcl_segment_create(&env, SLOTS, segment),
			  "no segment");
	memset(segment->head, 0, sizeof(*segment->head));
	for (unsigned i = 0; i < 2; i++) {
		memset(segment->ring[i], 0, ring);
		weak_alias(segment->ring[i], segment->ring[i] + SLOTS, ring);
	}
}

/* Set up an end of a connection; `here`, `there`: index at each side. */
static void connect_end(unsigned number, unsigned here, unsigned to,
			unsigned there, const struct bcl_segment *segment)
{
	struct side *side = &sides[number], *other = &sides[to];
	struct bcl_connection *c = &side->connection[here];

	side->peer[here] =
		(struct bcl_peer){ .port = &side->port, .pair = &c->pair };
	bcl_segment_pair(segment, number == MIDDLE, &c->pair);
	c->pair.connection = c;
	c->pair.peer = &side->peer[here];
	c->pair.attention = &other->attention[there];
	c->pair.flags = &side->port.flags;
	c->shm = &side->shm;
	c->side = number == MIDDLE;
	c->segment = *segment;
	c->watch = here;
	c->its_watch = there;
	c->its_attention = other->attention;
	c->its_active = other->active;
	c->wake = (int)to;
	c->card = to;
	c->attach = true;
	side->shm.pairs[side->port.npairs++] = &c->pair;
}

static void connect(unsigned number, unsigned there)
{
	set_up_segment(&segments[there]);
	connect_end(number, 0, MIDDLE, there, &segments[there]);
	connect_end(MIDDLE, there, number, 0, &segments[there]);
}

/* No other process scribbles on the memory of this test. */
void bcl_audit_sleep(struct bcl_shm_port *shm)
{
	(void)shm;
}

void bcl_shm_audit(struct bcl_port *port, uint64_t now)
{
	(void)port;
	(void)now;
}

void ports_set_up(void)
{
	used = 0;
	memset(sides, 0, sizeof(sides));
	for (unsigned number = 0; number < SIDES; number++)
		set_up_side(number);
	connect(0, 0);
}

void ports_set_up_three(void)
{
	ports_set_up();
	connect(2, 1);
}
