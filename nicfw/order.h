/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Byte order and memory order between card and host. Data in host memory has
 * the byte order of the host's processor. A card of the other byte order is
 * compiled with BCL_HOST_FOREIGN.
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
/* Acquire: pairs with the owner's release of the data that the word counts. */
static inline uint32_t nic_load_first(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Release: pairs with the acquire of the reader who waits for the word. */
static inline void nic_store_last(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/*
 * Sequentially consistent: the word that the card stores, and the word of the
 * owner that the card loads then (bcl/card_abi.h, again[] and postings[]).
 */
static inline uint32_t nic_load_after(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline void nic_store_before(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}
#else /* a card with a processor of its own: the host moves shared data */
static inline uint32_t nic_load_first(const uint32_t *word)
{
	return *word;
}

static inline void nic_store_last(uint32_t *word, uint32_t value)
{
	*word = value;
}

static inline uint32_t nic_load_after(const uint32_t *word)
{
	return *word;
}

static inline void nic_store_before(uint32_t *word, uint32_t value)
{
	*word = value;
}
#endif

#endif
