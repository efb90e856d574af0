/* SPDX-License-Identifier: MIT */
/*
 * How a connection comes about: HELLO, ACCEPT, READY, or REFUSE; the table of
 * states is in connection.h. All under the service lock.
 */
#ifndef BCL_SHM_HANDSHAKE_H
#define BCL_SHM_HANDSHAKE_H

#include "transport/shm/connection.h"

struct bcl_greeting;

/* Call (card, number): make a segment, send HELLO. */
void bcl_handshake_call(struct bcl_connection *connection);

/* The peer's next greeting. The connection may be freed. */
void bcl_handshake_take(struct bcl_connection *connection,
			const struct bcl_greeting *greeting, const int *fds,
			unsigned nfds);

/* Its time may be over, or what it waits for may be there. It may be freed.
 * True: so may the own call to the same port. */
bool bcl_handshake_retry(struct bcl_connection *connection, uint64_t now);

#endif
