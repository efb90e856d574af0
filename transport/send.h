/* SPDX-License-Identifier: MIT */
/* Fast paths of bcl_send() for callers that have checked the arguments; in
 * line for messages that fit into a slot of shared memory. */
#ifndef BCL_SEND_H
#define BCL_SEND_H

#include "transport/peer.h"
#include "transport/shm/pair.h"

enum {
	BCL_SHORT_MAX = BCL_SLOT_PAYLOAD, /* bytes of a short message */
};

/* Returns the longest message for the peer; see bcl_peer_info.longest. */
size_t bcl_send_longest(const struct bcl_peer *peer);

/* True if the message fits into a slot of shared memory. */
static inline bool bcl_send_is_short(const struct bcl_peer *peer, size_t length)
{
	return peer->pair && length <= BCL_SHORT_MAX;
}

/* The receiver is about to have the line: pauses before the next look, see
 * await_answer() in poll.c. */
static inline void bcl_send_hint(struct bcl_port *port, size_t length)
{
	port->spin.hints = length > BCL_HALF_PAYLOAD ? BCL_HINTS_AFTER_LINES
						     : BCL_HINTS_AFTER_LINE;
}

/* As bcl_send() of one piece, with a valid type, without a cookie, for a
 * message that bcl_send_is_short(). */
static inline enum bcl_status __attribute__((always_inline))
bcl_send_short(struct bcl_peer *peer, unsigned type, uint64_t immediate,
	       const void *data, size_t length)
{
	if (bcl_port_forked(peer->port))
		return BCL_ERR_FORKED;
	bcl_send_hint(peer->port, length);
	return bcl_pair_send(peer->pair, type, immediate, data, length);
}

/* The first part of bcl_send_short(), without a call: bcl_send_flush() has to
 * follow. Returns false if the ring looks full; then nothing was done, and
 * bcl_send_short() decides. Not in a forked child. */
static inline bool __attribute__((always_inline))
bcl_put_short(struct bcl_peer *peer, unsigned type, uint64_t immediate,
	      const void *data, size_t length)
{
	bcl_send_hint(peer->port, length);
	return bcl_pair_put(peer->pair, type, immediate, data, length);
}

/* The rest of bcl_send_short() after bcl_put_short(): wakes the peer if the
 * peer sleeps. OK. */
static inline enum bcl_status bcl_send_flush(struct bcl_peer *peer)
{
	return bcl_pair_kick(peer->pair);
}

/* bcl_send_word() for a message that a slot of shared memory does not take. */
enum bcl_status bcl_send_word_long(struct bcl_peer *peer, unsigned type,
				   uint64_t word, const void *data,
				   size_t length);

/* As bcl_send() of a word and the data behind the word, at most
 * BCL_MESSAGE_MAX bytes together, with a valid type, without a cookie. */
static inline enum bcl_status __attribute__((always_inline))
bcl_send_word(struct bcl_peer *peer, unsigned type, uint64_t word,
	      const void *data, size_t length)
{
	uint8_t message[BCL_SHORT_MAX];

	if (!bcl_send_is_short(peer, sizeof(word) + length))
		return bcl_send_word_long(peer, type, word, data, length);
	memcpy(message, &word, sizeof(word));
	bcl_copy_short(message + sizeof(word), data, length);
	return bcl_send_short(peer, type, 0, message, sizeof(word) + length);
}

/* As bcl_send() of pieces of `length` bytes together, at most
 * BCL_MESSAGE_MAX, with a valid type, without a cookie. */
enum bcl_status bcl_send_pieces(struct bcl_peer *peer, unsigned type,
				uint64_t immediate, const struct iovec *iov,
				unsigned niov, size_t length);

#endif
