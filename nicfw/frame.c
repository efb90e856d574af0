/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Frames: headers and checksums, and the frames that carry no message: ACK,
 * BYE, PING, PARK, the handshake, RESET and REFUSE.
 */
#include <nicfw/frame.h>

#include <nicfw/arrived.h>
#include <nicfw/card.h>
#include <nicfw/node.h>
#include <nicfw/proof.h>
#include <nicfw/verdict.h>
#include <nicfw/window.h>

enum {
	ANSWERS = 32, /* RESET and REFUSE frames per ANSWERS_PER */
};

static const uint64_t ANSWERS_PER = 10000000; /* ns */

/*
 * Transmit a frame of `length` bytes that lies in card memory as a whole.
 * Returns false if the rail did not take it.
 */
static bool transmit(struct bcl_card *card, unsigned rail, uint32_t node,
		     uint32_t seal, uint8_t *head, uint32_t length)
{
	struct bcl_tx_frame frame = {
		.head = head,
		.head_len = (uint16_t)length,
		.flags = BCL_TX_PCRC,
		.frames = 1,
	};

	if (card->rail[rail].busy || !card->rail[rail].up)
		return false;
	if (length > BCL_HEADERS_SIZE)
		head[3] |= BCL_FRAME_PCRC;
	else
		frame.flags = 0;
	nic_frame_seal(card, seal, head);
	if (card->hal.transmit(card->host, rail, node, &frame) == 1)
		return true;
	card->rail[rail].busy = 1;
	return false;
}

bool bcl_nic_frame_bare(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail, uint8_t kind)
{
	uint8_t *head = card->frame;

	nic_frame_header(card, conn, rail, kind, head);
	memset(head + 40, 0, 40);
	return transmit(card, rail, nic_node_index(card, conn->node),
			conn->peer_seal, head, BCL_HEADERS_SIZE);
}

/* Append a segment without a message. Returns the end of the frame. */
static uint32_t append_segment(uint8_t *frame, uint32_t at, uint8_t op,
			       uint32_t target, uint32_t arg32, uint64_t targ64,
			       uint32_t length)
{
	struct bcl_segment_header segment = {
		.op = op,
		.length = bcl_put16((uint16_t)length),
		.target = bcl_put32(target),
		.arg32 = bcl_put32(arg32),
		.targ64 = bcl_put64(targ64),
	};

	memcpy(frame + at, &segment, sizeof(segment));
	length += 40;
	memset(frame + at + length, 0, nic_pad8(length) - length);
	return at + nic_pad8(length);
}

static void rooms_told(struct nic_conn *conn)
{
	unsigned i;

	for (i = 0; conn->rooms_ready >> i; i++)
		if (conn->rooms_ready >> i & 1)
			conn->rooms[i] = 0; /* 0: the place is free */
	conn->rooms_ready = 0;
}

bool bcl_nic_frame_ack(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail, uint8_t kind)
{
	struct nic_window *window = &conn->window[rail];
	uint8_t *head = card->frame;
	uint32_t at = 40, n, i;

	nic_frame_header(card, conn, rail, kind, head);
	if (bcl_before(window->expected, window->highest)) {
		n = bcl_nic_arrived_bits(conn, rail, head + at + 40);
		at = append_segment(head, at, BCL_SEG_SACK, 0, n,
				    card->rail[rail].window, (n + 7) / 8);
	}
	if (bcl_before(conn->done, conn->top)) {
		/*
		 * Two verdicts per byte. Verdicts that do not fit follow when
		 * `done` has moved.
		 */
		n = bcl_nic_verdict_bits(
			conn, head + at + 40,
			2 * (window->payload + 40 - at - NIC_ROOMS * 40));
		at = append_segment(head, at, BCL_SEG_VERDICT, conn->done, n, 0,
				    (n + 1) / 2);
	}
	for (i = 0; conn->rooms_ready >> i; i++)
		if (conn->rooms_ready >> i & 1)
			at = append_segment(head, at, BCL_SEG_ROOM,
					    conn->rooms[i], 0, 0, 0);
	if (at == 40) {
		memset(head + 40, 0, 40);
		at = 80;
	}
	conn->told = 1;
	if (!transmit(card, rail, nic_node_index(card, conn->node),
		      conn->peer_seal, head, at))
		return false;
	rooms_told(conn);
	nic_count(card, acks_sent);
	return true;
}

void bcl_nic_frame_rail_down(struct bcl_card *card, struct nic_conn *conn,
			     unsigned by, unsigned rail)
{
	const struct nic_window *window = &conn->window[rail];
	uint64_t says = window->expected | (uint64_t)window->turn << 32 |
			(uint64_t)window->peer_turn << 40 |
			(uint64_t)(window->down_tries != 0) << 48;
	uint8_t *head = card->frame;
	uint32_t n = 0, at;

	if (bcl_before(window->expected, window->highest))
		n = bcl_nic_arrived_bits(conn, rail, head + BCL_HEADERS_SIZE);
	nic_frame_header(card, conn, by, BCL_FRAME_ACK, head);
	at = append_segment(head, 40, BCL_SEG_RAIL_DOWN, window->peer, n, says,
			    (n + 7) / 8);
	nic_count(card, acks_sent);
	transmit(card, by, nic_node_index(card, conn->node), conn->peer_seal,
		 head, at);
}

void bcl_nic_frame_hello(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail, uint8_t kind,
			 const struct nic_greeting *greeting)
{
	const struct nic_window *window = &conn->window[rail];
	const struct nic_flight *oldest =
		nic_list_first(&window->flights, struct nic_flight, link);
	struct bcl_hello hello = {
		.card = bcl_put64(card->config.card),
		.incarnation = bcl_put64(card->config.incarnation),
		.nonce = bcl_put64(greeting->nonce),
		.peer_nonce = bcl_put64(greeting->peer_nonce),
		.peer_incarnation = bcl_put64(greeting->peer_incarnation),
		.conn = bcl_put32(conn->id | rail),
		.window = bcl_put32(card->rail[rail].window),
		.max_frame = bcl_put16((uint16_t)card->rail[rail].mtu),
		.features = bcl_put16(card->config.pcrc ? BCL_FEATURE_PCRC : 0),
		.first_msg = bcl_put32(conn->first),
		.first_seq = bcl_put32(oldest ? oldest->seq : window->next),
		.rail = (uint8_t)rail,
		.turn = window->turn,
		.heard = window->peer_turn,
	};
	/* HELLO_ACK goes to the source of the HELLO. */
	uint32_t node = kind == BCL_FRAME_HELLO_ACK
				? BCL_NODE_NONE
				: nic_node_index(card, conn->node);
	struct bcl_frame_header *header = (void *)card->frame;

	nic_frame_header(card, conn, rail, kind, card->frame);
	header->conn = bcl_put32(greeting->to);
	hello.seal =
		bcl_put32(conn->seal ^ bcl_nic_proof_veil(greeting->key, kind,
							  header, &hello));
	hello.proof =
		bcl_put64(bcl_nic_proof(greeting->key, kind, header, &hello));
	memcpy(header + 1, &hello, sizeof(hello));
	transmit(card, rail, node, kind == BCL_FRAME_PING ? conn->peer_seal : 0,
		 card->frame, 40 + sizeof(hello));
}

/* Bound the rate of RESET and REFUSE: ANSWERS in ANSWERS_PER. */
static bool may_answer(struct bcl_card *card)
{
	if (card->now >= card->answers_at) {
		card->answers_at = card->now + ANSWERS_PER;
		card->answers = ANSWERS;
	}
	if (card->answers == 0) {
		nic_count(card, answers_spared);
		return false;
	}
	card->answers--;
	return true;
}

/* Send to the source of the frame that is being handled. */
static void answer_source(struct bcl_card *card, unsigned rail, uint8_t version,
			  uint8_t kind, uint32_t conn, uint64_t to,
			  const void *body, uint32_t length)
{
	struct bcl_frame_header header = {
		.magic = bcl_put16(BCL_WIRE_MAGIC),
		.version = version,
		.kind = kind,
		.conn = bcl_put32(conn),
		.card = bcl_put64(to),
	};
	uint8_t *head = card->frame;

	memset(head, 0, BCL_HEADERS_SIZE);
	memcpy(head, &header, sizeof(header));
	memcpy(head + sizeof(header), body, length);
	nic_count(card, frames_sent);
	transmit(card, rail, BCL_NODE_NONE, 0, head,
		 bcl_max32(BCL_FRAME_MIN, (uint32_t)sizeof(header) + length));
}

/*
 * The answered frame does not contain the card id of its sender. The source
 * address, and the sender's own sealed headers in the body, are enough.
 */
void bcl_nic_frame_reset(struct bcl_card *card, unsigned rail,
			 const uint8_t *head)
{
	const struct bcl_frame_header *header = (const void *)head;

	if (!may_answer(card))
		return;
	nic_count(card, resets_sent);
	answer_source(card, rail, BCL_WIRE_VERSION, BCL_FRAME_RESET,
		      bcl_get32(header->conn), 0, head, BCL_HEADERS_SIZE);
}

void bcl_nic_frame_refuse(struct bcl_card *card, unsigned rail, uint8_t version,
			  const struct bcl_hello *hello, enum bcl_status reason)
{
	struct bcl_refuse body = { .reason = bcl_put32(reason),
				   .wire_version =
					   bcl_put32(BCL_WIRE_VERSION) };

	if (!may_answer(card))
		return;
	if (version >= BCL_WIRE_NONCE)
		body.nonce = hello->nonce;
	nic_count(card, refuses_sent);
	answer_source(card, rail, version, BCL_FRAME_REFUSE,
		      bcl_get32(hello->conn), bcl_get64(hello->card), &body,
		      sizeof(body));
}
