/* SPDX-License-Identifier: MIT */
/* What a simulation cannot go on after. */
#ifndef SIM_FAIL_H
#define SIM_FAIL_H

#include <stdbool.h>
#include <stdlib.h>

/* The simulator was used wrongly, or has no memory: say so and abort. */
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
 * Room for one more in an array of n (NULL: none) that grew by this function
 * alone: it has twice as much whenever n is a power of two.
 */
static inline void *sim_grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return sim_need(realloc(array, (n ? 2 * n : 1) * size));
}

#endif
