/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Build a frame of whole messages, or of one fragment: begin, append segments,
 * then finish, or cancel. Inline, because each short message goes this way.
 */
#ifndef NICFW_BUILD_H
#define NICFW_BUILD_H

#include <nicfw/card.h>
#include <nicfw/dma.h>
#include <nicfw/frame.h>
#include <nicfw/launch.h>
#include <nicfw/message.h>
#include <nicfw/payload.h>
#include <nicfw/window.h>

/* A frame that is being built. */
struct nic_build {
	struct nic_conn *conn;
	struct bcl_tx_frame *frame;
	struct nic_buffer *buffer; /* NULL: the host gathers */
	struct nic_flight *flight, *last;
	uint32_t limit; /* bytes */
	unsigned rail;
	uint8_t segments;
	uint8_t refs; /* a message with references was added */
};

static inline struct nic_window *nic_build_window(const struct nic_build *build)
{
	return &build->conn->window[build->rail];
}

/*
 * Begin a frame: for `flight`, which is to be sent once more, or for a new
 * flight if NULL. Returns false if no card memory is free now.
 */
static inline bool nic_build_begin(struct bcl_card *card, struct nic_conn *conn,
				   unsigned rail, struct nic_flight *flight,
				   bool bulk, struct nic_build *build)
{
	build->conn = conn;
	build->rail = rail;
	build->frame = &card->out_frame;
	build->frame->head = card->frame;
	build->frame->head_len = 40;
	build->frame->nparts = 0;
	build->frame->frames = 1;
	build->buffer = NULL;
	build->limit = conn->window[rail].payload + BCL_HEADERS_SIZE;
	build->segments = 0;
	build->refs = 0;
	build->last = NULL;
	if (!card->gather) {
		if (card->jobs.left < 8)
			return false;
		build->buffer = nic_pool_take(&card->out);
		if (!build->buffer)
			return false;
		build->buffer->jobs = 0;
		build->buffer->fault = 0;
		build->buffer->conn = conn;
		build->buffer->rail = (uint8_t)rail;
		build->frame->head = build->buffer->bytes;
	}
	build->flight =
		flight ? flight
		       : nic_window_flight(card, nic_build_window(build), bulk);
	if (build->flight)
		return true;
	if (build->buffer)
		nic_pool_put(&card->out, &build->buffer->link);
	return false;
}

/* True if the frame has room for one more segment, and a flight is free. */
static inline bool nic_build_room(const struct bcl_card *card,
				  const struct nic_build *build,
				  uint32_t length)
{
	const struct bcl_tx_frame *frame = build->frame;

	return frame->nparts == 0 &&
	       nic_pad8(frame->head_len) + 40 + length <= build->limit &&
	       (!build->last || card->flights.left);
}

/* Append a segment header. The caller has checked that there is room. */
static inline uint8_t *nic_build_append(struct nic_build *build)
{
	struct bcl_tx_frame *frame = build->frame;
	uint32_t at = nic_pad8(frame->head_len);

	if (at != frame->head_len)
		memset(frame->head + frame->head_len, 0, at - frame->head_len);
	frame->head_len = (uint16_t)(at + 40);
	return frame->head + at;
}

/* Record the new segment in a flight. */
static inline void nic_build_note(struct bcl_card *card,
				  struct nic_build *build,
				  struct nic_message *message, uint32_t length,
				  bool withdraw)
{
	struct nic_flight *flight = build->flight;

	if (build->last) {
		flight = nic_pool_take(&card->flights);
		bcl_assert(flight);
		build->last->more = flight;
		flight->more = NULL;
	}
	build->last = flight;
	flight->message = message;
	flight->number = message->number;
	flight->offset = 0;
	flight->length = length;
	flight->withdraw = (uint8_t)withdraw;
}

static inline bool nic_build_payload(struct bcl_card *card,
				     struct nic_build *build,
				     struct nic_message *message,
				     uint32_t offset, uint32_t length)
{
	struct bcl_tx_frame *frame = build->frame;

	if (!card->gather || !message->inline_len || message->nref)
		return bcl_nic_payload(card, message, offset, length, frame,
				       build->buffer);
	/* A short message lies in its request as a whole. */
	memcpy(frame->head + frame->head_len,
	       message->port->at.requests[message->index].inlined + offset,
	       length);
	frame->head_len += (uint16_t)length;
	return true;
}

static inline bool nic_build_fill(struct bcl_card *card,
				  struct nic_build *build,
				  struct nic_message *message, uint32_t offset,
				  uint32_t length, uint8_t *at)
{
	uint16_t start = build->frame->head_len;

	if (nic_build_payload(card, build, message, offset, length)) {
		nic_frame_segment(card, message, offset, length, at);
		build->segments++;
		build->refs |= message->nref;
		return true;
	}
	build->frame->head_len = start - 40;
	build->frame->nparts = 0;
	bcl_nic_message_fault(card, build->conn, message);
	return false;
}

/*
 * Build the part of a long message that the flight describes. Returns false on
 * a memory fault.
 */
static inline bool nic_build_run(struct bcl_card *card, struct nic_build *build,
				 struct nic_message *message)
{
	const struct nic_flight *flight = build->flight;
	uint32_t first = bcl_min32(flight->length, flight->payload);
	uint8_t *at = nic_build_append(build);
	struct bcl_segment_header *segment = (void *)at;

	build->frame->frames = flight->frames;
	if (!nic_build_fill(card, build, message, flight->offset,
			    flight->length, at))
		return false;
	segment->length = bcl_put16((uint16_t)first);
	return true;
}

static inline uint32_t nic_frame_length(const struct bcl_tx_frame *frame)
{
	return frame->head_len + bcl_tx_parts_length(frame);
}

/* The frame is complete: launch it, or wait until its payload is fetched. */
static inline void nic_build_finish(struct bcl_card *card,
				    struct nic_build *build)
{
	struct nic_window *window = nic_build_window(build);
	struct nic_flight *flight = build->flight;
	struct nic_buffer *buffer = build->buffer;

	bcl_assert(flight->window == window);
	bcl_assert(flight->state != NIC_FLIGHT_SENT &&
		   flight->state != NIC_FLIGHT_SACKED);
	if (build->frame->head_len < BCL_HEADERS_SIZE) {
		memset(build->frame->head + 40, 0, 40);
		build->frame->head_len = BCL_HEADERS_SIZE;
	}
	if (flight->bytes == 0)
		flight->bytes = nic_frame_length(build->frame);
	flight->state = NIC_FLIGHT_BUILT;
	window->bytes += flight->bytes;
	if (!buffer) {
		nic_launch(card, build->conn, build->rail, build->frame,
			   flight);
		return;
	}
	flight->buffer = buffer;
	buffer->flight = flight;
	buffer->length = build->frame->head_len;
	nic_list_append(&card->rail[build->rail].fetched, &buffer->link);
	if (buffer->jobs == 0)
		bcl_nic_launch_fetched(card, build->rail);
}

/* The frame stays empty: free the buffer and the flight. */
static inline void nic_build_cancel(struct bcl_card *card,
				    struct nic_build *build)
{
	if (build->buffer)
		nic_pool_put(&card->out, &build->buffer->link);
	bcl_nic_window_free(card, build->flight);
}

#endif
