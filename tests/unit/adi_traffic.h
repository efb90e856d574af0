/* SPDX-License-Identifier: MIT */
/*
 * Random traffic: each rank sends messages of random lengths and kinds to
 * random ranks, and receives messages by random patterns. A cell is the
 * messages from a sender to a receiver with the same context and tag. Each
 * message must arrive once and whole, and the messages of a cell must match
 * receives in the order in which the receives were posted. A rank posts a
 * receive only if each cell of the pattern has a message left for the receive,
 * whichever messages the pending receives take.
 */
#ifndef ADI_TRAFFIC_H
#define ADI_TRAFFIC_H

#include <bcl/adi.h>

/*
 * Plays the part of a rank. All ranks call the function with the same seed.
 * pause() must let `ns` pass, and must let the remaining ranks run meanwhile.
 * Aborts at the first error.
 */
void traffic_play(struct bcl_adi *adi, uint64_t seed,
		  void (*pause)(struct bcl_adi *adi, uint64_t ns));

#endif
