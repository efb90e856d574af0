/* SPDX-License-Identifier: MIT */
/*
 * Facts of the process: what belongs neither to a context nor to anything
 * that hangs off one. There is no other global state in the library.
 */
#ifndef BCL_PROCESS_H
#define BCL_PROCESS_H

#include <stdatomic.h>
#include <stdint.h>

struct bcl_process {
	_Atomic uint32_t fork_generation; /* raised in each forked child */
};

/* Valid after bcl_process_init(). */
extern struct bcl_process bcl_process;

/* Learn the facts, once; any thread, any number of calls. */
void bcl_process_init(void);

static inline uint32_t bcl_fork_generation(void)
{
	return atomic_load_explicit(&bcl_process.fork_generation,
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
