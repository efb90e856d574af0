/* SPDX-License-Identifier: MIT */
/* Peers, by rank and by handle: the requests that wait for a peer, and the flow
 * control towards the peer. */
#ifndef BCL_ADI_PEER_H
#define BCL_ADI_PEER_H

#include "adi/job.h"
#include "adi/request.h"
#include "adi/table.h"
#include "base/base.h"
#include "env/counters.h"

enum {
	BCL_ADI_WHY_NOT = 1, /* bytes of the status, published instead of an
			      * address by a rank that could not join */
};

/* Messages about flow control and leaving that are due to a peer. Lower bits
 * are sent first. */
enum bcl_adi_owed {
	BCL_OWED_STOP = 1,
	BCL_OWED_GO = 2,
	BCL_OWED_HOLD = 4,
	BCL_OWED_MORE = 8,
	BCL_OWED_LEFT = 16, /* after all messages */
};

struct bcl_request_queue {
	struct bcl_adi_request *first, **last;
};

struct bcl_adi_peer {
	/* hot: read for every message */
	struct bcl_peer *peer; /* NULL: the rank could not be opened, or the
				* handle was forgotten; see `lost` */
	bool direct;  /* a short message may leave at once: the peer is open,
		       * not lost and not stopped, and nothing is queued or
		       * withheld */
	bool dirty;   /* a message was sent since the last flush */
	uint8_t lost; /* enum bcl_status */
	uint8_t gone; /* enum bcl_status: no message will come, because the peer
		       * is lost or has left the job; bcl_adi_close() goes on
		       * with a peer that has left */
	uint8_t owed; /* enum bcl_adi_owed */
	int rank;     /* -1: not known to be a rank of the job */

	/* sending */
	bool stopped;	    /* the peer said STOP, and no GO since */
	bool holding;	    /* HOLD was said, and no MORE came since */
	bool waiting;	    /* in the ring adi->waiting */
	bool opened;	    /* this process opened the handle */
	uint32_t announced; /* messages announced and not read yet */
	uint32_t limit;	    /* most messages that may be announced */
	struct bcl_request_queue queue, withheld, called;
	struct bcl_adi_peer *next_waiting;

	/* receiving */
	bool stops;	    /* STOP was said, and no GO since */
	bool holds;	    /* the peer said HOLD, and was told no MORE since */
	bool waits;	    /* the peer said WAITING */
	uint8_t keepalives; /* turns for a keepalive: is_due() in keepalive.c */
	size_t unexpected;  /* bytes of the peer's unexpected messages */

	struct bcl_table_node node; /* key: `peer` */
	struct bcl_adi_peer *next;
};

/* The peer of a rank, which is opened if need be. NULL: no memory. */
struct bcl_adi_peer *bcl_adi_peer_get(struct bcl_adi *adi, unsigned rank);
/* The record of a handle; makes one if there is none. NULL: no memory. */
struct bcl_adi_peer *bcl_adi_peer_of(struct bcl_adi *adi,
				     struct bcl_peer *handle);
/* Opens the rank if need be. OK: the handle belongs to the rank. ARG: the
 * handle belongs to another port, or there is no such rank. NOMEM. */
enum bcl_status bcl_adi_peer_bind(struct bcl_adi *adi, unsigned rank,
				  struct bcl_peer *handle);
/* The record of a handle, or NULL. */
static inline struct bcl_adi_peer *bcl_adi_peer_find(const struct bcl_adi *adi,
						     struct bcl_peer *handle)
{
	struct bcl_table_node *node =
		bcl_table_find(&adi->by_handle, (uintptr_t)handle);

	return node ? bcl_container_of(node, struct bcl_adi_peer, node) : NULL;
}

/* Handles BCL_EVENT_PEER. */
void bcl_adi_peer_event(struct bcl_adi *adi, struct bcl_peer *handle,
			enum bcl_status status);
void bcl_adi_peer_lose(struct bcl_adi *adi, struct bcl_adi_peer *peer,
		       enum bcl_status status);
/* Handles LEFT: receives from the peer end, but not those of
 * bcl_adi_close(). */
void bcl_adi_peer_left(struct bcl_adi *adi, struct bcl_adi_peer *peer);
/* Returns false if there is no memory. bcl_adi_peers_close() must follow in
 * either case. */
bool bcl_adi_peers_open(struct bcl_adi *adi);
void bcl_adi_peers_close(struct bcl_adi *adi);

/* The peer of this rank, or NULL if no peer was opened for the rank yet. */
static inline struct bcl_adi_peer *bcl_adi_known(const struct bcl_adi *adi,
						 unsigned rank)
{
	bcl_assert(rank < adi->size);
	if (bcl_likely(rank < BCL_ADI_SOME_RANKS))
		return adi->first.peer[rank];
	return adi->ranks[rank / BCL_ADI_SOME_RANKS]
		->peer[rank % BCL_ADI_SOME_RANKS];
}

/* Returns true if all other ranks are gone: no message can come. */
static inline bool bcl_adi_is_alone(const struct bcl_adi *adi)
{
	return bcl_unlikely(adi->ngone && adi->ngone + 1 == adi->size);
}

/* Notes that an eager message has left. */
static inline void bcl_adi_sent(struct bcl_adi *adi, struct bcl_adi_peer *peer)
{
	peer->dirty = true;
	bcl_count(adi->counters, adi_sent_eager);
}

static inline bool bcl_adi_peer_may_be_direct(const struct bcl_adi_peer *peer)
{
	return peer->peer && !peer->lost && !peer->stopped &&
	       !peer->queue.first && !peer->withheld.first;
}

static inline void bcl_adi_peer_judge(struct bcl_adi_peer *peer)
{
	peer->direct = bcl_adi_peer_may_be_direct(peer);
}

/* ---- queue.c ---- */

/* Takes the request out of the queue of its peer. */
void bcl_adi_unqueue(struct bcl_adi_request *request);
void bcl_request_append(struct bcl_request_queue *queue,
			struct bcl_adi_request *request);
void bcl_request_prepend(struct bcl_request_queue *queue,
			 struct bcl_adi_request *request);
void bcl_request_remove(struct bcl_request_queue *queue,
			struct bcl_adi_request *request);
/* Takes the first request out of a queue that is not empty. */
struct bcl_adi_request *bcl_request_take_first(struct bcl_request_queue *queue);
/* Puts the peer into the ring of peers that the engine serves. */
void bcl_adi_peer_wait_turn(struct bcl_adi *adi, struct bcl_adi_peer *peer);
void bcl_adi_owe(struct bcl_adi *adi, struct bcl_adi_peer *peer, unsigned owed);
/* Messages that are withheld from the peer may perhaps go now: the peer said
 * MORE or GO, or has read an announced message. */
void bcl_adi_peer_resume(struct bcl_adi *adi, struct bcl_adi_peer *peer);

/* ---- serve.c ---- */

/* Starts a request, or queues the request. The request may be complete on
 * return. */
void bcl_adi_submit(struct bcl_adi *adi, struct bcl_adi_request *request);
/* BCL_CHORE_PEERS: serves one peer. Returns true if a request advanced. */
bool bcl_adi_peers_serve(struct bcl_adi *adi);

#endif
