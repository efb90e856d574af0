/* SPDX-License-Identifier: MIT */
/*
 * A rail around another rail, which looks at its frames or harms them. All that
 * it does not do itself is passed through.
 */
#ifndef BCL_DECORATOR_H
#define BCL_DECORATOR_H

#include <stddef.h>

#include "transport/wire/rail.h"

/* What such a rail begins with. It sets rail.transmit and deliver, and may
 * set rail.receive. */
struct bcl_decorator {
	struct bcl_rail rail;
	struct bcl_rail *inner;
	const struct bcl_env *env;
	size_t size;
	/* As a sink's: the host is this decorator. */
	void (*deliver)(void *host, unsigned rail,
			const struct bcl_wire_address *source,
			const struct bcl_rx_frame *frames, unsigned n);
	const struct bcl_rail_sink *sink; /* of the receive() under way */
};

/* Puts `size` bytes, cleared but for the decorator that they begin with,
 * around *rail, and closes them with it. NULL: no memory. */
void *bcl_decorate(const struct bcl_env *env, size_t size,
		   struct bcl_rail **rail);

/* rail.receive of a decorator: the inner rail's, whose frames it delivers. */
unsigned bcl_decorator_receive(struct bcl_rail *rail,
			       const struct bcl_rail_sink *sink, unsigned index,
			       unsigned max);

#endif
