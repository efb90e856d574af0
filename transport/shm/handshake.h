/* SPDX-License-Identifier: MIT */
/*
 * The handshake of a connection: HELLO, ACCEPT, READY, or REFUSE. The table of
 * states is in connection.h. All functions run under the service lock.
 */
#ifndef BCL_SHM_HANDSHAKE_H
#define BCL_SHM_HANDSHAKE_H

#include "transport/shm/connection.h"

struct bcl_greeting;

/* Call (card, number): make a segment and send HELLO. */
void bcl_handshake_call(struct bcl_connection *connection);

/* Handle the next greeting of the peer. The connection may be freed. */
void bcl_handshake_take(struct bcl_connection *connection,
			const struct bcl_greeting *greeting, const int *fds,
			unsigned nfds);

/* Check whether the deadline has passed, or whether the connection need not
 * wait any longer. The connection may be freed. If the function returns true,
 * the own call to the same port may have been freed, too. */
bool bcl_handshake_retry(struct bcl_connection *connection, uint64_t now);

#endif
