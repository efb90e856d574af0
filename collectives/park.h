/* SPDX-License-Identifier: MIT */
/*
 * Long waits for members of the own node: a waiting member checks that the
 * others live, and sleeps until they have written.
 *
 * No wake-up is lost. A member that is about to sleep says so in the segment,
 * orders that store before its next loads with a barrier in all processes (the
 * environment's barrier()), looks at the flags again, and sleeps on its port. A
 * writer stores its flag and then loads `any`; if the word is set the writer
 * sends an out-of-band message, which wakes the sleepers. If the system of some
 * member has no such barrier, no member of the node sleeps, but all nap. In
 * virtual time nobody polls: there `any` is always set, and the environment is
 * told of each flag.
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
	_Atomic uint32_t any; /* set by a sleeper, cleared by the writer that
				 wakes the sleepers */
	_Atomic uint32_t member[]; /* by member: true while the member sleeps */
};

/* The state of a wait; zero it when the wait begins. */
struct bcl_park {
	unsigned polls;
	uint64_t since;	  /* ns */
	uint64_t audited; /* ns */
	uint64_t told; /* progress of the own flag line at the last wake-up */
	bool down;     /* the member said that it is about to sleep */
};

/* To be called once `env` of the node is set. */
void bcl_park_init(struct bcl_node *node);

/*
 * To be called in each poll of a wait: looks from time to time whether the
 * other members are alive, and loses the team if not. Lock held.
 */
void bcl_park_watch(struct bcl_team *team, struct bcl_park *park);

/*
 * To be called when waiting is no longer worth the processor's time. The first
 * call says that the member is about to sleep, and the caller looks again; the
 * second call sleeps. Where members cannot sleep each call naps. Returns true
 * if the member has slept or napped.
 */
bool bcl_park_sleep(struct bcl_team *team, struct bcl_park *park);

/* The wait is over, or polling is worth the processor's time again. */
void bcl_park_end(struct bcl_team *team, struct bcl_park *park);

/* True if a member may sleep. To be called after the own member may have
 * written. */
static inline bool bcl_park_any(const struct bcl_node *node)
{
	/* The fence keeps the flag's store before this load in the compiler,
	 * the sleeper's barrier() in the processor. */
	atomic_signal_fence(memory_order_seq_cst);
	return atomic_load_explicit(&node->sleepers->any, memory_order_relaxed);
}

/* Wake all members that sleep. */
void bcl_park_wake(struct bcl_team *team);

/* To be called in each poll of a wait: wakes the sleepers only if the own
 * member has written since the last call. Otherwise sleepers would wake each
 * other for nothing. */
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
