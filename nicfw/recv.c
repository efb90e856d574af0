/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * RECV: checks each frame that comes in and hands out its segments. A frame may
 * come from anybody. Nothing in a frame is believed before its checksums, its
 * connection id and its bounds are checked.
 */
#include <nicfw/recv.h>

#include <nicfw/arrived.h>
#include <nicfw/assemble.h>
#include <nicfw/card.h>
#include <nicfw/conn.h>
#include <nicfw/contact.h>
#include <nicfw/deliver.h>
#include <nicfw/dma.h>
#include <nicfw/flow.h>
#include <nicfw/frame.h>
#include <nicfw/handshake.h>
#include <nicfw/message.h>
#include <nicfw/rails.h>
#include <nicfw/verdict.h>
#include <nicfw/window.h>

enum {
	/* message or frame numbers: no peer is further behind or ahead */
	NEAR = 4096,
};

/* A received frame, in the same form however the host split it. */
struct frame {
	const struct bcl_frame_header *header;
	const uint8_t *head; /* first 80 bytes */
	const uint8_t *body; /* the rest */
	uint32_t body_len;
	unsigned rail;
	uint8_t kind; /* without flags */
};

static bool intact(const struct bcl_card *card, const struct frame *frame)
{
	return !(frame->header->kind & BCL_FRAME_PCRC) ||
	       card->hal.crc32c(card->host, 0, NULL, frame->body,
				frame->body_len) ==
		       bcl_get32(frame->header->pcrc);
}

/*
 * Copy the body of a HELLO. Of another version only the fields that every
 * version has are copied. Returns false if the frame is too short.
 */
static bool greeting(const struct frame *frame, struct bcl_hello *body)
{
	uint32_t length = frame->header->version == BCL_WIRE_VERSION
				  ? sizeof(*body)
				  : BCL_HELLO_LEAST;

	if (frame->body_len < length - 40)
		return false;
	memcpy(body, frame->head + 40, 40);
	memcpy((uint8_t *)body + 40, frame->body, length - 40);
	return true;
}

static void hello(struct bcl_card *card, const struct frame *frame)
{
	struct bcl_hello body;
	struct nic_conn *conn;
	uint32_t id;

	if (!greeting(frame, &body)) {
		nic_count(card, dropped_short);
		return;
	}
	if (frame->kind == BCL_FRAME_HELLO) {
		bcl_nic_handshake_received(card, frame->rail, frame->header,
					   &body);
		return;
	}
	id = bcl_get32(frame->header->conn);
	conn = nic_conn_find(card, id);
	if (!conn || (id & 3) != frame->rail) {
		nic_count(card, dropped_conn);
		return;
	}
	bcl_nic_handshake_answered(card, conn, frame->rail, frame->header,
				   &body);
}

/* True if this card sent a frame with these headers on the connection. */
static bool ours(const struct bcl_card *card, const struct nic_conn *conn,
		 const uint8_t *head)
{
	const struct bcl_frame_header *header = (const void *)head;

	return conn->state >= NIC_CONN_UP &&
	       conn->peer == (bcl_get32(header->conn) & ~3u) &&
	       conn->node->card == bcl_get64(header->card) &&
	       nic_frame_sealed(card, conn->peer_seal, head);
}

/*
 * RESET returns the headers of a frame of this card. The connection ends only
 * if the headers carry the peer's seal, which a forger does not know.
 */
static void reset(struct bcl_card *card, const struct frame *frame)
{
	uint8_t head[BCL_HEADERS_SIZE];
	struct nic_conn *conn;
	uint32_t i = 0;

	if (frame->body_len < sizeof(head) - 40) {
		nic_count(card, dropped_short);
		return;
	}
	memcpy(head, frame->head + 40, 40);
	memcpy(head + 40, frame->body, sizeof(head) - 40);
	while ((conn = nic_conn_next(card, &i))) {
		if (ours(card, conn, head)) {
			bcl_nic_contact_end(card, conn, BCL_ERR_RESET);
			return;
		}
	}
	nic_count(card, dropped_conn);
}

/* Handle a segment without a message number. */
static enum nic_accept notice(struct bcl_card *card, struct nic_conn *conn,
			      const struct frame *frame,
			      const struct bcl_segment_header *segment,
			      const uint8_t *payload)
{
	uint32_t length = bcl_get16(segment->length);
	uint32_t n = bcl_get32(segment->arg32);
	struct nic_sack sack;

	switch (segment->op) {
	case BCL_SEG_SACK:
		if (n > BCL_SACK_BITS || (n + 7) / 8 > length)
			return NIC_MALFORMED;
		sack.ack = bcl_get32(frame->header->ack);
		sack.nbits = n;
		sack.bits = payload;
		if (bcl_nic_window_sack(card, &conn->window[frame->rail],
					&sack))
			bcl_nic_conn_resume(card, conn);
		return NIC_ACCEPTED;
	case BCL_SEG_VERDICT:
		if (n > BCL_MSG_AHEAD || (n + 1) / 2 > length)
			return NIC_MALFORMED;
		bcl_nic_message_verdicts(card, conn, bcl_get32(segment->target),
					 n, payload);
		return NIC_ACCEPTED;
	case BCL_SEG_ROOM:
		bcl_nic_flow_room(card, conn->node,
				  (uint16_t)bcl_get32(segment->target));
		return NIC_ACCEPTED;
	case BCL_SEG_RAIL_DOWN:
		if (n > BCL_SACK_BITS || (n + 7) / 8 > length ||
		    !bcl_nic_rails_down_received(card, conn, frame->rail,
						 segment, payload))
			return NIC_MALFORMED;
		return NIC_ACCEPTED;
	}
	return NIC_MALFORMED;
}

static bool is_message(uint8_t op)
{
	return op >= BCL_SEG_SYSTEM && op <= BCL_SEG_ATOMIC_REPLY;
}

/*
 * True for a fragment of a message. A fragment must be the only segment of its
 * frame.
 */
static bool partial(const struct bcl_segment_header *segment)
{
	return segment->op != BCL_SEG_GET &&
	       bcl_get32(segment->total) != bcl_get16(segment->length);
}

static enum nic_accept segments(struct bcl_card *card, struct nic_conn *conn,
				const struct frame *frame,
				struct nic_buffer *buffer)
{
	const uint8_t *at = frame->head + 40, *body = frame->body;
	uint32_t left = frame->body_len, length, alone = 1;
	const struct bcl_segment_header *segment;
	enum nic_accept accept, all = NIC_ACCEPTED;

	for (;;) {
		segment = (const struct bcl_segment_header *)(const void *)at;
		if (segment->op == 0)
			return alone && left == 0 ? NIC_ACCEPTED
						  : NIC_MALFORMED;
		length = bcl_get16(segment->length);
		if (length > left)
			return NIC_MALFORMED;
		if (left > nic_pad8(length))
			alone = 0;
		if (frame->kind == BCL_FRAME_DATA && is_message(segment->op))
			accept = !alone && partial(segment)
					 ? NIC_MALFORMED
					 : bcl_nic_assemble(
						   card, conn, frame->rail,
						   segment, body, buffer);
		else if (frame->kind == BCL_FRAME_DATA &&
			 segment->op == BCL_SEG_WITHDRAW)
			accept = NIC_ACCEPTED,
			bcl_nic_assemble_withdraw(card, conn,
						  bcl_get32(segment->msg));
		else
			accept = notice(card, conn, frame, segment, body);
		if (accept == NIC_MALFORMED)
			return accept;
		/*
		 * Go on with the next segment: it may be the predecessor of the
		 * early messages in the way.
		 */
		if (accept == NIC_NO_ROOM)
			all = accept;
		if (left <= nic_pad8(length))
			return all;
		length = nic_pad8(length);
		if (left - length < 40)
			return NIC_MALFORMED;
		at = body + length;
		body = at + 40;
		left -= length + 40;
	}
}

/*
 * Without BCL_HAL_GATHER payload must outlive the frame: copy it to a buffer.
 */
static struct nic_buffer *copy_to_buffer(struct bcl_card *card,
					 struct frame *frame)
{
	struct nic_buffer *buffer = nic_pool_take(&card->in);

	if (!buffer)
		return NULL;
	memcpy(buffer->bytes, frame->body, frame->body_len);
	frame->body = buffer->bytes;
	buffer->jobs = 1; /* this call */
	buffer->rail = (uint8_t)frame->rail;
	return buffer;
}

/*
 * Deliver a frame with a single short message to a system ring. The payload
 * checksum is computed while the payload is copied.
 */
static enum nic_accept deliver_short(struct bcl_card *card,
				     struct nic_conn *conn,
				     const struct frame *frame)
{
	const struct bcl_segment_header *segment =
		(const void *)(frame->head + sizeof(*frame->header));

	if (!card->gather || segment->op != BCL_SEG_SYSTEM ||
	    bcl_get16(segment->length) != frame->body_len ||
	    bcl_get32(segment->total) != frame->body_len ||
	    bcl_get32(segment->offset) != 0)
		return NIC_LONG_WAY;
	return nic_deliver_at_once(card, conn, segment, frame->body,
				   frame->header->kind & BCL_FRAME_PCRC
					   ? &frame->header->pcrc
					   : NULL);
}

static enum nic_accept contents(struct bcl_card *card, struct nic_conn *conn,
				struct frame *frame)
{
	struct nic_buffer *buffer = NULL;
	enum nic_accept accept;

	if (!intact(card, frame))
		return NIC_CORRUPT;
	if (!card->gather) {
		buffer = copy_to_buffer(card, frame);
		if (!buffer)
			return NIC_NO_ROOM;
	}
	accept = segments(card, conn, frame, buffer);
	if (buffer && --buffer->jobs == 0)
		nic_pool_put(&card->in, &buffer->link);
	return accept;
}

static void data(struct bcl_card *card, struct nic_conn *conn,
		 struct frame *frame)
{
	uint32_t seq = bcl_get32(frame->header->seq);
	enum nic_accept accept;

	switch (nic_arrived_check(card, conn, frame->rail, seq)) {
	case NIC_SEQ_NEW:
		break;
	case NIC_SEQ_DUPLICATE:
		nic_count(card, dropped_duplicate);
		conn->window[frame->rail].ack_due = 1;
		nic_conn_work(card, conn, NIC_WORK_ACK << frame->rail);
		return;
	case NIC_SEQ_OUTSIDE:
		nic_count(card, dropped_window);
		return;
	case NIC_SEQ_NO_MEMORY:
		nic_count(card, dropped_arena);
		return;
	}
	accept = deliver_short(card, conn, frame);
	if (accept == NIC_LONG_WAY)
		accept = contents(card, conn, frame);
	if (accept == NIC_ACCEPTED)
		nic_arrived_note(card, conn, frame->rail, seq,
				 BCL_HEADERS_SIZE + frame->body_len);
	else if (accept == NIC_NO_ROOM)
		nic_count(card, dropped_early);
	else if (accept == NIC_CORRUPT)
		nic_count(card, dropped_pcrc);
	else
		nic_count(card, dropped_malformed);
	conn->used = card->now;
}

/*
 * True if a number in a frame is near the connection's own. Both sides draw
 * their first numbers at random, so a blind attacker has to guess among 2^32.
 */
static bool near(uint32_t number, uint32_t here)
{
	return number - here + NEAR <= 2 * NEAR;
}

/*
 * False if the frame is forged, or so late that it tells nothing new (as RFC
 * 5961 does for TCP).
 */
static bool plausible(const struct nic_conn *conn, const struct frame *frame)
{
	const struct nic_window *window = &conn->window[frame->rail];
	const struct bcl_frame_header *header = frame->header;

	return conn->next - bcl_get32(header->done) <= NEAR &&
	       window->next - bcl_get32(header->ack) <= NEAR &&
	       near(bcl_get32(header->seq), window->expected) &&
	       near(bcl_get32(header->base), conn->base);
}

/*
 * Take in the header fields common to all frames of a connection. Returns false
 * if the fields are impossible.
 */
static bool take_header(struct bcl_card *card, struct nic_conn *conn,
			const struct frame *frame)
{
	const struct bcl_frame_header *header = frame->header;

	if (!plausible(conn, frame) ||
	    !nic_verdict_base(card, conn, bcl_get32(header->base))) {
		nic_count(card, dropped_numbers);
		return false;
	}
	conn->heard = card->now;
	conn->window[frame->rail].heard = card->now;
	conn->confirmed = 1;
	conn->frames_received++;
	nic_count(card, frames_received);
	if (header->kind & BCL_FRAME_ASK)
		nic_conn_work(card, conn, NIC_WORK_ACK << frame->rail);
	return true;
}

static void answers(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		    uint32_t done, uint32_t ack)
{
	bcl_nic_message_done(card, conn, done);
	switch (bcl_nic_window_ack(card, conn, rail, ack)) {
	case NIC_ACKED_NONE:
		return;
	case NIC_ACKED_SOME:
		break;
	case NIC_ACKED_ALL:
		bcl_nic_conn_await(card, conn);
		break;
	}
	bcl_nic_conn_resume(card, conn);
}

void bcl_nic_recv_answers(struct bcl_card *card)
{
	struct nic_conn *conn = card->answered.conn;

	card->answered.conn = NULL;
	answers(card, conn, card->answered.rail, card->answered.done,
		card->answered.ack);
}

/*
 * True if `done` and `ack` may be applied later: no flow and no lost frame
 * waits for them, and at most one message ends, a message to a system ring. The
 * program may see its completion after the message that has just come.
 */
static bool may_wait(const struct nic_conn *conn, unsigned rail, uint32_t done)
{
	const struct nic_message *oldest =
		nic_list_first(&conn->numbered, struct nic_message, numbered);

	return nic_list_empty(&conn->stalled) && !conn->window[rail].lost &&
	       (!oldest || (oldest->op == BCL_SEG_SYSTEM &&
			    bcl_before(done, oldest->number + 2)));
}

/*
 * Apply `done` and `ack` of a frame. If the frame brought an event, the card
 * first gives the program time to reply, and keeps both in card->answered.
 */
static void put_off(struct bcl_card *card, struct nic_conn *conn,
		    const struct frame *frame)
{
	uint32_t done = bcl_get32(frame->header->done);
	uint32_t ack = bcl_get32(frame->header->ack);

	if (nic_list_empty(&card->news) || !may_wait(conn, frame->rail, done)) {
		answers(card, conn, frame->rail, done, ack);
		return;
	}
	card->answered.conn = conn;
	card->answered.rail = (uint8_t)frame->rail;
	card->answered.done = done;
	card->answered.ack = ack;
}

static void dispatch(struct bcl_card *card, struct nic_conn *conn,
		     struct frame *frame)
{
	if (frame->kind == BCL_FRAME_DATA) {
		data(card, conn, frame);
		put_off(card, conn, frame);
		return;
	}
	answers(card, conn, frame->rail, bcl_get32(frame->header->done),
		bcl_get32(frame->header->ack));
	switch (frame->kind) {
	case BCL_FRAME_ACK:
		if (segments(card, conn, frame, NULL) != NIC_ACCEPTED)
			nic_count(card, dropped_malformed);
		break;
	case BCL_FRAME_PING:
		conn->window[frame->rail].ack_due = 1;
		nic_conn_work(card, conn, NIC_WORK_ACK << frame->rail);
		break;
	case BCL_FRAME_BYE:
		if (segments(card, conn, frame, NULL) != NIC_ACCEPTED)
			nic_count(card, dropped_malformed);
		else
			bcl_nic_contact_bye(card, conn, frame->rail);
		break;
	case BCL_FRAME_PARK:
		bcl_nic_contact_park(card, conn, frame->rail);
		break;
	default:
		nic_count(card, dropped_malformed);
		break;
	}
}

static bool checked(struct bcl_card *card, const struct nic_conn *conn,
		    const struct frame *frame)
{
	if (!nic_frame_sealed(card, conn->seal, frame->head)) {
		nic_count(card, dropped_hcrc);
		return false;
	}
	/*
	 * A DATA frame with a broken payload is not dropped here: its header is
	 * still valid.
	 */
	if ((frame->kind != BCL_FRAME_DATA && !intact(card, frame)) ||
	    (!(frame->header->kind & BCL_FRAME_PCRC) && frame->body_len &&
	     (conn->pcrc || frame->kind != BCL_FRAME_DATA))) {
		nic_count(card, dropped_pcrc);
		return false;
	}
	return true;
}

static void connected(struct bcl_card *card, struct frame *frame)
{
	uint32_t id = bcl_get32(frame->header->conn);
	struct nic_conn *conn = nic_conn_find(card, id);
	struct bcl_hello hello;

	if (!conn || (id & 3) != frame->rail) {
		nic_count(card, dropped_conn);
		if (!conn && frame->kind != BCL_FRAME_BYE)
			bcl_nic_frame_reset(card, frame->rail, frame->head);
		return;
	}
	if (!checked(card, conn, frame))
		return;
	if (frame->kind == BCL_FRAME_PING && greeting(frame, &hello))
		bcl_nic_handshake_proved(card, conn, frame->rail, frame->header,
					 &hello);
	if (conn->window[frame->rail].state != NIC_RAIL_PROVED ||
	    conn->state < NIC_CONN_UP) {
		nic_count(card, dropped_state);
		return;
	}
	if (take_header(card, conn, frame))
		dispatch(card, conn, frame);
}

/* A frame without a connection: handshake, REFUSE, RESET. */
static void unconnected(struct bcl_card *card, const struct frame *frame)
{
	struct bcl_refuse refuse;

	if (!nic_frame_sealed(card, 0, frame->head)) {
		nic_count(card, dropped_hcrc);
		return;
	}
	if (!intact(card, frame)) {
		nic_count(card, dropped_pcrc);
		return;
	}
	switch (frame->kind) {
	case BCL_FRAME_REFUSE:
		memcpy(&refuse, frame->head + 40, sizeof(refuse));
		bcl_nic_handshake_refused(card, bcl_get32(frame->header->conn),
					  &refuse);
		break;
	case BCL_FRAME_RESET:
		reset(card, frame);
		break;
	default:
		hello(card, frame);
		break;
	}
}

static bool for_us(struct bcl_card *card, const struct frame *frame)
{
	uint64_t to = bcl_get64(frame->header->card);

	/* The sender of a RESET does not know the card id. */
	return to == card->config.card ||
	       (to == 0 && frame->kind == BCL_FRAME_RESET);
}

void bcl_nic_recv(struct bcl_card *card, unsigned rail,
		  const struct bcl_rx_frame *rx)
{
	struct frame frame = {
		.header = (const void *)rx->head,
		.head = rx->head,
		.body = rx->body,
		.body_len = rx->body_len,
		.rail = rail,
	};

	if (card->answered.conn)
		bcl_nic_recv_answers(card);
	if (rx->head_len < BCL_FRAME_MIN ||
	    (rx->body_len && rx->head_len != BCL_HEADERS_SIZE)) {
		nic_count(card, dropped_short);
		return;
	}
	if (rx->body_len == 0) {
		frame.body = rx->head + BCL_HEADERS_SIZE;
		frame.body_len = rx->head_len - BCL_HEADERS_SIZE;
	}
	frame.kind = frame.header->kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK);
	if (bcl_get16(frame.header->magic) != BCL_WIRE_MAGIC ||
	    frame.body_len > card->config.frame - BCL_HEADERS_SIZE ||
	    (frame.header->version != BCL_WIRE_VERSION &&
	     frame.kind != BCL_FRAME_HELLO)) {
		nic_count(card, dropped_magic);
		return;
	}
	if (!for_us(card, &frame)) {
		nic_count(card, dropped_card);
		return;
	}
	if (frame.kind >= BCL_FRAME_HELLO && frame.kind <= BCL_FRAME_RESET)
		unconnected(card, &frame);
	else
		connected(card, &frame);
}
