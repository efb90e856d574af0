/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The control calls of the host: ports and their channels, nodes and rails. */
#include <nicfw/control.h>

#include <nicfw/assemble.h>
#include <nicfw/card.h>
#include <nicfw/channel.h>
#include <nicfw/conn.h>
#include <nicfw/contact.h>
#include <nicfw/frame.h>
#include <nicfw/message.h>
#include <nicfw/node.h>
#include <nicfw/port.h>
#include <nicfw/rails.h>

static enum bcl_status close_port(struct bcl_card *card, uint32_t number)
{
	struct nic_port *port = NULL;

	if (number > 0 && number < 65536)
		port = nic_port_find(card, (uint16_t)number);
	if (!port)
		return BCL_ERR_ARG;
	bcl_nic_assemble_close(card, port);
	bcl_nic_message_close(card, port);
	bcl_nic_port_remove(card, port);
	return BCL_OK;
}

static enum bcl_status node_connect(struct bcl_card *card,
				    const struct bcl_control *control,
				    uint32_t *result)
{
	uint64_t id = control->connect.card;
	struct nic_node *node = bcl_nic_node_find(card, id);
	enum bcl_status status;

	if (id == 0 || id == card->config.card)
		return BCL_ERR_ARG;
	if (!node)
		node = bcl_nic_node_make(card, id);
	if (!node)
		return BCL_ERR_FULL;
	if (node->state == BCL_NODE_ISOLATED)
		return BCL_ERR_ISOLATED;
	node->rails |= control->connect.rails & ((1u << BCL_RAILS_MAX) - 1);
	if (node->conn && node->conn->state >= NIC_CONN_UP) {
		if (node->state == BCL_NODE_LOST) {
			bcl_nic_node_set(card, node, BCL_NODE_UP, BCL_OK);
		}
		if (node->conn->state != NIC_CONN_PARKING) {
			node->conn->hello_at = card->now;
			nic_conn_due(card, node->conn, card->now);
		}
	} else {
		if (control->connect.rails)
			memcpy(node->key, control->connect.key, BCL_KEY_SIZE);
		status = nic_contact_want(card, node);
		if (status)
			return status;
	}
	*result = nic_node_index(card, node);
	return BCL_OK;
}

static void node_disconnect(struct bcl_card *card, struct nic_node *node)
{
	struct nic_conn *conn = node->conn;
	unsigned rail;

	/* Before our messages are freed: BYE tells the last verdicts. */
	for (rail = 0; conn && rail < BCL_RAILS_MAX; rail++)
		if (conn->state >= NIC_CONN_UP &&
		    conn->window[rail].state == NIC_RAIL_PROVED)
			bcl_nic_frame_ack(card, conn, rail, BCL_FRAME_BYE);
	bcl_nic_message_lose(card, node, BCL_ERR_CANCELLED);
	if (conn) {
		bcl_nic_assemble_lose(card, conn, BCL_ERR_CANCELLED);
		bcl_nic_conn_free(card, conn);
	}
	if (node->conn) /* the former candidate */
		bcl_nic_conn_free(card, node->conn);
	bcl_nic_node_free(card, node);
}

static enum bcl_status node_control(struct bcl_card *card, uint32_t op,
				    struct nic_node *node)
{
	if (!node)
		return BCL_ERR_ARG;
	switch (op) {
	case BCL_CTL_DISCONNECT:
		node_disconnect(card, node);
		return BCL_OK;
	case BCL_CTL_ISOLATE:
		if (node->candidate)
			bcl_nic_conn_free(card, node->candidate);
		bcl_nic_contact_lose(card, node, BCL_NODE_ISOLATED,
				     BCL_ERR_ISOLATED);
		return BCL_OK;
	default:
		if (node->state != BCL_NODE_ISOLATED)
			return BCL_ERR_ARG;
		bcl_nic_node_set(card, node, BCL_NODE_CLOSED, BCL_OK);
		return BCL_OK;
	}
}

enum bcl_status bcl_nic_control(struct bcl_card *card,
				const struct bcl_control *control,
				uint32_t *result)
{
	switch ((enum bcl_control_op)control->op) {
	case BCL_CTL_PORT_OPEN:
		return bcl_nic_port_open(card, control);
	case BCL_CTL_PORT_CLOSE:
		return close_port(card, control->port.number);
	case BCL_CTL_CONNECT:
		return node_connect(card, control, result);
	case BCL_CTL_DISCONNECT:
	case BCL_CTL_ISOLATE:
	case BCL_CTL_REJOIN:
		return node_control(card, control->op,
				    nic_node_at(card, control->node));
	case BCL_CTL_POST:
		return bcl_nic_channel_post(card, control);
	case BCL_CTL_UNPOST:
		return bcl_nic_channel_unpost(card, control);
	case BCL_CTL_RAIL:
		return bcl_nic_rails_set(card, control);
	}
	return BCL_ERR_ARG;
}
