/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Payload of messages on its way from host memory to a frame. */
#ifndef NICFW_PAYLOAD_H
#define NICFW_PAYLOAD_H

#include <nicfw/card.h>

/*
 * Append `length` bytes of a message to a frame: copied into the head, or as
 * parts. Returns false on a memory fault.
 */
bool bcl_nic_payload(struct bcl_card *card, struct nic_message *message,
		     uint32_t offset, uint32_t length,
		     struct bcl_tx_frame *frame, struct nic_buffer *buffer);

#endif
