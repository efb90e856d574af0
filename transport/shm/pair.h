/* SPDX-License-Identifier: MIT */
/*
 * A pair: two ports on one host that talk through one shared segment. Here
 * are the hot functions; everything rarer is in pair.c and further.
 *
 * The segment (shm/segment.h) gives each direction two places for messages:
 *
 *  half   32 bytes of the pair line, for messages of up to 16 bytes, and 32
 *         of the line beside it for the rest of messages of up to 48. Both
 *         sides write both lines, each its own half: fetching the peer's
 *         message brings the line's ownership, so that the answer is stored
 *         locally; a ping-pong costs one coherence transaction per way.
 *  ring   64-byte slots, one producer, one consumer, for everything else.
 *         Mapped twice in a row: a message never wraps.
 *
 * Contract
 *
 *  Header. One 64-bit word, stored last with release and loaded with acquire:
 *	63..31 position in this direction, line and ring alike: a message in
 *	       the half advances it by 3, one in the ring by 2; wraps. Its
 *	       lowest bit, `turn`, is the parity of the half messages
 *	30     valid  1
 *	29     ack    parity of the half messages received by the sender
 *	19..7  length of the payload, bytes
 *	6..0   type   0..63 the user's, 64..127 enum bcl_shm_type
 *  A message is there when its upper 34 bits are those expected. It lies
 *  either in the half or in the slot at `head`; both are looked at.
 *
 *  The half may be written again when the ack of the last message received
 *  equals the turn of the next to be sent: at most one half message is
 *  unread, so one bit counts them. A half message is copied out and
 *  acknowledged when it is received. A header that stays in the half is never
 *  taken for a later message, whatever wraps: the positions expected until it
 *  is overwritten have the other turn.
 *
 *  Zero ahead. The header word of the slot at the writer's `tail` is 0, and
 *  the reader sees that 0 or the finished message: memory begins zeroed, and
 *  a message of n slots is published (release) after the header word of the
 *  slot that follows it has been zeroed. The reader comes to that slot only
 *  by acquiring the message before it. So continuation slots may hold any
 *  bytes, no header of an earlier lap is ever looked at, and the reader
 *  clears nothing. A message of n slots needs n + 1 free ones. Some more of the
 *  free ones are zeroed at once: a store to another line between those of a
 *  message keeps processors from fetching the lines of several at a time.
 *
 *  Room. The reader publishes its index when it receives, at least 64 slots
 *  late, in a line of its own (release; the writer's load acquires). Its
 *  newest message is never covered: data is valid in place until the next
 *  receive from this pair, with nothing to release.
 *
 *  Turning back. Short messages are fast in memory that was used a moment ago,
 *  KBs in a ring that is longer than the near caches. So where a multiple of
 *  BCL_NEAR_SLOTS comes the writer looks at what it has sent since the last: if
 *  that was short and the rest of the ring is free, it goes on at the start.
 *  SKIP, a message of the library's own, covers the rest: it is published as
 *  one of so many slots, and its immediate says how many.
 *
 *  Waking. After the header's store the writer loads `attention`, which the
 *  receiver sets before it sleeps or stops polling this pair. The reader does
 *  so after it has published its index: a writer that found no room has said
 *  in its `attention` that it sleeps until there is some. Store and load
 *  are kept in order by the compiler and by the sleeper's membarrier, or, where
 *  one side has none, by a fence here: then `attention` points at a word that
 *  is always set.
 *
 *  Crash. A writer that dies at any instruction leaves an unpublished
 *  message, which is not there, in structures that only this pair uses.
 *
 *  Hostility. Whatever is read from the segment is read once and checked.
 *  Payload in place can be changed by a hostile peer while it is looked at.
 */
#ifndef BCL_SHM_PAIR_H
#define BCL_SHM_PAIR_H

#include <stdatomic.h>
#include <string.h>

#include <bcl/bcl.h>

#include "transport/copy.h"
#include "transport/env/prefetch.h"

#define BCL_HEADER_TURN	 (UINT64_C(1) << 31)
#define BCL_HEADER_HALF	 (UINT64_C(3) << 31) /* advance of a half message */
#define BCL_HEADER_RING	 (UINT64_C(2) << 31) /* of a ring message */
#define BCL_HEADER_VALID (UINT64_C(1) << 30)
#define BCL_HEADER_ACK	 (UINT64_C(1) << 29)
#define BCL_HEADER_FIRST (BCL_HEADER_RING | BCL_HEADER_VALID)

enum {
	BCL_HEADER_LENGTH_SHIFT = 7,
	BCL_HEADER_LENGTH = 0x1fff,
	BCL_HEADER_TYPE = 0x7f,
	BCL_HEADER_INTERNAL = 0x40, /* the bit of types 64..127 */

	BCL_SLOT_SIZE = 64,
	BCL_SLOT_HEAD = 16,    /* header and immediate */
	BCL_HALF_PAYLOAD = 16, /* in the pair line */
	BCL_SLOT_PAYLOAD = 48, /* of any message in one slot, or in a half */
	BCL_PUBLISH_SLOTS = 64,
	BCL_NEAR_SLOTS = 1024, /* a power of two */
	BCL_ZERO_SLOTS = 8,    /* at once */
	BCL_FETCH_AHEAD = 8,   /* slots fetched before they are needed */
	BCL_FETCH_SLOTS = 4,   /* of a message, when its header is seen */

	/* Of a port's flags: bcl_pair_give_room() is due. */
	BCL_PORT_ROOM = 128,
};

struct bcl_half {
	_Atomic uint64_t header;
	uint64_t immediate;
	uint8_t payload[BCL_HALF_PAYLOAD];
};

/* What a half message has beyond BCL_HALF_PAYLOAD bytes: its last 16, some of
 * them perhaps for the second time, and what is before these. */
struct bcl_rest {
	uint8_t last[16];
	uint8_t middle[16];
};

struct bcl_slot {
	_Atomic uint64_t header;
	uint64_t immediate;
	uint8_t payload[BCL_SLOT_PAYLOAD];
};

_Static_assert(sizeof(struct bcl_half) == 32, "two halves are a line");
_Static_assert(sizeof(struct bcl_rest) == 32, "so are their rests");
_Static_assert(sizeof(struct bcl_slot) == BCL_SLOT_SIZE, "a slot is a line");

struct bcl_connection; /* shm/connection.h */

/* One side's view of a pair; the port's owner only. */
struct bcl_pair {
	/* sending */
	uint64_t next;	/* header of the next message without length, type */
	uint64_t acked; /* bit 31: the last ack received, shifted to `turn` */
	struct bcl_half *my_half;
	struct bcl_slot *out;		   /* the ring written here */
	const _Atomic uint32_t *attention; /* of the peer */
	uint32_t tail;			   /* slots written */
	uint32_t limit;			   /* slots that may be written before
					    * has_room() is to be asked */
	uint32_t zeroed;		   /* slots: "zero ahead" is done up to
					    * here */
	uint32_t mask;			   /* slots of a ring, less one */
	uint32_t published;		   /* of head */

	/* receiving */
	uint64_t want; /* upper 34 bits of the header expected next */
	const struct bcl_half *its_half;
	const struct bcl_slot *in;
	struct bcl_peer *peer;
	uint32_t head;		    /* slots read */
	_Atomic uint32_t *consumer; /* where head is published */
	unsigned *flags;	    /* the port's */
	/* the half message received last */
	_Alignas(uint64_t) uint8_t line[BCL_SLOT_PAYLOAD];

	/* rarer */
	const _Atomic uint32_t *its_consumer;
	struct bcl_connection *connection; /* NULL in tests of a bare pair */
	uint64_t sent_half, sent_ring, received; /* messages */
	uint64_t near;	     /* `sent_ring` at the last multiple */
	uint64_t counted[3]; /* of these, in the port's counters */
	uint64_t swept;	     /* `received` at the last sweep for silent pairs */
	bool broken;	     /* it wrote nonsense: see bcl_pair_break() */
};

/*
 * The slow paths, pair.c.
 */
/* bcl_pair_send() when the ring looks full: reads the peer's index. */
enum bcl_status bcl_pair_send_full(struct bcl_pair *pair, unsigned type,
				   uint64_t immediate, const void *data,
				   size_t length);
/* The peer's attention is set: fence, wake, mark active, as it says. OK. */
enum bcl_status bcl_pair_attend(struct bcl_pair *pair);
/* After slots were read: wake the peer if it sleeps until there is room. */
void bcl_pair_give_room(struct bcl_pair *pair);
/* For the longest message. Once the peer has read all there always is. */
bool bcl_pair_has_room(const struct bcl_pair *pair);
/* A received message that is internal or malformed; its slots are consumed.
 * EMPTY: malformed, the pair is broken; AGAIN: see bcl_pair_receive(). */
enum bcl_status bcl_pair_unusual(struct bcl_pair *pair, uint64_t header,
				 uint64_t immediate, const void *payload);
/* Any message, in pieces; AGAIN: no room. length: the sum of the pieces. */
enum bcl_status bcl_pair_send_iov(struct bcl_pair *pair, unsigned type,
				  uint64_t immediate, const struct iovec *iov,
				  unsigned niov, size_t length);
/* The same of a word and what follows it, which is longer than a slot. */
enum bcl_status bcl_pair_send_word(struct bcl_pair *pair, unsigned type,
				   uint64_t word, const void *data,
				   size_t length);
/* bcl_reserve() and bcl_commit(). */
enum bcl_status bcl_pair_reserve(struct bcl_pair *pair, size_t length,
				 void **room);
void bcl_pair_commit(struct bcl_pair *pair, unsigned type, uint64_t immediate,
		     size_t length);
/* The peer wrote nonsense: it is lost at the next service; logged. */
void bcl_pair_break(struct bcl_pair *pair, const char *what, uint64_t value);

static inline size_t bcl_header_length(uint64_t header)
{
	return header >> BCL_HEADER_LENGTH_SHIFT & BCL_HEADER_LENGTH;
}

/* Slots of a ring message. */
static inline unsigned bcl_pair_slots(size_t length)
{
	return (unsigned)(length + BCL_SLOT_HEAD + BCL_SLOT_SIZE - 1) /
	       BCL_SLOT_SIZE;
}

/* Zero ahead of what lies in the slot at tail and has `slots` slots: of a short
 * message, since others like it may follow, more than one header. */
static inline void bcl_pair_zero(struct bcl_pair *pair, struct bcl_slot *slot,
				 unsigned slots)
{
	uint32_t end = pair->tail + slots, zeroed = pair->zeroed;
	uint32_t most = slots < BCL_ZERO_SLOTS ? BCL_ZERO_SLOTS : 1;

	if (__builtin_expect((int32_t)(zeroed - end) > 0, 1))
		return;
	zeroed = end;
	do {
		atomic_store_explicit(&slot[slots++].header, 0,
				      memory_order_relaxed);
	} while (++zeroed - end < most && (int32_t)(pair->limit - zeroed) > 0);
	pair->zeroed = zeroed;
}

/* Publish what lies in the slot at tail and has `slots` slots. */
static inline void bcl_pair_publish(struct bcl_pair *pair,
				    struct bcl_slot *slot, unsigned slots,
				    uint64_t header)
{
	/* before the header: "zero ahead" */
	bcl_pair_zero(pair, slot, slots);
	atomic_store_explicit(&slot->header, header, memory_order_release);
	/* the next message is like this one, perhaps */
	for (unsigned i = 1; i <= slots && i <= BCL_FETCH_AHEAD; i++)
		bcl_prefetch_write(&slot[slots + i]);
	pair->tail += slots;
	pair->next += BCL_HEADER_RING;
	pair->sent_ring++;
}

/* After each message; OK. */
static inline enum bcl_status bcl_pair_kick(struct bcl_pair *pair)
{
	/* The compiler keeps the header's store before, the sleeper's
	 * membarrier the processor. */
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(atomic_load_explicit(pair->attention,
						  memory_order_relaxed) != 0,
			     0))
		return bcl_pair_attend(pair);
	return BCL_OK;
}

/* Where segment.h has it: in the next line. */
static inline struct bcl_rest *bcl_half_rest(const struct bcl_half *half)
{
	return (struct bcl_rest *)((uintptr_t)half + BCL_SLOT_SIZE);
}

/* Both: the bytes after the first BCL_HALF_PAYLOAD. */
static inline void bcl_rest_give(struct bcl_rest *rest, const uint8_t *data,
				 size_t length)
{
	memcpy(rest->last, data + length - sizeof(rest->last),
	       sizeof(rest->last));
	if (length > BCL_HALF_PAYLOAD + sizeof(rest->last))
		memcpy(rest->middle, data + BCL_HALF_PAYLOAD,
		       sizeof(rest->middle));
}

static inline void bcl_rest_take(uint8_t *data, const struct bcl_rest *rest,
				 size_t length)
{
	memcpy(data + BCL_HALF_PAYLOAD, rest->middle, sizeof(rest->middle));
	memcpy(data + length - sizeof(rest->last), rest->last,
	       sizeof(rest->last));
}

/*
 * Put up to BCL_SLOT_PAYLOAD contiguous bytes where the peer looks;
 * bcl_pair_kick() has to follow. False: the ring looks full, nothing was
 * done.
 */
static inline bool __attribute__((always_inline))
bcl_pair_put(struct bcl_pair *pair, unsigned type, uint64_t immediate,
	     const void *data, size_t length)
{
	uint64_t header = pair->next | length << BCL_HEADER_LENGTH_SHIFT | type;

	if (!((pair->acked ^ header) & BCL_HEADER_TURN)) {
		struct bcl_half *half = pair->my_half;

		if (length > BCL_HALF_PAYLOAD) {
			bcl_rest_give(bcl_half_rest(half), data, length);
			memcpy(half->payload, data, BCL_HALF_PAYLOAD);
		} else {
			bcl_copy16(half->payload, data, length);
		}
		half->immediate = immediate;
		/* acquired by the peer's bcl_pair_receive() */
		atomic_store_explicit(&half->header, header,
				      memory_order_release);
		pair->next += BCL_HEADER_HALF;
		pair->sent_half++;
	} else {
		struct bcl_slot *slot = &pair->out[pair->tail & pair->mask];

		if (__builtin_expect((int32_t)(pair->limit - pair->tail) <= 1,
				     0))
			return false;
		bcl_copy_short(slot->payload, data, length);
		slot->immediate = immediate;
		bcl_pair_publish(pair, slot, 1, header);
	}
	return true;
}

/* The same and all that follows. OK, or AGAIN: the ring is full. */
static inline enum bcl_status __attribute__((always_inline))
bcl_pair_send(struct bcl_pair *pair, unsigned type, uint64_t immediate,
	      const void *data, size_t length)
{
	if (__builtin_expect(!bcl_pair_put(pair, type, immediate, data, length),
			     0))
		return bcl_pair_send_full(pair, type, immediate, data, length);
	return bcl_pair_kick(pair);
}

/* The peer's next message is there. */
static inline bool bcl_pair_ready(const struct bcl_pair *pair)
{
	uint64_t half = atomic_load_explicit(&pair->its_half->header,
					     memory_order_acquire);
	uint64_t slot =
		atomic_load_explicit(&pair->in[pair->head & pair->mask].header,
				     memory_order_acquire);

	return (half ^ pair->want) < BCL_HEADER_VALID ||
	       (slot ^ pair->want) < BCL_HEADER_VALID;
}

/* The slot in which the next message of the ring begins. */
static inline const struct bcl_slot *bcl_pair_slot(const struct bcl_pair *pair)
{
	return &pair->in[pair->head & pair->mask];
}

/* Beyond the message in this slot, which has this header; returns its length.
 * streaming: see bcl_pair_receive(). */
static inline size_t __attribute__((always_inline))
bcl_pair_advance(struct bcl_pair *pair, const struct bcl_slot *slot,
		 uint64_t header, bool streaming)
{
	size_t length = bcl_header_length(header);
	unsigned slots = bcl_pair_slots(length), i;

	if (pair->head - pair->published >= BCL_PUBLISH_SLOTS) {
		pair->published = pair->head;
		/* acquired by has_room() */
		atomic_store_explicit(pair->consumer, pair->head,
				      memory_order_release);
		/* as bcl_pair_kick(), but at the next turn */
		atomic_signal_fence(memory_order_seq_cst);
		if (__builtin_expect(atomic_load_explicit(pair->attention,
							  memory_order_relaxed),
				     0))
			*pair->flags |= BCL_PORT_ROOM;
	}
	if (streaming)
		__builtin_prefetch(&slot[BCL_FETCH_AHEAD]);
	for (i = 1; i < slots && i <= BCL_FETCH_SLOTS; i++)
		__builtin_prefetch(&slot[i]);
	pair->head += slots;
	pair->want += BCL_HEADER_RING;
	pair->acked = header << 2;
	return length;
}

/*
 * For messages in a row: the header of the next one, if it lies in the ring, at
 * `slot`, which is bcl_pair_slot(), and is of this type of the user's;
 * otherwise 0, and bcl_pair_receive() knows more. It stays there until
 * bcl_pair_take().
 */
static inline uint64_t bcl_pair_look(const struct bcl_pair *pair,
				     const struct bcl_slot *slot, unsigned type)
{
	/* acquires what the peer's bcl_pair_publish() released */
	uint64_t header =
		atomic_load_explicit(&slot->header, memory_order_acquire);
	uint64_t differs = header ^ (pair->want | type);

	if (differs & (~(BCL_HEADER_VALID - 1) | BCL_HEADER_TYPE) ||
	    bcl_header_length(header) > BCL_MESSAGE_MAX)
		return 0;
	return header;
}

/* Receive the message that bcl_pair_look() has found; returns its length. It is
 * valid in its slot until the next receive. */
static inline size_t bcl_pair_take(struct bcl_pair *pair,
				   const struct bcl_slot *slot, uint64_t header)
{
	pair->received++;
	return bcl_pair_advance(pair, slot, header, true);
}

/*
 * Receive the next message, if it is there. OK: a BCL_EVENT_MESSAGE; its
 * data is valid until the next receive from this pair. EMPTY: none. AGAIN: it
 * was one of the library's own, which may have pushed events to the port.
 *
 * streaming: the caller has not looked in vain since the last one, so slots
 * ahead are probably written and worth fetching. Otherwise that would take
 * them from their writer.
 */
static inline enum bcl_status __attribute__((always_inline))
bcl_pair_receive(struct bcl_pair *pair, bool streaming, struct bcl_event *event)
{
	const struct bcl_half *half = pair->its_half;
	const struct bcl_slot *slot;
	uint64_t want = pair->want;
	uint64_t header;
	size_t length;

	/* with the half, if a message has both: not one after the other */
	__builtin_prefetch(bcl_half_rest(half));
	/* both loads acquire what the peer's bcl_pair_send() released */
	header = atomic_load_explicit(&half->header, memory_order_acquire);
	if ((header ^ want) < BCL_HEADER_VALID) {
		length = bcl_header_length(header);
		memcpy(pair->line, half->payload, BCL_HALF_PAYLOAD);
		event->immediate = half->immediate;
		event->data = pair->line;
		pair->want = want + BCL_HEADER_HALF;
		pair->acked = header << 2;
		pair->next ^= BCL_HEADER_ACK;
		if (length > BCL_HALF_PAYLOAD && length <= BCL_SLOT_PAYLOAD)
			bcl_rest_take(pair->line, bcl_half_rest(half), length);
		if (__builtin_expect((header & BCL_HEADER_INTERNAL) != 0 ||
					     length > BCL_SLOT_PAYLOAD,
				     0))
			return bcl_pair_unusual(pair, header, event->immediate,
						pair->line);
	} else {
		slot = bcl_pair_slot(pair);
		header = atomic_load_explicit(&slot->header,
					      memory_order_acquire);
		if ((header ^ want) >= BCL_HEADER_VALID)
			return BCL_ERR_EMPTY;
		length = bcl_pair_advance(pair, slot, header, streaming);
		event->immediate = slot->immediate;
		event->data = slot->payload;
		if (__builtin_expect((header & BCL_HEADER_INTERNAL) != 0 ||
					     length > BCL_MESSAGE_MAX,
				     0))
			return bcl_pair_unusual(pair, header, event->immediate,
						slot->payload);
	}
	pair->received++;
	event->kind = BCL_EVENT_MESSAGE;
	event->status = BCL_OK;
	event->peer = pair->peer;
	event->length = length;
	event->type = header & BCL_HEADER_TYPE;
	return BCL_OK;
}

#endif
