/* SPDX-License-Identifier: MIT */
/*
 * Short messages in a row share frames. A doorbell sends what was submitted,
 * by a system call that costs more than all else of a short message. So after
 * BCL_BATCH_AFTER messages to one peer that follow one another closely, while
 * the program looks for nothing, the doorbell of the next is held back until
 *
 *  a frame is full, or something else is submitted
 *  the program looks, or waits: BCL_PORT_DEFERRED says that there is something
 *  the helper finds that the program is away
 *
 * Nothing is held without a helper, nor where the card has a processor of its
 * own.
 */
#ifndef BCL_CARD_DOORBELL_BATCH_H
#define BCL_CARD_DOORBELL_BATCH_H

#include "transport/card/queues.h"
#include "transport/context.h"
#include "transport/env/process.h"

enum {
	BCL_BATCH_AFTER = 8,
};

/* The rule for one that is not the first of a row. */
bool bcl_doorbell_defer_in_batch(struct bcl_port *port, size_t length);

/* A message of this length, all in its request, was submitted: is its doorbell
 * held back? */
static inline bool bcl_doorbell_defer(const struct bcl_peer *peer,
				      size_t length)
{
	struct bcl_port *port = peer->port;
	struct bcl_doorbell_batch *batch = &port->card->batch;
	uint64_t looks = atomic_load_explicit(&port->context->presence,
					      memory_order_relaxed);

	if (batch->peer != peer || batch->looks != looks) {
		batch->peer = peer;
		batch->looks = looks;
		batch->messages = 1;
		return false;
	}
	return bcl_doorbell_defer_in_batch(port, length);
}

/* Ring for all that was submitted. */
static inline void bcl_host_ring(struct bcl_port *port)
{
	struct bcl_host_port *queues = port->card;

	if (__builtin_expect(port->flags & BCL_PORT_DEFERRED, 0)) {
		port->flags &= ~(unsigned)BCL_PORT_DEFERRED;
		queues->batch.bytes = 0;
	}
	queues->doorbell(queues->host, queues->seat);
	if (queues->batch.messages == BCL_BATCH_AFTER)
		queues->batch.cycles = bcl_cycles();
}

#endif
