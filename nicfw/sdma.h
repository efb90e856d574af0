/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* SDMA: requests and payload on their way from host memory to the card. */
#ifndef NICFW_SDMA_H
#define NICFW_SDMA_H

#include <nicfw/objects.h>

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
/*
 * Append `length` bytes of a message to a frame: copied into the head, or as
 * parts. Returns false on a memory fault.
 */
bool bcl_nic_sdma_payload(struct bcl_card *card, struct nic_message *message,
			  uint32_t offset, uint32_t length,
			  struct bcl_tx_frame *frame,
			  struct nic_buffer *buffer);

#endif
