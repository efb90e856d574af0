/* SPDX-License-Identifier: MIT */
/*
 * A world of ranks as fibers on one thread, in virtual time: an environment
 * table for tests. A fiber runs until it waits or yields; when all wait, the
 * clock jumps to the earliest time that one waits for. The order is that of
 * the world's random numbers, so that a seed replays a run exactly.
 */
#ifndef BCL_FIBER_ENV_H
#define BCL_FIBER_ENV_H

#include "transport/env/env.h"

struct fiber_world;

/* rails: as in struct bcl_env, may be NULL. Prints the seed if a test dies. */
struct fiber_world *fiber_world_open(uint64_t seed,
				     const struct bcl_rail_kind *const *rails);
void fiber_world_close(struct fiber_world *world);

/* A fiber, on a host of its own name ("node0", ...); runs from the next
 * fiber_world_run() on. */
void fiber_spawn(struct fiber_world *world, void (*run)(void *arg), void *arg);

/* The environment of the world: the same for all of its fibers. */
const struct bcl_env *fiber_world_env(struct fiber_world *world);

/*
 * Run all fibers until they have returned. The number of those that had not
 * when `limit` ns of virtual time were over, or when all waited for ever.
 */
unsigned fiber_world_run(struct fiber_world *world, uint64_t limit);

/* A configuration variable of the world. The strings are not copied. */
void fiber_setenv(struct fiber_world *world, const char *name,
		  const char *value);

/* Virtual time passes: what a fiber computes costs this much. */
void fiber_compute(struct fiber_world *world, uint64_t ns);

/*
 * Call back at a virtual time, from the world's loop (not in a fiber): how
 * simulated links deliver. The callback may wake objects.
 */
void fiber_at(struct fiber_world *world, uint64_t time, void (*call)(void *arg),
	      void *arg);

#endif
