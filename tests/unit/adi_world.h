/* SPDX-License-Identifier: MIT */
/* A job of ranks in virtual time over the mock transport. Each rank joins the
 * job, runs the function of the test, and leaves the job. */
#ifndef ADI_WORLD_H
#define ADI_WORLD_H

#include "unit.h"

#include <bcl/adi.h>
#include <stdio.h>
#include <string.h>

#include "sim/world.h"
#include "mock_transport.h"
#include "need.h"

enum {
	WORLD_RANKS = 16,
};

static struct {
	struct sim_world *ranks;
	struct mock *mock;
	struct bcl_env env; /* of the ranks; counts allocations */
	void *(*allocate)(void *world, size_t size);
	unsigned allocations;
	unsigned fail_at; /* number of the allocation that fails; 0: none */
	bool no_memory;
	unsigned n;
	void (*run)(struct bcl_adi *adi, unsigned rank);
	struct bcl_adi *adi[WORLD_RANKS];
} world;

static inline void *world_allocate(void *arg, size_t size)
{
	world.allocations++;
	if (world.no_memory || world.allocations == world.fail_at)
		return NULL;
	return world.allocate(arg, size);
}

static inline void world_rank(void *arg)
{
	unsigned rank = (unsigned)(uintptr_t)arg;
	struct bcl_adi_options options = {
		.struct_size = sizeof(options),
		.context = mock_context(world.mock, rank),
		.boot = mock_boot(world.mock, rank, world.n),
	};

	ck_assert_int_eq(bcl_adi_open(&options, &world.adi[rank]), BCL_OK);
	world.run(world.adi[rank], rank);
	bcl_adi_close(world.adi[rank]);
}

/* Starts n ranks that call run(). Fails if a rank does not return. */
static inline void world_spawn(const struct mock_options *options, unsigned n,
			       void (*run)(void *arg))
{
	struct mock_options all = *options;
	unsigned i;

	if (all.ports < n)
		all.ports = n;
	world.ranks = sim_world_open(all.seed, NULL, NULL);
	world.env = *sim_world_env(world.ranks);
	world.allocate = world.env.allocate;
	world.env.allocate = world_allocate;
	world.no_memory = false;
	world.mock = mock_open(&world.env, &all);
	world.n = n;
	for (i = 0; i < n; i++)
		sim_world_spawn(world.ranks, run, (void *)(uintptr_t)i);
	ck_assert_uint_eq(sim_world_run(world.ranks, 1000000000000), 0);
	mock_close(world.mock);
	sim_world_close(world.ranks);
}

/* A job of n ranks. Each rank calls run() between joining and leaving. */
static inline void world_run(const struct mock_options *options, unsigned n,
			     void (*run)(struct bcl_adi *adi, unsigned rank))
{
	world.run = run;
	world_spawn(options, n, world_rank);
}

static inline void world_yield(void)
{
	world.env.yield(world.env.world);
}

/* Lets up to `ns` of virtual time pass. */
static inline void world_pause(struct bcl_adi *adi, uint64_t ns)
{
	world.env.wait(world.env.world, bcl_port_fd(bcl_adi_port(adi)),
		       world.env.now(world.env.world) + ns);
}

/* Runs n turns of the progress engine. After each turn the rank yields to the
 * rest of the job. */
static inline void world_turns(struct bcl_adi *adi, unsigned n)
{
	while (n--) {
		bcl_adi_progress(adi);
		world_yield();
	}
}

/* A barrier without messages: returns when all ranks of the job have called the
 * function equally often. */
static inline void world_meet(void)
{
	static unsigned arrived, met;
	unsigned before = met;

	if (++arrived % world.n == 0)
		met++;
	while (met == before)
		world_yield();
}

/* Weathers: mock transports with different delays and limits. Tests that run in
 * all weathers must pass with each of the mock transports. */
static const struct mock_options world_weather[] = {
	{ .seed = 1 },
	{ .seed = 2,
	  .again = 50,
	  .latency = 3000,
	  .transfer = 50000,
	  .offers = 40 },
	{ .seed = 3, .ring = 2, .connect = 1000000, .transfer = 100000 },
	{ .seed = 4,
	  .again = 20,
	  .ring = 8,
	  .latency = 100000,
	  .connect = 100000,
	  .offers = 33,
	  .unexpected = 65536 },
	{ .seed = 5,
	  .eager_max = 1,
	  .again = 10,
	  .transfer = 10000,
	  .offers = 64 },
	{ .seed = 6,
	  .longs = true,
	  .eager_max = 65536,
	  .again = 20,
	  .ring = 8,
	  .latency = 3000,
	  .unexpected = 1 << 18 },
};

enum {
	WORLD_WEATHERS = sizeof(world_weather) / sizeof(world_weather[0]),
	WORLD_ASKING = WORLD_WEATHERS - 1, /* long messages are announced */
};

#endif
