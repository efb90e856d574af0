/* SPDX-License-Identifier: MIT */
/* Lists of pieces of memory: their length, and copies from and to the pieces.
 */
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "adi/iov.h"

bool bcl_adi_iov_sum(const struct iovec *iov, unsigned niov, size_t *length)
{
	size_t sum = 0;
	unsigned i;

	if (niov > USHRT_MAX)
		return false;
	for (i = 0; i < niov; i++) {
		if (__builtin_add_overflow(sum, iov[i].iov_len, &sum))
			return false;
		if (iov[i].iov_len && !iov[i].iov_base)
			return false;
	}
	*length = sum;
	return true;
}

void bcl_adi_gather(void *to, const struct iovec *iov, unsigned niov)
{
	char *p = to;

	for (; niov; niov--, iov++) {
		if (iov->iov_len)
			memcpy(p, iov->iov_base, iov->iov_len);
		p += iov->iov_len;
	}
}

void bcl_adi_scatter(const struct iovec *iov, unsigned niov, const void *from,
		     size_t length)
{
	const char *p = from;
	size_t n;

	for (; niov && length; niov--, iov++) {
		n = iov->iov_len < length ? iov->iov_len : length;
		if (n)
			memcpy(iov->iov_base, p, n);
		p += n;
		length -= n;
	}
}
