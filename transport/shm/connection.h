/* SPDX-License-Identifier: MIT */
/*
 * A connection: the socket, the segment and the state of two ports on one
 * host.
 *
 * The initiator makes the segment. HELLO, ACCEPT and READY carry what each side
 * has to know of the other, and the descriptors. Each side proves that it can
 * attach to the other side before the other relies on attach. The socket stays
 * open: the end of the socket is the end of the peer, after all messages that
 * the peer has completely published have been received.
 *
 * States, under the service lock. Each line: state, cause, action, next state;
 * "owner" is the port's thread:
 *
 *  CALLING   the peer's listener has no room       call again      CALLED
 *            no socket, no segment, deadline                       FAILED
 *  CALLED    ACCEPT                                READY           UP
 *            REFUSE, crossing: the peer calls this side            CROSSED
 *            other REFUSE, end, deadline                           FAILED
 *  CROSSED   HELLO from the peer: its connection replaces this one
 *            deadline                                              FAILED
 *  ACCEPTED  HELLO                                 ACCEPT          GREETED
 *            HELLO, an own call is out and precedes  REFUSE        gone
 *            HELLO, an older connection lives                      HELD
 *            HELLO refused, end, deadline                          gone
 *  HELD      the older connection is gone, or is   ACCEPT          GREETED
 *            an own call that is CROSSED
 *            owner: the peer is on the card        REFUSE          gone
 *            end, deadline                                         gone
 *  GREETED   READY                                                 UP
 *            end, deadline                                         gone
 *  UP        owner: both have sent END (leave.h)                   gone
 *            owner: the pair is broken                             gone
 *            end of the socket                                     ENDED
 *            `leaving`, and the deadline has passed                ENDED
 *  ENDED     owner: the ring is drained                            gone
 *  FAILED    owner: the peer is lost                               gone
 *            owner: tries the card                                 CARD
 *  CARD      owner: the peer is lost there, or opened again        gone
 *
 * A handshake that fails ends in FAILED instead of "gone" if the owner has
 * called this peer meanwhile. If two calls cross, the call of the smaller
 * (card, number) has precedence.
 */
#ifndef BCL_SHM_CONNECTION_H
#define BCL_SHM_CONNECTION_H

#include <sys/types.h>

#include "transport/peer.h"
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

/* True if the table above leads from one state to the other.
 * Each connection begins and ends as GONE. */
static inline bool bcl_connection_may_follow(unsigned before, unsigned after)
{
#define TO(state) 1u << BCL_CONNECTION_##state
	static const uint16_t next[] = {
		[BCL_CONNECTION_CALLING] =
			TO(CALLING) | TO(CALLED) | TO(FAILED) | TO(GONE),
		[BCL_CONNECTION_CALLED] =
			TO(CROSSED) | TO(UP) | TO(FAILED) | TO(GONE),
		[BCL_CONNECTION_CROSSED] = TO(FAILED) | TO(GONE),
		[BCL_CONNECTION_ACCEPTED] =
			TO(HELD) | TO(GREETED) | TO(FAILED) | TO(GONE),
		[BCL_CONNECTION_HELD] = TO(GREETED) | TO(FAILED) | TO(GONE),
		[BCL_CONNECTION_GREETED] = TO(UP) | TO(FAILED) | TO(GONE),
		[BCL_CONNECTION_UP] = TO(ENDED) | TO(GONE),
		[BCL_CONNECTION_ENDED] = TO(GONE),
		[BCL_CONNECTION_FAILED] = TO(CARD) | TO(GONE),
		[BCL_CONNECTION_CARD] = TO(GONE),
		[BCL_CONNECTION_GONE] = TO(CALLING) | TO(ACCEPTED),
	};
#undef TO

	return next[before] >> after & 1;
}

struct bcl_connection {
	struct bcl_pair pair; /* the owner's, from UP on */

	struct bcl_connection *next; /* list of the port */
	struct bcl_shm_port *shm;
	uint64_t card;		   /* the peer's; 0, with number, until HELLO */
	uint8_t key[BCL_KEY_SIZE]; /* CALLING: key of the peer's job */
	uint16_t number;
	uint8_t state;	    /* enum bcl_connection_state */
	uint8_t status;	    /* FAILED: why */
	bool wanted;	    /* the owner waits for the connection */
	bool confirmed;	    /* CARD: the owner confirmed the state */
	bool news;	    /* for the owner: something has changed */
	bool leaving;	    /* UP: the peer has until `deadline` to answer */
	_Atomic bool ended; /* ended after UP; read without the lock */
	bool attach;	    /* proved in both directions */
	bool by_card;	    /* this side attaches by the card */
	bool fence;	    /* senders to the peer need a fence */
	uint8_t side;
	pid_t pid; /* 0: unknown in this namespace */
	uint64_t deadline;
	int socket, wake; /* -1: none */
	struct bcl_segment segment;
	const char *why; /* for humans */

	uint64_t told;		   /* position that the peer was told: sent */
	_Atomic uint64_t its_told; /* likewise, as told by the peer */

	uint32_t watch;	    /* the peer's word in the port's page */
	uint32_t its_watch; /* this side's word in the peer's page */
	uint32_t woken;	    /* attention word of the last wake-up */
	uint32_t charged;   /* lines charged (env/charge.h) */
	const _Atomic uint32_t *its_attention; /* pages; NULL: not yet */
	_Atomic uint64_t *its_active;

	uint64_t nonce, scratch; /* accessed by the peer's proof of attach */
	uint64_t its_nonce, its_nonce_address, its_scratch_address;

	/* for the owner only */
	size_t reserved; /* bytes of bcl_reserve() plus one, until commit */
	struct bcl_outbox outbox;
	struct bcl_large large;
	struct bcl_remotes *remotes; /* NULL: none used yet */
	bool blocked;	     /* no sends before a notification has gone */
	bool awaited;	     /* the owner's copy of `leaving` */
	bool unanswered;     /* LEAVE came; no STAY or END sent yet */
	uint8_t said, heard; /* last enum bcl_leave_word (leave.h) */
	uint64_t events;     /* notifications and channels from the peer */
	uint64_t named;	     /* times_named() when the peer was closed */

	/* By word: handle of own memory that the peer may use. Under the
	 * service lock. NULL: none yet. */
	uint32_t *grants;
};

/* Wake the peer if it sleeps. The helper calls this instead of
 * bcl_pair_kick(). */
void bcl_connection_wake(struct bcl_connection *connection);

/* True if the peer may still do something. For the owner, or under the service
 * lock. */
bool bcl_connection_lives(const struct bcl_connection *connection);

/* Block all sends of the program to the peer, or allow them again. For the
 * owner. */
void bcl_connection_block(struct bcl_connection *connection, bool blocked);

/* All further functions run under the service lock. */

/* Make a connection in `state` and put it into the list of the port. NULL: no
 * memory, or the port has BCL_SHM_PEERS connections already. */
struct bcl_connection *bcl_connection_new(struct bcl_shm_port *shm,
					  enum bcl_connection_state state,
					  uint64_t now);

/* A peer called: take the socket over. Returns false if the call is refused;
 * the socket is then still the caller's. */
bool bcl_connection_accept(struct bcl_shm_port *shm, int fd, uint64_t now);

/* Returns the connection to (card, number) that is neither HELD nor `but`, or
 * NULL. */
struct bcl_connection *bcl_connection_find(const struct bcl_shm_port *shm,
					   uint64_t card, uint16_t number,
					   const struct bcl_connection *but);

/* Take the connection off the list and give all its resources back. Not for a
 * connection that the owner polls. */
void bcl_connection_free(struct bcl_connection *connection);

void bcl_connection_set_state(struct bcl_connection *connection,
			      enum bcl_connection_state state);

/*
 * The handshake fails. A connection that the owner waits for becomes FAILED;
 * any other is freed.
 */
void bcl_connection_fail(struct bcl_connection *connection,
			 enum bcl_status status, const char *why);

/* The peer is gone, or is given up. An UP connection becomes ENDED, and the
 * owner is told; the record stays. A handshake fails. */
void bcl_connection_end(struct bcl_connection *connection);

/* Shut down and close the socket. */
void bcl_connection_hang_up(struct bcl_connection *connection);

/* Have the connection served when the descriptor is readable. Returns false if
 * the system refuses. */
bool bcl_connection_watch(struct bcl_connection *connection, int fd);

/* The system refused a resource for a connection: log this, once, if it is a
 * limit of descriptors. */
void bcl_connection_refused(struct bcl_shm_port *shm, int error);

/* Have the owner look at the connection. */
void bcl_connection_tell_owner(struct bcl_connection *connection);

#endif
