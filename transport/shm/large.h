/* SPDX-License-Identifier: MIT */
/*
 * Large messages between two ports: offers, and the pulls that read them.
 *
 * An offer has a slot in the offering side's claim table (claim.h) and a
 * token that the user, or a message of the library's own, takes to the peer.
 * The peer's pull uses the entry of the same number in its own table, so that
 * both tables have the same bound.
 *
 * With attach: the pull begins with the last chunk, tells the offering side
 * to JOIN it from the first if that can pay, and goes on until no chunk is
 * left; see claim.h. Without: the pull asks to FETCH, and the data comes
 * through the offering side's bounce area (bounce.c).
 * Either way the pull ends with READ: then the offer is free.
 */
#ifndef BCL_SHM_LARGE_H
#define BCL_SHM_LARGE_H

#include "transport/context.h"
#include "transport/shm/claim.h"

struct bcl_connection;

/* What BCL_KEY_MAX bytes of a token hold. */
struct bcl_token {
	uint64_t card;	  /* who offers */
	uint64_t address; /* there */
	uint64_t length;
	uint16_t number; /* of the port */
	uint16_t slot;
	uint16_t generation;
	uint16_t spare;
};

_Static_assert(sizeof(struct bcl_token) == BCL_KEY_MAX, "token");

enum bcl_offer_kind {
	BCL_OFFER_FREE,
	BCL_OFFER_READ,	   /* ends with BCL_EVENT_READ */
	BCL_OFFER_SENT,	   /* ends with BCL_EVENT_SENT */
	BCL_OFFER_CHANNEL, /* likewise */
	BCL_OFFER_QUIET,   /* ends without an event */
};

struct bcl_offer {
	const uint8_t *buffer;
	uint64_t length;
	uint64_t cookie;
	uint16_t generation;
	uint8_t kind; /* enum bcl_offer_kind */
	/* what the peer wants, JOIN or FETCH */
	uint64_t target; /* JOIN: its address there */
	uint64_t wanted; /* bytes */
	uint64_t chunk;	 /* bytes */
	uint64_t feed;	 /* FETCH: bytes for the bounce area */
	uint64_t fed;	 /* of which are there */
	uint32_t chunks;
	uint32_t done;		/* chunks copied, */
	bool failed;		/* one of them not */
	struct bcl_offer *next; /* FETCH: in the order of asking */
};

enum bcl_pull_kind {
	BCL_PULL_FREE,
	BCL_PULL_USER,	  /* ends with BCL_EVENT_PULLED */
	BCL_PULL_CHANNEL, /* ends with bcl_channel_done() */
	BCL_PULL_SENT,	  /* ends with BCL_EVENT_SENT */
	BCL_PULL_QUIET,	  /* the peer is told, nobody here */
};

struct bcl_pull {
	uint8_t *buffer;
	uint64_t address; /* there */
	uint64_t length;  /* bytes wanted */
	uint64_t total;	  /* bytes offered */
	uint64_t cookie;
	uint64_t chunk;	  /* bytes */
	uint64_t drained; /* FETCH: bytes taken from the bounce area */
	uint32_t chunks;
	uint32_t mine; /* chunks claimed here */
	uint16_t generation;
	uint16_t channel; /* CHANNEL */
	uint8_t kind;	  /* enum bcl_pull_kind */
	uint8_t status;	  /* not OK: fails when the peer's chunks are done */
	struct bcl_pull *next; /* FETCH: in the order of asking */
};

/* A message that waits for its channel to be posted. */
struct bcl_posted {
	struct bcl_channel_waiter waiter; /* first */
	struct bcl_connection *connection;
	struct bcl_token token;
	uint16_t channel;
	bool waits;
};

struct bcl_large_tables {
	struct bcl_offer offers[BCL_CLAIMS];
	struct bcl_pull pulls[BCL_CLAIMS];
	struct bcl_posted posted[BCL_CLAIMS];
	unsigned held;			   /* offers and pulls not ended */
	unsigned channels_out;		   /* offers of kind CHANNEL */
	uint64_t joined[BCL_CLAIMS / 64];  /* offers being copied from here */
	uint64_t pulling[BCL_CLAIMS / 64]; /* pulls with attach */
	unsigned hint;			   /* where a free offer may be */
	unsigned alone; /* pulls that the peer could have joined, and did not,
			 * since it last did */
	uint32_t filled, drained; /* chunks, own index words */
	struct bcl_offer *feeding, **feeding_last;
	struct bcl_pull *draining, **draining_last;
};

struct bcl_large {
	struct bcl_large_tables *tables; /* NULL: not used yet */
};

/* ---- offer.c ---- */

/* The tables, made if need be; NULL: no memory. */
struct bcl_large_tables *bcl_large_use(struct bcl_connection *connection);

/* AGAIN: all slots are taken. */
enum bcl_status bcl_offer_make(struct bcl_connection *connection,
			       enum bcl_offer_kind kind, const void *buffer,
			       size_t length, uint64_t cookie,
			       struct bcl_token *token);
/* BUSY: the peer has begun. ARG: no such offer (any more). */
enum bcl_status bcl_offer_withdraw(struct bcl_connection *connection,
				   const struct bcl_token *token);
/* Messages of the peer. False: malformed. */
bool bcl_offer_join(struct bcl_connection *connection, uint64_t immediate,
		    const void *payload, size_t length);
bool bcl_offer_fetch(struct bcl_connection *connection, uint64_t immediate,
		     const void *payload, size_t length);
bool bcl_offer_read(struct bcl_connection *connection, uint64_t immediate);
/* Copy a chunk of each joined offer. True: there may be more. */
bool bcl_offers_progress(struct bcl_connection *connection);
/* No peer reads them from now on; events with the status if there is one. */
void bcl_offers_end(struct bcl_connection *connection, enum bcl_status status);

/* ---- pull.c ---- */

/* A pull: length, channel and cookie as its kind needs. OK: its end will be
 * reported. NOMEM: nothing was begun. ARG: not an offer of this peer. */
struct bcl_pull_request {
	enum bcl_pull_kind kind;
	void *buffer;
	uint64_t length;
	uint64_t cookie;
	uint16_t channel;
};
enum bcl_status bcl_pull_begin(struct bcl_connection *connection,
			       const struct bcl_token *token,
			       const struct bcl_pull_request *request);
/* Tell the peer that its offer has ended without a pull. */
void bcl_pull_refuse(struct bcl_connection *connection,
		     const struct bcl_token *token, enum bcl_status status);
bool bcl_pulls_progress(struct bcl_connection *connection);
/* Is there something for bcl_large_progress() to do, just now? */
bool bcl_pulls_ready(struct bcl_connection *connection);
/* Let nobody copy into this process any more, then report the status if
 * there is one. Waits for chunks that the peer has claimed, while it lives. */
void bcl_pulls_end(struct bcl_connection *connection, enum bcl_status status);
/* For bounce.c: the pull has all it wanted, or failed. */
void bcl_pull_complete(struct bcl_connection *connection, struct bcl_pull *pull,
		       enum bcl_status status);

/* ---- posted.c ---- */

enum bcl_status bcl_posted_send(struct bcl_connection *connection,
				unsigned channel, const void *buffer,
				size_t length, uint64_t cookie);
/* The message. False: malformed. */
bool bcl_posted_take(struct bcl_connection *connection, uint64_t immediate,
		     const void *payload, size_t length);
void bcl_posted_end(struct bcl_connection *connection);

/* ---- bounce.c ---- */

/* Queue an offer or a pull. False: no memory for the area. */
bool bcl_bounce_reserve(struct bcl_connection *connection, unsigned side);
void bcl_bounce_feed(struct bcl_connection *connection,
		     struct bcl_offer *offer);
void bcl_bounce_drain(struct bcl_connection *connection, struct bcl_pull *pull);
bool bcl_bounce_progress(struct bcl_connection *connection);
bool bcl_bounce_ready(struct bcl_connection *connection);

/* ---- all of it ---- */

/* True: wants to be called again. */
static inline bool bcl_large_progress(struct bcl_connection *connection)
{
	bool more = bcl_offers_progress(connection);

	more |= bcl_pulls_progress(connection);
	return bcl_bounce_progress(connection) || more;
}

/* The peer is lost (status), or is given up (OK, no events). */
static inline void bcl_large_end(struct bcl_connection *connection,
				 enum bcl_status status)
{
	bcl_posted_end(connection);
	bcl_offers_end(connection, status);
	bcl_pulls_end(connection, status);
}

void bcl_large_free(struct bcl_connection *connection);

#endif
