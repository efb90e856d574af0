/* SPDX-License-Identifier: MIT */
/* Declarations that the files of the card path share among themselves. No host
 * of a card includes this file. */
#ifndef BCL_CARD_INSIDE_H
#define BCL_CARD_INSIDE_H

#include "transport/card/card.h"
#include "transport/card/queues.h"
#include "transport/peer.h"

enum {
	BCL_HOST_OFFERS = 64, /* per port, not yet read by the peer */
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

/* Find the ways from the context's card to an address and store them in `ways`,
 * the likely ones first. Returns their number. */
unsigned bcl_host_ways(const struct bcl_context *context,
		       const struct bcl_address *address,
		       struct bcl_host_way ways[BCL_HOST_WAYS]);

/* ---- connect.c ---- */

/*
 * Report to the port's peers the changes of nodes up to the count `changes`.
 * The report stops early if a node has changed since: then the caller has to
 * look at the queues first. Returns true if events were pushed.
 */
bool bcl_host_report(struct bcl_port *port, uint32_t changes);
/* A message has come from a peer that is still connecting: now the peer is up.
 * Its node has this index. */
void bcl_host_accept(struct bcl_peer *peer, uint32_t node);

/* ---- path.c ---- */

/* A request is complete. Returns true if *event is for the caller. */
bool bcl_host_sent(struct bcl_port *port,
		   const struct bcl_completion *completion,
		   struct bcl_event *event);
/* The peer has read the offer, or the offer was withdrawn or lost: free its
 * channel. */
void bcl_host_offer_ended(struct bcl_host_port *queues, unsigned number);
/* Withdraw an offer. BUSY: the peer is reading the memory or has read it. */
enum bcl_status bcl_host_unoffer(struct bcl_port *port, unsigned number);
/* The peer is lost: free the request that the peer had reserved. */
void bcl_host_abandon(struct bcl_peer *peer);

#endif
