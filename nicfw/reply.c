/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Requests of a peer to our memory: GET and atomics. The verdict on a request
 * says that the request was executed; the reply is a message of its own. A
 * request is executed only if a message for the reply is free, and exactly
 * once: a second copy finds the verdict.
 */
#include <nicfw/reply.h>

#include <nicfw/card.h>
#include <nicfw/flow.h>
#include <nicfw/message.h>
#include <nicfw/node.h>
#include <nicfw/port.h>

/*
 * True if `message` is a request, to be answered by a reply of this kind (op).
 */
static bool answers(uint8_t op, const struct nic_message *message)
{
	return nic_message_asks(message) &&
	       (op == BCL_SEG_GET_REPLY) == (message->op == BCL_SEG_GET);
}

struct nic_message *bcl_nic_reply_find(struct bcl_card *card,
				       const struct nic_conn *conn, uint8_t op,
				       uint32_t token)
{
	struct nic_message *message;

	if ((token & 0xffff) >= card->config.max_messages)
		return NULL;
	message = &card->message[token & 0xffff];
	if (message->generation != token >> 16 || message->answering ||
	    message->node != conn->node || conn->node->conn != conn ||
	    !message->port || !answers(op, message) ||
	    (message->number == 0 && message->state != NIC_MESSAGE_AWAITING))
		return NULL;
	return message;
}

/* True if the channel is offered to the receiver of the reply. */
static bool may_read(const struct nic_channel *channel,
		     const struct nic_message *reply)
{
	return !channel->card || (channel->card == reply->node->card &&
				  channel->card_port == reply->dst_port);
}

/* Find the memory that a GET reads. */
static enum nic_outcome source(struct bcl_card *card, struct nic_port *port,
			       const struct bcl_segment_header *segment,
			       struct nic_message *reply)
{
	uint32_t target = bcl_get32(segment->target);
	uint64_t offset = bcl_get64(segment->targ64);
	struct nic_channel *channel;
	enum nic_outcome outcome;

	reply->refs[0].length = reply->length;
	if (segment->type == BCL_GET_MEMORY) {
		reply->remote = 1;
		reply->refs[0].handle = target;
		reply->refs[0].offset = offset;
		if (reply->length == 0 ||
		    card->hal.allowed(card->host, BCL_DMA_READ, port->number,
				      &reply->refs[0]))
			return NIC_OUTCOME_OK;
		nic_count(card, failed_memory);
		return NIC_OUTCOME_MEMORY;
	}
	outcome = bcl_nic_channel_find(port, target, true, &channel);
	if (outcome == NIC_OUTCOME_OK &&
	    (channel->last || !may_read(channel, reply)))
		outcome = NIC_OUTCOME_NOPORT;
	if (outcome == NIC_OUTCOME_REFUSED)
		nic_count(card, refused_channel);
	if (outcome == NIC_OUTCOME_NOPORT)
		nic_count(card, failed_port);
	if (outcome != NIC_OUTCOME_OK)
		return outcome;
	if (offset > channel->length ||
	    reply->length > channel->length - offset) {
		nic_count(card, failed_memory);
		return NIC_OUTCOME_MEMORY;
	}
	reply->refs[0].handle = channel->handle;
	reply->refs[0].offset = channel->offset + offset;
	reply->index = target & 0xffff;
	reply->reads = 1;
	channel->reads++;
	if (segment->type == BCL_GET_CHANNEL_LAST) {
		reply->cookie = 1 + (target >> 16);
		channel->last = 1;
	}
	return NIC_OUTCOME_OK;
}

/*
 * True if there is a message for a reply to this peer. A peer has no more
 * replies in progress than it leaves for others. Messages reserved for the
 * requests of our ports stay free.
 */
static bool may_reply(const struct bcl_card *card, const struct nic_node *node)
{
	uint32_t left = card->messages.left;
	uint32_t requests = card->config.max_messages - left - card->replies;
	uint32_t kept = requests < card->reserve ? card->reserve - requests : 0;

	return left > kept && node->replies < left - kept;
}

static struct nic_message *make_reply(struct bcl_card *card,
				      struct nic_port *port,
				      struct nic_conn *conn,
				      const struct bcl_segment_header *segment)
{
	struct nic_message *reply;

	if (!may_reply(card, conn->node)) {
		nic_count(card, refused_reply);
		return NULL;
	}
	reply = nic_message_take(card, port, conn->node);
	reply->reply = 1;
	conn->node->replies++;
	card->replies++;
	reply->src_port = bcl_get16(segment->dst_port);
	reply->dst_port = bcl_get16(segment->src_port);
	reply->target = bcl_get32(segment->arg32);
	return reply;
}

enum nic_outcome bcl_nic_reply_get(struct bcl_card *card, struct nic_conn *conn,
				   const struct bcl_segment_header *segment)
{
	struct nic_port *port =
		nic_port_find(card, bcl_get16(segment->dst_port));
	struct nic_message *reply;
	enum nic_outcome outcome;

	if (bcl_get16(segment->length) || bcl_get32(segment->offset) ||
	    segment->type > BCL_GET_CHANNEL_LAST)
		return NIC_OUTCOME_MALFORMED;
	if (!port) {
		nic_count(card, failed_port);
		return NIC_OUTCOME_NOPORT;
	}
	reply = make_reply(card, port, conn, segment);
	if (!reply)
		return NIC_OUTCOME_REFUSED;
	reply->op = BCL_SEG_GET_REPLY;
	reply->length = bcl_get32(segment->total);
	reply->nref = 1;
	outcome = source(card, port, segment, reply);
	if (outcome == NIC_OUTCOME_OK)
		bcl_nic_flow_reply(card, reply);
	else
		bcl_nic_message_free(card, reply);
	return outcome;
}

enum nic_outcome bcl_nic_reply_atomic(struct bcl_card *card,
				      struct nic_conn *conn,
				      const struct bcl_segment_header *segment,
				      const uint8_t *payload)
{
	bool swap = segment->op == BCL_SEG_COMPARE_SWAP;
	struct bcl_memref ref = { bcl_get64(segment->targ64),
				  bcl_get32(segment->target), 8 };
	uint16_t port = bcl_get16(segment->dst_port);
	struct bcl_le64 operand[2] = { 0 };
	uint64_t value[2], old = 0;
	struct nic_message *reply;

	if (bcl_get32(segment->offset) ||
	    bcl_get16(segment->length) != (swap ? 16 : 8) ||
	    bcl_get32(segment->total) != bcl_get16(segment->length))
		return NIC_OUTCOME_MALFORMED;
	if (!nic_port_find(card, port)) {
		nic_count(card, failed_port);
		return NIC_OUTCOME_NOPORT;
	}
	reply = make_reply(card, NULL, conn, segment);
	if (!reply)
		return NIC_OUTCOME_REFUSED;
	memcpy(operand, payload, swap ? 16 : 8);
	value[0] = bcl_get64(operand[0]);
	value[1] = bcl_get64(operand[1]);
	if (card->hal.atomic(card->host,
			     swap ? BCL_ATOMIC_COMPARE_SWAP : BCL_ATOMIC_ADD,
			     port, &ref, value, &old) != BCL_DMA_DONE) {
		bcl_nic_message_free(card, reply);
		nic_count(card, failed_memory);
		return NIC_OUTCOME_MEMORY;
	}
	reply->op = BCL_SEG_ATOMIC_REPLY;
	reply->length = 8;
	reply->words = 8;
	reply->word[0] = bcl_put64(old);
	bcl_nic_flow_reply(card, reply);
	return NIC_OUTCOME_OK;
}
