/* SPDX-License-Identifier: MIT */
/*
 * What the library asks of whoever hosts the card: this process
 * (transport/card/inproc/), a kernel module or a simulator. The queues of a
 * port lie in the library's memory (bcl/card_abi.h); everything else about the
 * card is behind this table, which comes with the environment (struct bcl_env).
 */
#ifndef BCL_CARD_OPS_H
#define BCL_CARD_OPS_H

#include <stdatomic.h>

#include "nicfw/hal.h"
#include "transport/wire/rail.h"

struct bcl_address;
struct bcl_host;
struct bcl_host_seat; /* a port, as its card's host knows it */
struct bcl_context;
struct bcl_port;

enum {
	BCL_HOST_LINE = 160,
	/* Addresses of rails: one rail may have several. */
	BCL_HOST_ENDS = 6,
	BCL_HOST_WAYS = BCL_HOST_ENDS * BCL_HOST_ENDS, /* to one node */
	BCL_HOST_LINES = 2 * BCL_HOST_ENDS + 2,
	BCL_HOST_BUSY = 0x7fffffff,
};

/* A port's areas, in the order of struct bcl_control. */
enum bcl_host_area_kind {
	BCL_HOST_AREA_REQUESTS,
	BCL_HOST_AREA_SENDS,
	BCL_HOST_AREA_RECEIVES,
	BCL_HOST_AREA_BLOCKS,
	BCL_HOST_AREA_INDICES,
	BCL_HOST_AREAS,
};

struct bcl_host_area {
	uint8_t *address;
	size_t length;
};

/* What is known of a node. */
struct bcl_host_node {
	uint64_t card;	     /* whose index it is by now */
	uint32_t generation; /* another one after each loss (bcl_hal.node) */
	uint8_t state;	     /* enum bcl_node_state */
	uint8_t lost;	     /* the status of the last loss */
	uint8_t known; /* bit r: the host has an address of it for rail r */
	uint8_t ends;  /* bit e: of those that are known, it is reached by e */
};

/* How a node may be reached. */
struct bcl_host_way {
	uint8_t end;  /* ours */
	uint8_t wire; /* in the node's address */
};

/* What bcl_hal.node tells of it. */
static inline void bcl_host_node_set(struct bcl_host_node *node,
				     uint32_t generation,
				     enum bcl_node_state state,
				     enum bcl_status status)
{
	node->generation = generation;
	node->state = (uint8_t)state;
	if (state == BCL_NODE_LOST || state == BCL_NODE_ISOLATED)
		node->lost = (uint8_t)status;
}

/* What is not told of each peer, us. 0: not known, or not more than usual. */
struct bcl_host_costs {
	double gap;	 /* from a message of the card's to the next */
	double exchange; /* of the card, for a message that it sends and one
			  * that it receives; each acknowledges others */
	double receive;	 /* of a processor, for a message that it receives */
	double copy;	 /* of a processor, for each byte */
	double inlined;	 /* the same, for one that it writes to the card */
	uint16_t inline_max; /* bytes of a message that it pays to write there,
			      * rather than have them fetched */
};

/*
 * No function may be called by two threads for one port, but for that any
 * thread may call any of them; none waits for a peer. `seat` is what port_open
 * gave; where it may be NULL it is of the port whose owner calls, and only a
 * hint.
 */
struct bcl_host_ops {
	/* The card has a processor of its own: bytes come and go without this
	 * program's, and both at once. */
	bool autonomous;
	/* Long blocks of each port; 0: messages that need one are for none. All
	 * hosts that can be connected with one another have some, or none. */
	uint16_t longs;
	struct bcl_host_costs costs;
	/* us that a byte takes if each of the first nodes, all at once, sends
	 * to node to[i], or to none: itself. NULL: not known. */
	double (*across)(const struct bcl_host_ops *ops, unsigned nodes,
			 const unsigned *to);

	/*
	 * Open the card. NORAIL: no rail could be opened; NOMEM, ARG (a
	 * variable that makes no sense; logged). Then *host is not set.
	 */
	enum bcl_status (*open)(struct bcl_context *context,
				struct bcl_host **host);
	/* All ports are closed. Peers get BYE. */
	void (*close)(struct bcl_host *host);

	/*
	 * Let the card use a port's areas, which stay until port_close.
	 * `control` is a PORT_OPEN; the host sets the handles of the areas.
	 * NOMEM: no seat or card memory is free.
	 */
	enum bcl_status (*port_open)(
		struct bcl_host *host, struct bcl_port *port,
		const struct bcl_host_area areas[BCL_HOST_AREAS],
		struct bcl_control *control, struct bcl_host_seat **seat);
	/* The areas are not touched after it. */
	void (*port_close)(struct bcl_host *host, struct bcl_host_seat *seat);
	/* The port's requests_made has grown: now, or as soon as can be. */
	void (*doorbell)(struct bcl_host *host, struct bcl_host_seat *seat);

	/* What the port takes from `receives` next, for hosts whose time is
	 * virtual. NULL: to take it takes its own time. */
	void (*taking)(struct bcl_host *host, struct bcl_host_seat *seat,
		       const struct bcl_completion *next);

	/*
	 * The doorbell for what the port has submitted comes later: until then
	 * poll() without a seat does its work. NULL: a doorbell costs little.
	 */
	void (*defer)(struct bcl_host *host, struct bcl_host_seat *seat);

	/* POST, UNPOST, ISOLATE, REJOIN, with the card's answer. */
	enum bcl_status (*control)(struct bcl_host *host,
				   struct bcl_host_seat *seat,
				   const struct bcl_control *control);
	/*
	 * CONNECT to the card at the address, by n ways, the likely ones first:
	 * for each rail they are tried in turn until it is proved by one. The
	 * node's index, and what is known of it at that moment.
	 */
	enum bcl_status (*connect)(struct bcl_host *host,
				   const struct bcl_address *address,
				   const struct bcl_host_way *ways, unsigned n,
				   uint32_t *index, struct bcl_host_node *node);
	/* What is known of a node, and the count of changes at that moment. */
	uint32_t (*node)(struct bcl_host *host, uint32_t index,
			 struct bcl_host_node *node);
	enum bcl_status (*node_info)(struct bcl_host *host, uint32_t index,
				     struct bcl_node_info *info);

	/*
	 * A turn, for a host that has no processor of its own: frames that
	 * wait where a load can tell (host->ring); with `sockets` those that
	 * a system call can tell of, and timers. Returns how many frames
	 * came, BUSY: another thread is at it.
	 */
	unsigned (*poll)(struct bcl_host *host, struct bcl_host_seat *seat,
			 bool sockets);
	/* Look whether interfaces have changed: a few system calls. */
	void (*watch)(struct bcl_host *host);

	/*
	 * The card does nothing for the length of `run`, and what it did
	 * before can be seen.
	 */
	void (*exclusive)(struct bcl_host *host, struct bcl_host_seat *seat,
			  void (*run)(void *arg), void *arg);
	/* The card's own, for other threads to read. */
	void (*counters)(struct bcl_host *host,
			 _Atomic uint64_t values[BCL_CARD_NCOUNTERS]);
};

/* An end of a rail, as the library sees it: one of the addresses by which peers
 * reach the rail. */
struct bcl_host_end {
	struct bcl_wire_address address;
	uint8_t rail;
	const char *kind, *interface;
	bool small; /* made for short messages */
	/* Readable when poll() will find frames; -1: none. */
	int fd, partner_fd;
};

/*
 * The host's own object begins with this. What changes is read by any thread
 * without a call.
 */
struct bcl_host {
	const struct bcl_host_ops *ops;
	_Atomic uint32_t changes;  /* of states of nodes; release */
	_Atomic uint32_t alive;	   /* nodes that live by our calls of poll() */
	_Atomic uint64_t deadline; /* of the next poll(); 0: at once */

	/* What the host knows of messages between nodes: us of a processor for
	 * each, us one way beyond the cards' round trip, MB/s. 0: it does not
	 * know, typical figures are taken. */
	double overhead, latency, bandwidth;

	const struct bcl_rail *ring; /* a rail with a mapped ring, or NULL */
	unsigned nends;
	struct bcl_host_end end[BCL_HOST_ENDS]; /* the important first */
	/* about each rail, in use or not, and why: for people */
	unsigned nlines;
	char line[BCL_HOST_LINES][BCL_HOST_LINE];
};

extern const struct bcl_host_ops bcl_host_inproc;

#endif
