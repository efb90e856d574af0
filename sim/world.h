/* SPDX-License-Identifier: MIT */
/*
 * A world of ranks in virtual time, on one thread: the environment table
 * (struct bcl_env) of a simulation. A rank is a fiber, on a host of its own
 * name; it runs until it waits or yields, and what it does meanwhile takes no
 * time but what sim_compute() and looks at the clock cost. When all wait, the
 * clock goes to the next event.
 *
 * A seed decides everything that happens, so that a run can be repeated. A
 * crash ends the process and says seed, rank and time.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdio.h>

#include "sim/clock.h"
#include "transport/env/env.h"

struct sim_world;

/* card, rails: as in struct bcl_env, may be NULL. */
struct sim_world *sim_world_open(uint64_t seed, const struct bcl_host_ops *card,
				 const struct bcl_rail_kind *const *rails);
/* Ranks that have not returned are forgotten, with their memory. */
void sim_world_close(struct sim_world *world);

/* The environment of the world: the same for all of its ranks. */
const struct bcl_env *sim_world_env(struct sim_world *world);
/* For events of simulated hardware: they are called outside of ranks. */
struct sim_clock *sim_world_clock(struct sim_world *world);

/* One more rank, on host "node<node>"; or on one of its own. Ranks have numbers
 * from 0 on. */
void sim_world_spawn_on(struct sim_world *world, unsigned node,
			void (*run)(void *arg), void *arg);
void sim_world_spawn(struct sim_world *world, void (*run)(void *arg),
		     void *arg);

/*
 * Not from a rank. The ranks of a node run no further, and what they have of
 * the environment is gone: objects, memory, what they share. (What they have
 * from malloc() is lost.) Each of them may begin anew, as it was spawned.
 */
void sim_world_kill(struct sim_world *world, unsigned node);
void sim_world_restart(struct sim_world *world, unsigned rank);
/* From now on it takes so many times as long for what it does. */
void sim_world_slow(struct sim_world *world, unsigned rank, unsigned times);
/* Not from a rank. It does not run before that time. */
void sim_world_stall(struct sim_world *world, unsigned rank, uint64_t until);

/* What calls of the environment take, in ns. */
struct sim_call_costs {
	/* 0: none, but 64 looks in a row take a microsecond, and others have
	 * their turn: a loop that looks at the clock must end */
	uint64_t now;
	uint64_t wait, yield, wake;
	bool exact; /* else yields and wakes take up to half as much more, so
		     * that ranks overtake one another */
};

/* They are 20, 50, 200, 200, not exact, unless told. */
void sim_world_costs(struct sim_world *world,
		     const struct sim_call_costs *costs);

/*
 * What memory shared by the ranks of a node takes. Ranks poll it without
 * waiting for anything else, so they sleep in virtual time, and are woken a
 * line's time after the store. A store is there for others at once, in the
 * order in which ranks run; but who gets a message goes on no earlier than when
 * its line can have come.
 */
struct sim_memory_costs {
	uint64_t line;		/* ns from processor to processor */
	uint64_t send, receive; /* ns of a message for either */
	uint64_t attach;	/* ns of a call */
	uint64_t copy;		/* ps per byte: lines after the first, pieces */
};

/* From now on ranks of a node share memory. */
void sim_world_share(struct sim_world *world,
		     const struct sim_memory_costs *costs);

/*
 * Run all ranks until they have returned. The number of those that had not
 * when `limit` ns of virtual time were over, or when all waited for ever.
 */
unsigned sim_world_run(struct sim_world *world, uint64_t limit);

/* Where lines of the log go; to stderr unless told. NULL: nowhere. */
void sim_world_log(struct sim_world *world, FILE *to);

/* A configuration variable of the world; NULL: none. The strings are not
 * copied. */
void sim_world_set(struct sim_world *world, const char *name,
		   const char *value);

/* The rank that runs computes for so many ns; then all others have come as
 * far. */
void sim_compute(struct sim_world *world, uint64_t ns);
/* The number of the rank that runs. */
unsigned sim_self(const struct sim_world *world);
/* Its node; 0 outside of ranks. */
unsigned sim_node(const struct sim_world *world);

/* For shm.h: what ranks share, and an object that is one more's to close. */
struct sim_shm *sim_world_shm(struct sim_world *world);
void sim_world_share_object(struct sim_world *world, int object);
/* The rank that runs copies so many bytes by attach. */
void sim_attach(struct sim_world *world, size_t bytes);

#endif
