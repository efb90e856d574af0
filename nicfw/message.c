/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Messages that this card sends: their numbers, and the peer's verdicts on
 * them.
 *
 *  state      event                           next
 *  QUEUED     first frame                     SENDING, numbered
 *  SENDING    last frame                      SENT
 *  SENDING,   rail died, fragmented, and the  WITHDRAWN
 *  SENT       peer does not report
 *             memory fault, or a part cannot  WITHDRAWN
 *             be sent
 *             port closed                     WITHDRAWN, finished silently
 *  SENT       no verdict comes, fragmented    WITHDRAWN
 *  numbered   DELIVERED, wants a reply        AWAITING
 *             DELIVERED                       finished
 *             REFUSED                         PARKED (flow.c)
 *             failed                          finished
 *  AWAITING   reply                           finished
 *  PARKED     time passed, ROOM               QUEUED
 *  any        node lost                       finished
 */
#include <nicfw/message.h>

#include <nicfw/card.h>
#include <nicfw/channel.h>
#include <nicfw/conn.h>
#include <nicfw/flow.h>
#include <nicfw/node.h>
#include <nicfw/port.h>
#include <nicfw/verdict.h>

/* The number has its verdict: take it from the message. */
static void unnumber(struct nic_message *message)
{
	struct nic_flow *flow = message->flow;

	bcl_assert(nic_message_numbered(message));
	nic_list_remove(&message->numbered);
	nic_list_remove(&message->link);
	if (flow) {
		bcl_assert(flow->pending);
		flow->pending--;
		if (flow->last == message->number)
			flow->last = 0;
	}
	message->number = 0;
}

static void leave_lists(struct nic_message *message)
{
	if (message->number)
		unnumber(message);
	nic_list_remove(&message->numbered);
	nic_list_remove(&message->link);
}

/* Free a message that is in no list. */
static inline void free_message(struct bcl_card *card,
				struct nic_message *message)
{
	bcl_assert(message->state != NIC_MESSAGE_FREE &&
		   nic_list_empty(&message->numbered));
	bcl_assert(message->node->messages);
	message->node->messages--;
	if (message->reply) {
		bcl_assert(message->node->replies && card->replies);
		message->node->replies--;
		card->replies--;
	} else if (message->port) {
		bcl_assert(message->port->messages);
		message->port->messages--;
	}
	if (message->port && message->reads)
		bcl_nic_channel_release(card, message);
	message->state = NIC_MESSAGE_FREE;
	message->generation++;
	nic_pool_put(&card->messages, &message->link);
}

void bcl_nic_message_free(struct bcl_card *card, struct nic_message *message)
{
	leave_lists(message);
	free_message(card, message);
}

static void report(struct bcl_card *card, const struct nic_message *message,
		   enum bcl_status status)
{
	struct bcl_completion entry = {
		.cookie = message->cookie,
		.targ64 = message->targ64,
		.card = message->node->card,
		.length = status == BCL_OK ? message->length : 0,
		.index = message->index,
		.node = nic_node_index(card, message->node),
		.status = (uint16_t)status,
		.type = message->type,
		.kind = BCL_CQ_SENT,
	};

	nic_port_event(card, message->port, BCL_QUEUE_SENDS, &entry);
}

/* Write the completion of the message and free it. Its gate may open now. */
static inline void end_message(struct bcl_card *card,
			       struct nic_message *message,
			       enum bcl_status status)
{
	struct nic_flow *gate =
		message->op == BCL_REQ_FENCE ? NULL : message->gate;

	if (message->port && !message->reply)
		report(card, message, status);
	nic_count(card, messages_sent);
	free_message(card, message);
	bcl_assert(!gate || gate->pending);
	if (gate && --gate->pending == 0 && !nic_list_empty(&gate->queue))
		nic_list_append(&card->gates, &gate->link);
}

void bcl_nic_message_finish(struct bcl_card *card, struct nic_message *message,
			    enum bcl_status status)
{
	leave_lists(message);
	end_message(card, message, status);
}

static enum bcl_status failure(enum bcl_verdict verdict)
{
	switch (verdict) {
	case BCL_VERDICT_MEMORY:
		return BCL_ERR_MEMORY;
	case BCL_VERDICT_TRUNCATED:
		return BCL_ERR_TRUNCATED;
	default:
		return BCL_ERR_NOPORT;
	}
}

static inline void message_delivered(struct bcl_card *card,
				     struct nic_conn *conn,
				     struct nic_message *message)
{
	if (nic_message_asks(message) && message->port) {
		message->state = NIC_MESSAGE_AWAITING;
		nic_list_append(&conn->awaiting, &message->numbered);
		return;
	}
	if (message->reply)
		bcl_nic_channel_read(message);
	end_message(card, message, BCL_OK);
}

/* The reply to a GET tells a failure in place of the data. */
static void empty_reply(struct nic_message *message, enum bcl_status why)
{
	message->arg32 = why;
	message->length = 0;
	message->moved = 0;
	message->nref = 0;
}

/*
 * The memory of a reply cannot be read, and its number has been refused: send
 * the failure as a new reply.
 */
static void fail_reply(struct bcl_card *card, struct nic_message *message)
{
	empty_reply(message, (enum bcl_status)message->status);
	message->status = BCL_OK;
	bcl_nic_flow_reply(card, message);
}

static void verdict(struct bcl_card *card, struct nic_conn *conn,
		    struct nic_message *message, enum bcl_verdict what)
{
	struct nic_flow *flow = message->flow;
	uint32_t number = message->number;

	/*
	 * A peer that answers a request has executed it, whatever the verdict.
	 */
	if (message->answering)
		what = BCL_VERDICT_DELIVERED;
	if (flow)
		flow->pending++; /* protects the flow from being reclaimed */
	unnumber(message);
	if (what == BCL_VERDICT_DELIVERED) {
		if (flow)
			flow->backoff = 0;
		message_delivered(card, conn, message);
	} else if (nic_verdict_failed(what)) {
		bcl_nic_message_finish(card, message,
				       message->status ? message->status
						       : failure(what));
	} else {
		nic_count(card, refusals_seen);
		if (message->op == BCL_SEG_GET_REPLY && !message->port)
			bcl_nic_flow_reply(card, message);
		else if (message->op == BCL_SEG_GET_REPLY && message->status)
			fail_reply(card, message);
		else if (message->status)
			bcl_nic_message_finish(card, message, message->status);
		else
			bcl_nic_flow_park(card, message, number);
	}
	if (flow) {
		flow->pending--;
		nic_flow_verdict(card, flow);
	}
}

void bcl_nic_message_done(struct bcl_card *card, struct nic_conn *conn,
			  uint32_t done)
{
	struct nic_message *message;

	while ((message = nic_list_first(&conn->numbered, struct nic_message,
					 numbered)) &&
	       bcl_before(message->number, done))
		verdict(card, conn, message, BCL_VERDICT_DELIVERED);
}

void bcl_nic_message_verdicts(struct bcl_card *card, struct nic_conn *conn,
			      uint32_t first, uint32_t n, const uint8_t *bits)
{
	struct nic_link *link, *next;
	struct nic_message *message;
	unsigned what;
	uint32_t i;

	for (link = conn->numbered.next; link != &conn->numbered; link = next) {
		next = link->next;
		message = bcl_container_of(link, struct nic_message, numbered);
		if (bcl_before(message->number, first))
			continue;
		i = message->number - first;
		if (i >= n)
			return;
		what = bits[i / 2] >> i % 2 * 4 & 15;
		if (what != BCL_VERDICT_UNKNOWN &&
		    what <= BCL_VERDICT_TRUNCATED)
			verdict(card, conn, message, what);
	}
}

void bcl_nic_message_answered(struct bcl_card *card,
			      struct nic_message *message,
			      enum bcl_status status)
{
	struct nic_flow *flow = NULL;

	if (message->number) {
		flow = message->flow;
		unnumber(message);
	}
	if (flow)
		nic_flow_verdict(card, flow);
	bcl_nic_message_finish(card, message, status);
}

/*
 * In the order of numbers: the peer then needs the least memory for early
 * messages.
 */
static void queue_resend(struct bcl_card *card, struct nic_conn *conn,
			 struct nic_message *message)
{
	struct nic_link *after;

	bcl_assert(nic_message_numbered(message));
	nic_list_remove(&message->link);
	after = conn->resend.prev;
	while (after != &conn->resend &&
	       bcl_before(message->number,
			  bcl_container_of(after, struct nic_message, link)
				  ->number))
		after = after->prev;
	nic_list_insert(after->next, &message->link);
	nic_conn_work(card, conn, NIC_WORK_RESEND);
}

void bcl_nic_message_withdraw(struct bcl_card *card, struct nic_conn *conn,
			      struct nic_message *message)
{
	bcl_assert(nic_message_numbered(message));
	nic_count(card, withdrawn);
	message->state = NIC_MESSAGE_WITHDRAWN;
	if (message->flow && message->flow->class == NIC_FLOW_ORDERED)
		message->flow->refused = 1;
	queue_resend(card, conn, message);
}

void bcl_nic_message_fault(struct bcl_card *card, struct nic_conn *conn,
			   struct nic_message *message)
{
	message->status = BCL_ERR_MEMORY;
	bcl_nic_message_withdraw(card, conn, message);
}

void bcl_nic_message_retransmit(struct bcl_card *card, struct nic_conn *conn,
				struct nic_message *message)
{
	if (message->fragmented && message->state != NIC_MESSAGE_WITHDRAWN)
		bcl_nic_message_withdraw(card, conn, message);
	else
		queue_resend(card, conn, message);
}

void bcl_nic_message_reroute(struct bcl_card *card, struct nic_conn *conn,
			     const struct nic_flight *flight)
{
	for (; flight; flight = flight->more)
		if (nic_message_alive(conn, flight))
			bcl_nic_message_retransmit(card, conn, flight->message);
}

static void lose_list(struct bcl_card *card, struct nic_link *list,
		      enum bcl_status status)
{
	struct nic_message *message;

	while ((message = nic_list_first(list, struct nic_message, link)))
		bcl_nic_message_finish(card, message, status);
}

static void drop_list(struct bcl_card *card, struct nic_link *list)
{
	struct nic_message *message;

	while ((message = nic_list_first(list, struct nic_message, link)))
		bcl_nic_message_free(card, message);
}

void bcl_nic_message_drop_replies(struct bcl_card *card, struct nic_conn *conn)
{
	struct nic_link *flows = &conn->node->flows, *link, *next;
	struct nic_message *message;
	struct nic_flow *flow;

	while ((message = nic_list_first(&conn->numbered, struct nic_message,
					 numbered)))
		bcl_nic_message_free(card, message);
	for (link = flows->next; link != flows; link = next) {
		next = link->next;
		flow = bcl_container_of(link, struct nic_flow, in_node);
		if (flow->class == NIC_FLOW_REPLY ||
		    flow->class == NIC_FLOW_REPLY_BULK) {
			drop_list(card, &flow->queue);
			drop_list(card, &flow->parked);
		}
		nic_flow_verdict(card, flow);
	}
}

void bcl_nic_message_lose(struct bcl_card *card, struct nic_node *node,
			  enum bcl_status status)
{
	struct nic_conn *conn = node->conn;
	struct nic_message *message;
	struct nic_flow *flow;
	struct nic_link *link;

	while (conn &&
	       ((message = nic_list_first(&conn->numbered, struct nic_message,
					  numbered)) ||
		(message = nic_list_first(&conn->awaiting, struct nic_message,
					  numbered))))
		bcl_nic_message_finish(card, message, status);
	for (link = node->flows.next; link != &node->flows; link = link->next) {
		flow = bcl_container_of(link, struct nic_flow, in_node);
		lose_list(card, &flow->parked, status);
		lose_list(card, &flow->queue, status);
	}
	while ((flow = nic_list_first(&node->flows, struct nic_flow, in_node)))
		bcl_nic_flow_free(card, flow);
}

/* The port of a reply is closed: send a failure in place of the data. */
static void close_reply(struct bcl_card *card, struct nic_message *message)
{
	if (message->number && message->state != NIC_MESSAGE_WITHDRAWN)
		bcl_nic_message_withdraw(card, message->node->conn, message);
	message->port = NULL;
	message->flow = NULL;
	empty_reply(message, BCL_ERR_NOPORT);
	if (message->number)
		return; /* the verdict on the number comes first */
	nic_list_remove(&message->link);
	bcl_nic_flow_reply(card, message);
}

/*
 * End a message of a port that is being closed. A numbered message is
 * withdrawn, as the peer may have seen it; the others are freed. No completion
 * is written. A reply to a GET becomes a failure.
 */
static void close_message(struct bcl_card *card, struct nic_message *message)
{
	if (!message->gate && message->op == BCL_SEG_GET_REPLY) {
		close_reply(card, message);
		return;
	}
	switch ((enum nic_message_state)message->state) {
	case NIC_MESSAGE_SENDING:
	case NIC_MESSAGE_SENT:
		bcl_nic_message_withdraw(card, message->node->conn, message);
		break;
	case NIC_MESSAGE_WITHDRAWN:
		break;
	default:
		bcl_nic_message_free(card, message);
		return;
	}
	message->port = NULL;
	message->flow = NULL;
	message->gate = NULL;
	message->status = BCL_ERR_CLOSED;
}

void bcl_nic_message_close(struct bcl_card *card, struct nic_port *port)
{
	struct nic_flow *flow;
	uint32_t i;

	port->closed = 1;
	for (i = 0; i < card->config.max_messages; i++)
		if (card->message[i].state != NIC_MESSAGE_FREE &&
		    card->message[i].port == port)
			close_message(card, &card->message[i]);
	while ((flow = nic_list_first(&port->flows, struct nic_flow, in_port)))
		bcl_nic_flow_free(card, flow);
}
