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

/*
 * With the address sanitizer the card's own memory is spoilt when it is given
 * back: whoever goes on with it meets pointers to nowhere. The sanitizer knows
 * of the whole arena only.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NIC_SPOILS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define NIC_SPOILS 1
#endif

static inline void nic_spoil(void *memory, size_t size)
{
#ifdef NIC_SPOILS
	memset(memory, 0xd5, size);
#else
	(void)memory;
	(void)size;
#endif
}

#endif
