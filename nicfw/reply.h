/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Requests of a peer to our memory, and the replies. */
#ifndef NICFW_REPLY_H
#define NICFW_REPLY_H

#include <nicfw/objects.h>

/* The outcome of a search for memory of ours, or of a request of a peer. */
enum nic_outcome {
	NIC_OUTCOME_OK,	     /* found; executed */
	NIC_OUTCOME_REFUSED, /* not now: the peer is to try again later */
	NIC_OUTCOME_NOPORT,  /* no such port, channel or request, for good */
	NIC_OUTCOME_MEMORY,  /* the peer may not access the memory */
	NIC_OUTCOME_TRUNCATED,
	NIC_OUTCOME_MALFORMED, /* the message deserves no verdict */
};

/* Execute a request and queue the reply. */
enum nic_outcome bcl_nic_reply_get(struct bcl_card *card, struct nic_conn *conn,
				   const struct bcl_segment_header *segment);
enum nic_outcome bcl_nic_reply_atomic(struct bcl_card *card,
				      struct nic_conn *conn,
				      const struct bcl_segment_header *segment,
				      const uint8_t *payload);
/*
 * Find the channel of a message. Returns OK if it is posted, REFUSED if not
 * yet, NOPORT if no longer or if there is none.
 */
enum nic_outcome bcl_nic_channel_find(struct nic_port *port, uint32_t target,
				      bool reading,
				      struct nic_channel **channel);
/*
 * Our request named by `token`, if it is on this connection and waits for a
 * reply of this kind (op). NULL: none.
 */
struct nic_message *bcl_nic_reply_find(struct bcl_card *card,
				       const struct nic_conn *conn, uint8_t op,
				       uint32_t token);
void bcl_nic_reply_delivered(struct bcl_card *card,
			     struct nic_message *message);
/* The port of a reply is closed: send a failure in place of the data. */
void bcl_nic_reply_fail(struct bcl_card *card, struct nic_message *message);
/*
 * The memory of a reply cannot be read, and its number has been refused: send
 * the failure as a new reply.
 */
void bcl_nic_reply_fault(struct bcl_card *card, struct nic_message *message);

#endif
