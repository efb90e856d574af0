/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Messages that arrive in fragments, early, or by a slow dma. */
#ifndef NICFW_ASSEMBLE_H
#define NICFW_ASSEMBLE_H

#include <nicfw/deliver.h>

enum nic_accept bcl_nic_assemble(struct bcl_card *card, struct nic_conn *conn,
				 unsigned rail,
				 const struct bcl_segment_header *segment,
				 const uint8_t *payload,
				 struct nic_buffer *buffer);
void bcl_nic_assemble_withdraw(struct bcl_card *card, struct nic_conn *conn,
			       uint32_t msg);
/* A dma of payload of the message has ended; `buffer`: the frame, or NULL. */
void bcl_nic_assemble_stored(struct bcl_card *card, struct nic_inbound *inbound,
			     struct nic_buffer *buffer,
			     enum bcl_dma_result result);
/* Refuse messages that make no progress. */
void bcl_nic_assemble_look(struct bcl_card *card, struct nic_conn *conn);
/*
 * The peer (lose) or the port (close) is gone: end the messages that are
 * arriving.
 */
void bcl_nic_assemble_lose(struct bcl_card *card, struct nic_conn *conn,
			   enum bcl_status status);
void bcl_nic_assemble_close(struct bcl_card *card, struct nic_port *port);

#endif
