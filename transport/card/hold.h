/* SPDX-License-Identifier: MIT */
/*
 * Short messages in a row share frames. A doorbell sends what was submitted,
 * by a system call that costs more than all else of a short message. So after
 * BCL_HOLD_AFTER messages to one peer that follow one another closely, while
 * the program looks for nothing, the doorbell of the next is held back until
 *
 *  a frame is full, or something else is submitted
 *  the program looks, or waits: BCL_PORT_HELD says that there is something
 *  the helper finds that the program is away
 *
 * Nothing is held without a helper, nor where the card has a processor of its
 * own.
 */
#ifndef BCL_CARD_HOLD_H
#define BCL_CARD_HOLD_H

#include "transport/card/queues.h"
#include "transport/context.h"
#include "transport/env/process.h"

enum {
	BCL_HOLD_AFTER = 8,
};

/* The rule for one that is not the first of a row. */
bool bcl_card_hold_in_row(struct bcl_port *port, size_t length);

/* A message of this length, all in its request, was submitted: is its doorbell
 * held back? */
static inline bool bcl_card_hold(const struct bcl_peer *peer, size_t length)
{
	struct bcl_port *port = peer->port;
	struct bcl_card_row *row = &port->card->row;
	uint64_t looks = atomic_load_explicit(&port->context->presence,
					      memory_order_relaxed);

	if (row->peer != peer || row->looks != looks) {
		row->peer = peer;
		row->looks = looks;
		row->messages = 1;
		return false;
	}
	return bcl_card_hold_in_row(port, length);
}

/* Ring for all that was submitted. */
static inline void bcl_card_ring(struct bcl_port *port)
{
	struct bcl_card_port *queues = port->card;

	if (__builtin_expect(port->flags & BCL_PORT_HELD, 0)) {
		port->flags &= ~(unsigned)BCL_PORT_HELD;
		queues->row.held = 0;
	}
	queues->doorbell(queues->host, queues->seat);
	if (queues->row.messages == BCL_HOLD_AFTER)
		queues->row.cycles = bcl_cycles();
}

#endif
