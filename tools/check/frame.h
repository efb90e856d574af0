/* SPDX-License-Identifier: MIT */
/* Decodes a frame and judges it as a card would (bcl/wire.h), for bcl-check. */
#ifndef CHECK_FRAME_H
#define CHECK_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcl/wire.h>

enum {
	CHECK_SEGMENTS = BCL_FRAME_MAX / sizeof(struct bcl_segment_header),
};

struct check_segment {
	uint8_t op, type;
	uint16_t length, src_port, dst_port;
	uint32_t msg, prev, offset, total, target, arg32;
	uint64_t targ64;
	const uint8_t *payload;
};

/* The body of a HELLO or HELLO_ACK, and of the PING that follows
 * a handshake. */
struct check_hello {
	uint64_t card, life, peer_incarnation;
	uint32_t conn, first_msg, first_seq;
	uint8_t rail;
};

struct check_frame {
	uint8_t kind; /* enum bcl_frame_kind, without flags */
	bool torn;    /* the payload is damaged; the header is intact */
	uint32_t conn, seq, ack, done, base;
	uint32_t seal; /* the value with which the checksum of the header is
			* xored */
	uint64_t card;
	bool greets; /* `hello` is valid */
	struct check_hello hello;
	unsigned nsegments;
	struct check_segment segments[CHECK_SEGMENTS];
};

/* True if frames of the kind belong to a connection and so carry a seal. */
static inline bool check_is_sealed(unsigned kind)
{
	return kind > BCL_FRAME_RESET;
}

/* Reads the header without judging the fields. Returns false if a frame cannot
 * have this length. */
bool check_frame_header(const uint8_t *bytes, size_t length,
			struct check_frame *frame);
/*
 * Returns NULL if a card would accept the frame, provided that the seal is
 * right; else the reason why not. On an error *frame holds the fields read
 * before the fault.
 */
const char *check_frame_decode(const uint8_t *bytes, size_t length,
			       struct check_frame *frame);

/* True for a segment that carries a message: a message has a number and gets a
 * verdict. */
static inline bool check_is_message(unsigned op)
{
	return op >= BCL_SEG_SYSTEM && op <= BCL_SEG_ATOMIC_REPLY;
}

/* True if messages of the operation are delivered in the order of
 * their flow. */
static inline bool check_is_ordered(unsigned op)
{
	return op == BCL_SEG_SYSTEM || op == BCL_SEG_PUT_NOTIFY;
}

static inline bool check_is_reply(unsigned op)
{
	return op == BCL_SEG_GET_REPLY || op == BCL_SEG_ATOMIC_REPLY;
}

/* Payload bytes of the message in all frames together. A GET has none: `total`
 * is the length of the reply. */
static inline uint32_t check_payload(const struct check_segment *segment)
{
	return segment->op == BCL_SEG_GET ? 0 : segment->total;
}

const char *check_kind_name(unsigned kind);
const char *check_op_name(unsigned op);

#endif
