/* SPDX-License-Identifier: MIT */
/* The tiers of tests: tests/local.mk. */
#ifndef BCL_TESTS_TIER_H
#define BCL_TESTS_TIER_H

#include <stdbool.h>
#include <stdlib.h>

/* Whether this is the long one, so that a test does more of the same. */
static inline bool tier_long(void)
{
	const char *text = getenv("LONG");

	return text && *text;
}

#endif
