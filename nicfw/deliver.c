/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Messages that have come reach their ports: most of them as they come, others
 * from where they were assembled (assemble.c).
 */
#include <nicfw/port.h>
#include <nicfw/verdict.h>

/* An event at a port, about a message from this node. */
static void tell(struct bcl_card *card, struct nic_port *port,
		 const struct nic_node *node, struct bcl_completion *entry)
{
	entry->card = node->card;
	entry->node = nic_node_index(card, node);
	nic_port_event(card, port, BCL_QUEUE_RECEIVES, entry);
}

/* Is nothing missing before it that was sent before it? */
static int in_order(const struct nic_conn *conn, uint32_t msg, uint32_t prev)
{
	return prev == 0 ||
	       (msg - prev - 1 < BCL_MSG_AHEAD &&
		nic_verdict_of(conn, prev) == BCL_VERDICT_DELIVERED);
}

enum nic_accept
bcl_nic_deliver_at_once(struct bcl_card *card, struct nic_conn *conn,
			const struct bcl_segment_header *segment,
			const uint8_t *payload, const struct bcl_le32 *pcrc)
{
	struct bcl_completion entry = {
		.targ64 = bcl_get64(segment->targ64),
		.length = bcl_get32(segment->total),
		.src_port = bcl_get16(segment->src_port),
		.type = segment->type,
		.kind = BCL_CQ_SYSTEM,
	};
	struct nic_port *port =
		nic_port_find(card, bcl_get16(segment->dst_port));
	uint32_t msg = bcl_get32(segment->msg), crc;
	uint8_t *block;

	if (conn->ninbound || !port || entry.length > BCL_BLOCK_SIZE ||
	    !nic_verdict_open(conn, msg) ||
	    !in_order(conn, msg, bcl_get32(segment->prev)) ||
	    !nic_port_block_take(card, port, &entry.index))
		return NIC_LONG_WAY;
	block = port->at.blocks +
		bcl_block_at(port->nblocks, entry.index, entry.length);
	if (!pcrc)
		memcpy(block, payload, entry.length);
	else
		crc = card->hal.crc32c(card->host, 0, block, payload,
				       entry.length);
	if (pcrc && crc != bcl_get32(*pcrc)) {
		bcl_nic_port_block_spare(port, entry.index);
		return NIC_CORRUPT;
	}
	nic_count(card, messages_delivered);
	card->counters[BCL_CARD_bytes_delivered] += entry.length;
	tell(card, port, conn->node, &entry);
	nic_verdict_delivered(card, conn, msg);
	return NIC_ACCEPTED;
}

static void deliver_to_ring(struct bcl_card *card,
			    const struct nic_inbound *inbound,
			    enum bcl_completion_kind kind)
{
	struct bcl_completion entry = {
		.targ64 = inbound->targ64,
		.length = inbound->total,
		.index = inbound->slot,
		.src_port = inbound->src_port,
		.type = inbound->type,
		.kind = (uint8_t)kind,
	};

	if (kind == BCL_CQ_NOTIFY) {
		entry.cookie = inbound->target;
		entry.arg32 = inbound->arg32;
	}
	tell(card, inbound->port, inbound->conn->node, &entry);
}

void bcl_nic_deliver_channel(struct bcl_card *card,
			     const struct nic_inbound *inbound,
			     enum bcl_status status)
{
	struct nic_channel *channel = &inbound->port->channel[inbound->slot];
	struct bcl_completion entry = {
		.cookie = channel->cookie,
		.length = inbound->where.length,
		.index = inbound->slot,
		.src_port = inbound->src_port,
		.status = (uint16_t)status,
		.type = inbound->type,
		.kind = BCL_CQ_CHANNEL,
	};

	channel->armed = 0;
	channel->filling = 0;
	tell(card, inbound->port, inbound->conn->node, &entry);
}

void bcl_nic_deliver(struct bcl_card *card, struct nic_inbound *inbound)
{
	nic_count(card, messages_delivered);
	card->counters[BCL_CARD_bytes_delivered] += inbound->where.length;
	switch (inbound->op) {
	case BCL_SEG_SYSTEM:
		deliver_to_ring(card, inbound, BCL_CQ_SYSTEM);
		break;
	case BCL_SEG_PUT_NOTIFY:
		deliver_to_ring(card, inbound, BCL_CQ_NOTIFY);
		break;
	case BCL_SEG_CHANNEL:
		bcl_nic_deliver_channel(card, inbound, inbound->status);
		break;
	case BCL_SEG_GET_REPLY:
	case BCL_SEG_ATOMIC_REPLY:
		bcl_nic_message_answered(card, inbound->asked, inbound->status);
		break;
	}
}
