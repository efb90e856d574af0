/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Kinds of ends: what is different between Ethernet and UDP. A packet is what
 * IP or an interface is given at once: headers of the kind, and a frame, or
 * several of one length, of which the last may be shorter.
 */
#ifndef BCL_KMOD_END_H
#define BCL_KMOD_END_H

#include "host.h"

struct bcl_kmod_kind {
	/*
	 * Make the end ready, on own->dev, with the address that the process
	 * asks for; sets own->address. Returns 0, or the reason why the end
	 * cannot be used. May sleep. Frames may come from now on.
	 */
	int (*open)(struct bcl_kmod_host *host, struct bcl_kmod_end *own,
		    const struct bcl_wire_address *asked);
	/* No frame comes a grace period after this. May sleep. NULL: another
	 * function sees to this. */
	void (*stop)(struct bcl_kmod_end *own);
	/* Give back what the end has; no thread uses the end. NULL: nothing. */
	void (*close)(struct bcl_kmod_end *own);
	/* Returns the bytes that packets of `mtu` bytes have for a frame. Reads
	 * what else may change with the interface. */
	u32 (*measure)(struct bcl_kmod_end *own, u32 mtu);
	u32 several; /* bytes of a packet of several frames; 0: of one only */
	/*
	 * Make a packet with all headers and room for `length` bytes, in frames
	 * of `frame` bytes, under the card's lock. NULL: no memory, no route,
	 * or too long.
	 */
	struct sk_buff *(*begin)(struct bcl_kmod_end *own,
				 const struct bcl_wire_address *to, u32 length,
				 u32 frame);
	/*
	 * Send the packet, which is the kind's from now on. Bottom halves are
	 * off, and the card's lock is not held. Returns false if the packet is
	 * lost.
	 */
	bool (*send)(struct bcl_kmod_host *host, struct sk_buff *packet);
};

extern const struct bcl_kmod_kind bcl_kmod_ether;
extern const struct bcl_kmod_kind bcl_kmod_udp;

/* An interface has changed, or the end has, in a turn. */
void bcl_kmod_end_measure(struct bcl_kmod_end *own);

static inline u8 bcl_kmod_kind_of(const void *frame)
{
	const struct bcl_frame_header *header = frame;

	return header->kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK);
}

/* ---- transmit.c ---- */

/* Our knowledge of a packet that leaves, in its control block. The packet holds
 * packet->dev, which is NULL for IP. */
struct bcl_kmod_leaving {
	u64 turn; /* faults hold the packet until so many have passed */
	u32 end;
	u32 at; /* the first frame, from packet->head on */
};

static inline struct bcl_kmod_leaving *bcl_kmod_leaving(struct sk_buff *packet)
{
	BUILD_BUG_ON(sizeof(struct bcl_kmod_leaving) > sizeof(packet->cb));
	return (struct bcl_kmod_leaving *)packet->cb;
}

/* Hand the packet to its end. Bottom halves are off. Returns the number of
 * packets that the system did not take. */
unsigned int bcl_kmod_send(struct bcl_kmod_host *host, struct sk_buff *packet);

/* ---- receive.c ---- */

/*
 * A packet came to the card by the end: its data is frames of `frame` bytes
 * from the source, the last perhaps shorter; in one piece, unless the end has
 * memory for a copy. The packet waits for the card's next turn. Under
 * rcu_read_lock(). Takes the packet.
 */
void bcl_kmod_arrived(struct bcl_kmod_host *host, unsigned int end,
		      const struct bcl_wire_address *source,
		      struct sk_buff *packet, u32 frame);

/* ---- udp.c, udp_error.c, udp_send.c ---- */

/* A route to a destination; `to` tells which. */
struct bcl_kmod_route {
	struct bcl_wire_address to;
	struct dst_entry *dst; /* NULL: none */
	u32 cookie;
};

enum {
	BCL_KMOD_ROUTES = 64,	/* of an end */
	BCL_KMOD_MTU_MIN = 576, /* of an interface or path */
};

struct bcl_kmod_udp_end {
	struct rcu_head rcu;
	struct bcl_kmod_host *host;
	struct socket *socket;
	void (*data_ready)(struct sock *sk);   /* the socket's own */
	void (*error_report)(struct sock *sk); /* likewise */
	u8 end, kind;
	u32 path_mtu;		  /* the least of all routes, or U32_MAX */
	unsigned long path_until; /* end of that report, in jiffies */
	struct bcl_kmod_route route[BCL_KMOD_ROUTES];
};

/* The socket's report of errors, instead of its own. */
void bcl_kmod_udp_error(struct sock *sk);
u32 bcl_kmod_udp_measure(struct bcl_kmod_end *own, u32 mtu);
struct sk_buff *bcl_kmod_udp_begin(struct bcl_kmod_end *own,
				   const struct bcl_wire_address *to,
				   u32 length, u32 frame);
bool bcl_kmod_udp_send(struct bcl_kmod_host *host, struct sk_buff *packet);
void bcl_kmod_udp_forget(struct bcl_kmod_udp_end *udp);

#endif
