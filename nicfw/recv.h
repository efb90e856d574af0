/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* RECV: checks frames that come in. */
#ifndef NICFW_RECV_H
#define NICFW_RECV_H

#include <nicfw/card.h>

void bcl_nic_recv(struct bcl_card *card, unsigned rail,
		  const struct bcl_rx_frame *frame);
/* Apply card->answered. */
void bcl_nic_recv_answers(struct bcl_card *card);

#endif
