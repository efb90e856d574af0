/* SPDX-License-Identifier: MIT */
/* A frame as a card would understand it (bcl/wire.h). */
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

/* What HELLO, HELLO_ACK and the PING behind them say. */
struct check_hello {
	uint64_t card, life, peer_incarnation;
	uint32_t conn, first_msg, first_seq;
	uint8_t rail;
};

struct check_frame {
	uint8_t kind; /* without flags */
	bool torn;    /* only its payload is damaged: its header holds */
	uint32_t conn, seq, ack, done, base;
	uint32_t seal; /* what its header's checksum is xored with */
	uint64_t card;
	bool greets; /* `hello` is there */
	struct check_hello hello;
	unsigned nsegments;
	struct check_segment segments[CHECK_SEGMENTS];
};

/* It belongs to a connection, which has a seal. */
static inline bool check_is_sealed(unsigned kind)
{
	return kind > BCL_FRAME_RESET;
}

/* What a frame's header says, right or not; false: it cannot be one. */
bool check_frame_header(const uint8_t *bytes, size_t length,
			struct check_frame *frame);
/* NULL: a card would take it, if its seal is right; else why not. What was
 * understood before that is in *frame. */
const char *check_frame_decode(const uint8_t *bytes, size_t length,
			       struct check_frame *frame);

/* It has a message number and gets a verdict. */
static inline bool check_is_message(unsigned op)
{
	return op >= BCL_SEG_SYSTEM && op <= BCL_SEG_ATOMIC_REPLY;
}

/* It is delivered in the order of its flow. */
static inline bool check_is_ordered(unsigned op)
{
	return op == BCL_SEG_SYSTEM || op == BCL_SEG_PUT_NOTIFY;
}

static inline bool check_is_reply(unsigned op)
{
	return op == BCL_SEG_GET_REPLY || op == BCL_SEG_ATOMIC_REPLY;
}

/* Bytes of its payload in all its frames: those of a GET are the reply's. */
static inline uint32_t check_payload(const struct check_segment *segment)
{
	return segment->op == BCL_SEG_GET ? 0 : segment->total;
}

const char *check_kind_name(unsigned kind);
const char *check_op_name(unsigned op);

#endif
