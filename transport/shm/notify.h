/* SPDX-License-Identifier: MIT */
/* Notifications: the message behind a put of bcl_put_notify(), which becomes
 * BCL_EVENT_NOTIFY at the target. */
#ifndef BCL_SHM_NOTIFY_H
#define BCL_SHM_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcl/bcl.h>

struct bcl_access;
struct bcl_connection;

struct bcl_notify {
	uint64_t length; /* bytes put */
	uint32_t type;
	uint32_t immediate;
};

/* Send NOTIFY after a put. AGAIN: no room. */
enum bcl_status bcl_notify_send(struct bcl_connection *connection,
				const struct bcl_access *access);
/* Handle NOTIFY of the peer. Returns false if it is malformed. */
bool bcl_notify_take(struct bcl_connection *connection, const void *payload,
		     size_t length);

#endif
