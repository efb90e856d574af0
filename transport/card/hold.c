/* SPDX-License-Identifier: MIT */
/* Which doorbells are held back: see hold.h. */
#include "transport/card/hold.h"

#include "transport/card/ops.h"

enum {
	CLOSE = 16384, /* cycles between two messages: a few us */
	FRAME = 1432,  /* bytes of segments, for an MTU of 1500 */
};

/* What a message takes of a frame. */
static uint32_t in_frame(size_t length)
{
	return (uint32_t)(sizeof(struct bcl_segment_header) +
			  ((length + 7) & ~(size_t)7));
}

static bool follows_closely(struct bcl_card_row *row)
{
	uint64_t before = row->cycles;

	row->cycles = bcl_cycles();
	return row->cycles - before < CLOSE;
}

bool bcl_card_hold_in_row(struct bcl_port *port, size_t length)
{
	struct bcl_card_row *row = &port->card->row;
	struct bcl_card_host *host = port->card->host;
	uint32_t bytes = in_frame(length);

	if (row->messages < BCL_HOLD_AFTER) {
		row->messages++;
		return false;
	}
	if (!port->context->helper || !host->ops->hold || !follows_closely(row))
		return false;
	row->held += bytes;
	if (row->held + bytes > FRAME)
		return false;
	if (!(port->flags & BCL_PORT_HELD)) {
		port->flags |= BCL_PORT_HELD;
		atomic_store_explicit(&port->context->held, true,
				      memory_order_relaxed);
	}
	/* Each time: who served doorbells meanwhile, for another port or in a
	 * pause, has sent those before it and taken the ring back. */
	host->ops->hold(host, port->card->seat);
	return true;
}
