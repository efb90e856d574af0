/* SPDX-License-Identifier: MIT */
/* The short way of bcl_poll(), in line: the next message of a pair. */
#ifndef BCL_POLL_H
#define BCL_POLL_H

#include "transport/context.h"
#include "transport/shm/pair.h"

enum {
	/* Passes that find nothing after a message, before the network is
	 * asked; and as many again. */
	BCL_NETWORK_EMPTY = 16,
};

/* At most as many as `messages` says. What is due might take a message's memory
 * away: so not at once. */
static inline void bcl_port_count_messages(struct bcl_port *port, unsigned n)
{
	port->messages -= n;
	if (__builtin_expect(!port->messages, 0))
		port->flags |= BCL_PORT_CLOCK;
}

/* A look at one pair; as bcl_pair_receive(). */
static inline enum bcl_status __attribute__((always_inline))
bcl_port_receive(struct bcl_port *port, unsigned i, struct bcl_event *event)
{
	bool streaming = port->empty == BCL_NETWORK_EMPTY;
	enum bcl_status status =
		bcl_pair_receive(port->pairs[i], streaming, event);

	if (status)
		return status;
	port->turn = i + 1 < port->npairs ? i + 1 : port->wrap;
	port->empty = BCL_NETWORK_EMPTY;
	bcl_port_count_messages(port, 1);
	return BCL_OK;
}

/*
 * OK, if the pair whose turn it is has a message and nothing else is due.
 * Otherwise bcl_poll() knows; it alone looks first after a message by the pair
 * line, because then it waits before.
 */
static inline enum bcl_status __attribute__((always_inline))
bcl_poll_pair(struct bcl_port *port, struct bcl_event *event)
{
	if (__builtin_expect(port->flags || port->turn >= port->npairs, 0) ||
	    port->hints || bcl_port_forked(port))
		return BCL_ERR_EMPTY;
	return bcl_port_receive(port, port->turn, event);
}

#endif
