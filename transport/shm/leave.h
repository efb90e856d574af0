/* SPDX-License-Identifier: MIT */
/*
 * How a connection ends while both ports live. It is kept as long as one of the
 * two programs has the peer opened; then both give everything back. Three words
 * go through the rings, behind all that was sent before:
 *
 *  LEAVE  the program has closed the peer, and what it had begun has ended
 *  STAY   the answer of a side whose program has it opened; also of one that
 *         has opened it again since its LEAVE
 *  END    nothing follows. Said by a side whose program has not opened the
 *         peer when it hears LEAVE, and by any side when it hears END; as soon
 *         as what the side had begun has ended
 *
 * A side that has said END and has heard it reads and writes nothing of the
 * other's any more: it lets go of the socket, the segment and the pages, which
 * the other has maps of its own of. So nobody waits for the other's letting go:
 * its end of the socket tells it, after what it has not read yet.
 *
 * From closing the peer until STAY, and from END on, a side waits for the peer
 * at most BCL_PEER_TIMEOUT; then it treats it as dead.
 *
 * All by the owner of the port.
 */
#ifndef BCL_SHM_LEAVE_H
#define BCL_SHM_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

struct bcl_connection;

enum bcl_leave_word {
	BCL_LEAVE_STAY,
	BCL_LEAVE_LEAVE,
	BCL_LEAVE_END,
};

/* The program closes the peer. */
void bcl_leave_begin(struct bcl_connection *connection);
/* The peer's word. False: not one. */
bool bcl_leave_take(struct bcl_connection *connection, uint64_t word);
/* Say what is due. True: something is, as soon as what was begun has ended. */
bool bcl_leave_progress(struct bcl_connection *connection);
/* Both have said END. */
bool bcl_leave_is_over(const struct bcl_connection *connection);
/* One has: the peer is parted from the connection (bcl_peer_part()). */
bool bcl_leave_has_begun(const struct bcl_connection *connection);
/* The program closed the peer, and no event has named it since. */
bool bcl_leave_is_quiet(const struct bcl_connection *connection);

#endif
