/* SPDX-License-Identifier: MIT */
/*
 * The card path as the rest of the transport uses it: ports and peers that the
 * card reaches. The functions are the same for every host of a card (ops.h).
 *
 * A call on one port can change peers of another port. The other port reports
 * the change when its owner calls bcl_host_receive().
 */
#ifndef BCL_CARD_CARD_H
#define BCL_CARD_CARD_H

#include "card/ops.h"
#include "transport/context.h"
#include "transport/path.h"
#include "wire/address.h"

enum {
	BCL_HOST_FDS = 2 * BCL_HOST_ENDS, /* the most descriptors of a card */
};

/*
 * Open the card that BCL_CARD asks for and set context->card. NORAIL: there is
 * no card; context->card stays NULL and the caller must not use the functions
 * below. Fails with NOMEM or ARG, too; and if the card in the kernel is asked
 * for, with any status of bcl_host_ops.open (logged).
 */
enum bcl_status bcl_host_open(struct bcl_context *context);
/* The caller has closed all ports before. Peers get BYE. */
void bcl_host_close(struct bcl_context *context);

/* Fill in the wire addresses of the context's card. */
void bcl_host_address(const struct bcl_context *context,
		      struct bcl_address *address);

/*
 * Make the port reachable through the card and set port->card. The caller does
 * so before the port's address is published. On close the unfinished requests
 * of the port end without an event.
 */
enum bcl_status bcl_host_port_open(struct bcl_port *port);
void bcl_host_port_close(struct bcl_port *port);

/*
 * Post a buffer to a channel for the card path, and take the buffer back:
 * bcl_post() and bcl_unpost(). The `immediate` of the event is the channel, the
 * cookie that of port->channels[]. There the caller also keeps the buffer and
 * the length of the last posting that was OK: the same again needs no call of
 * the card.
 */
enum bcl_status bcl_host_post(struct bcl_port *port, unsigned channel,
			      const void *buffer, size_t length);
enum bcl_status bcl_host_unpost(struct bcl_port *port, unsigned channel);

/*
 * Connect the peer, whose address is known, through the card. After OK the call
 * itself or a later bcl_host_receive() of the port ends in bcl_peer_up(peer,
 * &bcl_host_path_ops, why) or in bcl_peer_lose(). NORAIL: no rail of this card
 * fits an address of the peer. FULL: the card has no free node index. NOMEM:
 * the host has no memory for the node. ISOLATED or UNREACHABLE: the card
 * refuses to connect the node.
 */
enum bcl_status bcl_host_connect(struct bcl_peer *peer);

enum bcl_status bcl_host_isolate(struct bcl_peer *peer);
enum bcl_status bcl_host_rejoin(struct bcl_peer *peer);

/*
 * One turn of the card: see poll() in ops.h. bcl_host_port_frames() in queues.h
 * costs one load and tells whether a turn without `sockets` will find frames.
 */
static inline unsigned bcl_host_poll(struct bcl_context *context,
				     struct bcl_host_seat *seat, bool sockets)
{
	return context->card->ops->poll(context->card, seat, sockets);
}

/* The time (now()) by which the card wants bcl_host_poll(context, true); 0: at
 * once. Any thread may call, without a lock. */
static inline uint64_t bcl_host_deadline(const struct bcl_context *context)
{
	return atomic_load_explicit(&context->card->deadline,
				    memory_order_relaxed);
}

/* The number of nodes that are connected or connecting. While there are any,
 * the card needs turns of the library. */
static inline unsigned bcl_host_nodes(const struct bcl_context *context)
{
	return atomic_load_explicit(&context->card->alive,
				    memory_order_relaxed);
}

/* Store the descriptors that are readable while frames wait. Returns their
 * number. */
unsigned bcl_host_fds(const struct bcl_context *context, int fds[BCL_HOST_FDS]);

/*
 * Look for interfaces that went up or down or changed their MTU: a few system
 * calls. The helper does so twice a second; without a helper bcl_poll() does.
 */
void bcl_host_watch(struct bcl_context *context);

/*
 * Take the port's next event from the card: OK or EMPTY. AGAIN: the card path
 * pushed an event to the port's own list. An idle port costs two loads; see
 * bcl_host_port_idle() in queues.h. The data of a system message lies in the
 * port's ring until bcl_host_release().
 */
enum bcl_status bcl_host_receive(struct bcl_port *port,
				 struct bcl_event *event);
void bcl_host_release(struct bcl_port *port);

/*
 * The owner of the port is about to sleep on port->object (`sleeping`), or is
 * back. Before the owner sleeps, the owner looks at the queues once more after
 * this call. Then no wake-up is lost.
 */
void bcl_host_sleep(struct bcl_port *port, bool sleeping);

/*
 * Call `run` while the card does not touch the program's memory. `run` makes
 * memory unreachable: an access by the card either ended before or fails after.
 */
void bcl_host_exclusive(struct bcl_context *context, struct bcl_host_seat *seat,
			void (*run)(void *arg), void *arg);

/* Copy the card's own counters to the context's page of counters. */
void bcl_host_counters_copy(struct bcl_context *context);

/* Write one line for people about each rail: whether the card uses the rail,
 * and why. Returns the number of lines. */
unsigned bcl_host_describe(const struct bcl_context *context,
			   char lines[][BCL_HOST_LINE], unsigned max);

extern const struct bcl_path_ops bcl_host_path_ops;

#endif
