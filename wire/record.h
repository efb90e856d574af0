/* SPDX-License-Identifier: MIT */
/*
 * Records: the requests of a host to its card and the results, written to a
 * trace beside the frames. Frames alone do not tell the requests and the
 * deliveries. Each card of a trace has an interface for records, of link type
 * LINKTYPE_USER0. A packet there is one record of 64 bytes, little-endian.
 *
 * A record comes before the frames that it causes and after the frames that
 * cause it.
 *
 *  kind         port  card  peer_port  number    length  value        target
 *  OPENED       -     own   -          -         memory  incarnation  time-out
 *  CLOSED       -     -     -          -         -       -            -
 *  CRASHED      -     -     -          -         -       -            -
 *  PORT_OPENED  own   -     -          requests  blocks  -            channels
 *  PORT_CLOSED  own   -     -          -         -       -            -
 *  REQUEST      own   peer  peer's     request   bytes   targ64       target
 *  COMPLETED    own   -     -          request   bytes   -            -
 *  DELIVERED    own   peer  peer's     index     bytes   targ64       message
 *  RING         own   -     -          -         -       -            -
 *  NODE         -     peer  -          state     -       -            -
 *  MEMORY       -     -     -          -         bytes   -            -
 *  UNSEEN       own   -     -          -         -       -            -
 *
 * Further fields:
 *
 *  REQUEST      op (enum bcl_request_op), type, arg32, perhaps a digest
 *  PORT_OPENED  arg32: the number of long blocks
 *  COMPLETED    status
 *  DELIVERED    op (enum bcl_completion_kind), type, arg32, status, freed,
 *               perhaps a digest
 *  RING         freed
 *  NODE         status; the state is an enum bcl_node_state
 *
 * OPENED: `length` is the memory of the card in bytes, `target` the time-out of
 * peers in ms. RING: `freed` counts the blocks of the port that were given
 * back. DELIVERED: `freed` counts the same blocks, or the long blocks if the
 * message lies in a long block. The count may include blocks of messages that
 * later records report: another thread takes messages while this thread writes.
 * DELIVERED: `target` is the number of the message, 0 if not known; a SYSTEM
 * message and a NOTIFY each take a block. MEMORY: `length` is the memory in
 * use, in bytes. UNSEEN: events of the port may be missing here. A REQUEST with
 * op 0 ended before the writer saw its contents.
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
	BCL_RECORD_EARLY = 2,  /* REQUEST: seen perhaps before the doorbell */
};

/* A record in memory. A field that the kind does not have is 0. */
struct bcl_record {
	uint8_t kind; /* enum bcl_record_kind */
	uint8_t op, type, flags;
	uint16_t port, peer_port;
	uint32_t number, length, target, arg32, digest, freed;
	uint16_t status;
	uint64_t card, value;
};

/* A record in a trace. The comments give the offset of each field. */
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
/* Returns 0 if the bytes are no record, or have an unknown version or kind. */
int bcl_record_decode(const void *bytes, size_t length,
		      struct bcl_record *record);

#endif
