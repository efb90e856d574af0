/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Flows: messages that wait to be sent, by port, node and class.
 *
 * An ORDERED flow is sent in order, and refusal keeps the order. The receiver
 * refuses every message behind a refused one. So the flow starts nothing new
 * until each of its numbers has a verdict. Then the refused messages go first,
 * under new numbers. A message that has a number is sent to its end meanwhile:
 * without all of its frames it would never get a verdict. In the other classes
 * a refused message waits alone.
 *
 *  place     event                             next
 *  IDLE      wake: queue, connection, nothing  READY
 *            refused
 *  READY     queue empty, refused              IDLE
 *  READY     window, rail or memory is full    STALLED
 *  STALLED   wake                              READY or IDLE
 *
 * A flow stays for the next message until its port or node is gone, or the pool
 * is empty. The pool has two flows for each message, so one flow is idle then.
 */
#include <nicfw/flow.h>

#include <nicfw/card.h>
#include <nicfw/conn.h>
#include <nicfw/message.h>
#include <nicfw/node.h>

/* True if no message needs the flow. */
static bool idle(const struct nic_flow *flow)
{
	return flow->pending == 0 && nic_list_empty(&flow->queue) &&
	       nic_list_empty(&flow->parked);
}

/* The pool is empty: free an idle flow, in turn. */
static void reclaim(struct bcl_card *card)
{
	struct nic_flow *flow;

	do
		flow = &card->flow[card->flow_hand++ &
				   (2 * card->config.max_messages - 1)];
	while (!idle(flow));
	bcl_nic_flow_free(card, flow);
}

struct nic_flow *bcl_nic_flow_make(struct bcl_card *card, struct nic_port *port,
				   struct nic_node *node, uint16_t dst_port,
				   enum nic_flow_class class)
{
	struct nic_flow *flow, **at;

	if (card->flows.left == 0)
		reclaim(card);
	flow = nic_pool_take(&card->flows);
	bcl_assert(flow);
	at = &card->flow_buckets[nic_flow_bucket(card, port, node, dst_port,
						 class)];
	flow->hashed = *at;
	*at = flow;
	nic_list_init(&flow->in_port);
	nic_list_init(&flow->in_node);
	nic_list_init(&flow->queue);
	nic_list_init(&flow->parked);
	nic_list_append(&port->flows, &flow->in_port);
	nic_list_append(&node->flows, &flow->in_node);
	flow->port = port;
	flow->node = node;
	flow->retry_at = NIC_NEVER;
	flow->last = 0;
	flow->pending = 0;
	flow->dst_port = dst_port;
	flow->class = (uint8_t) class;
	flow->place = NIC_FLOW_IDLE;
	flow->backoff = 0;
	flow->refused = 0;
	flow->room = 0;
	return flow;
}

void bcl_nic_flow_free(struct bcl_card *card, struct nic_flow *flow)
{
	struct nic_flow **at = &card->flow_buckets[nic_flow_bucket(
		card, flow->port, flow->node, flow->dst_port, flow->class)];

	bcl_assert(nic_list_empty(&flow->queue) &&
		   nic_list_empty(&flow->parked));
	while (*at != flow)
		at = &(*at)->hashed;
	*at = flow->hashed;
	bcl_nic_flow_stall(flow, NULL);
	nic_list_remove(&flow->in_port);
	nic_list_remove(&flow->in_node);
	nic_pool_put(&card->flows, &flow->link);
}

bool bcl_nic_flow_sendable(const struct nic_flow *flow)
{
	const struct nic_conn *conn = flow->node->conn;
	const struct nic_message *first;

	if (nic_list_empty(&flow->queue) || !conn)
		return false;
	first = bcl_container_of(flow->queue.next, struct nic_message, link);
	if (flow->refused && !first->number)
		return false;
	/* A connection that is being parked still has to send replies. */
	if (flow->class == NIC_FLOW_REPLY || flow->class == NIC_FLOW_REPLY_BULK)
		return conn->state >= NIC_CONN_UP &&
		       conn->state != NIC_CONN_ENDING;
	return conn->state == NIC_CONN_UP && flow->class != NIC_FLOW_GATE;
}

void bcl_nic_flow_stall(struct nic_flow *flow, struct nic_link *list)
{
	if (flow->place == NIC_FLOW_READY &&
	    flow->port->ready.next == flow->port->ready.prev)
		nic_list_remove(&flow->port->active);
	nic_list_remove(&flow->link);
	flow->place = list ? NIC_FLOW_STALLED : NIC_FLOW_IDLE;
	if (list)
		nic_list_append(list, &flow->link);
}

void bcl_nic_flow_wake(struct bcl_card *card, struct nic_flow *flow)
{
	struct nic_port *port = flow->port;

	if (flow->place == NIC_FLOW_READY)
		return;
	if (flow->place == NIC_FLOW_STALLED)
		bcl_nic_flow_stall(flow, NULL);
	if (!bcl_nic_flow_sendable(flow))
		return;
	flow->place = NIC_FLOW_READY;
	nic_list_append(&port->ready, &flow->link);
	if (nic_list_empty(&port->active))
		nic_list_append(&card->active, &port->active);
}

void bcl_nic_flow_wake_list(struct bcl_card *card, struct nic_link *stalled)
{
	struct nic_flow *flow;

	while ((flow = nic_list_first(stalled, struct nic_flow, link)))
		bcl_nic_flow_wake(card, flow);
}

void bcl_nic_flow_wake_node(struct bcl_card *card, struct nic_node *node)
{
	struct nic_link *link;

	for (link = node->flows.next; link != &node->flows; link = link->next)
		bcl_nic_flow_wake(
			card, bcl_container_of(link, struct nic_flow, in_node));
}

void bcl_nic_flow_queue(struct bcl_card *card, struct nic_flow *flow,
			struct nic_message *message)
{
	bcl_assert(message->number == 0);
	message->flow = flow;
	message->state = NIC_MESSAGE_QUEUED;
	nic_list_append(&flow->queue, &message->link);
	if (flow->place == NIC_FLOW_IDLE)
		bcl_nic_flow_wake(card, flow);
}

void bcl_nic_flow_reply(struct bcl_card *card, struct nic_message *message)
{
	struct nic_port *port = message->port ? message->port : card->self;
	enum nic_flow_class class = message->length > NIC_SMALL_MAX
					    ? NIC_FLOW_REPLY_BULK
					    : NIC_FLOW_REPLY;

	bcl_nic_flow_queue(card,
			   nic_flow_get(card, port, message->node, 0, class),
			   message);
}

static void retry_later(struct bcl_card *card, struct nic_flow *flow)
{
	struct nic_conn *conn = flow->node->conn;
	uint32_t wait = nic_backoff(card->config.rto_min, flow->backoff,
				    card->config.rto_max);

	if (wait < card->config.rto_max)
		flow->backoff++;
	flow->retry_at = card->now + wait;
	if (flow->retry_at < conn->retry_at)
		conn->retry_at = flow->retry_at;
	nic_conn_due(card, conn, conn->retry_at);
}

void bcl_nic_flow_park(struct bcl_card *card, struct nic_message *message,
		       uint32_t number)
{
	struct nic_flow *flow = message->flow;
	struct nic_link *after = flow->parked.prev;

	bcl_assert(message->number == 0 && flow->pending);
	message->prev = number;
	message->moved = 0;
	message->state = NIC_MESSAGE_PARKED;
	while (after != &flow->parked &&
	       bcl_before(
		       number,
		       bcl_container_of(after, struct nic_message, link)->prev))
		after = after->prev;
	nic_list_insert(after->next, &message->link);
	if (flow->class == NIC_FLOW_ORDERED)
		flow->refused = 1;
	else if (flow->retry_at == NIC_NEVER)
		retry_later(card, flow);
}

/* Move the refused messages to the head of the queue. */
static void resend(struct bcl_card *card, struct nic_flow *flow)
{
	struct nic_link *link;

	for (link = flow->parked.next; link != &flow->parked; link = link->next)
		bcl_container_of(link, struct nic_message, link)->state =
			NIC_MESSAGE_QUEUED;
	nic_list_splice(&flow->queue, &flow->parked);
	flow->retry_at = NIC_NEVER;
	flow->refused = 0;
	flow->room = 0;
	flow->last = 0;
	bcl_nic_flow_wake(card, flow);
}

void bcl_nic_flow_judged(struct bcl_card *card, struct nic_flow *flow)
{
	if (nic_list_empty(&flow->parked) || flow->room)
		resend(card, flow);
	else if (flow->retry_at == NIC_NEVER)
		retry_later(card, flow);
}

void bcl_nic_flow_retry(struct bcl_card *card, struct nic_conn *conn)
{
	struct nic_link *list = &conn->node->flows, *link;
	struct nic_flow *flow;

	conn->retry_at = NIC_NEVER;
	for (link = list->next; link != list; link = link->next) {
		flow = bcl_container_of(link, struct nic_flow, in_node);
		if (flow->retry_at <= card->now)
			resend(card, flow);
		else if (flow->retry_at < conn->retry_at)
			conn->retry_at = flow->retry_at;
	}
}

void bcl_nic_flow_rewind(struct bcl_card *card, struct nic_node *node)
{
	struct nic_link *link;

	for (link = node->flows.next; link != &node->flows; link = link->next)
		resend(card, bcl_container_of(link, struct nic_flow, in_node));
}

void bcl_nic_flow_room(struct bcl_card *card, struct nic_node *node,
		       uint16_t port)
{
	struct nic_link *link;
	struct nic_flow *flow;

	for (link = node->flows.next; link != &node->flows; link = link->next) {
		flow = bcl_container_of(link, struct nic_flow, in_node);
		if (flow->class == NIC_FLOW_ORDERED && flow->dst_port != port)
			continue;
		if (flow->retry_at != NIC_NEVER)
			resend(card, flow);
		else
			flow->room = flow->refused;
	}
}
