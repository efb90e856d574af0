/* SPDX-License-Identifier: MIT */
/*
 * The list of events that the library itself makes for a port: a ring that
 * grows on demand.
 */
#include <stdlib.h>

#include "transport/internal.h"

enum {
	FIRST_RING = 64,
};

static bool is_full(const struct bcl_event_list *list)
{
	return !list->ring || list->tail - list->head > list->mask;
}

enum bcl_status bcl_event_reserve(struct bcl_port *port)
{
	struct bcl_event_list *list = &port->events;
	const struct bcl_env *env = port->context->env;
	uint32_t old = list->ring ? list->mask + 1 : 0;
	uint32_t size = old ? 2 * old : FIRST_RING;
	uint32_t used = list->tail - list->head;
	struct bcl_event *ring;

	if (!is_full(list))
		return BCL_OK;
	ring = env->allocate(env->world, size * sizeof(*ring));
	if (!ring)
		return BCL_ERR_NOMEM;
	for (uint32_t i = 0; i < used; i++)
		ring[i] = list->ring[(list->head + i) & list->mask];
	env->release(env->world, list->ring, old * sizeof(*ring));
	*list = (struct bcl_event_list){ ring, 0, used, size - 1 };
	return BCL_OK;
}

enum bcl_status bcl_event_push(struct bcl_port *port,
			       const struct bcl_event *event)
{
	struct bcl_event_list *list = &port->events;

	if (bcl_event_reserve(port)) {
		bcl_log(&port->context->config, BCL_LOG_ERROR, "context",
			"no memory for more than %u events of port %u: one is "
			"lost",
			list->tail - list->head, port->number);
		return BCL_ERR_NOMEM;
	}
	list->ring[list->tail++ & list->mask] = *event;
	port->flags |= BCL_PORT_EVENTS;
	bcl_port_rouse(port);
	return BCL_OK;
}

void bcl_event_pop(struct bcl_port *port, struct bcl_event *event)
{
	struct bcl_event_list *list = &port->events;

	bcl_assert(list->head != list->tail);
	*event = list->ring[list->head++ & list->mask];
	if (list->head == list->tail)
		port->flags &= ~(unsigned)BCL_PORT_EVENTS;
	if (event->data)
		port->flags |= BCL_PORT_SELF;
}

void bcl_event_free(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;

	if (port->events.ring)
		env->release(env->world, port->events.ring,
			     (port->events.mask + 1) *
				     sizeof(*port->events.ring));
}
