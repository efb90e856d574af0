/* SPDX-License-Identifier: MIT */
/*
 * The bell of a side: what the other's thread is to look at beside its ring. A
 * peer that computes reads no messages, and what is asked of it, which its
 * helper answers, must not fill the ring meanwhile: so of the message BELL
 * there is one at most that was not read.
 *
 *  bits   set by the side that rings; if there were none, BELL follows
 *  BELL   the other takes all bits, then looks at what they name
 *
 * Whoever finds bits set comes before the other has taken them, and what it has
 * written before is seen: both are read-modify-writes of one word, in acquire
 * and release order.
 */
#ifndef BCL_SHM_BELL_H
#define BCL_SHM_BELL_H

#include <stdbool.h>

struct bcl_connection;

enum bcl_bell_bit {
	BCL_BELL_RMA = 1,    /* there are RMA requests */
	BCL_BELL_SOCKET = 2, /* there is something on the socket */
};

void bcl_bell_ring(struct bcl_connection *connection, enum bcl_bell_bit bit);
/* BELL has come. False: what it asks for cannot be done. */
bool bcl_bell_answer(struct bcl_connection *connection);

#endif
