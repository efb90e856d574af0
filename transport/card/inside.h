/* SPDX-License-Identifier: MIT */
/* What the files of the card path share: nothing of it is a host's. */
#ifndef BCL_CARD_INSIDE_H
#define BCL_CARD_INSIDE_H

#include "transport/card/card.h"
#include "transport/card/queues.h"

enum {
	BCL_HOST_OFFERS = 64, /* per port, not read yet */
};

static inline struct bcl_host *bcl_host_of(const struct bcl_port *port)
{
	return port->context->card;
}

static inline enum bcl_status
bcl_host_command(const struct bcl_port *port, const struct bcl_control *control)
{
	struct bcl_host *host = bcl_host_of(port);

	return host->ops->control(host, port->card->seat, control);
}

/* ---- ways.c ---- */

/* The ways from the context's card to an address, the likely ones first.
 * Returns how many. */
unsigned bcl_host_ways(const struct bcl_context *context,
		       const struct bcl_address *address,
		       struct bcl_host_way ways[BCL_HOST_WAYS]);

/* ---- connect.c ---- */

/*
 * Report to the port's peers what happened to nodes until `changes` was read,
 * as long as nothing has since: then the queues have to be looked at first.
 * True: events were pushed.
 */
bool bcl_host_report(struct bcl_port *port, uint32_t changes);
/* A message has come from a peer that is not up yet: it is now. */
void bcl_host_accept(struct bcl_peer *peer, uint32_t node);

/* ---- path.c ---- */

/* A request has ended. True: *event tells the caller. */
bool bcl_host_sent(struct bcl_port *port,
		   const struct bcl_completion *completion,
		   struct bcl_event *event);
/* An offer was read, withdrawn or lost: its channel is free. */
void bcl_host_offer_ended(struct bcl_host_port *queues, unsigned number);
/* Take an offer back. BUSY: it is being read, or was. */
enum bcl_status bcl_host_unoffer(struct bcl_port *port, unsigned number);
/* The peer is lost: what it had reserved is free. */
void bcl_host_abandon(struct bcl_peer *peer);

#endif
