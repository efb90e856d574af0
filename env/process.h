/* SPDX-License-Identifier: MIT */
/*
 * Facts about the process that belong neither to a context nor to an object of
 * a context. The library has no other global state.
 */
#ifndef BCL_PROCESS_H
#define BCL_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	BCL_PROCESS_FDS = 1 << 16,
};

struct bcl_process {
	_Atomic uint32_t fork_generation; /* raised in each forked child */
	_Atomic uint32_t contexts;	  /* open contexts */
	/* Forked while there were contexts: every call fails. */
	_Atomic bool orphaned;
	/* Has joined the launcher's job, possible only once. */
	_Atomic bool joined;
};

/* Valid after bcl_process_init(). Hidden, because each call of the library
 * reads it and should not look the symbol up. */
extern struct bcl_process bcl_process __attribute__((visibility("hidden")));

/* Registers the fork handler, once; any thread may call, any number of
 * times. */
void bcl_process_init(void);

static inline uint32_t bcl_fork_generation(void)
{
	return atomic_load_explicit(&bcl_process.fork_generation,
				    memory_order_relaxed);
}

/*
 * True in the forked child of a process that had contexts. Every call of the
 * library fails here, because all that the child inherited belongs to the
 * parent, also the connection to the launcher.
 */
static inline bool bcl_process_orphaned(void)
{
	return atomic_load_explicit(&bcl_process.orphaned,
				    memory_order_relaxed);
}

/*
 * Record a descriptor, after it was opened, whose end tells others that this
 * process has ended. A forked child closes its copy at once, so that the child
 * cannot stand for a parent that was killed. A child keeps its copy only if
 * another thread forks between opening and recording, or if the descriptor is
 * BCL_PROCESS_FDS or greater. Any thread may call.
 */
void bcl_process_record(int fd);

/* Close a descriptor, which may be recorded. Any thread may call. */
void bcl_process_close(int fd);

/* Counts a context that was opened, 1, or closed, -1. */
static inline void bcl_process_count(int contexts)
{
	atomic_fetch_add_explicit(&bcl_process.contexts, (uint32_t)contexts,
				  memory_order_relaxed);
}

/* Cycles since some moment: monotonic on one processor, nearly so across
 * processors. 0: there is no counter that a program may read. */
static inline uint64_t bcl_cycles(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

#endif
