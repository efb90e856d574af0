/* SPDX-License-Identifier: MIT */
/*
 * The card path, as the rest of the transport uses it: ports and peers on the
 * card, whoever hosts that (ops.h).
 *
 * What a call of one port does to another port's peers is reported when that
 * port receives (bcl_host_receive()), by its own thread.
 */
#ifndef BCL_CARD_CARD_H
#define BCL_CARD_CARD_H

#include "transport/card/ops.h"
#include "transport/context.h"

enum {
	BCL_HOST_FDS = 2 * BCL_HOST_ENDS, /* descriptors, at most */
};

/*
 * Open the environment's card; sets context->card. NORAIL: there is none;
 * context->card stays NULL and everything below must not be called. NOMEM,
 * ARG.
 */
enum bcl_status bcl_host_open(struct bcl_context *context);
/* All ports are closed already. Peers get BYE. */
void bcl_host_close(struct bcl_context *context);

/* Fill in the wire addresses of this context's card. */
void bcl_host_address(const struct bcl_context *context,
		      struct bcl_address *address);

/*
 * Make the port reachable through the card, before its address is published;
 * sets port->card. close: its unfinished requests are lost without an event.
 */
enum bcl_status bcl_host_port_open(struct bcl_port *port);
void bcl_host_port_close(struct bcl_port *port);

/*
 * Post a buffer to a channel for the card path, take it back: bcl_post() and
 * bcl_unpost(). The event's `immediate` is the channel.
 */
enum bcl_status bcl_host_post(struct bcl_port *port, unsigned channel,
			      void *buffer, size_t length, uint64_t cookie);
enum bcl_status bcl_host_unpost(struct bcl_port *port, unsigned channel);

/*
 * Connect the peer (its address is known) through the card. Ends, in this
 * call or in a later bcl_host_receive() of the port, in bcl_peer_up(peer,
 * &bcl_host_path_ops, why) or bcl_peer_lose(). NORAIL: none of its
 * addresses fits a rail of ours; AGAIN: no card memory.
 */
enum bcl_status bcl_host_connect(struct bcl_peer *peer);

/* The peer is closed while the card connects it: nothing more is told of it.
 * False: the card does not. */
bool bcl_host_stop_calling(struct bcl_peer *peer);

enum bcl_status bcl_host_isolate(struct bcl_peer *peer);
enum bcl_status bcl_host_rejoin(struct bcl_peer *peer);

/* One turn of the card: see poll() in ops.h. bcl_host_port_frames() in
 * queues.h tells for a load that one without `sockets` will find frames. */
static inline unsigned bcl_host_poll(struct bcl_context *context,
				     struct bcl_host_seat *seat, bool sockets)
{
	return context->card->ops->poll(context->card, seat, sockets);
}

/* When the card wants bcl_host_poll(context, true) at the latest (now()
 * time); 0: at once. Any thread, no lock. */
static inline uint64_t bcl_host_deadline(const struct bcl_context *context)
{
	return atomic_load_explicit(&context->card->deadline,
				    memory_order_relaxed);
}

/* Nodes that are connected or about to be, and need our turns. */
static inline unsigned bcl_host_nodes(const struct bcl_context *context)
{
	return atomic_load_explicit(&context->card->alive,
				    memory_order_relaxed);
}

/* Descriptors that are readable when frames wait; returns how many. */
unsigned bcl_host_fds(const struct bcl_context *context, int fds[BCL_HOST_FDS]);

/*
 * Look whether interfaces went up or down or changed their MTU: a few system
 * calls. The helper does so twice a second; without one, bcl_poll().
 */
void bcl_host_watch(struct bcl_context *context);

/*
 * The port's next event from the card: OK or EMPTY; AGAIN: something was
 * pushed to the port's own list. Two loads when there is nothing; see
 * bcl_host_port_idle() in queues.h. A system message's data lies in the
 * port's ring until bcl_host_release().
 */
enum bcl_status bcl_host_receive(struct bcl_port *port,
				 struct bcl_event *event);
void bcl_host_release(struct bcl_port *port);

/*
 * The owner is about to sleep on port->object, or is back. Sleeping: look at
 * the queues once more after this call, then sleep; no wake-up is lost.
 */
void bcl_host_sleep(struct bcl_port *port, bool sleeping);

/*
 * The card is out of the program's memory for the length of `run`. Memory is
 * made unreachable in it: an access either ended before or fails after.
 */
void bcl_host_exclusive(struct bcl_context *context, struct bcl_host_seat *seat,
			void (*run)(void *arg), void *arg);

/* Copy the card's own counters to the context's page. */
void bcl_host_counters_copy(struct bcl_context *context);

/* One line for people about each rail, in use or not, and why. */
unsigned bcl_host_describe(const struct bcl_context *context,
			   char lines[][BCL_HOST_LINE], unsigned max);

extern const struct bcl_path_ops bcl_host_path_ops;

#endif
