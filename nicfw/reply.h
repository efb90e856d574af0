/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Requests of a peer to our memory, and the replies. */
#ifndef NICFW_REPLY_H
#define NICFW_REPLY_H

#include <nicfw/channel.h>

/* Execute a request and queue the reply. */
enum nic_outcome bcl_nic_reply_get(struct bcl_card *card, struct nic_conn *conn,
				   const struct bcl_segment_header *segment);
enum nic_outcome bcl_nic_reply_atomic(struct bcl_card *card,
				      struct nic_conn *conn,
				      const struct bcl_segment_header *segment,
				      const uint8_t *payload);
/*
 * Our request named by `token`, if it is on this connection and waits for a
 * reply of this kind (op). NULL: none.
 */
struct nic_message *bcl_nic_reply_find(struct bcl_card *card,
				       const struct nic_conn *conn, uint8_t op,
				       uint32_t token);

#endif
