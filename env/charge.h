/* SPDX-License-Identifier: MIT */
/*
 * The cost of using shared memory, for an environment with virtual time, in
 * which a store or a copy takes no time by itself. The library calls each
 * function after it has stored the data.
 */
#ifndef BCL_CHARGE_H
#define BCL_CHARGE_H

#include <stddef.h>

struct bcl_charge {
	/* The caller has sent a message of `lines` cache lines to the thread
	 * that waits for `object`. */
	void (*message)(void *world, int object, unsigned lines);
	/*
	 * The caller has stored a flag word. Threads of other processes may
	 * wait for the word although no object is woken: the environment makes
	 * them look again.
	 */
	void (*flag)(void *world);
	/* The caller has copied `bytes` bytes from memory to memory. */
	void (*copy)(void *world, size_t bytes);
};

#endif
