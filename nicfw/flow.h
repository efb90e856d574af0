/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Flows: messages that wait to be sent, by port, node and class. */
#ifndef NICFW_FLOW_H
#define NICFW_FLOW_H

#include <nicfw/node.h>
#include <nicfw/port.h>

enum nic_flow_class {
	NIC_FLOW_ORDERED, /* SYSTEM, PUT_NOTIFY to one port */
	NIC_FLOW_SMALL,
	NIC_FLOW_BULK,
	NIC_FLOW_REPLY, /* up to NIC_SMALL_MAX bytes */
	NIC_FLOW_REPLY_BULK,
	NIC_FLOW_GATE, /* always IDLE: a FENCE and the requests behind it */
};

enum nic_flow_place {
	NIC_FLOW_IDLE,
	NIC_FLOW_READY,	  /* in port->ready */
	NIC_FLOW_STALLED, /* in conn->stalled, rail->flows or card->waiting */
};

struct nic_flow {
	struct nic_link link; /* in the list of `place`; card->gates; free */
	struct nic_link in_port, in_node;
	struct nic_link queue;	/* messages to be sent */
	struct nic_link parked; /* refused messages by their old numbers */
	struct nic_flow *hashed;
	struct nic_port *port;
	struct nic_node *node;
	uint64_t retry_at; /* time to retry; NIC_NEVER: no retry is due */
	uint32_t last;	   /* ORDERED: newest number without a verdict, or 0 */
	uint32_t pending;  /* without a verdict; GATE: unfinished */
	uint16_t dst_port;
	uint8_t class;
	uint8_t place;
	uint8_t backoff;
	uint8_t refused; /* ORDERED: start nothing new until pending is 0 */
	uint8_t room;	 /* ROOM came after the refusal */
};

struct nic_flow *bcl_nic_flow_make(struct bcl_card *card, struct nic_port *port,
				   struct nic_node *node, uint16_t dst_port,
				   enum nic_flow_class class);
/* Queue a message at the end of the flow. */
void bcl_nic_flow_queue(struct bcl_card *card, struct nic_flow *flow,
			struct nic_message *message);
/* A reply enters a flow of its port, or of the card if it has none. */
void bcl_nic_flow_reply(struct bcl_card *card, struct nic_message *message);
bool bcl_nic_flow_sendable(const struct nic_flow *flow);
/*
 * Make a flow READY if it can send: a message was queued, or an obstacle is
 * gone.
 */
void bcl_nic_flow_wake(struct bcl_card *card, struct nic_flow *flow);
void bcl_nic_flow_wake_list(struct bcl_card *card, struct nic_link *stalled);
void bcl_nic_flow_wake_node(struct bcl_card *card, struct nic_node *node);
/* A flow cannot send now: it leaves the ready list, for `list` if not NULL. */
void bcl_nic_flow_stall(struct nic_flow *flow, struct nic_link *list);
void bcl_nic_flow_free(struct bcl_card *card, struct nic_flow *flow);
/* Keep a message that was refused under `number` for a retry. */
void bcl_nic_flow_park(struct bcl_card *card, struct nic_message *message,
		       uint32_t number);
/*
 * An ORDERED flow has been refused, and its last pending message has its
 * verdict: retry now, or later.
 */
void bcl_nic_flow_judged(struct bcl_card *card, struct nic_flow *flow);

/* A numbered message of the flow has its verdict. */
static inline void nic_flow_verdict(struct bcl_card *card,
				    struct nic_flow *flow)
{
	if (flow->refused && flow->pending == 0)
		bcl_nic_flow_judged(card, flow);
}

/* Retry the refused messages of the flows whose time has come. */
void bcl_nic_flow_retry(struct bcl_card *card, struct nic_conn *conn);
/* The connection ended without a loss: refused messages become new ones. */
void bcl_nic_flow_rewind(struct bcl_card *card, struct nic_node *node);
/* The peer's port has room: retry the messages that it refused. */
void bcl_nic_flow_room(struct bcl_card *card, struct nic_node *node,
		       uint16_t port);

static inline uint32_t nic_flow_bucket(const struct bcl_card *card,
				       const struct nic_port *port,
				       const struct nic_node *node,
				       uint16_t dst_port,
				       enum nic_flow_class class)
{
	return (port->number * 31u + nic_node_index(card, node) * 7u +
		dst_port * 5u + (uint32_t) class) &
	       card->mask;
}

/* The flow of these messages, which is made if there is none. */
static inline struct nic_flow *nic_flow_get(struct bcl_card *card,
					    struct nic_port *port,
					    struct nic_node *node,
					    uint16_t dst_port,
					    enum nic_flow_class class)
{
	struct nic_flow *flow = card->flow_buckets[nic_flow_bucket(
		card, port, node, dst_port, class)];

	while (flow && (flow->port != port || flow->node != node ||
			flow->dst_port != dst_port || flow->class != class))
		flow = flow->hashed;
	return flow ? flow
		    : bcl_nic_flow_make(card, port, node, dst_port, class);
}

#endif
