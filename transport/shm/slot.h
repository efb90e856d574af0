/* SPDX-License-Identifier: MIT */
/*
 * The places for messages of a pair (pair.h), and the contract of writer and
 * reader.
 *
 * The segment (shm/segment.h) gives each direction two places for messages:
 *
 *  half   32 bytes of the pair line, for messages of up to 16 bytes, and 32
 *         bytes of the line beside it, for the rest of messages of up to 48.
 *         Both sides write both lines, each side its own half: by fetching the
 *         peer's message a side gets ownership of the line, and the store of
 *         its answer is local. A ping-pong costs one coherence transaction
 *         per way. The bytes of a message from BCL_BOX_FROM on lie in one of
 *         two boxes. The lines of a box are written again and again, so both
 *         sides have them in their nearest cache.
 *  ring   64-byte slots with one producer and one consumer, for all other
 *         messages: reserved ones, those between the lengths above, and those
 *         that come while the half may not be written. It is mapped twice in a
 *         row, so no message wraps.
 *
 * Contract
 *
 *  Header. One 64-bit word, stored last, with release, and loaded with acquire:
 *	63..31 position in this direction, of line and ring together: a message
 *	       in the half advances it by 3, a message in the ring by 2; wraps.
 *	       The lowest bit, `turn`, is the parity of the half messages
 *	30     valid  1
 *	29     ack    parity of the half messages that the sender has received
 *	19..7  length of the payload, bytes
 *	6..0   type   0..63 of the user, 64..127 enum bcl_shm_type
 *  A message is there when the upper 34 bits of its header are those that the
 *  receiver expects. It lies either in the half or in the slot at `head`; the
 *  receiver looks at both.
 *
 *  Half. The sender may write the half again when the ack of the last message
 *  that it received equals the turn of the next message that it sends. At most
 *  one half message is unread, so one bit counts them. The receiver copies a
 *  half message out when it receives the message, but not from a box, and its
 *  next header of either kind carries the ack. A header that stays in the half
 *  is never taken for a later message, even if positions wrap: until the half
 *  is overwritten all expected positions have the other turn.
 *
 *  Box. A half message of more than BCL_SLOT_PAYLOAD bytes lies in the box of
 *  its turn. Its bytes are valid in place until the next receive: the writer
 *  comes back to this box two half messages later, and by then the reader has
 *  received the half message between the two. The boxes lie about half a page
 *  off the start of a page, where users' long buffers begin: a processor takes
 *  a load for one of the bytes stored just before if the lower 12 bits of the
 *  addresses agree, and copies of several KB then take twice as long. Messages
 *  below BCL_BOX_FROM go by the ring: there the line of the header is one line
 *  more than the ring needs, and costs more than the other lines save.
 *
 *  Zero ahead. The header word of the slot at the writer's `tail` is 0; the
 *  reader sees this 0 or the finished message. Memory begins zeroed, and
 *  before the writer publishes a message of n slots (release) it zeroes the
 *  header word of the slot that follows the message. The reader comes to that
 *  slot only after it has acquired the message before it. Therefore
 *  continuation slots may hold any bytes, the reader never looks at a header of
 *  an earlier lap, and the reader clears nothing. A message of n slots needs
 *  n + 1 free slots. The writer zeroes some more free slots at once: stores to
 *  another line between the stores of a message would keep the processor from
 *  fetching the lines of several messages at a time.
 *
 *  Room. The reader publishes its index in a line of its own (release; the
 *  writer loads with acquire). It does so when it receives a message after it
 *  has read 64 slots or more since the last time. The published index never
 *  covers the newest message: data is valid in place until the next receive
 *  from this pair, and the user has nothing to release.
 *
 *  Turning back. Short messages are fast in memory that was used a moment ago,
 *  messages of several KB in a ring that is longer than the near caches.
 *  Therefore, at each multiple of BCL_NEAR_SLOTS, the writer looks at the
 *  messages that it has sent since the last multiple: if they were short and
 *  the rest of the ring is free, it continues at the start of the ring. SKIP, a
 *  message of the library, covers the rest of the ring: it is published as a
 *  message of that many slots, and its immediate has the number.
 *
 *  Waking. After the store of the header the writer loads `attention`, which
 *  the receiver sets before it sleeps or stops polling this pair. The reader
 *  loads the writer's `attention` after it has published its index: there a
 *  writer that found no room says that it sleeps until there is room. The
 *  compiler and the sleeper's membarrier keep the store and the load in order.
 *  If one side has no membarrier, a fence of the sender does; `attention` then
 *  points at a word that is always set.
 *
 *  Crash. A writer that dies at any instruction leaves at most an unpublished
 *  message, which the reader never sees, in structures that only this pair
 *  uses.
 *
 *  Hostility. The library reads each word of the segment once and checks the
 *  value that it has read. A hostile peer can change a payload in place while
 *  the user looks at it.
 */
#ifndef BCL_SHM_SLOT_H
#define BCL_SHM_SLOT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BCL_HEADER_TURN	 (UINT64_C(1) << 31)
#define BCL_HEADER_HALF	 (UINT64_C(3) << 31) /* advance by a half message */
#define BCL_HEADER_RING	 (UINT64_C(2) << 31) /* advance by a ring message */
#define BCL_HEADER_VALID (UINT64_C(1) << 30)
#define BCL_HEADER_ACK	 (UINT64_C(1) << 29)
#define BCL_HEADER_FIRST (BCL_HEADER_RING | BCL_HEADER_VALID)

enum {
	BCL_HEADER_LENGTH_SHIFT = 7,
	BCL_HEADER_LENGTH = 0x1fff,
	BCL_HEADER_TYPE = 0x7f,
	BCL_HEADER_INTERNAL = 0x40, /* set in types 64..127 */

	BCL_SLOT_SIZE = 64,
	BCL_SLOT_HEAD = 16,    /* bytes of header and immediate */
	BCL_HALF_PAYLOAD = 16, /* bytes in the pair line */
	BCL_SLOT_PAYLOAD = 48, /* bytes that one slot holds, or the half */
	BCL_BOX_FROM = 320,    /* the shortest message that a writer boxes */
	BCL_BOX_SIZE = 4352,   /* the longest message */
};

struct bcl_half {
	_Atomic uint64_t header;
	uint64_t immediate;
	uint8_t payload[BCL_HALF_PAYLOAD];
};

/* The bytes of a half message beyond the first BCL_HALF_PAYLOAD. `last` holds
 * the last 16 bytes of the message, some of them perhaps for the second time;
 * `middle` holds bytes 16 to 31 of a message of more than 32. */
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

static inline size_t bcl_header_length(uint64_t header)
{
	return header >> BCL_HEADER_LENGTH_SHIFT & BCL_HEADER_LENGTH;
}

/* The number of slots of a ring message. */
static inline unsigned bcl_pair_slots(size_t length)
{
	return (unsigned)(length + BCL_SLOT_HEAD + BCL_SLOT_SIZE - 1) /
	       BCL_SLOT_SIZE;
}

/* The rest of a half lies in the next line: see segment.h. */
static inline struct bcl_rest *bcl_half_rest(const struct bcl_half *half)
{
	return (struct bcl_rest *)((uintptr_t)half + BCL_SLOT_SIZE);
}

/* Write and read the bytes after the first BCL_HALF_PAYLOAD. */
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

#endif
