/* SPDX-License-Identifier: MIT */
/* What a simulation cannot go on after. */
#ifndef SIM_FAIL_H
#define SIM_FAIL_H

#include <stdbool.h>

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

#endif
