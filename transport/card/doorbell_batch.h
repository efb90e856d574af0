/* SPDX-License-Identifier: MIT */
/*
 * Doorbell batching: short messages in a row share frames. A doorbell sends all
 * submitted requests by a system call, which costs more than the rest of a
 * short message. A row is a sequence of messages to one peer that follow one
 * another closely while the program does not look for events. After
 * BCL_BATCH_AFTER messages of a row the library defers the next doorbell until
 *
 *  a frame is full, or the program submits something else
 *  the program looks or waits for events: BCL_PORT_DEFERRED tells the library
 *   that a doorbell is deferred
 *  the helper finds that the program is away
 *
 * The library defers no doorbell without a helper, nor if the card has a
 * processor of its own.
 */
#ifndef BCL_CARD_DOORBELL_BATCH_H
#define BCL_CARD_DOORBELL_BATCH_H

#include "base/base.h"
#include "env/process.h"
#include "transport/card/queues.h"
#include "transport/context.h"
#include "transport/peer.h"

enum {
	BCL_BATCH_AFTER = 8,
};

/* The same as bcl_doorbell_defer(), for a message that is not the first of a
 * row. */
bool bcl_doorbell_defer_in_batch(struct bcl_port *port, size_t length);

/* The caller has submitted a message of this length, all of it inside the
 * request. Returns true if the doorbell is deferred. */
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

/* Ring the doorbell for all submitted requests. */
static inline void bcl_host_ring(struct bcl_port *port)
{
	struct bcl_host_port *queues = port->card;

	if (bcl_unlikely(port->flags & BCL_PORT_DEFERRED)) {
		port->flags &= ~(unsigned)BCL_PORT_DEFERRED;
		queues->batch.bytes = 0;
	}
	queues->doorbell(queues->host, queues->seat);
	if (queues->batch.messages == BCL_BATCH_AFTER)
		queues->batch.cycles = bcl_cycles();
}

#endif
