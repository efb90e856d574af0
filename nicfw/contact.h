/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Contact with nodes: how connections are called, and how they end. */
#ifndef NICFW_CONTACT_H
#define NICFW_CONTACT_H

#include <nicfw/conn.h>
#include <nicfw/node.h>

enum bcl_status bcl_nic_contact_call(struct bcl_card *card,
				     struct nic_node *node);

/* Start a handshake unless a connection is there or in the making. */
static inline enum bcl_status nic_contact_want(struct bcl_card *card,
					       struct nic_node *node)
{
	return node->conn && node->conn->state >= NIC_CONN_UP
		       ? BCL_OK
		       : bcl_nic_contact_call(card, node);
}

/* Serve nodes that wait for a connection: memory may be free, or time over. */
void bcl_nic_contact_serve(struct bcl_card *card);
/* End the node's connection, and all its messages with `status`. */
void bcl_nic_contact_lose(struct bcl_card *card, struct nic_node *node,
			  enum bcl_node_state state, enum bcl_status status);
/* End a connection without a loss. */
void bcl_nic_contact_over(struct bcl_card *card, struct nic_conn *conn);
/* The candidate `conn` is proved: it replaces the node's connection. */
void bcl_nic_contact_replace(struct bcl_card *card, struct nic_node *node,
			     const struct nic_conn *conn);
/*
 * The end of the peer is known, as `why` tells (BCL_OK: by BYE). The connection
 * stays ENDING for a short time, for frames that are still in the rails.
 */
void bcl_nic_contact_end(struct bcl_card *card, struct nic_conn *conn,
			 enum bcl_status why);
/* No more frames are expected on a connection that is ENDING. */
void bcl_nic_contact_ended(struct bcl_card *card, struct nic_conn *conn);
/* BYE came by `rail`. */
void bcl_nic_contact_bye(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail);
/* PARK came by `rail`. */
void bcl_nic_contact_park(struct bcl_card *card, struct nic_conn *conn,
			  unsigned rail);

#endif
