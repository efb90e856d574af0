/* SPDX-License-Identifier: MIT */
/* The common part of decorators: fault injection and traces. See
 * decorator.h. */
#include "wire/decorator.h"

#include "env/env.h"

static void forward_gone(void *arg, unsigned index,
			 const struct bcl_wire_address *address,
			 enum bcl_status why)
{
	struct bcl_decorator *own = arg;

	own->sink->gone(own->sink->host, index, address, why);
}

static uint64_t forward_believed(void *arg)
{
	struct bcl_decorator *own = arg;

	return own->sink->believed(own->sink->host);
}

unsigned bcl_decorator_receive(struct bcl_rail *rail,
			       const struct bcl_rail_sink *sink, unsigned index,
			       unsigned max)
{
	struct bcl_decorator *own = (struct bcl_decorator *)rail;
	const struct bcl_rail_sink through = {
		.host = own,
		.deliver = own->deliver,
		.gone = forward_gone,
		.believed = forward_believed,
	};

	own->sink = sink;
	return own->inner->receive(own->inner, &through, index, max);
}

static void *forward_stage(struct bcl_rail *rail,
			   const struct bcl_wire_address *destination,
			   uint32_t bytes)
{
	struct bcl_decorator *own = (struct bcl_decorator *)rail;

	return own->inner->stage(own->inner, destination, bytes);
}

static bool forward_check(struct bcl_rail *rail, bool *up)
{
	struct bcl_decorator *own = (struct bcl_decorator *)rail;
	bool changed = own->inner->check(own->inner, up);

	rail->limits = own->inner->limits;
	return changed;
}

static void close_both(struct bcl_rail *rail)
{
	struct bcl_decorator *own = (struct bcl_decorator *)rail;

	own->inner->close(own->inner);
	own->env->release(own->env->world, own, own->size);
}

void *bcl_decorate(const struct bcl_env *env, size_t size,
		   struct bcl_rail **rail)
{
	struct bcl_decorator *own = env->allocate(env->world, size);

	if (!own)
		return NULL;
	own->rail = **rail;
	own->inner = *rail;
	own->env = env;
	own->size = size;
	/* A word of the inner rail would miss frames that the decorator holds,
	 * and the pointer to the word moves. */
	atomic_store_explicit(&own->rail.waiting, NULL, memory_order_relaxed);
	if (own->rail.stage)
		own->rail.stage = forward_stage;
	own->rail.receive = bcl_decorator_receive;
	own->rail.check = forward_check;
	own->rail.close = close_both;
	*rail = &own->rail;
	return own;
}
