/* SPDX-License-Identifier: MIT */
/*
 * The bell of a side: a word of bits that asks the peer's thread to look at
 * more than the ring. A peer that computes reads no messages, while its helper
 * answers requests. The requests must not fill the ring meanwhile: at most one
 * message BELL of a side is unread at a time.
 *
 *  bits   the ringing side sets a bit; BELL follows if no bit was set before
 *  BELL   the peer takes all bits, then looks at the places that they name
 *
 * If the ringing side finds a bit set, its own bit is set before the peer takes
 * the bits, and the peer sees the request that was written before: both sides
 * use a read-modify-write of one word, in acquire and release order.
 */
#ifndef BCL_SHM_BELL_H
#define BCL_SHM_BELL_H

#include <stdint.h>

struct bcl_connection;

enum bcl_bell_bit {
	BCL_BELL_RMA = 1,    /* there are RMA requests */
	BCL_BELL_SOCKET = 2, /* there is something on the socket */
};

void bcl_bell_ring(struct bcl_connection *connection, enum bcl_bell_bit bit);
/* BELL has come: take the peer's bits (enum bcl_bell_bit). */
uint32_t bcl_bell_take(struct bcl_connection *connection);

#endif
