/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Contact with nodes: connections are called, and end by parting or with the
 * loss of the node. The states of a node are in node.c, those of a connection
 * in conn.c.
 */
#include <nicfw/contact.h>

#include <nicfw/assemble.h>
#include <nicfw/card.h>
#include <nicfw/flow.h>
#include <nicfw/frame.h>
#include <nicfw/hello.h>
#include <nicfw/message.h>

enum {
	END_WAIT = 10, /* times rto_min: until the rails count as empty */
};

void bcl_nic_contact_lose(struct bcl_card *card, struct nic_node *node,
			  enum bcl_node_state state, enum bcl_status status)
{
	struct nic_conn *conn = node->conn;

	bcl_nic_message_lose(card, node, status);
	if (conn) {
		bcl_nic_assemble_lose(card, conn, status);
		if (conn->state >= NIC_CONN_UP)
			nic_count(card, lost);
		bcl_nic_conn_free(card, conn);
	}
	bcl_nic_node_lost(card, node, state, status);
}

enum bcl_status bcl_nic_contact_call(struct bcl_card *card,
				     struct nic_node *node)
{
	uint32_t rails = 0, i;

	if ((node->conn && node->state == BCL_NODE_CONNECTING) ||
	    !nic_list_empty(&node->wanting))
		return BCL_OK;
	for (i = 0; i < BCL_RAILS_MAX; i++)
		if (card->rail[i].up)
			rails |= 1u << i;
	/* A node that has called may still prove itself in time. */
	if (!(node->rails & rails) && !node->conn) {
		bcl_nic_contact_lose(card, node, BCL_NODE_LOST,
				     BCL_ERR_UNREACHABLE);
		return BCL_ERR_UNREACHABLE;
	}
	if (!node->conn)
		node->conn = bcl_nic_conn_make(card, node);
	if (!node->conn) {
		nic_list_append(&card->wanting, &node->wanting);
		node->expires = card->now + card->config.peer_timeout;
		card->wanting_at = card->now + card->config.rto_min;
		bcl_nic_node_set(card, node, BCL_NODE_CONNECTING, BCL_OK);
		return BCL_OK;
	}
	node->conn->expires = card->now + card->config.peer_timeout;
	bcl_nic_node_set(card, node, BCL_NODE_CONNECTING, BCL_OK);
	bcl_nic_hello_call(card, node->conn);
	return BCL_OK;
}

void bcl_nic_contact_serve(struct bcl_card *card)
{
	struct nic_node *node;

	card->wanting_at = card->now + card->config.rto_min;
	while ((node = nic_list_first(&card->wanting, struct nic_node,
				      wanting))) {
		if (node->conn) { /* the peer has called */
			nic_list_remove(&node->wanting);
			nic_contact_want(card, node);
			continue;
		}
		if (card->now >= node->expires) {
			bcl_nic_contact_lose(card, node, BCL_NODE_LOST,
					     BCL_ERR_FULL);
			continue;
		}
		nic_list_remove(&node->wanting);
		node->conn = bcl_nic_conn_make(card, node);
		if (!node->conn) {
			nic_list_push(&card->wanting, &node->wanting);
			return;
		}
		bcl_nic_hello_call(card, node->conn);
	}
}

/*
 * End a connection of which nothing was lost. Requests go by the next
 * connection to the node, which is the candidate if there is one.
 */
static void leave(struct bcl_card *card, struct nic_conn *conn,
		  enum bcl_status status)
{
	struct nic_node *node = conn->node;

	bcl_nic_assemble_lose(card, conn, status);
	bcl_nic_message_drop_replies(card, conn);
	bcl_nic_flow_rewind(card, node);
	bcl_nic_conn_free(card, conn);
}

void bcl_nic_contact_over(struct bcl_card *card, struct nic_conn *conn)
{
	struct nic_node *node = conn->node;

	bcl_assert(node->conn == conn && conn->state >= NIC_CONN_UP);
	/* The peer may have begun a message before PARK reached it. */
	leave(card, conn, BCL_ERR_DEAD);
	if (node->state == BCL_NODE_LOST)
		return;
	bcl_nic_node_set(card, node, BCL_NODE_CLOSED, BCL_OK);
	if (node->messages)
		nic_contact_want(card, node);
}

void bcl_nic_contact_replace(struct bcl_card *card, struct nic_node *node,
			     const struct nic_conn *conn)
{
	struct nic_conn *old = node->conn;

	/*
	 * Nothing is lost if the incarnation is the same and no request is
	 * open.
	 */
	if (old->incarnation == conn->incarnation && !bcl_nic_conn_owed(old)) {
		leave(card, old, BCL_ERR_RESET);
	} else {
		bcl_nic_contact_lose(card, node, BCL_NODE_LOST, BCL_ERR_RESET);
	}
}

void bcl_nic_contact_ended(struct bcl_card *card, struct nic_conn *conn)
{
	enum bcl_status why = (enum bcl_status)conn->why;

	bcl_assert(conn->state == NIC_CONN_ENDING);
	if (why == BCL_OK && bcl_nic_conn_owed(conn))
		why = BCL_ERR_DEAD;
	if (why) {
		bcl_nic_contact_lose(card, conn->node, BCL_NODE_LOST, why);
		return;
	}
	bcl_nic_contact_over(card, conn);
}

void bcl_nic_contact_end(struct bcl_card *card, struct nic_conn *conn,
			 enum bcl_status why)
{
	if (conn->state == NIC_CONN_PARKING) {
		nic_count(card, evicted);
		bcl_nic_contact_over(card, conn);
	} else if (conn->node->conn != conn) {
		bcl_nic_conn_free(card, conn);
	} else if (conn->state < NIC_CONN_UP) {
		bcl_nic_contact_lose(card, conn->node, BCL_NODE_LOST, why);
	} else if (conn->state != NIC_CONN_ENDING) {
		conn->state = NIC_CONN_ENDING;
		conn->why = (uint8_t)why;
		conn->expires = card->now + END_WAIT * card->config.rto_min;
		nic_conn_due(card, conn, conn->expires);
	}
}

void bcl_nic_contact_bye(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail)
{
	unsigned left = 0;

	if (conn->state == NIC_CONN_PARKING || conn->node->conn != conn) {
		bcl_nic_contact_end(card, conn, BCL_OK);
		return;
	}
	bcl_nic_contact_end(card, conn, BCL_OK);
	bcl_assert(conn->state == NIC_CONN_ENDING);
	conn->node->stays = 0;
	conn->why = BCL_OK; /* a BYE outranks the reason known before */
	conn->window[rail].state = NIC_RAIL_OFF;
	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		left += conn->window[rail].state == NIC_RAIL_PROVED;
	if (!left)
		bcl_nic_contact_ended(card, conn);
}

void bcl_nic_contact_park(struct bcl_card *card, struct nic_conn *conn,
			  unsigned rail)
{
	if (conn->state == NIC_CONN_UP)
		conn->state = NIC_CONN_PARKED;
	if (!bcl_nic_conn_idle(conn))
		return;
	bcl_nic_frame_bare(card, conn, rail, BCL_FRAME_BYE);
	bcl_nic_contact_over(card, conn);
}
