/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Host order: what lies in host memory is in the order of the host's
 * processor. A card of the other order is compiled with BCL_HOST_FOREIGN.
 * And the order in which card and host see what the other has written there.
 */
#ifndef NICFW_ORDER_H
#define NICFW_ORDER_H

#include <stdint.h>

#ifdef BCL_HOST_FOREIGN
static inline uint16_t nic_host16(uint16_t v)
{
	return (uint16_t)(v << 8 | v >> 8);
}

static inline uint32_t nic_host32(uint32_t v)
{
	return v << 24 | (v & 0xff00) << 8 | (v >> 8 & 0xff00) | v >> 24;
}

static inline uint64_t nic_host64(uint64_t v)
{
	return (uint64_t)nic_host32((uint32_t)v) << 32 |
	       nic_host32((uint32_t)(v >> 32));
}
#else
static inline uint16_t nic_host16(uint16_t v)
{
	return v;
}

static inline uint32_t nic_host32(uint32_t v)
{
	return v;
}

static inline uint64_t nic_host64(uint64_t v)
{
	return v;
}
#endif

#if __GCC_ATOMIC_INT_LOCK_FREE == 2
/* Acquire: pairs with the owner's release of what the word counts. */
static inline uint32_t nic_load_first(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Release: pairs with the acquire of who waits for the word. */
static inline void nic_store_last(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}
#else /* a card with a processor of its own: the host moves what it shares */
static inline uint32_t nic_load_first(const uint32_t *word)
{
	return *word;
}

static inline void nic_store_last(uint32_t *word, uint32_t value)
{
	*word = value;
}
#endif

#endif
