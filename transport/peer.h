/* SPDX-License-Identifier: MIT */
/* The inside of a peer, for the files of transport/. Only the owner of the
 * peer's port uses it. */
#ifndef BCL_PEER_H
#define BCL_PEER_H

#include "transport/path.h"
#include "transport/port.h"
#include "wire/address.h"

/*
 * State of a peer (bcl_peer_state), and the events that change it:
 *
 *  CONNECTING  shared memory: handshake succeeded      UP, path SHARED
 *              shared memory: not available            card is tried
 *              card: HELLO answered                    UP, path CARD
 *              card: nothing answers, refused          LOST
 *  UP          end of file, reset, silence             LOST
 *              the path parts, the peer is opened      CONNECTING
 *              the path parts, the peer is not opened  LOST
 *  LOST        bcl_peer_open() again                   CONNECTING
 */
struct bcl_peer {
	/* hot: read by every send */
	const struct bcl_path_ops *ops; /* never NULL; while CONNECTING and
					 * LOST the operations of none_ops
					 * (peer.c), which answer AGAIN or
					 * `lost` */
	struct bcl_pair *pair;		/* path SHARED, else NULL */
	struct bcl_port *port;
	void *user;
	uint32_t node;	     /* path CARD: index of the node at the card */
	uint32_t generation; /* path CARD: of the node, as the host counts */
	uint32_t requests;   /* path CARD: requests that are not finished */
	uint16_t number;
	uint8_t state; /* enum bcl_peer_state */
	uint8_t lost;  /* LOST: the status */
	bool refused;  /* a send found no room: bcl_wait() returns when there
			* is some */

	struct bcl_address address;
	bool address_known;    /* false: the peer has sent, but was never
				* opened */
	bool opened;	       /* bcl_peer_open() gave the handle out */
	bool closed;	       /* the last of the two was bcl_peer_close() */
	bool hidden;	       /* not in the port's hash */
	bool calling;	       /* the card connects to the peer's node */
	void *path;	       /* the path's own record of the peer, or NULL */
	struct bcl_peer *next; /* all peers of the port */
	struct bcl_peer *next_hashed; /* in the bucket for (card, number) */
	char why[96];
};

/* Records whether the last send to the peer was refused with AGAIN for want
 * of room. */
static inline void bcl_peer_refuse(struct bcl_peer *peer, bool refused)
{
	peer->port->nrefused += (unsigned)refused - (unsigned)peer->refused;
	peer->refused = refused;
}

/*
 * For the paths: only the port's owner calls. The helper thread leaves its
 * findings in the path's memory until the owner looks.
 */

/* Makes the peer (card, number), which must not exist. NULL: no memory. */
struct bcl_peer *bcl_peer_make(struct bcl_port *port, uint64_t card,
			       uint16_t number);

static inline struct bcl_peer **bcl_peer_bucket(const struct bcl_port *port,
						uint64_t card, uint16_t number)
{
	/* Card ids are random; ports of one card differ in the number. */
	return &port->hash[(unsigned)(card ^ card >> 32 ^ number) &
			   (port->nhash - 1)];
}

/* Returns the peer (card, number), or NULL. `make`: makes the peer if it
 * does not exist; NULL then means no memory. */
static inline struct bcl_peer *
bcl_peer_find(struct bcl_port *port, uint64_t card, uint16_t number, bool make)
{
	struct bcl_peer *peer =
		port->nhash ? *bcl_peer_bucket(port, card, number) : NULL;

	while (peer && (peer->address.card != card || peer->number != number))
		peer = peer->next_hashed;
	return peer || !make ? peer : bcl_peer_make(port, card, number);
}

/*
 * The path is ready: sets the peer UP on the path and queues BCL_EVENT_PEER. On
 * the shared path the caller has set peer->pair and entered it in port->pairs
 * before.
 */
void bcl_peer_up(struct bcl_peer *peer, const struct bcl_path_ops *ops,
		 const char *why);
/*
 * The peer is lost: sends to the peer now return the status, and BCL_EVENT_PEER
 * follows. The path has let go of the peer before, and does not use peer->pair
 * again.
 */
void bcl_peer_lose(struct bcl_peer *peer, enum bcl_status status);

/*
 * The path ends the connection in good order. bcl_peer_part(): nothing more
 * begins with the peer, while peer->path stays. bcl_peer_parted(): the path
 * has let go of the peer. If the peer is opened, true: the caller connects the
 * peer again by bcl_peer_connect(). Otherwise reports the loss, unless `quiet`.
 */
void bcl_peer_part(struct bcl_peer *peer);
bool bcl_peer_parted(struct bcl_peer *peer, enum bcl_status status, bool quiet);

/* ---- connect.c, for shm/peers.c ---- */

/* Chooses a path for the peer, and begins to connect the peer. */
void bcl_peer_connect(struct bcl_peer *peer);
/* Shared memory is not available: continues with the card. */
void bcl_peer_try_card(struct bcl_peer *peer, const char *why);

/* ---- for the transport itself ---- */

/* The search for a path begins: CONNECTING. */
void bcl_peer_connecting(struct bcl_peer *peer);
/* The program opens the peer. True: the caller has to connect the peer. */
bool bcl_peer_opened(struct bcl_peer *peer, const struct bcl_address *address);
void bcl_peers_free(struct bcl_port *port);
/* True if a peer to which a send was refused has room now. take: report each
 * such peer only once. */
bool bcl_peers_room(struct bcl_port *port, bool take);
/* Frees peers that are lost, or closed on the card path, and that neither
 * the caller nor a path holds. */
void bcl_peers_reap(struct bcl_port *port);

/* The same for a peer. */
static inline enum bcl_status bcl_peer_usable(const struct bcl_peer *peer)
{
	if (bcl_unlikely(!peer))
		return BCL_ERR_ARG;
	return bcl_port_usable(peer->port);
}

#endif
