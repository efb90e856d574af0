/* SPDX-License-Identifier: MIT */
/* The list of events that the library itself makes for a port. */
#ifndef BCL_EVENT_H
#define BCL_EVENT_H

#include "transport/port.h"

/* Queues an event for bcl_poll(). NOMEM, and the event is lost, if memory is
 * exhausted; after bcl_event_reserve() the call cannot fail. */
enum bcl_status bcl_event_push(struct bcl_port *port,
			       const struct bcl_event *event);

/* Makes room for one more event, so that the next push cannot fail. NOMEM. */
enum bcl_status bcl_event_reserve(struct bcl_port *port);
static inline bool bcl_event_pending(const struct bcl_port *port)
{
	return port->flags & BCL_PORT_EVENTS;
}
/* Takes the oldest event; the caller knows that there is one. */
void bcl_event_pop(struct bcl_port *port, struct bcl_event *event);
void bcl_event_free(struct bcl_port *port);

#endif
