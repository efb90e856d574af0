/* SPDX-License-Identifier: MIT */
/* What the files of transport/card/ share. */
#ifndef BCL_CARD_INSIDE_H
#define BCL_CARD_INSIDE_H

#include "nicfw/hal.h"
#include "transport/card/host.h"
#include "transport/card/queues.h"

enum {
	BCL_CARD_PORTS = 64,
	BCL_CARD_CONNECTIONS = 1024, /* at a time; idle ones are closed */
	BCL_CARD_NODES = 8192,
	BCL_CARD_OFFERS = 64, /* per port, not read yet */
	BCL_CARD_MESSAGES = 8192,
	BCL_CARD_BUDGET = 256,
	BCL_CARD_BURST = 64, /* frames in one transmit() */
	BCL_CARD_STAGE = 1 << 16,
	BCL_CARD_STAGE_AT = 48, /* so that payloads begin on a cache line */
};

/* A port's areas, in the order of their handles (struct bcl_control). */
enum bcl_card_area_kind {
	BCL_CARD_AREA_REQUESTS,
	BCL_CARD_AREA_SENDS,
	BCL_CARD_AREA_RECEIVES,
	BCL_CARD_AREA_BLOCKS,
	BCL_CARD_AREA_INDICES,
	BCL_CARD_AREAS,
	BCL_CARD_AREA_MAX = 8, /* handles per port: a power of two */
	BCL_CARD_HANDLES = BCL_CARD_PORTS * BCL_CARD_AREA_MAX,
};

/* What the host knows of a node: index as the card gave it. */
struct bcl_card_node {
	uint64_t card;
	uint32_t life; /* raised when it is lost */
	uint8_t state; /* enum bcl_node_state */
	uint8_t lost;  /* the status of the last loss */
	uint8_t known; /* bit r: address[r] is valid */
	struct bcl_wire_address address[BCL_RAILS_MAX];
};

/* A port's areas have handles of their own. */
static inline uint32_t bcl_card_area_handle(unsigned seat, unsigned area)
{
	return 1 + seat * BCL_CARD_AREA_MAX + area;
}

struct bcl_trace;

struct bcl_card_area {
	uint8_t *address;
	size_t length;
};

/* A port as the card's functions find it; the slot is in its handles. */
struct bcl_card_seat {
	uint16_t number;   /* 0: free */
	_Atomic bool rung; /* a doorbell was rung while the lock was taken */
	struct bcl_port *port;
	struct bcl_card_port *queues;
};

/*
 * The lock. Who finds it HELD, and has something that must be done, makes it
 * ASKED and leaves: the holder does it before it lets go.
 */
enum bcl_card_lock {
	BCL_CARD_FREE,
	BCL_CARD_HELD,
	BCL_CARD_ASKED,
};

/* A rail and what its host remembers about polling it. */
struct bcl_card_rail {
	struct bcl_rail *rail;
	bool up;
	bool wet;	  /* frames came since the card was told it is empty */
	bool blocked;	  /* it took fewer frames than it was offered */
	uint32_t quiet;	  /* polls in a row that found nothing */
	uint32_t skipped; /* polls left out for that */
	uint64_t rest;	  /* not polled before this time */
};

struct bcl_card_host {
	_Atomic uint32_t lock;	   /* enum bcl_card_lock */
	_Atomic uint32_t changes;  /* of states of nodes */
	_Atomic uint64_t deadline; /* of the card; 0: at once */
	_Atomic uint32_t alive;	   /* nodes CONNECTING or UP */

	/* Below: under the lock, or constant. */
	struct bcl_context *context;
	const struct bcl_env *env;
	struct bcl_card *card;
	struct bcl_hal hal;
	struct bcl_rail_sink sink;
	unsigned nrails;
	struct bcl_card_rail rails[BCL_RAILS_MAX];
	uint64_t now;		      /* of this turn; 0: not asked yet */
	uint64_t clock, clock_cycles; /* the last reading, and when */

	/* the frames that are being handled */
	const struct bcl_wire_address *source;
	unsigned source_rail;

	/* the node that a CONNECT in progress is about */
	const struct bcl_wire_address *connecting; /* by rail */

	struct bcl_card_node *nodes;
	struct bcl_card_seat seats[BCL_CARD_PORTS];
	struct bcl_card_area areas[BCL_CARD_HANDLES]; /* by handle - 1 */
	struct bcl_rail_tx tx[BCL_CARD_BURST];
	uint8_t *stage;		 /* where a burst is put together */
	struct bcl_trace *trace; /* NULL: no BCL_TRACE */
	void *arena;
	uint32_t arena_size;
	unsigned nlines;
	char lines[BCL_RAILS_MAX + 2][BCL_CARD_LINE];
};

/* ---- host.c ---- */

bool bcl_card_try_lock(struct bcl_card_host *host);
void bcl_card_lock(struct bcl_card_host *host);
/* Does what others left to be done. */
void bcl_card_unlock(struct bcl_card_host *host);

/* The clock of this turn. */
uint64_t bcl_card_now(struct bcl_card_host *host);

/* The card said what it wants. */
void bcl_card_wants(struct bcl_card_host *host,
		    const struct bcl_card_next *next);

/* Requests were submitted: have the card look, now or as soon as it can. */
void bcl_card_ring(struct bcl_card_host *host, struct bcl_card_seat *seat);

enum bcl_status bcl_card_command(struct bcl_card_host *host,
				 const struct bcl_control *control,
				 uint32_t *result);

/* The seat of this number, 0: a free one; the port's own place is looked at
 * first. */
struct bcl_card_seat *bcl_card_seat_find(struct bcl_card_host *host,
					 uint16_t port, uint16_t number);

static inline struct bcl_card_host *
bcl_card_host_of(const struct bcl_port *port)
{
	return port->context->card;
}

/* ---- hal.c ---- */

extern const struct bcl_hal bcl_card_hal;
extern const struct bcl_rail_sink bcl_card_sink;

/* ---- connect.c ---- */

/*
 * Report to the port's peers what happened to nodes until `changes` was read,
 * as long as nothing has since: then the queues have to be looked at first.
 * True: events were pushed.
 */
bool bcl_card_report(struct bcl_port *port, uint32_t changes);
/* A message has come from a peer that is not up yet: it is now. */
void bcl_card_accept(struct bcl_peer *peer, uint32_t node);

/* ---- path.c ---- */

/* A request has ended. True: *event tells the caller. */
bool bcl_card_sent(struct bcl_port *port,
		   const struct bcl_completion *completion,
		   struct bcl_event *event);
/* An offer was read, withdrawn or lost: its channel is free. */
void bcl_card_offer_ended(struct bcl_card_port *queues, unsigned number);
/* Take an offer back. BUSY: it is being read, or was. */
enum bcl_status bcl_card_unoffer(struct bcl_port *port, unsigned number);
/* The peer is lost: what it had reserved is free. */
void bcl_card_abandon(struct bcl_peer *peer);

#endif
