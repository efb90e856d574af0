/* SPDX-License-Identifier: MIT */
/*
 * Numbers that cannot be guessed. The system gives a key once, when a context
 * opens. After that a number costs no system call, and drawing cannot fail.
 * Each number is the SipHash of a counter by the key.
 */
#ifndef BCL_RANDOM_H
#define BCL_RANDOM_H

#include <stdatomic.h>

#include "env/env.h"

struct bcl_random {
	uint8_t key[16];
	_Atomic uint64_t drawn;
};

/* False: the system has no random numbers. */
bool bcl_random_open(struct bcl_random *random, const struct bcl_env *env);
/* Draws a number, never 0. Any thread may call. */
uint64_t bcl_random_draw(struct bcl_random *random);

#endif
