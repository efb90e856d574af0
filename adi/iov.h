/* SPDX-License-Identifier: MIT */
/* Lists of pieces of memory. */
#ifndef BCL_ADI_IOV_H
#define BCL_ADI_IOV_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "base/base.h"

/* bcl_adi_iov_length() for several pieces. */
bool bcl_adi_iov_sum(const struct iovec *iov, unsigned niov, size_t *length);

/* Stores the length of all pieces. Returns false if the list is not valid. */
static inline bool bcl_adi_iov_length(const struct iovec *iov, unsigned niov,
				      size_t *length)
{
	if (niov && bcl_unlikely(!iov))
		return false;
	if (niov > 1)
		return bcl_adi_iov_sum(iov, niov, length);
	*length = niov ? iov->iov_len : 0;
	return !*length || iov->iov_base;
}

/* Copies the pieces to one place. */
void bcl_adi_gather(void *to, const struct iovec *iov, unsigned niov);
/* Copies from one place to the pieces. */
void bcl_adi_scatter(const struct iovec *iov, unsigned niov, const void *from,
		     size_t length);

#endif
