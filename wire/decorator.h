/* SPDX-License-Identifier: MIT */
/*
 * A decorator: a rail around an inner rail, which watches or damages the frames
 * of the inner rail. The decorator passes all calls through that it does not
 * handle.
 */
#ifndef BCL_DECORATOR_H
#define BCL_DECORATOR_H

#include <stddef.h>

#include "wire/rail.h"

/* The first member of a decorator's object. The decorator sets rail.transmit
 * and `deliver`, and may set rail.receive. */
struct bcl_decorator {
	struct bcl_rail rail;
	struct bcl_rail *inner;
	const struct bcl_env *env;
	size_t size;
	/* As in bcl_rail_sink; `host` is this decorator. */
	void (*deliver)(void *host, unsigned rail,
			const struct bcl_wire_address *source,
			const struct bcl_rx_frame *frames, unsigned n);
	const struct bcl_rail_sink *sink; /* of the receive() in progress */
};

/*
 * Allocate an object of `size` bytes that begins with a decorator around *rail
 * and is zero otherwise, and set *rail to the decorator. Its close() closes the
 * inner rail and frees the object. NULL: no memory.
 */
void *bcl_decorate(const struct bcl_env *env, size_t size,
		   struct bcl_rail **rail);

/* rail.receive of a decorator: the inner rail receives, and the decorator
 * delivers. */
unsigned bcl_decorator_receive(struct bcl_rail *rail,
			       const struct bcl_rail_sink *sink, unsigned index,
			       unsigned max);

#endif
