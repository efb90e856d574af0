/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The wire: everything that one card sends to another.
 *
 * A frame is one datagram or one Ethernet payload. A frame is a frame header of
 * 40 bytes followed by segments. A segment is a header of 40 bytes followed by
 * its payload, padded to a multiple of 8 bytes when another segment follows. No
 * frame is shorter than 80 bytes, so that Ethernet never pads a frame and the
 * header checksum always covers the same bytes. In a frame without segments or
 * body the rest is 0 (a first segment with op 0 means: no segment).
 *
 * A fragment of a message longer than one frame is alone in its frame, so that
 * the receiver can refuse the frame as a whole and the sender can retransmit
 * it.
 *
 *	+-------------+-----------+---------+-----------+---------+
 *	| frame header| segment 0 | payload | segment 1 | payload | ...
 *	+-------------+-----------+---------+-----------+---------+
 *	0            40          80
 *
 * Integers are little-endian and are read and written through bcl_get*() and
 * bcl_put*(): a frame may lie at any address, on a machine of either byte
 * order.
 *
 * BCL_WIRE_VERSION is raised by every change that an older card would
 * misunderstand. Cards of different versions refuse each other (REFUSE).
 *
 * Two sequence spaces:
 *  - per rail: `seq` counts DATA frames; `ack` and SACK segments answer.
 *  - per pair of cards and direction: `msg` counts messages. `done` and VERDICT
 *    segments answer; `prev` chains the messages of one flow (source port,
 *    destination port).
 *
 * An attacker who cannot see the frames of a connection cannot forge a frame
 * that a card believes:
 *  - HELLO, HELLO_ACK and the PING behind them prove knowledge of the job's
 *    key, which is never sent, over fresh nonces of both sides. A HELLO changes
 *    nothing in an existing connection, because an attacker may have recorded
 *    the HELLO and replay it. HELLO_ACK and PING change the connection: each
 *    proves that its sender has seen the nonce that its receiver drew for just
 *    this exchange.
 *  - The header checksum of all later frames is xored with the seal of the
 *    receiver, 32 secret bits that the handshake frames tell, hidden by the
 *    key.
 *  - RESET and REFUSE repeat data that only a receiver of the answered frame
 *    knows.
 *  - The numbers in a frame header must belong to the connection: they must be
 *    near the numbers that the receiver has seen or sent.
 *
 * DATA, ACK and BYE may come from another address than the address at which
 * their sender can be reached; an answer to the source address may be lost. A
 * card learns the address of a peer from HELLO_ACK and from a PING with a
 * proof. So a RESET may fail to reach its connection until that side sends
 * PING, which it does when answers fail to come.
 *
 * BYE goes out on each rail, behind all frames that were sent on the rail. BYE
 * carries the last verdicts, so that no delivered message counts as lost. As
 * one rail may overtake another, the receiver ends the connection when BYE has
 * come on each proved rail, or some time after the first BYE.
 *
 * Numbers wrap; cards compare them by the sign of the difference. 0 is never a
 * message number: in `prev` it means "none outstanding".
 */
#ifndef BCL_WIRE_H
#define BCL_WIRE_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/build_bug.h>
#define bcl_static_assert static_assert
#else
#include <stddef.h>
#include <stdint.h>
#define bcl_static_assert _Static_assert
#endif

enum {
	BCL_WIRE_VERSION = 3,
	BCL_WIRE_NONCE = 3, /* HELLO has a nonce since this version */
	BCL_WIRE_MAGIC = 0xbc13,
	BCL_ETHERTYPE = 0x88b5, /* IEEE 802 local experimental 1 */
	BCL_KEY_SIZE = 16,
};

struct bcl_le16 {
	uint8_t b[2];
};
struct bcl_le32 {
	uint8_t b[4];
};
struct bcl_le64 {
	uint8_t b[8];
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* One load or store each, at any address. */

static inline uint16_t bcl_get16(struct bcl_le16 f)
{
	uint16_t v;

	__builtin_memcpy(&v, f.b, sizeof(v));
	return v;
}

static inline uint32_t bcl_get32(struct bcl_le32 f)
{
	uint32_t v;

	__builtin_memcpy(&v, f.b, sizeof(v));
	return v;
}

static inline uint64_t bcl_get64(struct bcl_le64 f)
{
	uint64_t v;

	__builtin_memcpy(&v, f.b, sizeof(v));
	return v;
}

static inline struct bcl_le16 bcl_put16(uint16_t v)
{
	struct bcl_le16 f;

	__builtin_memcpy(f.b, &v, sizeof(v));
	return f;
}

static inline struct bcl_le32 bcl_put32(uint32_t v)
{
	struct bcl_le32 f;

	__builtin_memcpy(f.b, &v, sizeof(v));
	return f;
}

static inline struct bcl_le64 bcl_put64(uint64_t v)
{
	struct bcl_le64 f;

	__builtin_memcpy(f.b, &v, sizeof(v));
	return f;
}

#else

static inline uint16_t bcl_get16(struct bcl_le16 f)
{
	return (uint16_t)(f.b[0] | f.b[1] << 8);
}

static inline uint32_t bcl_get32(struct bcl_le32 f)
{
	return f.b[0] | (uint32_t)f.b[1] << 8 | (uint32_t)f.b[2] << 16 |
	       (uint32_t)f.b[3] << 24;
}

static inline uint64_t bcl_get64(struct bcl_le64 f)
{
	return f.b[0] | (uint64_t)f.b[1] << 8 | (uint64_t)f.b[2] << 16 |
	       (uint64_t)f.b[3] << 24 | (uint64_t)f.b[4] << 32 |
	       (uint64_t)f.b[5] << 40 | (uint64_t)f.b[6] << 48 |
	       (uint64_t)f.b[7] << 56;
}

static inline struct bcl_le16 bcl_put16(uint16_t v)
{
	return (struct bcl_le16){ { (uint8_t)v, (uint8_t)(v >> 8) } };
}

static inline struct bcl_le32 bcl_put32(uint32_t v)
{
	return (struct bcl_le32){ { (uint8_t)v, (uint8_t)(v >> 8),
				    (uint8_t)(v >> 16), (uint8_t)(v >> 24) } };
}

static inline struct bcl_le64 bcl_put64(uint64_t v)
{
	return (struct bcl_le64){ { (uint8_t)v, (uint8_t)(v >> 8),
				    (uint8_t)(v >> 16), (uint8_t)(v >> 24),
				    (uint8_t)(v >> 32), (uint8_t)(v >> 40),
				    (uint8_t)(v >> 48), (uint8_t)(v >> 56) } };
}

#endif

/* Kinds of wire, and the bytes of an address on each, in network byte order. */
enum bcl_wire_kind {
	BCL_WIRE_UDP4 = 1,   /* IPv4 address 4, port 2: 6 bytes */
	BCL_WIRE_UDP6 = 2,   /* IPv6 address 16, port 2: 18 bytes */
	BCL_WIRE_PACKET = 3, /* MAC address 6, fan-out hint 1: 7 bytes */
	BCL_WIRE_SIM = 4,
};

enum {
	BCL_WIRES_MAX = 6, /* that a card tells to its peers */
};

/* Where peers reach a card on one wire. Bytes beyond the length are 0. */
struct bcl_wire_address {
	uint8_t kind; /* enum bcl_wire_kind */
	uint8_t length;
	uint8_t bytes[22];
};

/* Returns the bytes of an address of a wire outside a simulation; 0: there is
 * no such kind. */
static inline uint8_t bcl_wire_length(unsigned kind)
{
	switch (kind) {
	case BCL_WIRE_UDP4:
		return 6;
	case BCL_WIRE_UDP6:
		return 18;
	case BCL_WIRE_PACKET:
		return 7;
	}
	return 0;
}

/*
 * On Ethernet this prefix stands before the frame. `to` and `from` are hints
 * for hosts where several cards listen on one interface: a card's frames carry
 * its own hint in `from`, and answers to the card carry the same hint in `to`.
 */
struct bcl_ether_prefix {
	struct bcl_le16 length; /* 0: of the frame */
	uint8_t to;		/* 2 */
	uint8_t from;		/* 3 */
	struct bcl_le32 spare;	/* 4: 0; aligns the frame to 8 bytes */
};

enum bcl_frame_kind {
	BCL_FRAME_HELLO = 1,	 /* body: struct bcl_hello */
	BCL_FRAME_HELLO_ACK = 2, /* body: struct bcl_hello */
	BCL_FRAME_REFUSE = 3,	 /* body: struct bcl_refuse */
	BCL_FRAME_RESET = 4,	 /* the sender does not know `conn`; body:
				  * the headers of the frame that named it */
	BCL_FRAME_DATA = 5,	 /* sequenced; segments */
	BCL_FRAME_ACK = 6,	 /* unsequenced; SACK, VERDICT, ROOM segments */
	BCL_FRAME_PING = 7,	 /* unsequenced; asks for an ACK; no body, or
				  * struct bcl_hello if its sender began the
				  * handshake */
	BCL_FRAME_BYE = 8,	 /* the sender ends the connection and sends
				  * no more on this rail; carries the answers
				  * of an ACK */
	BCL_FRAME_PARK = 9,	 /* nothing is outstanding: start nothing
				  * new, and answer BYE when idle too; no
				  * body */
};

/*
 * Or'ed to the kind. Only a DATA frame with a single segment may lack a
 * payload checksum, and only if neither side wants it.
 */
enum {
	BCL_FRAME_PCRC = 0x80, /* `pcrc` is valid */
	BCL_FRAME_ASK = 0x40,  /* the window is full: acknowledge at once */
};

/* The first 40 bytes of every frame. */
struct bcl_frame_header {
	struct bcl_le16 magic; /*  0 */
	uint8_t version;       /*  2 */
	uint8_t kind;	       /*  3: enum bcl_frame_kind, flags below */
	struct bcl_le32 conn; /*  4: the receiver's connection id; 0 in HELLO */
	struct bcl_le64 card; /*  8: destination card id (packet filters) */
	struct bcl_le32 seq;  /* 16: number of a DATA frame on this rail; in
			       * other frames the next number */
	struct bcl_le32 ack;  /* 20: every DATA frame before it has arrived */
	struct bcl_le32 done; /* 24: every message before it is delivered, or
			       * refused and the sender knows (see base) */
	struct bcl_le32 base; /* 28: sender's oldest message with no verdict */
	struct bcl_le32 pcrc; /* 32: CRC32C of the bytes from 80 on */
	struct bcl_le32 hcrc; /* 36: CRC32C of bytes 0-31 and 40-79; xored
			       * with the receiver's seal, except in HELLO,
			       * HELLO_ACK, REFUSE and RESET */
};

enum bcl_segment_op {
	BCL_SEG_SYSTEM = 1,	/* a message to a port's system ring */
	BCL_SEG_CHANNEL = 2,	/* a message to a posted channel */
	BCL_SEG_PUT = 3,	/* into exposed memory */
	BCL_SEG_PUT_NOTIFY = 4, /* the same, then an event at the port */
	BCL_SEG_GET = 5,	/* request; answered by GET_REPLY */
	BCL_SEG_GET_REPLY = 6,
	BCL_SEG_FETCH_ADD = 7,	  /* request, one operand in the payload */
	BCL_SEG_COMPARE_SWAP = 8, /* request, two operands: compare, swap */
	BCL_SEG_ATOMIC_REPLY = 9, /* the old value in the payload */
	/* The ops below carry no message number and never need a verdict. */
	BCL_SEG_SACK = 16,	/* selective acknowledgement of this rail */
	BCL_SEG_VERDICT = 17,	/* verdicts of single messages */
	BCL_SEG_ROOM = 18,	/* a port that refused has room again */
	BCL_SEG_WITHDRAW = 19,	/* DATA: refuse `msg` if it has no verdict:
				 * its rail or port is gone, parts may be
				 * missing */
	BCL_SEG_RAIL_DOWN = 20, /* ACK: the sender has given up a rail; says
				 * which frames arrived on it */
};

/*
 * A segment header, 40 bytes. `offset` and `total` make each fragment of a
 * message describe itself. Fields not named for an op are 0.
 *
 *   op            target            targ64              arg32
 *   SYSTEM        -                 immediate           -
 *   CHANNEL       channel           -                   -
 *   PUT           memory handle     offset in memory    -
 *   PUT_NOTIFY    memory handle     offset in memory    immediate
 *   GET           handle, channel   offset in memory    reply token
 *   GET_REPLY     reply token       -                   enum bcl_status
 *   FETCH_ADD     memory handle     offset in memory    reply token
 *   COMPARE_SWAP  memory handle     offset in memory    reply token
 *   ATOMIC_REPLY  reply token       -                   enum bcl_status
 *   SACK          -                 window (bytes)      number of bits
 *   VERDICT       first message     -                   number of verdicts
 *   ROOM          port              -                   -
 *   WITHDRAW      -                 -                   -
 *   RAIL_DOWN     connection id     ack, turns, asks    number of bits
 *
 * A channel is its number | generation << 16. The total of a GET is the length
 * wanted; its type says what kind the target is (enum bcl_get_type).
 *
 * SACK payload: one bit per frame, beginning with frame ack + 1, least
 * significant first; 1: arrived. VERDICT payload: four bits per message (enum
 * bcl_verdict), beginning with message `target`, least significant first.
 *
 * RAIL_DOWN names the rail by the connection id that frames to its receiver
 * carry on the rail, and travels on another rail. Until the next handshake on
 * the rail the sender takes no frame from it. So `ack` (bits 0-31 of targ64)
 * and the payload, a SACK's, say finally which frames arrived; the others may
 * go by another rail. `turn` (bits 32-39) is the turn of the next handshake. In
 * that handshake neither side takes the rail up if the other side has not
 * `heard` the turn (bits 40-47: the latest turn of the receiver that the sender
 * knows). If the sender asks (bit 48), the receiver gives the rail up, too, and
 * answers with the frames that arrived at its own end.
 */
struct bcl_segment_header {
	uint8_t op;		  /*  0: enum bcl_segment_op */
	uint8_t type;		  /*  1: the user's; GET: enum bcl_get_type */
	struct bcl_le16 length;	  /*  2: payload bytes in this frame */
	struct bcl_le16 src_port; /*  4 */
	struct bcl_le16 dst_port; /*  6 */
	struct bcl_le32 msg;	  /*  8 */
	struct bcl_le32 prev;	  /* 12: previous message of the flow, or 0 */
	struct bcl_le32 offset;	  /* 16: of this payload in the message */
	struct bcl_le32 total;	  /* 20: bytes in the whole message */
	struct bcl_le32 target;	  /* 24 */
	struct bcl_le32 arg32;	  /* 28 */
	struct bcl_le64 targ64;	  /* 32 */
};

enum bcl_get_type {
	BCL_GET_MEMORY = 0,	  /* target: memory handle */
	BCL_GET_CHANNEL = 1,	  /* target: channel posted for reading */
	BCL_GET_CHANNEL_LAST = 2, /* the same, and no further GET follows: later
				   * ones fail with NOPORT. The owner of the
				   * channel gets BCL_CQ_READ when all replies
				   * are delivered */
};

enum bcl_verdict {
	BCL_VERDICT_UNKNOWN = 0,
	BCL_VERDICT_DELIVERED = 1,
	BCL_VERDICT_REFUSED = 2, /* the sender sends it again, later, under a
				  * new number */
	/* Failed for good, with the status of the same name. */
	BCL_VERDICT_NOPORT = 3,
	BCL_VERDICT_MEMORY = 4,
	BCL_VERDICT_TRUNCATED = 5,
};

/*
 * The body of HELLO, HELLO_ACK and the PING behind them. One exchange proves
 * one rail. The ids of a connection differ only in their two low bits, which
 * are the rail of the card that chose the ids. `card`, `nonce` (since
 * BCL_WIRE_NONCE), `conn` and the frame header up to `card` stay as they are in
 * every version: a card answers REFUSE in the version of the caller.
 *
 * HELLO has the caller's nonce, HELLO_ACK the answerer's and the caller's, PING
 * the caller's and the answerer's. A nonce is random, and good for one
 * exchange. `proof` is SipHash-2-4 by the job's key over, in this order: the
 * kind without flags in 4 bytes, `conn` and `card` of the frame header, and the
 * body up to `proof`. `seal` is sent xored with the low 32 bits of a second
 * SipHash by the key, over kind | 0x80 in 4 bytes, the same two fields, and the
 * body up to `seal`.
 */
struct bcl_hello {
	struct bcl_le64 card;		  /*  0: sender's card id */
	struct bcl_le64 incarnation;	  /*  8: of the sender; equality only */
	struct bcl_le64 nonce;		  /* 16: of the sender, not 0 */
	struct bcl_le64 peer_nonce;	  /* 24: of the receiver; HELLO: 0 */
	struct bcl_le64 peer_incarnation; /* 32: of the receiver; HELLO: 0 */
	struct bcl_le32 conn;		  /* 40: id for frames to the sender */
	struct bcl_le32 window;		  /* 44: bytes the sender accepts in
					   * flight */
	struct bcl_le16 max_frame; /* 48: largest frame the sender accepts */
	struct bcl_le16 features;  /* 50: enum bcl_feature */
	struct bcl_le32 first_msg; /* 52: the sender's first message number */
	struct bcl_le32 first_seq; /* 56: the sender's DATA frames before
				    * this one on this rail are settled */
	uint8_t rail;		   /* 60: rail number of the sender */
	uint8_t turn;		   /* 61: counts up with the sender's
				    * statements on this rail: an older one
				    * is late */
	uint8_t heard;		   /* 62: turn of the receiver that the
				    * sender knows; 0: none */
	uint8_t spare;		   /* 63: 0 */
	struct bcl_le32 seal;	   /* 64: of frames to the sender, hidden */
	struct bcl_le32 spare32;   /* 68: 0 */
	struct bcl_le64 proof;	   /* 72 */
};

enum bcl_feature {
	BCL_FEATURE_PCRC = 1, /* the sender has and wants payload checksums */
};

/* The body of REFUSE. */
struct bcl_refuse {
	struct bcl_le32 reason;	      /*  0: enum bcl_status */
	struct bcl_le32 wire_version; /*  4: of the sender */
	struct bcl_le64 nonce; /*  8: of the answered HELLO, or 0 if its version
				* has none */
};

enum {
	BCL_HEADERS_SIZE = 80, /* frame header and first segment header */
	BCL_FRAME_MIN = 80,
	BCL_HELLO_LEAST = 64, /* bytes of the body, in any version */
	BCL_FRAME_MAX = 9000,
	BCL_MSG_MEMORY = 2048, /* verdicts a receiver remembers */
	BCL_MSG_AHEAD = 1024,  /* numbers a sender may be ahead of base */
	BCL_SACK_BITS = 1024,
};

bcl_static_assert(sizeof(struct bcl_ether_prefix) == 8, "ether prefix");
bcl_static_assert(sizeof(struct bcl_frame_header) == 40, "frame header");
bcl_static_assert(offsetof(struct bcl_frame_header, card) == 8, "card id");
bcl_static_assert(offsetof(struct bcl_frame_header, hcrc) == 36, "hcrc");
bcl_static_assert(sizeof(struct bcl_segment_header) == 40, "segment header");
bcl_static_assert(offsetof(struct bcl_segment_header, targ64) == 32, "targ64");
bcl_static_assert(sizeof(struct bcl_hello) == 80, "hello");
bcl_static_assert(offsetof(struct bcl_hello, nonce) == 16, "nonce");
bcl_static_assert(offsetof(struct bcl_hello, conn) == 40, "conn");
bcl_static_assert(sizeof(struct bcl_refuse) == 16, "refuse");

/* a is before b, for numbers that wrap. */
static inline int bcl_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

#endif
