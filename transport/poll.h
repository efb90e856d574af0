/* SPDX-License-Identifier: MIT */
/* The fast path of bcl_poll(), in line: the next message of a pair. */
#ifndef BCL_POLL_H
#define BCL_POLL_H

#include "base/base.h"
#include "transport/peer.h"
#include "transport/shm/pair.h"

enum {
	/* Empty passes after a message until the port looks at the network,
	 * and between two such looks. */
	BCL_NETWORK_EMPTY = 16,
};

/*
 * Counts n messages; n is at most port->clock.messages. At zero the clock check
 * is only flagged: its work might take away the memory of the message that is
 * about to be returned.
 */
static inline void bcl_port_count_messages(struct bcl_port *port, unsigned n)
{
	bcl_assert(n <= port->clock.messages);
	port->clock.messages -= n;
	if (bcl_unlikely(!port->clock.messages))
		port->flags |= BCL_PORT_CLOCK;
}

/* Looks at pair i; statuses of bcl_pair_receive(). */
static inline enum bcl_status __attribute__((always_inline))
bcl_port_receive(struct bcl_port *port, unsigned i, struct bcl_event *event)
{
	bool streaming = port->network.empty == BCL_NETWORK_EMPTY;
	enum bcl_status status =
		bcl_pair_receive(port->pairs[i], streaming, event);

	if (status)
		return status;
	port->turn.next = i + 1 < port->npairs ? i + 1 : port->turn.wrap;
	port->network.empty = BCL_NETWORK_EMPTY;
	bcl_port_count_messages(port, 1);
	return BCL_OK;
}

/*
 * OK if the pair that is next has a message and nothing else is due. Otherwise
 * the caller has to call bcl_poll(). Only bcl_poll() looks after a send by the
 * pair line, because it pauses before the look.
 */
static inline enum bcl_status __attribute__((always_inline))
bcl_poll_pair(struct bcl_port *port, struct bcl_event *event)
{
	if (bcl_unlikely(port->flags || port->turn.next >= port->npairs) ||
	    port->spin.hints || bcl_port_forked(port))
		return BCL_ERR_EMPTY;
	return bcl_port_receive(port, port->turn.next, event);
}

/*
 * Messages in a row: the messages that lie in the ring of a pair behind the one
 * that bcl_poll_pair() has returned. The caller looks at each message, takes
 * the message, and calls bcl_port_count_messages() after the last one.
 */
struct bcl_row {
	struct bcl_pair *pair;
	const struct bcl_slot *slot; /* of the next message */
	uint64_t header;	     /* of the message that was looked at */
};

/* Begins a row of messages from this peer. Returns the number of messages that
 * may be taken, `most` or fewer. 0: the peer has no pair, for example while a
 * put to the peer is under way. */
static inline unsigned bcl_row_begin(struct bcl_row *row,
				     const struct bcl_port *port,
				     const struct bcl_peer *from, unsigned most)
{
	row->pair = from->pair;
	if (__builtin_expect(!row->pair, 0))
		return 0;
	return most < port->clock.messages ? most : port->clock.messages;
}

/* Returns true if the next message is in the ring and of this type, and stores
 * the immediate word of the message. */
static inline bool bcl_row_look(struct bcl_row *row, unsigned type,
				uint64_t *immediate)
{
	row->slot = bcl_pair_slot(row->pair);
	row->header = bcl_pair_look(row->pair, row->slot, type);
	if (!row->header)
		return false;
	*immediate = row->slot->immediate;
	return true;
}

/* Takes the message that bcl_row_look() has found. The data is valid until the
 * next receive from this peer. */
static inline const void *bcl_row_take(struct bcl_row *row, size_t *length)
{
	bcl_assert(row->header);
	*length = bcl_pair_take(row->pair, row->slot, row->header);
	return row->slot->payload;
}

#endif
