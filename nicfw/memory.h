/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The only functions of a C library that the card core calls. */
#ifndef NICFW_MEMORY_H
#define NICFW_MEMORY_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int byte, size_t size);
#endif

/*
 * Under the address sanitizer the card overwrites its own memory when it is
 * given back, so that a user of stale memory meets invalid pointers. The
 * sanitizer itself knows only the arena as a whole.
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
