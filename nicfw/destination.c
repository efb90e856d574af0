/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Destinations of messages that come in: a block of a system ring, a channel,
 * memory that the peer may write, or the buffer of the request that a reply
 * answers.
 */
#include <nicfw/destination.h>

#include <nicfw/conn.h>
#include <nicfw/inbound.h>
#include <nicfw/message.h>
#include <nicfw/port.h>
#include <nicfw/reply.h>

/*
 * The ring of the message's block. A put with notification takes a block
 * without data.
 */
static struct nic_ring *ring_of(const struct nic_inbound *inbound)
{
	return &inbound->port
			->ring[inbound->op == BCL_SEG_SYSTEM &&
					       inbound->total > BCL_BLOCK_SIZE
				       ? NIC_LONGS
				       : NIC_BLOCKS];
}

void bcl_nic_destination_spare(struct nic_inbound *inbound)
{
	if (inbound->has_block && inbound->port)
		bcl_nic_port_block_spare(ring_of(inbound), inbound->slot);
}

/* Remember the port: ROOM tells the peer when the port has room. */
static void want_room(struct nic_conn *conn, uint16_t port)
{
	unsigned i, place = NIC_ROOMS;

	for (i = 0; i < NIC_ROOMS; i++) {
		if (conn->rooms[i] == port)
			return;
		if (conn->rooms[i] == 0)
			place = i;
	}
	if (place < NIC_ROOMS) /* otherwise the peer's retry timer must do */
		conn->rooms[place] = port;
}

static enum nic_outcome open_block(struct bcl_card *card, struct nic_conn *conn,
				   struct nic_inbound *inbound)
{
	struct nic_ring *ring = ring_of(inbound);
	struct nic_port *port = inbound->port;

	if (nic_port_block_take(card, port, ring, &inbound->slot)) {
		/*
		 * An early message leaves one block for its predecessor.
		 * Otherwise the predecessor would be refused, and the early
		 * message with it, perhaps for ever, as both are retransmitted.
		 */
		if (!inbound->early || nic_port_block_left(card, port, ring)) {
			inbound->has_block = 1;
			return NIC_OUTCOME_OK;
		}
		bcl_nic_port_block_spare(ring, inbound->slot);
	}
	nic_count(card, refused_ring);
	want_room(conn, port->number);
	return NIC_OUTCOME_REFUSED;
}

static enum nic_outcome open_system(struct bcl_card *card,
				    struct nic_conn *conn,
				    struct nic_inbound *inbound)
{
	const struct nic_port *port = inbound->port;

	if (inbound->total >
	    (port->ring[NIC_LONGS].n ? BCL_LONG_SIZE : BCL_BLOCK_SIZE))
		return NIC_OUTCOME_TRUNCATED;
	if (open_block(card, conn, inbound) != NIC_OUTCOME_OK)
		return NIC_OUTCOME_REFUSED;
	inbound->where.handle = port->blocks;
	inbound->where.offset = bcl_block_at(port->ring[NIC_BLOCKS].n,
					     inbound->slot, inbound->total);
	return NIC_OUTCOME_OK;
}

static enum nic_outcome open_channel(struct bcl_card *card,
				     struct nic_conn *conn,
				     struct nic_inbound *inbound)
{
	struct nic_channel *channel;
	enum nic_outcome outcome = bcl_nic_channel_find(
		inbound->port, inbound->target, false, &channel);

	if (outcome == NIC_OUTCOME_REFUSED &&
	    bcl_nic_channel_repost(card, inbound->port, inbound->target))
		outcome = NIC_OUTCOME_OK;
	if (outcome == NIC_OUTCOME_NOPORT)
		nic_count(card, failed_port);
	if (outcome == NIC_OUTCOME_REFUSED) {
		nic_count(card, refused_channel);
		inbound->port->refused = 1;
		want_room(conn, inbound->port->number);
	}
	if (outcome != NIC_OUTCOME_OK)
		return outcome;
	inbound->slot = inbound->target & 0xffff;
	inbound->area_port = inbound->dst_port;
	inbound->where.handle = channel->handle;
	inbound->where.offset = channel->offset;
	if (inbound->total > channel->length) {
		inbound->where.length = (uint32_t)channel->length;
		inbound->status = BCL_ERR_TRUNCATED;
	}
	channel->filling = 1;
	return NIC_OUTCOME_OK;
}

static enum nic_outcome open_put(struct bcl_card *card, struct nic_conn *conn,
				 struct nic_inbound *inbound)
{
	inbound->where.handle = inbound->target;
	inbound->where.offset = inbound->targ64;
	inbound->area_port = inbound->dst_port;
	inbound->remote = 1;
	if (inbound->total &&
	    !card->hal.allowed(card->host, BCL_DMA_WRITE, inbound->dst_port,
			       &inbound->where)) {
		nic_count(card, failed_memory);
		return NIC_OUTCOME_MEMORY;
	}
	if (inbound->op == BCL_SEG_PUT_NOTIFY)
		return open_block(card, conn, inbound);
	return NIC_OUTCOME_OK;
}

/*
 * True if the reply has the requested length, or tells a failure that is
 * allowed in a reply.
 */
static bool reply_fits(const struct nic_inbound *inbound,
		       const struct nic_message *request)
{
	switch (inbound->arg32) {
	case BCL_OK:
		return inbound->total ==
		       (request->op == BCL_SEG_GET ? request->length : 8);
	case BCL_ERR_MEMORY:
	case BCL_ERR_NOPORT:
		return inbound->total == 0;
	default:
		return false;
	}
}

static enum nic_outcome open_reply(struct bcl_card *card,
				   const struct nic_conn *conn,
				   struct nic_inbound *inbound)
{
	struct nic_message *request =
		bcl_nic_reply_find(card, conn, inbound->op, inbound->target);

	if (!request)
		return NIC_OUTCOME_NOPORT;
	if (!reply_fits(inbound, request)) {
		bcl_nic_message_answered(card, request, BCL_ERR_MEMORY);
		return NIC_OUTCOME_NOPORT;
	}
	inbound->status = (uint8_t)inbound->arg32;
	inbound->request = request;
	request->answering = 1;
	inbound->area_port = request->src_port;
	inbound->where.handle = request->refs[0].handle;
	inbound->where.offset = request->refs[0].offset;
	return NIC_OUTCOME_OK;
}

enum nic_outcome bcl_nic_destination_find(struct bcl_card *card,
					  struct nic_conn *conn,
					  struct nic_inbound *inbound)
{
	if (inbound->op == BCL_SEG_GET_REPLY ||
	    inbound->op == BCL_SEG_ATOMIC_REPLY)
		return open_reply(card, conn, inbound);
	inbound->port = nic_port_find(card, inbound->dst_port);
	if (!inbound->port || inbound->dst_port == 0) {
		nic_count(card, failed_port);
		return NIC_OUTCOME_NOPORT;
	}
	if (inbound->op == BCL_SEG_SYSTEM)
		return open_system(card, conn, inbound);
	if (inbound->op == BCL_SEG_CHANNEL)
		return open_channel(card, conn, inbound);
	return open_put(card, conn, inbound);
}
