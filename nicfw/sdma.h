/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* SDMA: requests on their way from host memory to the card. */
#ifndef NICFW_SDMA_H
#define NICFW_SDMA_H

#include <nicfw/card.h>

/* Read what the ports in card->intake have submitted. */
void bcl_nic_sdma_intake(struct bcl_card *card, unsigned *budget);
/*
 * A port has submitted more requests. Take them now, or put the port into
 * card->intake.
 */
void bcl_nic_sdma_rung(struct bcl_card *card, struct nic_port *port,
		       unsigned *budget);
void bcl_nic_sdma_fetched(struct bcl_card *card, struct nic_port *port,
			  enum bcl_dma_result result);

#endif
