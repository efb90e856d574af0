/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The card, and small helpers for all its files.
 *
 * The engines: SDMA (sdma.c) fetches requests and payload from the host. SEND
 * (send.c) chooses, packs and transmits. RECV (recv.c) checks frames and hands
 * out their segments. STORE (dma.c) moves payload to the host. With
 * BCL_HAL_GATHER each call runs straight through the engines. Otherwise they
 * meet at jobs, one for each pending dma.
 *
 * Each file declares its functions in the header of its name. Short functions
 * that each short message needs are inline there.
 *
 * Names known in nicfw/ only begin with nic_, or with bcl_nic_ where the linker
 * sees them.
 */
#ifndef NICFW_CARD_H
#define NICFW_CARD_H

#include <nicfw/objects.h>

#define nic_count(card, name) ((card)->counters[BCL_CARD_##name]++)

/*
 * An exponential back-off: `wait` (ns), doubled `times` times, at most
 * `longest` and at most UINT32_MAX.
 */
static inline uint32_t nic_backoff(uint64_t wait, unsigned times,
				   uint64_t longest)
{
	if (longest > UINT32_MAX)
		longest = UINT32_MAX;
	while (times-- && wait < longest)
		wait *= 2;
	return (uint32_t)(wait < longest ? wait : longest);
}

/*
 * A time in units of 2^20 ns, which takes half the memory. Wraps, but is never
 * 0.
 */
static inline uint32_t nic_coarse(uint64_t ns)
{
	return bcl_max32((uint32_t)(ns >> 20), 1);
}

static inline uint32_t nic_pad8(uint32_t n)
{
	return (n + 7) & ~7u;
}

#endif
