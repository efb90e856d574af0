/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Bursts that come in. The frames of a long message follow one another, and
 * their headers differ in number, offset and checksums only. RECV takes the
 * first with all checks. Those behind it are held against the header that must
 * come next: one that is equal needs no check of its own, neither its checksum
 * nor its fields. Whatever differs goes to RECV.
 */
#include <nicfw/frame.h>
#include <nicfw/window.h>

enum {
	SEQ = offsetof(struct bcl_frame_header, seq),
	OFFSET = sizeof(struct bcl_frame_header) +
		 offsetof(struct bcl_segment_header, offset),
};

/* What the next frame must look like, and to which message it belongs. */
struct burst {
	struct nic_conn *conn;
	struct nic_window *window;
	struct nic_inbound *inbound;
	uint32_t length; /* of a payload */
	uint8_t head[BCL_HEADERS_SIZE];
};

static uint32_t split(const struct bcl_rx_frame *frame, const uint8_t **body)
{
	*body = frame->body_len ? frame->body : frame->head + BCL_HEADERS_SIZE;
	return frame->body_len + frame->head_len - BCL_HEADERS_SIZE;
}

/* RECV took `first`: is it part of a message of which more must follow? */
static int begin(struct bcl_card *card, unsigned rail,
		 const struct bcl_rx_frame *first, struct burst *burst)
{
	const struct bcl_frame_header *header = (const void *)first->head;
	const struct bcl_segment_header *segment =
		(const void *)(first->head + sizeof(*header));
	struct nic_inbound *inbound = card->rail[rail].arriving;
	uint32_t seq = bcl_get32(header->seq);
	const uint8_t *body;

	if (!inbound || !card->gather || inbound->failed ||
	    first->head_len < BCL_HEADERS_SIZE)
		return 0;
	burst->conn = nic_conn_find(card, bcl_get32(header->conn));
	burst->inbound = inbound;
	burst->window = &inbound->conn->window[rail];
	burst->length = split(first, &body);
	memcpy(burst->head, first->head, sizeof(burst->head));
	return burst->conn == inbound->conn &&
	       (header->kind & ~BCL_FRAME_PCRC) == BCL_FRAME_DATA &&
	       burst->window->expected == seq + 1 &&
	       burst->window->highest == seq + 1 &&
	       bcl_get32(segment->msg) == inbound->msg &&
	       bcl_get16(segment->length) == burst->length &&
	       bcl_get32(segment->offset) + burst->length == inbound->prefix &&
	       inbound->prefix == inbound->received &&
	       nic_frame_sealed(card, first->head);
}

/* Equal but for the checksums, bytes 32 to 39? */
static int equal(const uint8_t *head, const uint8_t *other)
{
	uint64_t a[BCL_HEADERS_SIZE / 8], b[BCL_HEADERS_SIZE / 8];

	memcpy(a, head, sizeof(a));
	memcpy(b, other, sizeof(b));
	return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) |
		(a[5] ^ b[5]) | (a[6] ^ b[6]) | (a[7] ^ b[7]) | (a[8] ^ b[8]) |
		(a[9] ^ b[9])) == 0;
}

static int expected(struct burst *burst, const struct bcl_rx_frame *frame)
{
	struct bcl_le32 seq = bcl_put32(burst->window->expected);
	struct bcl_le32 offset = bcl_put32(burst->inbound->prefix);

	memcpy(burst->head + SEQ, &seq, sizeof(seq));
	memcpy(burst->head + OFFSET, &offset, sizeof(offset));
	return frame->head_len >= BCL_HEADERS_SIZE &&
	       equal(frame->head, burst->head);
}

/* A payload that turns out to be corrupt is written again when it comes. */
static int store(struct bcl_card *card, const struct burst *burst,
		 const struct bcl_frame_header *header, const uint8_t *body)
{
	const struct nic_inbound *inbound = burst->inbound;
	struct bcl_memref ref = inbound->where;
	uint32_t crc;

	if (inbound->prefix + burst->length > ref.length)
		return 0;
	ref.offset += inbound->prefix;
	ref.length = burst->length;
	return card->hal.store(card->host, inbound->area_port, inbound->remote,
			       &ref, body, &crc) == BCL_DMA_DONE &&
	       (!(header->kind & BCL_FRAME_PCRC) ||
		crc == bcl_get32(header->pcrc));
}

unsigned bcl_nic_burst(struct bcl_card *card, unsigned rail,
		       const struct bcl_rx_frame *first, unsigned n)
{
	const struct bcl_rx_frame *frame = first + 1;
	struct nic_inbound *inbound;
	struct burst burst;
	const uint8_t *body;
	unsigned i;

	if (!begin(card, rail, first, &burst))
		return 0;
	inbound = burst.inbound;
	for (i = 0; i < n; i++, frame++) {
		/* The last part ends the message: RECV's business. */
		if (inbound->received + burst.length >= inbound->total ||
		    !expected(&burst, frame) ||
		    split(frame, &body) != burst.length ||
		    !store(card, &burst, (const void *)frame->head, body))
			break;
		inbound->prefix += burst.length;
		inbound->received += burst.length;
		burst.window->expected++;
		burst.window->highest++;
	}
	if (i == 0)
		return 0;
	burst.conn->frames_received += i;
	card->counters[BCL_CARD_frames_received] += i;
	nic_window_followed(card, burst.conn, rail,
			    i * (BCL_HEADERS_SIZE + burst.length));
	return i;
}
