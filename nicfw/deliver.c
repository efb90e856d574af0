/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Deliver messages to their ports after assembly (assemble.c). */
#include <nicfw/deliver.h>

#include <nicfw/card.h>
#include <nicfw/channel.h>
#include <nicfw/inbound.h>
#include <nicfw/message.h>

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
	nic_deliver_tell(card, inbound->port, inbound->conn->node, &entry);
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

	bcl_assert(channel->filling);
	channel->filling = 0;
	channel->lapsed = 0;
	bcl_nic_channel_disarm(inbound->port, inbound->slot);
	nic_deliver_tell(card, inbound->port, inbound->conn->node, &entry);
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
		bcl_nic_message_answered(card, inbound->request,
					 inbound->status);
		break;
	}
}
