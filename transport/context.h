/* SPDX-License-Identifier: MIT */
/*
 * The inside of a context, for the files of transport/. bcl_open() sets the
 * context up; then it is read-only except for the lists, which `lock` protects.
 */
#ifndef BCL_CONTEXT_H
#define BCL_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include <bcl/bcl.h>
#include <bcl/card_abi.h>

#include "base/base.h"
#include "card/memory.h"
#include "card/ops.h"
#include "env/config.h"
#include "env/counters.h"
#include "env/env.h"
#include "env/log.h"
#include "env/process.h"
#include "env/random.h"

struct bcl_helper; /* transport/helper.c */
struct bcl_memory; /* transport/memory.h */
struct bcl_port;   /* transport/port.h */

struct bcl_context {
	const struct bcl_env *env;
	unsigned flags;
	struct bcl_config config;
	uint64_t card_id;
	uint64_t incarnation;
	uint8_t key[BCL_KEY_SIZE];
	uint64_t host; /* as in struct bcl_address */
	unsigned local_ranks;
	bool crowded; /* more ranks than processors */
	/* ns; in a longer yield another program computes, not only the ranks
	 * that share the processor */
	uint64_t yield_long;
	bool barrier; /* env->barrier() works, for this process, too */
	uint32_t fork_generation;

	struct bcl_host *card;	    /* NULL: no card could be opened */
	char no_card[BCL_HOST_WHY]; /* why there is no card */
	/* which card it is, and why; for people */
	char which_card[BCL_HOST_WHY + 32];
	struct bcl_helper *helper; /* NULL: BCL_HELPER=off, or fibers */
	_Alignas(64) _Atomic uint64_t presence; /* counts the program's calls */
	atomic_bool deferred;	/* a doorbell was held back since the helper
				 * looked */
	_Atomic uint32_t armed; /* ports whose owner sleeps or is about to */
	_Atomic uint32_t connected; /* peers that are up on shared memory */

	struct bcl_random random;

	pthread_mutex_t lock;	     /* lists, counter pages */
	pthread_mutex_t memory_lock; /* the table of memories; a thread takes
				      * it after `lock` and before the card's
				      * lock */
	struct bcl_port *ports;
	struct bcl_memory_table memories;
	struct bcl_counter_page *counters;
	int counters_fd;
};

/* For assertions: true if a thread holds the mutex, which is not recursive. A
 * mutex does not say which thread. */
static inline bool bcl_is_locked(const pthread_mutex_t *mutex)
{
	pthread_mutex_t *own = (pthread_mutex_t *)(uintptr_t)mutex;

	if (pthread_mutex_trylock(own))
		return true;
	pthread_mutex_unlock(own);
	return false;
}

/* As bcl_open(), in this environment, for a process with this rank in its job;
 * -1: without one. */
enum bcl_status bcl_context_open(const struct bcl_env *env,
				 const struct bcl_context_options *options,
				 int rank, struct bcl_context **context);

/* Counts a call of the program, so that the helper thread sees that the
 * program is here. All calls but bcl_send() count. */
static inline void bcl_presence(struct bcl_context *context)
{
	uint64_t calls =
		atomic_load_explicit(&context->presence, memory_order_relaxed);

	atomic_store_explicit(&context->presence, calls + 1,
			      memory_order_relaxed);
}

/* ---- checks of the public functions ---- */

/* ARG: there is no context; FORKED: the context belongs to the parent. */
static inline enum bcl_status
bcl_context_usable(const struct bcl_context *context)
{
	if (!context)
		return BCL_ERR_ARG;
	return context->fork_generation != bcl_fork_generation()
		       ? BCL_ERR_FORKED
		       : BCL_OK;
}

/* True if there are bytes, but no buffer. */
static inline bool bcl_nowhere(const void *buffer, size_t length)
{
	return bcl_unlikely(!buffer && length);
}

#endif
