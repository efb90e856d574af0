/* SPDX-License-Identifier: MIT */
/* In-line copies of a few bytes, without a call of memcpy(). */
#ifndef BCL_COPY_H
#define BCL_COPY_H

#include <stdint.h>
#include <string.h>

/* n <= 16 */
static inline void bcl_copy16(void *to, const void *from, size_t n)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	if (n >= 8) {
		memcpy(t, f, 8);
		memcpy(t + n - 8, f + n - 8, 8);
	} else if (n >= 4) {
		memcpy(t, f, 4);
		memcpy(t + n - 4, f + n - 4, 4);
	} else if (n) {
		t[0] = f[0];
		t[n / 2] = f[n / 2];
		t[n - 1] = f[n - 1];
	}
}

/* 16 <= n <= 48 */
static inline void bcl_copy48(void *to, const void *from, size_t n)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	memcpy(t, f, 16);
	if (n > 32)
		memcpy(t + 16, f + 16, 16);
	memcpy(t + n - 16, f + n - 16, 16);
}

/* n <= 48 */
static inline void bcl_copy_short(void *to, const void *from, size_t n)
{
	if (n > 16)
		bcl_copy48(to, from, n);
	else
		bcl_copy16(to, from, n);
}

#endif
