/* SPDX-License-Identifier: MIT */
/*
 * Numbers that nobody can guess. The system is asked for a key once, when a
 * context opens; then they cost no system call, and cannot fail.
 */
#ifndef BCL_RANDOM_H
#define BCL_RANDOM_H

#include <stdatomic.h>

#include "transport/env/env.h"

struct bcl_random {
	uint8_t key[16];
	_Atomic uint64_t drawn;
};

/* False: the system has none. */
bool bcl_random_open(struct bcl_random *random, const struct bcl_env *env);
/* Any thread. Never 0. */
uint64_t bcl_random_draw(struct bcl_random *random);

#endif
