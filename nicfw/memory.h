/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* All that the card core needs of a C library, so that none has to be there. */
#ifndef NICFW_MEMORY_H
#define NICFW_MEMORY_H

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int byte, size_t size);
#endif

#endif
