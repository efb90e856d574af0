/* SPDX-License-Identifier: MIT */
/* The decision to defer a doorbell. See doorbell_batch.h. */
#include "transport/card/doorbell_batch.h"

#include "card/ops.h"

enum {
	CLOSE = 16384, /* cycles between two messages: a few us */
	FRAME = 1432,  /* bytes of segments, at an MTU of 1500 */
};

/* Bytes of a frame that a message takes. */
static uint32_t in_frame(size_t length)
{
	return (uint32_t)(sizeof(struct bcl_segment_header) +
			  ((length + 7) & ~(size_t)7));
}

static bool follows_closely(struct bcl_doorbell_batch *batch)
{
	uint64_t before = batch->cycles;

	batch->cycles = bcl_cycles();
	return batch->cycles - before < CLOSE;
}

bool bcl_doorbell_defer_in_batch(struct bcl_port *port, size_t length)
{
	struct bcl_doorbell_batch *batch = &port->card->batch;
	struct bcl_host *host = port->card->host;
	uint32_t bytes = in_frame(length);

	if (batch->messages < BCL_BATCH_AFTER) {
		batch->messages++;
		return false;
	}
	if (!port->context->helper || !host->ops->defer ||
	    !follows_closely(batch))
		return false;
	batch->bytes += bytes;
	if (batch->bytes + bytes > FRAME)
		return false;
	if (!(port->flags & BCL_PORT_DEFERRED)) {
		port->flags |= BCL_PORT_DEFERRED;
		atomic_store_explicit(&port->context->deferred, true,
				      memory_order_relaxed);
	}
	/*
	 * For each deferred message: a thread that served doorbells meanwhile,
	 * for another port or in a pause, has sent the earlier messages and
	 * cleared seat->rung.
	 */
	host->ops->defer(host, port->card->seat);
	return true;
}
