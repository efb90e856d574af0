/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The ways by which the host of a card reaches a node. Each host of real rails
 * has a struct bcl_ways for each node, under the card's lock, and tells it what
 * CONNECT names and what the card learns.
 */
#ifndef BCL_CARD_WAYS_H
#define BCL_CARD_WAYS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
#endif

#include <bcl/card_abi.h>
#include <bcl/wire.h>

enum {
	/* Addresses of rails; one rail may have several. */
	BCL_HOST_ENDS = 6,
	BCL_HOST_WAYS = BCL_HOST_ENDS * BCL_WIRES_MAX, /* to one node */
};

/* One way to reach a node: from an end of this card to an address of the
 * node. */
struct bcl_host_way {
	uint8_t end;  /* end of this card */
	uint8_t wire; /* index of a wire of the node's address */
};

/* The destination of a frame, and the end by which the frame leaves. */
struct bcl_target {
	const struct bcl_wire_address *address; /* NULL: not known */
	unsigned end;
};

struct bcl_ways {
	uint8_t known;	/* bit r: address[r] and end[r] are set */
	uint8_t proved; /* bit r: the node answered there */
	uint8_t nways;
	uint8_t end[BCL_RAILS_MAX]; /* our end, and the node's address: */
	struct bcl_wire_address address[BCL_RAILS_MAX];
	/* HELLO frames of a rail go to its ways in turn until the node
	 * answers. */
	uint8_t turn[BCL_RAILS_MAX];
	uint8_t rail[BCL_HOST_WAYS]; /* of each way */
	struct bcl_host_way way[BCL_HOST_WAYS];
	struct bcl_wire_address wire[BCL_WIRES_MAX];
	uint64_t refused; /* bit w: way[w] was, since the last CONNECT */
};

/* The card gave the index of the node to another node. */
static inline void bcl_ways_forget(struct bcl_ways *ways)
{
	ways->known = 0;
	ways->proved = 0;
	ways->nways = 0;
}

/* CONNECT names these addresses of the node, and then ways to them. */
void bcl_ways_begin(struct bcl_ways *ways, const struct bcl_wire_address *wires,
		    unsigned n);
/* The address where the node was reached before stays the first to try. */
void bcl_ways_add(struct bcl_ways *ways, struct bcl_host_way way,
		  unsigned rail);
/* A frame that proves its sender came from the node to the end. */
void bcl_ways_learn(struct bcl_ways *ways, unsigned rail, unsigned end,
		    const struct bcl_wire_address *address);

/* The destination of the next frame by the rail. A HELLO goes first to the
 * address where the node was reached, or by the likely way; then by each way in
 * turn. */
struct bcl_target bcl_ways_target(struct bcl_ways *ways, unsigned rail,
				  bool hello);
/* The network refused frames from the end of the rail to the address. Returns
 * true if no way of the node's rail is left. */
bool bcl_ways_refused(struct bcl_ways *ways, unsigned rail, unsigned end,
		      const struct bcl_wire_address *address);
/* Bit e: end e reaches the node on a known rail. */
uint8_t bcl_ways_ends(const struct bcl_ways *ways);

#endif
