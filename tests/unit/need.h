/* SPDX-License-Identifier: MIT */
/*
 * Assertions for forked processes and for threads, where assertions of the
 * check library do not work: a failed assertion prints the condition and
 * aborts. Also patterns of bytes for buffers.
 */
#ifndef BCL_TESTS_NEED_H
#define BCL_TESTS_NEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define need(condition)                                                  \
	((condition) ? (void)0                                           \
		     : (fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, \
				__LINE__, #condition),                   \
			abort()))

#define need_equal(a, b)                                                     \
	do {                                                                 \
		long long need_a = (long long)(a), need_b = (long long)(b);  \
                                                                             \
		if (need_a != need_b) {                                      \
			fprintf(stderr, "%s:%d: %s is %lld, %s is %lld\n",   \
				__FILE__, __LINE__, #a, need_a, #b, need_b); \
			abort();                                             \
		}                                                            \
	} while (0)

static inline unsigned char pattern_byte(size_t i, unsigned seed)
{
	return (unsigned char)(i * 31 + (i >> 8) * 7 + seed);
}

static inline void pattern_fill(void *buffer, size_t length, unsigned seed)
{
	unsigned char *p = buffer;
	size_t i;

	for (i = 0; i < length; i++)
		p[i] = pattern_byte(i, seed);
}

static inline bool pattern_is(const void *buffer, size_t length, unsigned seed)
{
	const unsigned char *p = buffer;
	size_t i;

	for (i = 0; i < length; i++) {
		if (p[i] != pattern_byte(i, seed))
			return false;
	}
	return true;
}

#endif
