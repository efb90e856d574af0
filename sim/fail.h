/* SPDX-License-Identifier: MIT */
/* Errors after which a simulation cannot go on. */
#ifndef SIM_FAIL_H
#define SIM_FAIL_H

#include <stdbool.h>
#include <stdlib.h>

/* Prints the error and aborts: the caller used the simulator wrongly, or there
 * is no memory. */
__attribute__((noreturn)) void sim_fail(const char *what);

static inline void sim_check(bool ok, const char *what)
{
	if (!ok)
		sim_fail(what);
}

static inline void *sim_need(void *memory)
{
	sim_check(memory, "no memory");
	return memory;
}

/*
 * Makes room for one more element in an array of n (NULL: none). The array must
 * have grown by this function alone: the room doubles whenever n is a power of
 * two.
 */
static inline void *sim_grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return sim_need(realloc(array, (n ? 2 * n : 1) * size));
}

#endif
