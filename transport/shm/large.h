/* SPDX-License-Identifier: MIT */
/*
 * Large messages between two ports: offers, and the pulls that read them.
 *
 * An offer has a slot in the claim table (claim.h) of the offering side, and a
 * token. The user, or a message of the library, takes the token to the peer.
 * The peer's pull uses the entry of the same number in its own table, so both
 * tables have the same bound.
 *
 * There are three ways to copy:
 *
 *  - alone: the pull reads everything by attach.
 *  - halves: the pull begins with the last chunk, by attach, and tells the
 *    offering side to JOIN from the first chunk. It goes on until no chunk is
 *    left; see claim.h.
 *  - fed: the pull sends FETCH, and the data comes through the bounce area of
 *    the offering side (bounce.c). If nothing comes for a while, the pull takes
 *    chunks from the end by attach.
 *
 * Without attach all pulls are fed. Otherwise pull.c chooses. In any case the
 * pull ends with READ; then the offer is free.
 */
#ifndef BCL_SHM_LARGE_H
#define BCL_SHM_LARGE_H

#include "transport/channel.h"
#include "transport/shm/claim.h"

struct bcl_connection;

/* The contents of the BCL_KEY_MAX bytes of a token. */
struct bcl_token {
	uint64_t card;	  /* the offering card */
	uint64_t address; /* address in the offering process */
	uint64_t length;
	uint16_t number; /* port number of the offering side */
	uint16_t slot;
	uint16_t generation;
	uint16_t spare;
};

_Static_assert(sizeof(struct bcl_token) == BCL_KEY_MAX, "token");

enum bcl_offer_kind {
	BCL_OFFER_FREE,
	BCL_OFFER_READ,	   /* ends with BCL_EVENT_READ */
	BCL_OFFER_SENT,	   /* ends with BCL_EVENT_SENT */
	BCL_OFFER_CHANNEL, /* ends with BCL_EVENT_SENT */
	BCL_OFFER_QUIET,   /* ends without an event */
};

struct bcl_offer {
	const uint8_t *buffer;
	uint64_t length;
	uint64_t cookie;
	uint16_t generation;
	uint8_t kind; /* enum bcl_offer_kind */
	/* as the peer's JOIN or FETCH says */
	uint64_t target; /* JOIN: address in the peer's process */
	uint64_t wanted; /* bytes */
	uint64_t chunk;	 /* bytes */
	uint32_t chunks;
	uint32_t done;		/* chunks copied, or failed */
	bool failed;		/* a chunk could not be copied */
	bool feeds;		/* in the queue `feeding` */
	struct bcl_offer *next; /* the next there, in the order of requests */
};

enum bcl_pull_kind {
	BCL_PULL_FREE,
	BCL_PULL_USER,	  /* ends with BCL_EVENT_PULLED */
	BCL_PULL_CHANNEL, /* ends with bcl_channel_done() */
	BCL_PULL_SENT,	  /* ends with BCL_EVENT_SENT */
	BCL_PULL_QUIET,	  /* only the peer is told */
};

struct bcl_pull {
	uint8_t *buffer;
	uint64_t address; /* address in the peer's process */
	uint64_t length;  /* bytes wanted */
	uint64_t total;	  /* bytes offered */
	uint64_t cookie;
	uint64_t chunk;	  /* bytes */
	uint64_t drained; /* fed: bytes taken from the bounce area */
	uint32_t chunks;
	uint32_t mine; /* chunks claimed by this side */
	uint16_t generation;
	uint16_t channel; /* CHANNEL */
	uint8_t kind;	  /* enum bcl_pull_kind */
	uint8_t status;	  /* if not OK: fails once the peer's chunks are done */
	struct bcl_pull *next; /* fed: next in the order of requests */
};

/* A message that waits until its channel is posted. */
struct bcl_posted {
	struct bcl_channel_waiter waiter; /* must be first */
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
	uint64_t joined[BCL_CLAIMS / 64];  /* offers that this side copies */
	uint64_t pulling[BCL_CLAIMS / 64]; /* pulls that are not fed */
	unsigned hint;			   /* where to look for a free offer */
	/* Pulls that the peer could have joined, since it last joined one. */
	unsigned alone;
	unsigned looks; /* in vain, since a chunk was in the bounce area */
	bool fed;	/* counted in bcl_shm_port.fed */
	uint16_t unfed; /* pulls by attach until may_be_fed() tries again */
	uint32_t filled, drained; /* chunks; the own index words */
	struct bcl_offer *feeding, **feeding_last;
	struct bcl_pull *draining, **draining_last;
};

struct bcl_large {
	struct bcl_large_tables *tables; /* NULL: not used yet */
};

/* ---- large.c ---- */

/* The tables, made on first use; NULL: no memory. */
struct bcl_large_tables *bcl_large_use(struct bcl_connection *connection);

void bcl_large_free(struct bcl_connection *connection);

/* ---- offer.c ---- */

/* Make an offer. AGAIN: all slots are taken. NOMEM: no tables. */
enum bcl_status bcl_offer_make(struct bcl_connection *connection,
			       enum bcl_offer_kind kind, const void *buffer,
			       size_t length, uint64_t cookie,
			       struct bcl_token *token);
/* Take an offer back. BUSY: the peer has begun to read it. ARG: there is no
 * such offer, or it has ended. */
enum bcl_status bcl_offer_withdraw(struct bcl_connection *connection,
				   const struct bcl_token *token);
/* Handle JOIN, FETCH and READ of the peer. Return false if the message is
 * malformed. */
bool bcl_offer_join(struct bcl_connection *connection, uint64_t immediate,
		    const void *payload, size_t length);
bool bcl_offer_fetch(struct bcl_connection *connection, uint64_t immediate,
		     const void *payload, size_t length);
bool bcl_offer_read(struct bcl_connection *connection, uint64_t immediate);
/* Claim the next chunk of an offer. Returns the length of the chunk, and its
 * place in *at; 0: none is left. */
size_t bcl_offer_claim(struct bcl_connection *connection,
		       struct bcl_offer *offer, uint64_t *at);
/* Copy a chunk of each offer that this side has joined, and feed the peer's
 * FETCHes. Returns true if there may be more to copy. */
bool bcl_offers_progress(struct bcl_connection *connection);
/* End all offers: no peer reads them any more. Pushes their events if status is
 * not OK. */
void bcl_offers_end(struct bcl_connection *connection, enum bcl_status status);

/* ---- pull.c ---- */

/* Begin a pull; length, channel and cookie of the request as its kind needs.
 * OK: its end will be reported. NOMEM: nothing was begun. ARG: the token is not
 * an offer of this peer that can be pulled now, or the length is too long. */
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
/* True if bcl_large_progress() has something to do just now: chunks to copy, of
 * pulls or of offers that were joined or are fed. */
bool bcl_pulls_ready(struct bcl_connection *connection);
/* End all pulls. Waits until the peer, while it lives, has finished the chunks
 * that it has claimed, so that nobody copies into this process any more; at
 * most SETTLE_TIME (pull.c). Then reports the status if it is not OK. */
void bcl_pulls_end(struct bcl_connection *connection, enum bcl_status status);
/* The claim word of a pull, in the table of the peer. */
struct bcl_claim *bcl_pull_claim(const struct bcl_connection *connection,
				 const struct bcl_pull *pull);
/* Send JOIN or FETCH. chunk: bytes. */
void bcl_pull_ask(struct bcl_connection *connection,
		  const struct bcl_pull *pull, unsigned type, uint32_t chunk);
/* The pull has all bytes that it wanted, or failed. */
void bcl_pull_complete(struct bcl_connection *connection, struct bcl_pull *pull,
		       enum bcl_status status);

/* ---- fed.c ---- */

/* Ask the peer to feed the pull, and queue the pull. */
void bcl_fed_begin(struct bcl_connection *connection, struct bcl_pull *pull);
/* Take what the peer has put into its bounce area, and end the pulls that are
 * complete. There is a pull in the queue. Returns true if one is left. */
bool bcl_fed_drain(struct bcl_connection *connection);
/* True if the first pull in the queue can go on. The tables exist. */
bool bcl_fed_ready(struct bcl_connection *connection);

/* ---- posted.c ---- */

enum bcl_status bcl_posted_send(struct bcl_connection *connection,
				unsigned channel, const void *buffer,
				size_t length, uint64_t cookie);
/* Handle CHANNEL of the peer. Returns false if it is malformed. */
bool bcl_posted_take(struct bcl_connection *connection, uint64_t immediate,
		     const void *payload, size_t length);
void bcl_posted_end(struct bcl_connection *connection);

/* ---- bounce.c ---- */

/* Reserve the pages of the bounce area of `side`; false: no memory. */
bool bcl_bounce_reserve(struct bcl_connection *connection, unsigned side);
/* The bytes of a chunk of a message that is fed. */
uint64_t bcl_bounce_chunk(uint64_t length);
/* Queue an offer or a pull for the area. */
void bcl_bounce_feed(struct bcl_connection *connection,
		     struct bcl_offer *offer);
void bcl_bounce_drain(struct bcl_connection *connection, struct bcl_pull *pull);
/* Fill the own area from the offers in the queue. Returns true if some are
 * left. The tables exist. */
bool bcl_bounce_fill(struct bcl_connection *connection);
/* The peer has all bytes of an offer: take it out of the queue. Returns false
 * if that cannot be. */
bool bcl_bounce_fed(struct bcl_connection *connection,
		    const struct bcl_offer *offer);
/* The chunks that the peer has filled. */
uint32_t bcl_bounce_filled(struct bcl_connection *connection);
/* Take at most *chunks chunks, of those that are filled, for the pulls in the
 * queue, and subtract them. Returns the first pull, taken out of the queue, if
 * it needs no more chunks; NULL if there are no chunks or no pulls. */
struct bcl_pull *bcl_bounce_take(struct bcl_connection *connection,
				 uint32_t *chunks);
/* True if there is room for an offer in the queue. */
bool bcl_bounce_room(struct bcl_connection *connection);

/* ---- all of it ---- */

/* Returns true if it has to be called again. */
static inline bool bcl_large_progress(struct bcl_connection *connection)
{
	bool more = bcl_offers_progress(connection);

	return bcl_pulls_progress(connection) || more;
}

/* The peer is lost (status says why), or the connection is given up (OK; then
 * there are no events). */
static inline void bcl_large_end(struct bcl_connection *connection,
				 enum bcl_status status)
{
	bcl_posted_end(connection);
	bcl_offers_end(connection, status);
	bcl_pulls_end(connection, status);
}

#endif
