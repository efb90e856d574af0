/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Delivery to the ports. A short message that is delivered as it arrives goes
 * inline.
 */
#ifndef NICFW_DELIVER_H
#define NICFW_DELIVER_H

#include <nicfw/card.h>
#include <nicfw/node.h>
#include <nicfw/port.h>
#include <nicfw/verdict.h>

enum nic_accept {
	NIC_ACCEPTED,
	NIC_NO_ROOM, /* drop the frame; the peer retransmits it */
	NIC_MALFORMED,
	NIC_CORRUPT,  /* the payload checksum is wrong */
	NIC_LONG_WAY, /* assemble.c must handle it */
};

/* Deliver a message that is complete (assemble.c). */
void bcl_nic_deliver(struct bcl_card *card, struct nic_inbound *inbound);
/* End a message to a channel with a completion, delivered or not. */
void bcl_nic_deliver_channel(struct bcl_card *card,
			     const struct nic_inbound *inbound,
			     enum bcl_status status);

/* Write a completion at a port, for a message from this node. */
static inline void nic_deliver_tell(struct bcl_card *card,
				    struct nic_port *port,
				    const struct nic_node *node,
				    struct bcl_completion *entry)
{
	entry->card = node->card;
	entry->node = nic_node_index(card, node);
	nic_port_event(card, port, BCL_QUEUE_RECEIVES, entry);
}

/* True if the predecessor of the message, if any, was delivered. */
static inline bool nic_deliver_in_order(const struct nic_conn *conn,
					uint32_t msg, uint32_t prev)
{
	return prev == 0 ||
	       (msg - prev - 1 < BCL_MSG_AHEAD &&
		nic_verdict_of(conn, prev) == BCL_VERDICT_DELIVERED);
}

/*
 * Deliver a whole message to a system ring, from the frame to its block without
 * an inbound, if no message of the peer is in progress. `pcrc` is the checksum
 * of the payload, or NULL. Returns NIC_LONG_WAY if the message has to go
 * through assemble.c. Only with BCL_HAL_GATHER.
 */
static inline enum nic_accept
nic_deliver_at_once(struct bcl_card *card, struct nic_conn *conn,
		    const struct bcl_segment_header *segment,
		    const uint8_t *payload, const struct bcl_le32 *pcrc)
{
	struct nic_port *port =
		nic_port_find(card, bcl_get16(segment->dst_port));
	uint32_t msg = bcl_get32(segment->msg), index, crc;
	uint32_t length = bcl_get32(segment->total);
	struct bcl_completion entry;
	struct nic_ring *ring;
	uint8_t *block;

	if (conn->ninbound || !port || !nic_verdict_open(conn, msg) ||
	    !nic_deliver_in_order(conn, msg, bcl_get32(segment->prev)))
		return NIC_LONG_WAY;
	ring = &port->ring[length > BCL_BLOCK_SIZE ? NIC_LONGS : NIC_BLOCKS];
	if (ring->n == 0 || !nic_port_block_take(card, port, ring, &index))
		return NIC_LONG_WAY;
	block = port->at.blocks +
		bcl_block_at(port->ring[NIC_BLOCKS].n, index, length);
	if (!pcrc)
		memcpy(block, payload, length);
	else
		crc = card->hal.crc32c(card->host, 0, block, payload, length);
	if (pcrc && crc != bcl_get32(*pcrc)) {
		bcl_nic_port_block_spare(ring, index);
		return NIC_CORRUPT;
	}
	nic_count(card, messages_delivered);
	card->counters[BCL_CARD_bytes_delivered] += length;
	entry = (struct bcl_completion){
		.targ64 = bcl_get64(segment->targ64),
		.length = length,
		.index = index,
		.src_port = bcl_get16(segment->src_port),
		.type = segment->type,
		.kind = BCL_CQ_SYSTEM,
	};
	nic_deliver_tell(card, port, conn->node, &entry);
	nic_verdict_delivered(card, conn, msg);
	return NIC_ACCEPTED;
}

#endif
