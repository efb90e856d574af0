/* SPDX-License-Identifier: MIT */
/*
 * Long waits for members of the own node: whether they live, and sleeping
 * until they have come.
 *
 * No wake-up is lost: who is about to sleep says so in the segment, orders
 * that against its next loads in all processes (the environment's barrier()),
 * looks again, and sleeps on its port. A writer stores its flag, then loads
 * `any`; a notice wakes whoever sleeps. Where a member's system has no such
 * barrier nobody sleeps, but all nap. In virtual time nobody polls, so there
 * `any` is always set, and the environment is told of each flag.
 */
#ifndef BCL_COLLECTIVES_PARK_H
#define BCL_COLLECTIVES_PARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collectives/node.h"

struct bcl_team;

/* In the node's segment. */
struct bcl_sleepers {
	_Atomic uint32_t any; /* set by who sleeps, cleared by who wakes them */
	_Atomic uint32_t member[]; /* by member: it sleeps */
};

/* A wait; zero it at its beginning. */
struct bcl_park {
	unsigned polls;
	uint64_t since;	  /* ns */
	uint64_t audited; /* ns */
	uint64_t told;	  /* what those who sleep know of the own flag line */
	bool down;	  /* about to sleep */
};

/* Once `env` of the node is set. */
void bcl_park_init(struct bcl_node *node);

/*
 * To be called in each poll of a wait: looks from time to time whether the
 * others are alive, and loses the team if not. Lock held.
 */
void bcl_park_watch(struct bcl_team *team, struct bcl_park *park);

/*
 * When waiting is no longer worth the processor's time: the first time says so,
 * for the caller to look again; the second sleeps. True: it has slept.
 */
bool bcl_park_sleep(struct bcl_team *team, struct bcl_park *park);

/* The wait is over, or is worth it again. */
void bcl_park_end(struct bcl_team *team, struct bcl_park *park);

/* Does anybody sleep? To be asked after the own member may have written. */
static inline bool bcl_park_any(const struct bcl_node *node)
{
	/* The compiler keeps the flag's store before, the sleeper's barrier
	 * the processor. */
	atomic_signal_fence(memory_order_seq_cst);
	return atomic_load_explicit(&node->sleepers->any, memory_order_relaxed);
}

/* Wake who does. */
void bcl_park_wake(struct bcl_team *team);

/* The same in each poll of a wait: only if the own member has written since,
 * or those who sleep would wake each other for nothing. */
static inline void bcl_park_tell(struct bcl_team *team,
				 const struct bcl_node *node,
				 struct bcl_park *park)
{
	uint64_t said = node->written + node->left + node->cast;

	if (park->told == said)
		return;
	park->told = said;
	if (bcl_park_any(node))
		bcl_park_wake(team);
}

#endif
