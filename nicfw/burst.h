/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Bursts of frames that come in. */
#ifndef NICFW_BURST_H
#define NICFW_BURST_H

#include <nicfw/card.h>

/*
 * Take the frames behind `first` that continue its long message. RECV has just
 * taken `first`. Returns how many of the next n frames were taken.
 */
unsigned bcl_nic_burst(struct bcl_card *card, unsigned rail,
		       const struct bcl_rx_frame *first, unsigned n);

#endif
