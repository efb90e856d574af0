/* SPDX-License-Identifier: MIT */
/*
 * Facts of the process: what belongs neither to a context nor to anything
 * that hangs off one. There is no other global state in the library.
 */
#ifndef BCL_PROCESS_H
#define BCL_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct bcl_process {
	_Atomic uint32_t fork_generation; /* raised in each forked child */
	_Atomic uint32_t contexts;	  /* open */
	/* Forked while there were contexts: nothing works here. */
	_Atomic bool orphaned;
	/* Its launcher's job: that works once. */
	_Atomic bool joined;
};

/* Valid after bcl_process_init(). Hidden: each call reads it, and it is not to
 * be looked up for that. */
extern struct bcl_process bcl_process __attribute__((visibility("hidden")));

/* Learn the facts, once; any thread, any number of calls. */
void bcl_process_init(void);

static inline uint32_t bcl_fork_generation(void)
{
	return atomic_load_explicit(&bcl_process.fork_generation,
				    memory_order_relaxed);
}

/* Is this the forked child of a process that had contexts? Nothing works here:
 * what it inherited is its parent's, also the connection to the launcher. */
static inline bool bcl_process_orphaned(void)
{
	return atomic_load_explicit(&bcl_process.orphaned,
				    memory_order_relaxed);
}

/* A context was opened, 1, or closed, -1. */
static inline void bcl_process_count(int contexts)
{
	atomic_fetch_add_explicit(&bcl_process.contexts, (uint32_t)contexts,
				  memory_order_relaxed);
}

/* Cycles since some moment: monotonic on one processor, nearly so on all; 0
 * where there is no counter that a program may read. */
static inline uint64_t bcl_cycles(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

#endif
