/* SPDX-License-Identifier: MIT */
/* The handlers of the library's own messages; see message.h. */
#include "transport/shm/message.h"

#include "transport/shm/bell.h"
#include "transport/shm/port.h"

enum bcl_status bcl_message_notify(struct bcl_connection *c,
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

static bool take_notify(struct bcl_connection *c, const void *payload,
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

bool bcl_message_handle(struct bcl_connection *connection, unsigned type,
			uint64_t immediate, const void *payload, size_t length)
{
	switch (type) {
	case BCL_SHM_JOIN:
		return bcl_offer_join(connection, immediate, payload, length);
	case BCL_SHM_FETCH:
		return bcl_offer_fetch(connection, immediate, payload, length);
	case BCL_SHM_READ:
		return bcl_offer_read(connection, immediate);
	case BCL_SHM_CHANNEL:
		return bcl_posted_take(connection, immediate, payload, length);
	case BCL_SHM_NOTIFY:
		return take_notify(connection, payload, length);
	case BCL_SHM_BELL:
		return bcl_bell_answer(connection);
	case BCL_SHM_LEAVE:
		return !length && bcl_leave_take(connection, immediate);
	default:
		return false;
	}
}
