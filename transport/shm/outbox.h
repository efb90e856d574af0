/* SPDX-License-Identifier: MIT */
/*
 * Messages of the library that found the ring full wait here, in order.
 * Messages of the user may overtake them. A peer that keeps the rules causes at
 * most three per claim (JOIN, FETCH, READ), and besides one BELL and one LEAVE.
 */
#ifndef BCL_SHM_OUTBOX_H
#define BCL_SHM_OUTBOX_H

#include <stdint.h>

#include "transport/shm/claim.h"
#include "transport/shm/pair.h"

enum {
	BCL_OUTBOX_MAX = 4 * BCL_CLAIMS,
};

struct bcl_outbox_entry {
	uint8_t type;
	uint8_t length;
	uint64_t immediate;
	uint8_t payload[BCL_SLOT_PAYLOAD];
};

struct bcl_outbox {
	struct bcl_outbox_entry *entries; /* NULL: not used yet */
	uint32_t head, tail;
};

struct bcl_connection;

/*
 * Send a message of the library, now or later. length: at most
 * BCL_SLOT_PAYLOAD. If there is no room for the message here, the pair is
 * broken.
 */
void bcl_outbox_post(struct bcl_connection *connection, unsigned type,
		     uint64_t immediate, const void *payload, size_t length);
/* Send the waiting messages. Returns true if some still wait. */
bool bcl_outbox_flush(struct bcl_connection *connection);
void bcl_outbox_free(struct bcl_connection *connection);

#endif
