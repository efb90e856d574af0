/* SPDX-License-Identifier: MIT */
/*
 * A port's queues between the library and the card (bcl/card_abi.h), as the
 * library sees them. Everything here belongs to the owner of the port. The card
 * touches only the areas.
 */
#ifndef BCL_CARD_QUEUES_H
#define BCL_CARD_QUEUES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <bcl/bcl.h>
#include <bcl/card_abi.h>

#include "card/cq.h"
#include "wire/rail.h"

struct bcl_host;
struct bcl_host_seat;
struct bcl_peer;

/* The library's record of a request until the completion of the request. */
struct bcl_host_slot {
	struct bcl_peer *peer;
	uint64_t cookie; /* from the caller */
	/* An operation that is longer than one request can move goes in pieces,
	 * one request after the other. */
	uint64_t rest;	/* bytes after the piece in flight */
	uint64_t moved; /* bytes up to the end of the piece in flight */
	uint8_t last_op, last_type; /* op and type of the last piece */
	uint8_t kind;		    /* enum bcl_event_kind of the event */
	bool silent;		    /* the caller wants no event */
	uint16_t next;		    /* free list: index of a slot */
};

/* An offer of memory for a peer to read, or a channel that the user posts. */
struct bcl_host_channel {
	uint64_t cookie;
	struct bcl_peer *peer; /* an offer: the peer that may read */
	uint16_t generation;
	uint16_t next; /* free list of offers */
	bool posted;
	bool by_word; /* by postings[], without a call (bcl/card_abi.h) */
};

enum {
	BCL_HOST_NO_SLOT = 0xffff,
};

/* Blocks of one size, as seen by the library. */
struct bcl_host_ring {
	uint32_t freed; /* blocks given back so far, in ring order */
	uint32_t mask;
	uint64_t *out_of_turn; /* bit per block: freed before an older one */
	uint32_t *told;	       /* where the card reads `freed` */
};

/* A row of messages to one peer: see doorbell_batch.h. */
struct bcl_doorbell_batch {
	const struct bcl_peer *peer;
	uint64_t looks;	   /* context->presence when the row began */
	uint64_t cycles;   /* when the last was deferred, or rung for */
	uint32_t messages; /* counted up to BCL_BATCH_AFTER */
	uint32_t bytes;	   /* bytes of frames since the last doorbell */
};

struct bcl_host_port {
	/* hot: every poll reads this */
	struct bcl_host_cq sends, receives;
	const _Atomic uint32_t *news; /* host->changes: changes of nodes */
	uint32_t changes;	      /* of these, reported to this port */
	const struct bcl_rail *ring;  /* with a mapped ring, or NULL */

	/* hot: every send uses this */
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
	struct bcl_host_seat *seat; /* the host's name for the port */
	void (*doorbell)(struct bcl_host *host,
			 struct bcl_host_seat *seat); /* ops->doorbell */
	void (*taking)(struct bcl_host *host, struct bcl_host_seat *seat,
		       const struct bcl_completion *next); /* ops->taking */
	struct bcl_doorbell_batch batch;

	/* the system rings */
	uint8_t *blocks;
	struct bcl_host_ring shorts, longs;
	struct bcl_host_ring
		*unreleased_of; /* ring of the block in which the last */
	uint32_t unreleased;	/* event lies; NULL: in no block */

	struct bcl_host_channel *channels;
	_Atomic uint32_t *postings;
	const _Atomic uint32_t *again;
	uint32_t nchannels; /* channels of the user; offers follow */
	uint32_t noffers;
	uint16_t free_offer;
	uint32_t unfinished; /* operations that have a rest */
	uint64_t piece;	     /* the most bytes that one request moves */

	size_t size; /* of the allocation, which begins with this structure and
		      * holds all but the areas */
};

/* True if bcl_host_receive() would find no event. */
static inline bool bcl_host_port_idle(const struct bcl_host_port *queues)
{
	return !bcl_host_cq_peek(&queues->receives) &&
	       !bcl_host_cq_peek(&queues->sends) &&
	       atomic_load_explicit(queues->news, memory_order_relaxed) ==
		       queues->changes;
}

/* True if frames wait in the mapped ring for bcl_host_poll(). */
static inline bool bcl_host_port_frames(const struct bcl_host_port *queues)
{
	return queues->ring && bcl_rail_waiting(queues->ring);
}

#endif
