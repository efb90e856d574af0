/* SPDX-License-Identifier: MIT */
/*
 * What use of memory that processes share takes, for an environment whose time
 * is virtual: there it takes none by itself. Each function is called after what
 * it is about has been stored.
 */
#ifndef BCL_CHARGE_H
#define BCL_CHARGE_H

#include <stddef.h>

struct bcl_charge {
	/* A message of so many cache lines for who waits for `object`. */
	void (*message)(void *world, int object, unsigned lines);
	/* A word that others on this host may wait for without sleeping on
	 * anything that is woken for it: they look again. */
	void (*flag)(void *world);
	/* So many bytes copied from memory to memory, by this rank. */
	void (*copy)(void *world, size_t bytes);
};

#endif
