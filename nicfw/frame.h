/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Frames that carry no message, and the headers of all frames. The latter are
 * inline for each short message.
 */
#ifndef NICFW_FRAME_H
#define NICFW_FRAME_H

#include <nicfw/card.h>
#include <nicfw/message.h>

/*
 * Send an unsequenced frame without a body. Returns false if the rail did not
 * take it.
 */
bool bcl_nic_frame_bare(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail, uint8_t kind);
/*
 * Send an ACK or BYE with all acknowledgements that are due. Returns false if
 * the rail did not take it.
 */
bool bcl_nic_frame_ack(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail, uint8_t kind);
/* Tell the peer by the rail `by` that `rail` is given up. */
void bcl_nic_frame_rail_down(struct bcl_card *card, struct nic_conn *conn,
			     unsigned by, unsigned rail);

/* The fields that differ between HELLO, HELLO_ACK and the PING behind them. */
struct nic_greeting {
	const uint8_t *key;
	uint64_t nonce, peer_nonce, peer_incarnation;
	uint32_t to; /* the peer's connection id; 0: unknown */
};

void bcl_nic_frame_hello(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail, uint8_t kind,
			 const struct nic_greeting *greeting);
/* Send to the source of the frame that is being handled, at a bounded rate. */
void bcl_nic_frame_reset(struct bcl_card *card, unsigned rail,
			 const uint8_t *head);
void bcl_nic_frame_refuse(struct bcl_card *card, unsigned rail, uint8_t version,
			  const struct bcl_hello *hello,
			  enum bcl_status reason);

/*
 * Write the frame header, but for the checksums, and `seq` if the frame has one
 * of its own. Afterwards the acknowledgements that the frame carries are not
 * due.
 */
static inline void nic_frame_header(struct bcl_card *card,
				    struct nic_conn *conn, unsigned rail,
				    uint8_t kind, uint8_t *head)
{
	struct bcl_frame_header *header = (void *)head;
	struct nic_window *window = &conn->window[rail];

	header->magic = bcl_put16(BCL_WIRE_MAGIC);
	header->version = BCL_WIRE_VERSION;
	header->kind = kind;
	header->conn = bcl_put32(window->peer);
	header->card = bcl_put64(conn->node->card);
	header->seq = bcl_put32(window->next);
	header->ack = bcl_put32(window->expected);
	header->done = bcl_put32(conn->done);
	header->base = bcl_put32(nic_message_base(conn));
	header->pcrc = bcl_put32(0);
	nic_count(card, frames_sent);
	conn->frames_sent++;
	if (kind == BCL_FRAME_HELLO || kind == BCL_FRAME_HELLO_ACK)
		return; /* the receiver does not apply their acknowledgements */
	window->ack_due = 0;
	window->unacked = 0;
	conn->done_due = 0;
}

/* `seal`: of the receiving connection, or 0. */
static inline void nic_frame_seal(const struct bcl_card *card, uint32_t seal,
				  uint8_t *head)
{
	struct bcl_frame_header *header = (void *)head;

	header->hcrc =
		bcl_put32(card->hal.headers_crc(card->host, head) ^ seal);
}

static inline bool nic_frame_sealed(const struct bcl_card *card, uint32_t seal,
				    const uint8_t *head)
{
	const struct bcl_frame_header *header = (const void *)head;

	return bcl_get32(header->hcrc) ==
	       (card->hal.headers_crc(card->host, head) ^ seal);
}

static inline void nic_frame_segment(const struct bcl_card *card,
				     const struct nic_message *message,
				     uint32_t offset, uint32_t length,
				     uint8_t *at)
{
	bool asks = nic_message_asks(message);
	struct bcl_segment_header *segment = (void *)at;

	segment->op = message->op;
	segment->type = message->type;
	segment->length = bcl_put16((uint16_t)length);
	segment->src_port = bcl_put16(message->src_port);
	segment->dst_port = bcl_put16(message->dst_port);
	segment->msg = bcl_put32(message->number);
	segment->prev = bcl_put32(message->prev);
	segment->offset = bcl_put32(offset);
	segment->total = bcl_put32(message->length);
	segment->target = bcl_put32(message->target);
	segment->arg32 = bcl_put32(asks ? nic_message_token(card, message)
					: message->arg32);
	segment->targ64 = bcl_put64(message->targ64);
}

#endif
