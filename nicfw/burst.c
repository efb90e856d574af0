/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Bursts that come in. The frames of a long message follow one another, and
 * their headers differ only in seq, offset and checksums. RECV checks the first
 * frame in full. The headers of the next frames are compared with the header
 * that must come next. An equal header needs no further check, and the payloads
 * of all equal frames are stored in one call. The first frame that differs goes
 * to RECV.
 */
#include <nicfw/burst.h>

#include <nicfw/arrived.h>
#include <nicfw/conn.h>
#include <nicfw/frame.h>
#include <nicfw/inbound.h>
#include <nicfw/window.h>

/* The expected form of the next frames, and the message they belong to. */
struct burst {
	struct nic_conn *conn;
	struct nic_window *window;
	struct nic_inbound *inbound;
	uint32_t length;      /* of each payload */
	uint32_t offset;      /* of the first payload behind `first` */
	uint32_t ack;	      /* of each header */
	const uint8_t *first; /* head of the first frame */
};

/*
 * RECV has taken `first`. Returns true if the frame is part of a message that
 * is not complete.
 */
static bool begin_burst(struct bcl_card *card, unsigned rail,
			const struct bcl_rx_frame *first, struct burst *burst)
{
	const struct bcl_frame_header *header = (const void *)first->head;
	const struct bcl_segment_header *segment =
		(const void *)(first->head + sizeof(*header));
	struct nic_inbound *inbound = card->rail[rail].arriving;
	uint32_t seq = bcl_get32(header->seq);

	if (!inbound || !card->gather || inbound->failed ||
	    first->head_len < BCL_HEADERS_SIZE)
		return false;
	burst->conn = nic_conn_find(card, bcl_get32(header->conn));
	burst->inbound = inbound;
	burst->window = &inbound->conn->window[rail];
	burst->length = bcl_rx_payload_length(first);
	burst->offset = bcl_get32(segment->offset) + burst->length;
	burst->ack = bcl_get32(header->ack);
	burst->first = first->head;
	return burst->conn == inbound->conn &&
	       burst->window->state == NIC_RAIL_PROVED &&
	       (header->kind & ~BCL_FRAME_PCRC) == BCL_FRAME_DATA &&
	       burst->window->expected == seq + 1 &&
	       burst->window->highest == seq + 1 && burst->length &&
	       bcl_get32(segment->msg) == inbound->msg &&
	       bcl_get16(segment->length) == burst->length &&
	       nic_frame_sealed(card, burst->conn->seal, first->head);
}

/*
 * True if the heads are equal outside the bytes 16 to 23, 32 to 39 and 56 to
 * 63: seq and ack, the checksums, offset and total. follows() compares seq,
 * ack, offset and total.
 */
static bool alike(const uint8_t *head, const uint8_t *other)
{
	uint64_t a[BCL_HEADERS_SIZE / 8], b[BCL_HEADERS_SIZE / 8];

	memcpy(a, head, sizeof(a));
	memcpy(b, other, sizeof(b));
	return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[3] ^ b[3]) | (a[5] ^ b[5]) |
		(a[6] ^ b[6]) | (a[8] ^ b[8]) | (a[9] ^ b[9])) == 0;
}

static bool follows(const struct burst *burst, const struct bcl_rx_frame *frame,
		    uint32_t seq, uint32_t offset)
{
	const struct bcl_frame_header *header = (const void *)frame->head;
	const struct bcl_segment_header *segment =
		(const void *)(frame->head + sizeof(*header));

	return frame->head_len >= BCL_HEADERS_SIZE &&
	       bcl_rx_payload_length(frame) == burst->length &&
	       bcl_get32(header->seq) == seq &&
	       bcl_get32(header->ack) == burst->ack &&
	       bcl_get32(segment->offset) == offset &&
	       bcl_get32(segment->total) == burst->inbound->total &&
	       alike(frame->head, burst->first);
}

/*
 * Number of the next n frames that continue the message. RECV takes the last
 * missing frame, because it completes the message, and frames beyond the room.
 */
static unsigned following(const struct burst *burst,
			  const struct bcl_rx_frame *frame, unsigned n)
{
	const struct nic_inbound *inbound = burst->inbound;
	uint32_t seq = burst->window->expected, offset = burst->offset;
	uint32_t left = inbound->total - inbound->received;
	unsigned i;

	for (i = 0; i < n; i++, seq++, offset += burst->length)
		if (left <= (i + 1) * burst->length ||
		    offset > inbound->where.length ||
		    burst->length > inbound->where.length - offset ||
		    !follows(burst, &frame[i], seq, offset))
			break;
	return i;
}

/*
 * Store the payloads of n frames. Returns how many are in place. A payload that
 * proves corrupt is overwritten by its retransmission.
 */
static unsigned store(struct bcl_card *card, const struct burst *burst,
		      const struct bcl_rx_frame *frame, unsigned n)
{
	const struct nic_inbound *inbound = burst->inbound;
	struct bcl_memref ref = inbound->where;

	ref.offset += burst->offset;
	ref.length = n * burst->length;
	return card->hal.store(card->host, inbound->area_port, inbound->remote,
			       &ref, frame, n);
}

unsigned bcl_nic_burst(struct bcl_card *card, unsigned rail,
		       const struct bcl_rx_frame *first, unsigned n)
{
	struct nic_inbound *inbound;
	struct burst burst;

	if (!begin_burst(card, rail, first, &burst))
		return 0;
	n = following(&burst, first + 1, n);
	if (n)
		n = store(card, &burst, first + 1, n);
	if (n == 0)
		return 0;
	inbound = burst.inbound;
	inbound->received += n * burst.length;
	burst.window->expected += n;
	burst.window->highest += n;
	burst.conn->frames_received += n;
	card->counters[BCL_CARD_frames_received] += n;
	nic_arrived_followed(card, burst.conn, rail,
			     n * (BCL_HEADERS_SIZE + burst.length));
	return n;
}
