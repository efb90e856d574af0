/* SPDX-License-Identifier: MIT */
/*
 * How a connection ends while both ports live. The connection stays as long as
 * one of the two programs has the peer opened; then both sides give back all
 * resources. Three words are sent, behind all earlier messages:
 *
 *  LEAVE  the program has closed the peer, and all operations that the program
 *         had begun have ended
 *  STAY   the answer of a side whose program has the peer opened; also sent by
 *         a side that has opened the peer again after its LEAVE
 *  END    nothing follows. Sent by a side that hears LEAVE and whose program
 *         has not opened the peer, and by any side that hears END; in both
 *         cases as soon as the operations of the side have ended
 *
 * A side that has sent and heard END neither reads nor writes memory of the
 * peer any more. The side releases the socket, the segment and the pages, of
 * which the peer has mappings of its own. So no side waits until the peer has
 * released them: the end of the socket tells the peer, after all data that the
 * peer has not read yet.
 *
 * From the close of the peer until STAY, and from END on, a side waits for the
 * peer at most BCL_PEER_TIMEOUT; then it treats the peer as dead.
 *
 * The owner of the port calls all functions.
 */
#ifndef BCL_SHM_LEAVE_H
#define BCL_SHM_LEAVE_H

#include "transport/shm/connection.h"

enum bcl_leave_word {
	BCL_LEAVE_STAY,
	BCL_LEAVE_LEAVE,
	BCL_LEAVE_END,
};

/* The program closes the peer. */
void bcl_leave_begin(struct bcl_connection *connection);
/* Handle the peer's word. Returns false if the value is not a word, or END has
 * come before. */
bool bcl_leave_take(struct bcl_connection *connection, uint64_t word);
/* Send the word that is due. Returns true if a word is due that has to wait:
 * until the operations of this side have ended, or the outbox is empty. */
bool bcl_leave_progress(struct bcl_connection *connection);
/* True if both sides have sent END, and nothing waits in the outbox. */
bool bcl_leave_is_over(const struct bcl_connection *connection);
/* True if one side has: the peer is parted from the connection
 * (bcl_peer_part()). */
static inline bool bcl_leave_has_begun(const struct bcl_connection *connection)
{
	return connection->said == BCL_LEAVE_END ||
	       connection->heard == BCL_LEAVE_END;
}
/* True if the program closed the peer, and no message, notification or channel
 * has named the peer to the program since. */
bool bcl_leave_is_quiet(const struct bcl_connection *connection);

#endif
