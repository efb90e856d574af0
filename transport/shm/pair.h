/* SPDX-License-Identifier: MIT */
/*
 * A pair: two ports on one host that talk through one shared segment, by the
 * contract in slot.h. This header has the functions of the fast path; pair.c
 * has the slow paths.
 */
#ifndef BCL_SHM_PAIR_H
#define BCL_SHM_PAIR_H

#include <stdatomic.h>
#include <string.h>

#include <bcl/bcl.h>

#include "base/base.h"
#include "transport/copy.h"
#include "transport/shm/slot.h"

enum {
	BCL_PUBLISH_SLOTS = 64,
	BCL_NEAR_SLOTS = 1024, /* see "Turning back"; a power of two */
	BCL_ZERO_SLOTS = 8,    /* zeroed at a time */
	BCL_FETCH_AHEAD = 8,   /* slots fetched before they are needed */
	BCL_FETCH_SLOTS = 16,  /* slots fetched when a header is seen */

	/* Flag of a port: bcl_shm_give_room() is due. */
	BCL_PORT_ROOM = 128,
};

_Static_assert((int)BCL_BOX_SIZE == BCL_MESSAGE_MAX, "the longest message");

struct bcl_connection; /* shm/connection.h */

/* One side's view of a pair. Only the owner of the port uses it. */
struct bcl_pair {
	/* sending */
	uint64_t next;	/* next header, without length and type */
	uint64_t acked; /* bit 31: the last ack received, moved to `turn` */
	struct bcl_half *my_half;
	struct bcl_slot *out;		   /* the ring that this side writes */
	const _Atomic uint32_t *attention; /* see "Waking" */
	uint32_t tail;			   /* slots written */
	/* `tail` may grow up to `limit` without a call of has_room(). */
	uint32_t limit;
	uint32_t zeroed;    /* slots: "zero ahead" is done */
	uint32_t mask;	    /* slots of a ring minus one */
	uint32_t published; /* `head` as published last */

	/* receiving */
	uint64_t want; /* upper 34 bits of the header expected next */
	const struct bcl_half *its_half;
	const struct bcl_slot *in;
	struct bcl_peer *peer;
	uint32_t head;		    /* slots read */
	_Atomic uint32_t *consumer; /* where `head` is published */
	unsigned *flags;	    /* flags of the port */
	/* payload of the half message received last */
	_Alignas(uint64_t) uint8_t line[BCL_SLOT_PAYLOAD];

	/* rarely used */
	const _Atomic uint32_t *its_consumer;
	struct bcl_connection *connection; /* NULL in tests of a bare pair */
	uint64_t sent_half, sent_ring, received; /* messages */
	uint8_t *my_boxes; /* two of BCL_BOX_SIZE bytes, by turn */
	const uint8_t *its_boxes;
	uint64_t near;	     /* `sent_ring` at the last multiple */
	uint64_t counted[3]; /* their part in the port's counters */
	uint64_t swept;	     /* `received` at the last sweep for silent pairs */
	bool broken;	     /* see bcl_pair_break() */
};

/*
 * The slow paths, in pair.c.
 */
/* bcl_pair_send() for a ring that looks full: reads the peer's index first. */
enum bcl_status bcl_pair_send_full(struct bcl_pair *pair, unsigned type,
				   uint64_t immediate, const void *data,
				   size_t length);
/* The peer's attention word is set: fence, wake the peer or set its bit in
 * `active`, as the word says. Always returns OK. */
enum bcl_status bcl_pair_attend(struct bcl_pair *pair);
/* After slots were read: wake the peer if it sleeps until there is room. */
void bcl_pair_give_room(struct bcl_pair *pair);
/* True if there is room for the longest message. When the peer has read all
 * messages there always is. */
bool bcl_pair_has_room(const struct bcl_pair *pair);
/* Handle SKIP, whose first slot has been read. Returns false if `slots` does
 * not end where the ring does. */
bool bcl_pair_skip(struct bcl_pair *pair, uint64_t slots);
/* Send a message of any length, in pieces. AGAIN: no room. length: the sum of
 * the pieces. */
enum bcl_status bcl_pair_send_iov(struct bcl_pair *pair, unsigned type,
				  uint64_t immediate, const struct iovec *iov,
				  unsigned niov, size_t length);
/* The same for a message that consists of a word and the data that follow. Word
 * and data together are longer than the payload of one slot. */
enum bcl_status bcl_pair_send_word(struct bcl_pair *pair, unsigned type,
				   uint64_t word, const void *data,
				   size_t length);
/* bcl_reserve() and bcl_commit() of the public interface. */
enum bcl_status bcl_pair_reserve(struct bcl_pair *pair, size_t length,
				 void **room);
void bcl_pair_commit(struct bcl_pair *pair, unsigned type, uint64_t immediate,
		     size_t length);
/* The peer broke the protocol: log it (`what` and value), and have the owner
 * treat the peer as lost at its next bcl_shm_progress(). */
void bcl_pair_break(struct bcl_pair *pair, const char *what, uint64_t value);

/* In message.c, for bcl_pair_receive(): handle a received message that is
 * internal or malformed; its slots are consumed already. EMPTY: malformed, and
 * the pair is broken; AGAIN: see bcl_pair_receive(). */
enum bcl_status bcl_pair_unusual(struct bcl_pair *pair, uint64_t header,
				 uint64_t immediate, const void *payload);

/* "Zero ahead" of the message in the slot at tail, which has `slots` slots.
 * Ahead of a short message more than one header is zeroed, since further short
 * messages may follow. */
static inline void bcl_pair_zero(struct bcl_pair *pair, struct bcl_slot *slot,
				 unsigned slots)
{
	uint32_t end = pair->tail + slots, zeroed = pair->zeroed;
	uint32_t most = slots < BCL_ZERO_SLOTS ? BCL_ZERO_SLOTS : 1;

	if (bcl_likely((int32_t)(zeroed - end) > 0))
		return;
	zeroed = end;
	do {
		atomic_store_explicit(&slot[slots++].header, 0,
				      memory_order_relaxed);
	} while (++zeroed - end < most && (int32_t)(pair->limit - zeroed) > 0);
	pair->zeroed = zeroed;
}

/* Publish the message in the slot at tail, which has `slots` slots. */
static inline void bcl_pair_publish(struct bcl_pair *pair,
				    struct bcl_slot *slot, unsigned slots,
				    uint64_t header)
{
	/* "zero ahead" comes before the store of the header */
	bcl_pair_zero(pair, slot, slots);
	atomic_store_explicit(&slot->header, header, memory_order_release);
	pair->tail += slots;
	pair->next += BCL_HEADER_RING;
	pair->sent_ring++;
}

/* To be called after each message: wakes the peer if necessary. Always OK. */
static inline enum bcl_status bcl_pair_kick(struct bcl_pair *pair)
{
	/* The compiler keeps the store of the header before the load; the
	 * sleeper's membarrier does the same for the processor. */
	atomic_signal_fence(memory_order_seq_cst);
	if (bcl_unlikely(atomic_load_explicit(pair->attention,
					      memory_order_relaxed) != 0))
		return bcl_pair_attend(pair);
	return BCL_OK;
}

/* True if the next message may go into the half. */
static inline bool bcl_pair_half_is_free(const struct bcl_pair *pair)
{
	return !((pair->acked ^ pair->next) & BCL_HEADER_TURN);
}

/* The offset of the box of a half message. */
static inline size_t bcl_pair_box(uint64_t header)
{
	return header & BCL_HEADER_TURN ? BCL_BOX_SIZE : 0;
}

/* Publish the message in the half, or in the box that belongs to the half. */
static inline void bcl_pair_publish_half(struct bcl_pair *pair,
					 uint64_t immediate, uint64_t header)
{
	struct bcl_half *half = pair->my_half;

	half->immediate = immediate;
	/* acquired by the peer's bcl_pair_receive() */
	atomic_store_explicit(&half->header, header, memory_order_release);
	pair->next += BCL_HEADER_HALF;
	pair->sent_half++;
}

/*
 * Put a message of up to BCL_SLOT_PAYLOAD contiguous bytes into the half or the
 * ring. The caller then calls bcl_pair_kick(). Returns false if the ring looks
 * full; then nothing was done.
 */
static inline bool __attribute__((always_inline))
bcl_pair_put(struct bcl_pair *pair, unsigned type, uint64_t immediate,
	     const void *data, size_t length)
{
	uint64_t header = pair->next | length << BCL_HEADER_LENGTH_SHIFT | type;

	if (bcl_pair_half_is_free(pair)) {
		struct bcl_half *half = pair->my_half;

		if (length > BCL_HALF_PAYLOAD) {
			bcl_rest_give(bcl_half_rest(half), data, length);
			memcpy(half->payload, data, BCL_HALF_PAYLOAD);
		} else {
			bcl_copy16(half->payload, data, length);
		}
		bcl_pair_publish_half(pair, immediate, header);
	} else {
		struct bcl_slot *slot = &pair->out[pair->tail & pair->mask];

		if (bcl_unlikely((int32_t)(pair->limit - pair->tail) <= 1))
			return false;
		bcl_copy_short(slot->payload, data, length);
		slot->immediate = immediate;
		bcl_pair_publish(pair, slot, 1, header);
	}
	return true;
}

/* Send a message of up to BCL_SLOT_PAYLOAD bytes: bcl_pair_put(), a look at the
 * peer's index if necessary, bcl_pair_kick(). OK, or AGAIN: the ring is
 * full. */
static inline enum bcl_status __attribute__((always_inline))
bcl_pair_send(struct bcl_pair *pair, unsigned type, uint64_t immediate,
	      const void *data, size_t length)
{
	if (bcl_unlikely(!bcl_pair_put(pair, type, immediate, data, length)))
		return bcl_pair_send_full(pair, type, immediate, data, length);
	return bcl_pair_kick(pair);
}

/* True if the next message of the peer is there. */
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

/* The slot in which the next message of the ring will begin. */
static inline const struct bcl_slot *bcl_pair_slot(const struct bcl_pair *pair)
{
	return &pair->in[pair->head & pair->mask];
}

/* Go beyond the message in this slot, whose header is `header`; returns the
 * length of the message. streaming: see bcl_pair_receive(). */
static inline size_t __attribute__((always_inline))
bcl_pair_advance(struct bcl_pair *pair, const struct bcl_slot *slot,
		 uint64_t header, bool streaming)
{
	size_t length = bcl_header_length(header);
	unsigned slots = bcl_pair_slots(length), i;

	if (pair->head - pair->published >= BCL_PUBLISH_SLOTS) {
		pair->published = pair->head;
		/* acquired by has_room() and bcl_pair_has_room() */
		atomic_store_explicit(pair->consumer, pair->head,
				      memory_order_release);
		/* as in bcl_pair_kick(), but the owner wakes the peer in its
		 * next turn */
		atomic_signal_fence(memory_order_seq_cst);
		if (bcl_unlikely(atomic_load_explicit(pair->attention,
						      memory_order_relaxed)))
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
 * For messages in a row: returns the header of the next message if this lies in
 * the ring, at `slot` (which is bcl_pair_slot()), and has this type of the
 * user's. Otherwise returns 0, and the caller turns to bcl_pair_receive(). The
 * message stays there until bcl_pair_take().
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

/* Receive the message that bcl_pair_look() has found; returns its length. The
 * message is valid in its slot until the next receive. */
static inline size_t bcl_pair_take(struct bcl_pair *pair,
				   const struct bcl_slot *slot, uint64_t header)
{
	pair->received++;
	return bcl_pair_advance(pair, slot, header, true);
}

/*
 * Receive the next message, if it is there. OK: *event is a BCL_EVENT_MESSAGE;
 * its data is valid until the next receive from this pair. EMPTY: there is
 * none. AGAIN: the message was one of the library's, which may have pushed
 * events to the port.
 *
 * streaming: the caller has not looked in vain since the last message, so the
 * slots ahead are probably written and worth a prefetch. If they are not
 * written, a prefetch would take their lines from the writer.
 */
static inline enum bcl_status __attribute__((always_inline))
bcl_pair_receive(struct bcl_pair *pair, bool streaming, struct bcl_event *event)
{
	const struct bcl_half *half = pair->its_half;
	const struct bcl_slot *slot;
	uint64_t want = pair->want;
	uint64_t header;
	size_t length;

	/* fetch the rest together with the half, in case a message has both,
	 * not after it */
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
		if (length > BCL_SLOT_PAYLOAD)
			event->data = pair->its_boxes + bcl_pair_box(header);
		else if (length > BCL_HALF_PAYLOAD)
			bcl_rest_take(pair->line, bcl_half_rest(half), length);
		if (bcl_unlikely((header & BCL_HEADER_INTERNAL) != 0 ||
				 length > BCL_MESSAGE_MAX))
			return bcl_pair_unusual(pair, header, event->immediate,
						event->data);
	} else {
		slot = bcl_pair_slot(pair);
		header = atomic_load_explicit(&slot->header,
					      memory_order_acquire);
		if ((header ^ want) >= BCL_HEADER_VALID)
			return BCL_ERR_EMPTY;
		length = bcl_pair_advance(pair, slot, header, streaming);
		event->immediate = slot->immediate;
		event->data = slot->payload;
		if (bcl_unlikely((header & BCL_HEADER_INTERNAL) != 0 ||
				 length > BCL_MESSAGE_MAX))
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
