/* SPDX-License-Identifier: MIT */
/*
 * Records: what a host asks of its card and what the card does for it, in a
 * trace beside the frames. Frames alone do not say what was asked and what was
 * delivered. Each card of a trace has an interface for them, of link type
 * LINKTYPE_USER0; a packet there is one record of 64 bytes, little-endian.
 *
 * A record stands before the frames that follow from it and behind those that
 * it follows from.
 *
 *  kind         port  card  peer_port  number    length  value      target
 *  OPENED       -     own   -          -         memory  life       time-out
 *  CLOSED       -     -     -          -         -       -          -
 *  CRASHED      -     -     -          -         -       -          -
 *  PORT_OPENED  own   -     -          requests  blocks  -          channels
 *  PORT_CLOSED  own   -     -          -         -       -          -
 *  REQUEST      own   peer  peer's     request   bytes   targ64     target
 *  COMPLETED    own   -     -          request   bytes   -          -
 *  DELIVERED    own   peer  peer's     index     bytes   targ64     message
 *  RING         own   -     -          -         -       -          -
 *  NODE         -     peer  -          state     -       -          -
 *  MEMORY       -     -     -          -         bytes   -          -
 *  UNSEEN       own   -     -          -         -       -          -
 *
 * Besides: REQUEST has op (enum bcl_request_op), type, arg32 and perhaps a
 * digest; PORT_OPENED has the long blocks in arg32; COMPLETED a status;
 * DELIVERED op (enum bcl_completion_kind), type, arg32, status and perhaps a
 * digest; NODE (enum bcl_node_state) a status.
 *
 * OPENED: `length` is the memory of the card in bytes, `value` its incarnation,
 * `target` the time-out of peers in ms. RING: `freed` counts the blocks of the
 * port that were given back; DELIVERED: those, or the long ones if it is one,
 * perhaps also some that were delivered by now, of which the next records tell:
 * another thread takes messages while this one writes. DELIVERED: `target` is
 * the number of the message, 0 if it is not known; a SYSTEM message and a
 * NOTIFY take a block. MEMORY: the most that was in use. UNSEEN: events of the
 * port may be missing here. A REQUEST with op 0 ended before its contents were
 * seen.
 */
#ifndef BCL_RECORD_H
#define BCL_RECORD_H

#include <bcl/wire.h>

enum {
	BCL_RECORD_MAGIC = 0xbc7e,
	BCL_RECORD_VERSION = 1, /* raised when a record changes its meaning */
	BCL_RECORD_SIZE = 64,
};

enum bcl_record_kind {
	BCL_RECORD_OPENED = 1,
	BCL_RECORD_CLOSED = 2,
	BCL_RECORD_CRASHED = 3,
	BCL_RECORD_PORT_OPENED = 4,
	BCL_RECORD_PORT_CLOSED = 5,
	BCL_RECORD_REQUEST = 6,
	BCL_RECORD_COMPLETED = 7,
	BCL_RECORD_DELIVERED = 8,
	BCL_RECORD_RING = 9,
	BCL_RECORD_NODE = 10,
	BCL_RECORD_MEMORY = 11,
	BCL_RECORD_UNSEEN = 12,
};

enum bcl_record_flags {
	BCL_RECORD_DIGEST = 1, /* `digest` is the CRC32C of the contents */
	BCL_RECORD_EARLY = 2,  /* REQUEST: perhaps before the doorbell */
};

/* In memory; 0 where the kind has no such field. */
struct bcl_record {
	uint8_t kind; /* enum bcl_record_kind */
	uint8_t op, type, flags;
	uint16_t port, peer_port;
	uint32_t number, length, target, arg32, digest, freed;
	uint16_t status;
	uint64_t card, value;
};

/* As it stands in a trace. */
struct bcl_record_wire {
	struct bcl_le16 magic;	   /*  0 */
	uint8_t version;	   /*  2 */
	uint8_t kind;		   /*  3 */
	uint8_t op;		   /*  4 */
	uint8_t type;		   /*  5 */
	uint8_t flags;		   /*  6: enum bcl_record_flags */
	uint8_t spare0;		   /*  7: 0 */
	struct bcl_le64 card;	   /*  8 */
	struct bcl_le64 value;	   /* 16 */
	struct bcl_le16 port;	   /* 24 */
	struct bcl_le16 peer_port; /* 26 */
	struct bcl_le32 number;	   /* 28 */
	struct bcl_le32 length;	   /* 32 */
	struct bcl_le32 target;	   /* 36 */
	struct bcl_le32 arg32;	   /* 40 */
	struct bcl_le32 digest;	   /* 44 */
	struct bcl_le32 freed;	   /* 48 */
	struct bcl_le16 status;	   /* 52: enum bcl_status */
	uint8_t spare[10];	   /* 54: 0 */
};

bcl_static_assert(sizeof(struct bcl_record_wire) == BCL_RECORD_SIZE, "record");
bcl_static_assert(offsetof(struct bcl_record_wire, status) == 52, "status");

void bcl_record_encode(const struct bcl_record *record,
		       struct bcl_record_wire *to);
/* 0: it is none, or of a version or kind that is not known. */
int bcl_record_decode(const void *bytes, size_t length,
		      struct bcl_record *record);

#endif
