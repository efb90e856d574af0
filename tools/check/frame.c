/* SPDX-License-Identifier: MIT */
/* Decodes frames and checks their consistency; see frame.h. */
#include "tools/check/frame.h"

#include <string.h>

#include "env/crc32c.h"

enum {
	FLAGS = BCL_FRAME_PCRC | BCL_FRAME_ASK,
	SEGMENT = sizeof(struct bcl_segment_header),
};

static const char *decode_hello(const uint8_t *body, size_t length,
				struct check_frame *frame)
{
	struct check_hello *hello = &frame->hello;
	struct bcl_hello wire;

	if (length < sizeof(wire))
		return "half a HELLO";
	memcpy(&wire, body, sizeof(wire));
	frame->greets = true;
	*hello = (struct check_hello){
		.card = bcl_get64(wire.card),
		.life = bcl_get64(wire.incarnation),
		.peer_incarnation = bcl_get64(wire.peer_incarnation),
		.conn = bcl_get32(wire.conn),
		.first_msg = bcl_get32(wire.first_msg),
		.first_seq = bcl_get32(wire.first_seq),
		.rail = wire.rail,
	};
	if (hello->conn <= 3 || (hello->conn & 3) != hello->rail)
		return "a HELLO with a connection id that cannot be";
	if (hello->first_msg == 0)
		return "a HELLO whose first message is 0";
	return NULL;
}

static void decode_segment(const uint8_t *head, const uint8_t *payload,
			   struct check_segment *segment)
{
	struct bcl_segment_header wire;

	memcpy(&wire, head, sizeof(wire));
	*segment = (struct check_segment){
		.op = wire.op,
		.type = wire.type,
		.length = bcl_get16(wire.length),
		.src_port = bcl_get16(wire.src_port),
		.dst_port = bcl_get16(wire.dst_port),
		.msg = bcl_get32(wire.msg),
		.prev = bcl_get32(wire.prev),
		.offset = bcl_get32(wire.offset),
		.total = bcl_get32(wire.total),
		.target = bcl_get32(wire.target),
		.arg32 = bcl_get32(wire.arg32),
		.targ64 = bcl_get64(wire.targ64),
		.payload = payload,
	};
}

/* Returns NULL if the segment is consistent in a frame of this kind, else the
 * fault. `alone`: the frame has no other segment. */
static const char *
judge_segment(unsigned kind, const struct check_segment *segment, bool alone)
{
	uint32_t n = segment->arg32, bytes = check_payload(segment);

	if (kind == BCL_FRAME_DATA && segment->op == BCL_SEG_WITHDRAW)
		return segment->msg ? NULL : "WITHDRAW of no message";
	if (kind == BCL_FRAME_DATA) {
		if (!check_is_message(segment->op))
			return "an unknown operation";
		if (segment->msg == 0)
			return "a message without a number";
		if (segment->offset > bytes ||
		    segment->length > bytes - segment->offset)
			return "a fragment beyond its message";
		if (segment->length != bytes && !alone)
			return "a fragment that shares its frame";
		if (check_is_ordered(segment->op)
			    ? segment->prev &&
				      segment->msg - segment->prev - 1 >=
					      BCL_MSG_AHEAD
			    : segment->prev != 0)
			return "a predecessor that cannot be";
		return NULL;
	}
	switch (segment->op) {
	case BCL_SEG_SACK:
	case BCL_SEG_RAIL_DOWN:
		return n > BCL_SACK_BITS || (n + 7) / 8 > segment->length
			       ? "a SACK without its bits"
			       : NULL;
	case BCL_SEG_VERDICT:
		return n > BCL_MSG_AHEAD || (n + 1) / 2 > segment->length
			       ? "verdicts without their bits"
			       : NULL;
	case BCL_SEG_ROOM:
		return NULL;
	default:
		return "an unknown operation";
	}
}

static const char *decode_segments(const uint8_t *bytes, size_t length,
				   struct check_frame *frame)
{
	const uint8_t *head = bytes + sizeof(struct bcl_frame_header);
	const uint8_t *body = bytes + BCL_HEADERS_SIZE;
	size_t left = length - BCL_HEADERS_SIZE, size;
	struct check_segment *segment;
	const char *bad;
	bool alone;

	for (;;) {
		segment = &frame->segments[frame->nsegments];
		decode_segment(head, body, segment);
		if (segment->op == 0)
			return frame->nsegments == 0 && left == 0
				       ? NULL
				       : "an empty segment";
		if (segment->length > left)
			return "a segment beyond its frame";
		size = (segment->length + 7u) & ~7u;
		alone = frame->nsegments == 0 && left <= size;
		bad = judge_segment(frame->kind, segment, alone);
		if (bad)
			return bad;
		frame->nsegments++;
		if (left <= size)
			return NULL;
		if (left - size < SEGMENT)
			return "half a segment";
		head = body + size;
		body = head + SEGMENT;
		left -= size + SEGMENT;
	}
}

bool check_frame_header(const uint8_t *bytes, size_t length,
			struct check_frame *frame)
{
	struct bcl_frame_header wire;

	frame->kind = 0;
	frame->torn = false;
	frame->greets = false;
	frame->nsegments = 0;
	if (length < BCL_FRAME_MIN || length > BCL_FRAME_MAX)
		return false;
	memcpy(&wire, bytes, sizeof(wire));
	frame->kind = wire.kind & (uint8_t)~FLAGS;
	frame->conn = bcl_get32(wire.conn);
	frame->card = bcl_get64(wire.card);
	frame->seq = bcl_get32(wire.seq);
	frame->ack = bcl_get32(wire.ack);
	frame->done = bcl_get32(wire.done);
	frame->base = bcl_get32(wire.base);
	frame->seal = bcl_get32(wire.hcrc) ^ bcl_crc32c_headers(bytes);
	return true;
}

const char *check_frame_decode(const uint8_t *bytes, size_t length,
			       struct check_frame *frame)
{
	struct bcl_frame_header wire;
	uint32_t pcrc;

	if (!check_frame_header(bytes, length, frame))
		return "its length cannot be";
	memcpy(&wire, bytes, sizeof(wire));
	if (bcl_get16(wire.magic) != BCL_WIRE_MAGIC)
		return "not BCL's magic";
	if (wire.version != BCL_WIRE_VERSION)
		return "another version of the wire";
	if (frame->seal && !check_is_sealed(frame->kind))
		return "its header's checksum is wrong";
	pcrc = bcl_crc32c(0, bytes + BCL_HEADERS_SIZE,
			  length - BCL_HEADERS_SIZE);
	if (wire.kind & BCL_FRAME_PCRC && bcl_get32(wire.pcrc) != pcrc) {
		frame->torn = true;
		return "its payload's checksum is wrong";
	}
	switch (frame->kind) {
	case BCL_FRAME_HELLO:
	case BCL_FRAME_HELLO_ACK:
		return decode_hello(bytes + sizeof(wire), length - sizeof(wire),
				    frame);
	case BCL_FRAME_DATA:
	case BCL_FRAME_ACK:
	case BCL_FRAME_BYE:
		return decode_segments(bytes, length, frame);
	case BCL_FRAME_PING:
		return length == BCL_FRAME_MIN
			       ? NULL
			       : decode_hello(bytes + sizeof(wire),
					      length - sizeof(wire), frame);
	case BCL_FRAME_REFUSE:
	case BCL_FRAME_RESET:
	case BCL_FRAME_PARK:
		return NULL;
	default:
		return "its kind is unknown";
	}
}

const char *check_kind_name(unsigned kind)
{
	static const char *const names[] = {
		[BCL_FRAME_HELLO] = "HELLO",
		[BCL_FRAME_HELLO_ACK] = "HELLO_ACK",
		[BCL_FRAME_REFUSE] = "REFUSE",
		[BCL_FRAME_RESET] = "RESET",
		[BCL_FRAME_DATA] = "DATA",
		[BCL_FRAME_ACK] = "ACK",
		[BCL_FRAME_PING] = "PING",
		[BCL_FRAME_BYE] = "BYE",
		[BCL_FRAME_PARK] = "PARK",
	};

	return kind && kind < sizeof(names) / sizeof(*names) ? names[kind]
							     : "?";
}

const char *check_op_name(unsigned op)
{
	static const char *const names[] = {
		[BCL_SEG_SYSTEM] = "SYSTEM",
		[BCL_SEG_CHANNEL] = "CHANNEL",
		[BCL_SEG_PUT] = "PUT",
		[BCL_SEG_PUT_NOTIFY] = "PUT_NOTIFY",
		[BCL_SEG_GET] = "GET",
		[BCL_SEG_GET_REPLY] = "GET_REPLY",
		[BCL_SEG_FETCH_ADD] = "FETCH_ADD",
		[BCL_SEG_COMPARE_SWAP] = "COMPARE_SWAP",
		[BCL_SEG_ATOMIC_REPLY] = "ATOMIC_REPLY",
		[BCL_SEG_SACK] = "SACK",
		[BCL_SEG_RAIL_DOWN] = "RAIL_DOWN",
	};

	return op && op < sizeof(names) / sizeof(*names) ? names[op] : "?";
}
