/* SPDX-License-Identifier: MIT */
/*
 * A port's queues between the library and the card (bcl/card_abi.h), the
 * library's side. Everything here belongs to the port's owner; the card
 * touches the areas only.
 */
#ifndef BCL_CARD_QUEUES_H
#define BCL_CARD_QUEUES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <bcl/bcl.h>
#include <bcl/card_abi.h>

#include "transport/wire/rail.h"

struct bcl_host;
struct bcl_host_seat;
struct bcl_peer;

/* A completion queue as its reader sees it. */
struct bcl_host_cq {
	struct bcl_completion *next; /* to be read */
	uint32_t lap;		     /* of that entry, when it is written */
	struct bcl_completion *entries, *end;
};

/* What the library remembers of a request until its completion. */
struct bcl_host_slot {
	struct bcl_peer *peer;
	uint64_t cookie; /* the caller's */
	/* An operation longer than a request can say goes on by pieces. */
	uint64_t rest;		    /* bytes after the piece on its way */
	uint64_t moved;		    /* bytes before and with it */
	uint8_t last_op, last_type; /* what the last piece is */
	uint8_t kind;		    /* enum bcl_event_kind of its event */
	bool silent;		    /* no event */
	uint16_t next;		    /* free list */
};

/* An offer of memory to be read, or a channel that the user posts. */
struct bcl_host_channel {
	uint64_t cookie;
	struct bcl_peer *peer; /* an offer: to whom */
	uint16_t generation;
	uint16_t next; /* offers: free list */
	bool posted;
};

enum {
	BCL_HOST_NO_SLOT = 0xffff,
};

/* Blocks of one size, as their reader sees them. */
struct bcl_host_ring {
	uint32_t freed; /* in ring order */
	uint32_t mask;
	uint64_t *out_of_turn; /* bit per block: freed before its turn came */
	uint32_t *told;	       /* `freed`, for the card */
};

/* Messages to one peer in a row: see doorbell_batch.h. */
struct bcl_doorbell_batch {
	const struct bcl_peer *peer;
	uint64_t looks;	 /* the program's, when the row began */
	uint64_t cycles; /* when the last was deferred, or had been rung for */
	uint32_t messages; /* up to BCL_BATCH_AFTER */
	uint32_t bytes;	   /* of frames, since the last doorbell */
};

struct bcl_host_port {
	/* hot: read by every poll */
	struct bcl_host_cq sends, receives;
	const _Atomic uint32_t *news; /* the host's count of changed nodes */
	uint32_t changes;	      /* of these, told to this port */
	const struct bcl_rail *ring;  /* with a mapped ring, or NULL */

	/* hot: used by every send */
	struct bcl_request *requests;
	uint32_t *submits; /* ring of request numbers */
	struct bcl_port_indices *indices;
	uint32_t requests_made;
	uint32_t request_mask;
	uint32_t requests_free;
	uint16_t free_slot;
	uint16_t inline_max; /* bytes of a message in its request */
	struct bcl_host_slot *slots;
	uint8_t *bounce; /* BCL_BLOCK_SIZE bytes per request */
	struct bcl_host *host;
	struct bcl_host_seat *seat; /* how the host knows the port */
	void (*doorbell)(struct bcl_host *host,
			 struct bcl_host_seat *seat); /* the host's */
	void (*taking)(struct bcl_host *host, struct bcl_host_seat *seat,
		       const struct bcl_completion *next); /* likewise */
	struct bcl_doorbell_batch batch;

	/* the system rings */
	uint8_t *blocks;
	struct bcl_host_ring shorts, longs;
	struct bcl_host_ring
		*unreleased_of; /* the last event's; NULL: it has no */
	uint32_t unreleased;	/* block */

	struct bcl_host_channel *channels;
	uint32_t nchannels; /* the user's; offers follow */
	uint32_t noffers;
	uint16_t free_offer;
	uint32_t unfinished; /* operations with a rest */
	uint64_t piece;	     /* bytes that one request moves at most */

	void *memory; /* all of the above in one allocation */
	size_t size;
};

/*
 * The next entry, or NULL. The acquire pairs with the release in
 * nic_port_event(): an entry whose lap is right is whole.
 */
static inline const struct bcl_completion *
bcl_host_cq_peek(const struct bcl_host_cq *queue)
{
	uint32_t lap = atomic_load_explicit(
		(_Atomic uint32_t *)&queue->next->lap, memory_order_acquire);

	return lap == queue->lap ? queue->next : NULL;
}

static inline void bcl_host_cq_take(struct bcl_host_cq *queue)
{
	if (++queue->next == queue->end) {
		queue->next = queue->entries;
		queue->lap++;
	}
}

/* bcl_host_receive() has nothing to say. */
static inline bool bcl_host_port_idle(const struct bcl_host_port *queues)
{
	return !bcl_host_cq_peek(&queues->receives) &&
	       !bcl_host_cq_peek(&queues->sends) &&
	       atomic_load_explicit(queues->news, memory_order_relaxed) ==
		       queues->changes;
}

/* Frames wait in the mapped ring: bcl_host_poll(). */
static inline bool bcl_host_port_frames(const struct bcl_host_port *queues)
{
	return queues->ring && bcl_rail_waiting(queues->ring);
}

#endif
