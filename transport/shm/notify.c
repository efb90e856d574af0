/* SPDX-License-Identifier: MIT */
/* Notifications, sent and received; see notify.h. */
#include "transport/shm/notify.h"

#include "transport/event.h"
#include "transport/shm/message.h"
#include "transport/shm/port.h"

enum bcl_status bcl_notify_send(struct bcl_connection *c,
				const struct bcl_access *access)
{
	const struct bcl_notify notify = {
		.length = access->length,
		.type = access->type,
		.immediate = access->immediate,
	};

	return bcl_pair_send(&c->pair, BCL_SHM_NOTIFY, 0, &notify,
			     sizeof(notify));
}

bool bcl_notify_take(struct bcl_connection *c, const void *payload,
		     size_t length)
{
	struct bcl_event event = {
		.kind = BCL_EVENT_NOTIFY,
		.peer = c->pair.peer,
	};
	struct bcl_notify notify;

	if (length != sizeof(notify))
		return false;
	memcpy(&notify, payload, sizeof(notify));
	if (notify.type >= BCL_TYPES)
		return false;
	event.type = notify.type;
	event.immediate = notify.immediate;
	event.length = notify.length;
	c->events++;
	bcl_event_push(c->shm->port, &event);
	return true;
}
