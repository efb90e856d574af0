/* SPDX-License-Identifier: MIT */
/*
 * A world of ranks in virtual time, on one thread: the environment table
 * (struct bcl_env) of a simulation. A rank is a fiber on a host of its own
 * name. A rank runs until it waits or yields; meanwhile only sim_compute() and
 * looks at the clock take virtual time. When all ranks wait, the clock advances
 * to the next event.
 *
 * A seed determines everything that happens, so that a run can be repeated. A
 * crash ends the process with a line that names seed, rank and time.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdio.h>

#include "env/env.h"
#include "sim/clock.h"

struct sim_world;

/* `card`, `rails`: as in struct bcl_env, may be NULL. */
struct sim_world *sim_world_open(uint64_t seed, const struct bcl_host_ops *card,
				 const struct bcl_rail_kind *const *rails);
/* Frees ranks that have not returned, with their memory. */
void sim_world_close(struct sim_world *world);

/* The environment, which all ranks of the world share. */
const struct bcl_env *sim_world_env(struct sim_world *world);
/* For events of simulated hardware; they are called outside of ranks. */
struct sim_clock *sim_world_clock(struct sim_world *world);

/* Adds a rank on host "node<node>", or on a host of its own. Ranks have numbers
 * from 0 on. */
void sim_world_spawn_on(struct sim_world *world, unsigned node,
			void (*run)(void *arg), void *arg);
void sim_world_spawn(struct sim_world *world, void (*run)(void *arg),
		     void *arg);

/*
 * Must not be called by a rank. Stops the ranks of a node and frees what they
 * have of the environment: objects, memory, shared files. (Memory from malloc()
 * leaks.) Each rank may be started anew by sim_world_restart(), as it was
 * spawned.
 */
void sim_world_kill(struct sim_world *world, unsigned node);
void sim_world_restart(struct sim_world *world, unsigned rank);
/* From now on the rank takes `times` times as long for everything. */
void sim_world_slow(struct sim_world *world, unsigned rank, unsigned times);
/* Must not be called by a rank. The rank does not run before `until`. */
void sim_world_stall(struct sim_world *world, unsigned rank, uint64_t until);

/* Costs of calls of the environment, in ns. */
struct sim_call_costs {
	/*
	 * 0: free, except that 64 looks at the clock in a row take a
	 * microsecond and let all ranks run: a loop that polls the clock must
	 * end.
	 */
	uint64_t now;
	uint64_t wait, yield, wake;
	bool exact; /* false: yields and wakes take up to half as much more, at
		     * random, so that ranks overtake each other */
};

/* The default costs are 20, 50, 200, 200, not exact. */
void sim_world_costs(struct sim_world *world,
		     const struct sim_call_costs *costs);

/*
 * Costs of memory shared by the ranks of a node. Ranks only poll that memory,
 * so in virtual time they sleep until a store, and wake a line's time after it.
 * A store is visible to all ranks at once, in the order in which ranks run. But
 * the receiver of a message goes on no earlier than the time at which the line
 * can have arrived.
 */
struct sim_memory_costs {
	uint64_t line;		/* ns from processor to processor */
	uint64_t send, receive; /* ns of a message, on either side */
	uint64_t attach;	/* ns of a call */
	uint64_t copy;		/* ps per byte: lines after the first, pieces */
};

/* From now on ranks of a node share memory. */
void sim_world_share(struct sim_world *world,
		     const struct sim_memory_costs *costs);

/*
 * Runs all ranks until they have returned. Returns the number of ranks that had
 * not returned after `limit` ns of virtual time, or when all ranks waited
 * forever.
 */
unsigned sim_world_run(struct sim_world *world, uint64_t limit);

/* Sets the file for lines of the log; the default is stderr. NULL: no log. */
void sim_world_log(struct sim_world *world, FILE *to);

/* Sets a configuration variable of the world. The strings are not copied. */
void sim_world_set(struct sim_world *world, const char *name,
		   const char *value);

/* The running rank computes for `ns` ns. On return no rank is behind
 * that time. */
void sim_compute(struct sim_world *world, uint64_t ns);
/* The number of the running rank. */
unsigned sim_self(const struct sim_world *world);
/* The node of the running rank; 0 outside of ranks. */
unsigned sim_node(const struct sim_world *world);

/* For shm.h: the shared files and sockets, and an additional reference to an
 * object. */
struct sim_shm *sim_world_shm(struct sim_world *world);
void sim_world_share_object(struct sim_world *world, int object);
/* Charges the running rank for a copy of `bytes` bytes by attach. */
void sim_attach(struct sim_world *world, size_t bytes);

#endif
