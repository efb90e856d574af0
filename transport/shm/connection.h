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
 *  HELD      the older connection is gone          ACCEPT          GREETED
 *            owner: the peer is on the card        REFUSE          gone
 *            end, deadline                                         gone
 *  GREETED   READY                                                 UP
 *            end, deadline                                         gone
 *  UP        end of the socket or of the process                   ENDED
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

enum {
	BCL_GREETING_MAGIC = 0x53434c42,
	/* Raised when the greeting, the segment, a message or a claim changes.
	 * The first 8 bytes and REFUSE never do. */
	BCL_GREETING_VERSION = 1,
};

enum bcl_greeting_kind {
	BCL_GREETING_HELLO = 1, /* segment, attention, active, wake */
	BCL_GREETING_ACCEPT,	/* attention, active, wake */
	BCL_GREETING_READY,
	BCL_GREETING_REFUSE, /* status; BUSY: crossing */
	/* later, see remote.h */
	BCL_GREETING_MEMORY, /* handle: may I use it? */
	BCL_GREETING_GRANT,  /* status; handle, grant, base, length; the memory
			      * if it is allocated */
	BCL_GREETING_MAIL,   /* there are mails that nobody takes */
};

enum bcl_greeting_flags {
	BCL_GREETING_BARRIER = 1, /* has registered, and may call barrier() */
	BCL_GREETING_ATTACH = 2,  /* HELLO: wants it; ACCEPT, READY: the proof
				   * succeeded, `wrote` was written */
};

struct bcl_greeting {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;
	uint32_t status;
	uint32_t flags;
	uint8_t key[BCL_KEY_SIZE];
	uint64_t card, to_card;
	uint16_t number, to_number;
	uint32_t slots; /* HELLO: of a ring */
	uint32_t watch; /* word of the sender's attention page to be watched */
	uint32_t spare0;
	uint64_t nonce, nonce_address; /* to prove attach with */
	uint64_t scratch_address;
	uint64_t wrote; /* to the receiver's scratch word */
	uint32_t handle, grant;
	uint64_t base, length;
	uint64_t spare;
};

_Static_assert(sizeof(struct bcl_greeting) == 128, "no holes");

struct bcl_connection {
	struct bcl_pair pair; /* the owner's, once UP */

	struct bcl_connection *next; /* all of the port */
	struct bcl_shm_port *shm;
	uint64_t card; /* the peer's; 0, 0 until HELLO */
	uint16_t number;
	uint8_t state;	    /* enum bcl_connection_state */
	uint8_t status;	    /* FAILED: why */
	bool wanted;	    /* the owner waits for it */
	bool confirmed;	    /* CARD: the owner says that it still is */
	bool news;	    /* the owner is to look at it */
	_Atomic bool ended; /* UP no more; may be read without the lock */
	bool attach;	    /* proved in both directions */
	bool fence;	    /* senders to the peer need one */
	uint8_t side;
	pid_t pid; /* 0: not known here */
	uint64_t deadline;
	int socket, pidfd, wake; /* -1: none */
	struct bcl_segment segment;
	const char *why; /* for people */

	uint32_t watch;	    /* the peer's word in the own attention page */
	uint32_t its_watch; /* own word in the peer's */
	uint32_t woken;	    /* the sleep that the peer was woken from */
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

	uint32_t *grants; /* by word: own memory that the peer may use; under
			   * the service lock; NULL: none yet */
};

/* A greeting with everything about this side that it may need. */
struct bcl_greeting bcl_greeting_make(const struct bcl_connection *connection,
				      enum bcl_greeting_kind kind);

/* Wake the peer if it sleeps; by the helper, instead of bcl_pair_notice(). */
void bcl_connection_wake(struct bcl_connection *connection);

/* The rest under the service lock. */

/* A new connection in `state`, in the port's list. NULL: no memory, or the
 * port has BCL_SHM_PEERS already. */
struct bcl_connection *bcl_connection_new(struct bcl_shm_port *shm,
					  enum bcl_connection_state state,
					  uint64_t now);

/* Someone called: take the socket over. False: refused. */
bool bcl_connection_accept(struct bcl_shm_port *shm, int fd, uint64_t now);

/* The connection to (card, number) that is not HELD, or NULL. */
struct bcl_connection *bcl_connection_find(const struct bcl_shm_port *shm,
					   uint64_t card, uint16_t number);

/* Off the list; gives everything back. Not for one that the owner polls. */
void bcl_connection_free(struct bcl_connection *connection);

/* Call (card, number): make a segment, send HELLO. */
void bcl_connection_call(struct bcl_connection *connection);

/* Its socket or process has something to say. */
void bcl_connection_serve(struct bcl_connection *connection);

/* In the handshake: its time may be over, or what it waits for may be there.
 * It may be freed, no other. */
void bcl_connection_retry(struct bcl_connection *connection, uint64_t now);

#endif
