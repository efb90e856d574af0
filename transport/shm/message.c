/* SPDX-License-Identifier: MIT */
/* The messages of the library on a pair, each to its handler; see message.h. */
#include "transport/shm/message.h"

#include "transport/shm/bell.h"
#include "transport/shm/leave.h"
#include "transport/shm/notify.h"
#include "transport/shm/port.h"

/* Returns false if the RMA requests cannot be served for want of memory. */
static bool answer_bell(struct bcl_connection *c)
{
	uint32_t bits = bcl_bell_take(c);

	if (bits & BCL_BELL_SOCKET)
		bcl_shm_want(c->shm, BCL_WORK_SOCKETS);
	return !(bits & BCL_BELL_RMA) || bcl_rma_serve(c);
}

/* Returns false if the message is malformed. The handlers push events and may
 * post messages. */
static bool handle(struct bcl_connection *connection, unsigned type,
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
		return bcl_notify_take(connection, payload, length);
	case BCL_SHM_BELL:
		return answer_bell(connection);
	case BCL_SHM_LEAVE:
		return !length && bcl_leave_take(connection, immediate);
	default:
		return false;
	}
}

enum bcl_status bcl_pair_unusual(struct bcl_pair *pair, uint64_t header,
				 uint64_t immediate, const void *payload)
{
	size_t length = bcl_header_length(header);
	unsigned type = header & BCL_HEADER_TYPE;

	if (length > BCL_MESSAGE_MAX)
		bcl_pair_break(pair, "length", length);
	else if (type == BCL_SHM_SKIP && payload != pair->line && !length &&
		 bcl_pair_skip(pair, immediate))
		return BCL_ERR_AGAIN;
	else if (!pair->connection ||
		 !handle(pair->connection, type, immediate, payload, length))
		bcl_pair_break(pair, "message of type", type);
	else
		return BCL_ERR_AGAIN;
	return BCL_ERR_EMPTY;
}
