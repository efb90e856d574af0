/* SPDX-License-Identifier: MIT */
/*
 * A connection: the socket, the segment and the state of two ports on one
 * host that found each other.
 *
 * The initiator makes the segment. HELLO, ACCEPT and READY carry what each
 * side has to know of the other, with the descriptors; each side proves that
 * it can attach to the other before the other relies on it. The socket stays
 * open: its end is the peer's end, after what it has completely published has
 * been received.
 *
 * States, under the service lock; "owner" is the port's thread:
 *
 *  CALLING   the peer's listener has no room       call again      CALLED
 *  CALLED    ACCEPT                                READY           UP
 *            REFUSE crossing: the peer calls us                    CROSSED
 *            REFUSE other, end, deadline                           FAILED
 *  CROSSED   HELLO from the peer: replaced by that connection
 *            deadline                                              FAILED
 *  ACCEPTED  HELLO                                 ACCEPT          GREETED
 *            HELLO, own call is out and has precedence: REFUSE     gone
 *            HELLO, an older connection lives                      HELD
 *            HELLO refused, end, deadline                          gone
 *  HELD      the older connection is gone, or      ACCEPT          GREETED
 *            an own call that is CROSSED
 *            owner: the peer is on the card        REFUSE          gone
 *            end, deadline                                         gone
 *  GREETED   READY                                                 UP
 *            end, deadline                                         gone
 *  UP        owner: both have said END (leave.h)                   gone
 *            end of the socket or of the process                   ENDED
 *            leaving, and the deadline                             ENDED
 *  ENDED     owner: the ring is drained                            gone
 *  FAILED    owner: the peer is lost                               gone
 *            owner: tries the card                                 CARD
 *  CARD      owner: the peer is lost there, or opened again        gone
 *
 * "gone" becomes FAILED if the owner has asked for this peer meanwhile. Of
 * two crossing calls that of the smaller (card, number) has precedence.
 */
#ifndef BCL_SHM_CONNECTION_H
#define BCL_SHM_CONNECTION_H

#include <sys/types.h>

#include "transport/context.h"
#include "transport/shm/large.h"
#include "transport/shm/leave.h"
#include "transport/shm/outbox.h"
#include "transport/shm/segment.h"

struct bcl_shm_port;

enum bcl_connection_state {
	BCL_CONNECTION_CALLING,
	BCL_CONNECTION_CALLED,
	BCL_CONNECTION_CROSSED,
	BCL_CONNECTION_ACCEPTED,
	BCL_CONNECTION_HELD,
	BCL_CONNECTION_GREETED,
	BCL_CONNECTION_UP,
	BCL_CONNECTION_ENDED,
	BCL_CONNECTION_FAILED,
	BCL_CONNECTION_CARD,
	BCL_CONNECTION_GONE,
};

struct bcl_connection {
	struct bcl_pair pair; /* the owner's, once UP */

	struct bcl_connection *next; /* all of the port */
	struct bcl_shm_port *shm;
	uint64_t card;		   /* the peer's; 0, 0 until HELLO */
	uint8_t key[BCL_KEY_SIZE]; /* CALLING: of the peer's job */
	uint16_t number;
	uint8_t state;	    /* enum bcl_connection_state */
	uint8_t status;	    /* FAILED: why */
	bool wanted;	    /* the owner waits for it */
	bool confirmed;	    /* CARD: the owner says that it still is */
	bool news;	    /* the owner is to look at it */
	bool leaving;	    /* UP: the peer has until `deadline` to answer */
	_Atomic bool ended; /* UP no more; may be read without the lock */
	bool attach;	    /* proved in both directions */
	bool fence;	    /* senders to the peer need one */
	uint8_t side;
	pid_t pid; /* 0: not known here */
	uint64_t deadline;
	int socket, wake; /* -1: none */
	int pidfd;	  /* likewise; all of one process share it */
	struct bcl_segment segment;
	const char *why; /* for people */

	uint64_t told;		   /* how far the peer was told that it sent */
	_Atomic uint64_t its_told; /* the same of the peer */

	uint32_t watch;	    /* the peer's word in the own attention page */
	uint32_t its_watch; /* own word in the peer's */
	uint32_t woken;	    /* the sleep that the peer was woken from */
	uint32_t charged;   /* lines sent (transport/env/charge.h) */
	const _Atomic uint32_t *its_attention; /* pages; NULL: none yet */
	_Atomic uint64_t *its_active;

	uint64_t nonce, scratch; /* the peer reads and writes them */
	uint64_t its_nonce, its_nonce_address, its_scratch_address;

	/* the owner's */
	size_t reserved; /* bytes of bcl_reserve() and one, until commit */
	struct bcl_outbox outbox;
	struct bcl_large large;
	struct bcl_remotes *remotes; /* NULL: none used yet */
	bool blocked;		     /* nothing is sent before a notification */
	bool awaited;		     /* `leaving`, as this side has set it */
	bool unanswered;	     /* LEAVE: neither by STAY nor by END */
	uint8_t said, heard;	     /* enum bcl_leave_word: the last ones */
	uint64_t events; /* that named the peer, other than messages */
	uint64_t named;	 /* all of those when the peer was closed */

	uint32_t *grants; /* by word: own memory that the peer may use; under
			   * the service lock; NULL: none yet */
};

/* Wake the peer if it sleeps; by the helper, instead of bcl_pair_kick(). */
void bcl_connection_wake(struct bcl_connection *connection);

/* Its peer may still do something. The owner, or under the service lock. */
bool bcl_connection_lives(const struct bcl_connection *connection);

/* The rest under the service lock. */

/* A new connection in `state`, in the port's list. NULL: no memory, or the
 * port has BCL_SHM_PEERS already. */
struct bcl_connection *bcl_connection_new(struct bcl_shm_port *shm,
					  enum bcl_connection_state state,
					  uint64_t now);

/* Someone called: take the socket over. False: refused. */
bool bcl_connection_accept(struct bcl_shm_port *shm, int fd, uint64_t now);

/* The connection to (card, number) that is not HELD nor `but`, or NULL. */
struct bcl_connection *bcl_connection_find(const struct bcl_shm_port *shm,
					   uint64_t card, uint16_t number,
					   const struct bcl_connection *but);

/* Off the list; gives everything back. Not for one that the owner polls. */
void bcl_connection_free(struct bcl_connection *connection);

/* Its socket or process has something to say. */
void bcl_connection_serve(struct bcl_connection *connection);

void bcl_connection_set_state(struct bcl_connection *connection,
			      enum bcl_connection_state state);

/*
 * The handshake ends without success. One that the owner waits for is left
 * to it, others vanish.
 */
void bcl_connection_fail(struct bcl_connection *connection,
			 enum bcl_status status, const char *why);

/* The peer is gone, or given up: the owner is told. Not the end of the record
 * if it was UP. */
void bcl_connection_end(struct bcl_connection *connection);

/* Close the socket. */
void bcl_connection_hang_up(struct bcl_connection *connection);

/* Have the connection served when the descriptor has something to say. */
bool bcl_connection_watch(struct bcl_connection *connection, int fd);

/* The same when the peer's process ends, if the system can tell. */
void bcl_connection_watch_process(struct bcl_connection *connection);

/* Some process of a peer has ended: serve a connection to it. */
void bcl_connection_serve_ended(struct bcl_shm_port *shm);

/* The owner is to look at it. */
void bcl_connection_tell_owner(struct bcl_connection *connection);

#endif
