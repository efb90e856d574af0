/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Small helpers for every floor. The card includes this header, so the header
 * needs nothing of a system.
 */
#ifndef BCL_BASE_H
#define BCL_BASE_H

#include <stddef.h>
#include <stdint.h>

/*
 * States a rule of our own code. Builds with assertions (configure
 * --enable-assertions; on with a sanitizer) stop where the condition is false.
 * Other builds do not evaluate the condition, so a condition has no side
 * effects. A peer, a user or the system must not be able to break the rule.
 */
#if !defined(BCL_ASSERTIONS)
#define bcl_assert(condition) ((void)sizeof(!(condition)))
#elif __STDC_HOSTED__
#include <assert.h>
#define bcl_assert(condition) assert(condition)
#else
#define bcl_assert(condition) ((condition) ? (void)0 : __builtin_trap())
#endif

#define bcl_likely(condition)	__builtin_expect(!!(condition), 1)
#define bcl_unlikely(condition) __builtin_expect(!!(condition), 0)

/* Returns the object of which `pointer` points to the member. */
#define bcl_container_of(pointer, type, member) \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static inline uint32_t bcl_min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t bcl_max32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline size_t bcl_min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

#endif
