/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Messages that we send: taken and numbered, in line for each short one. */
#ifndef NICFW_MESSAGE_H
#define NICFW_MESSAGE_H

#include <nicfw/card.h>

static inline struct nic_message *nic_message_take(struct bcl_card *card,
						   struct nic_port *port,
						   struct nic_node *node)
{
	struct nic_message *message = nic_pool_take(&card->messages);
	uint16_t generation;

	if (!message)
		return NULL;
	generation = message->generation;
	/* Not more: for 80 bytes compilers take a few stores, for all of it an
	 * instruction for strings, which begins slowly. */
	memset(&message->flow, 0,
	       offsetof(struct nic_message, refs) -
		       offsetof(struct nic_message, flow));
	message->generation = generation;
	message->state = NIC_MESSAGE_QUEUED;
	message->port = port;
	message->node = node;
	nic_list_init(&message->link);
	nic_list_init(&message->numbered);
	node->messages++;
	return message;
}

/* Is it answered by a message of the peer's? */
static inline int nic_message_asks(const struct nic_message *message)
{
	return message->op == BCL_SEG_GET || message->op == BCL_SEG_FETCH_ADD ||
	       message->op == BCL_SEG_COMPARE_SWAP;
}

/* Payload bytes that its frames carry: those of a GET are the reply's. */
static inline uint32_t nic_message_bytes(const struct nic_message *message)
{
	return message->op == BCL_SEG_GET ? 0 : message->length;
}

/* Is this still the message whose segment is in flight? */
static inline int nic_message_alive(const struct nic_conn *conn,
				    const struct nic_flight *flight)
{
	return flight->message && flight->message->number == flight->number &&
	       flight->message->node == conn->node;
}

/* Is it part of a long message that goes on? */
static inline int nic_message_part(const struct nic_conn *conn,
				   const struct nic_flight *flight)
{
	return nic_message_alive(conn, flight) && flight->message->fragmented &&
	       flight->message->state != NIC_MESSAGE_WITHDRAWN;
}

/* The oldest number without a verdict. */
static inline uint32_t nic_message_base(const struct nic_conn *conn)
{
	const struct nic_message *first =
		nic_list_first(&conn->numbered, struct nic_message, numbered);

	return first ? first->number : conn->next;
}

/* Is the next number not too far ahead of that? */
static inline int nic_message_may_number(const struct nic_conn *conn)
{
	return conn->next - nic_message_base(conn) < BCL_MSG_AHEAD;
}

/* Give it the next number, for frames of a rail. It has none, and may. */
static inline void nic_message_number(struct bcl_card *card,
				      struct nic_conn *conn, unsigned rail,
				      struct nic_message *message)
{
	struct nic_flow *flow = message->flow;

	message->number = conn->next++;
	if (conn->next == 0)
		conn->next = 1;
	nic_list_append(&conn->numbered, &message->numbered);
	flow->pending++;
	message->prev = 0;
	if (flow->class == NIC_FLOW_ORDERED) {
		message->prev = flow->last;
		flow->last = message->number;
	}
	message->state = NIC_MESSAGE_SENDING;
	message->moved = 0;
	message->fragmented =
		nic_message_bytes(message) > conn->window[rail].payload;
	conn->used = card->now;
}

#endif
