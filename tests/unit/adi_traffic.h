/* SPDX-License-Identifier: MIT */
/*
 * Random traffic: ranks send messages of random lengths and kinds to random
 * ranks and receive them by random patterns. A cell is what one sender sends
 * to one receiver with one context and tag. All messages must come, once and
 * whole, and those of a cell in the order in which their receives were
 * posted. A receive is posted only if each cell of its pattern has a message
 * for it, whatever the other receives take.
 */
#ifndef ADI_TRAFFIC_H
#define ADI_TRAFFIC_H

#include <bcl/adi.h>

/*
 * The part of one rank; all ranks play with the same seed. pause: `ns` should
 * pass, others may run. Aborts when something is wrong.
 */
void traffic_play(struct bcl_adi *adi, uint64_t seed,
		  void (*pause)(struct bcl_adi *adi, uint64_t ns));

#endif
