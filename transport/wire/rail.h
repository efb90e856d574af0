/* SPDX-License-Identifier: MIT */
/*
 * A rail: one kind of wire on one interface, as the in-process card's host
 * drives it. Kinds: UDP on an interface's address, a packet socket with a
 * mapped receive ring on an interface, a simulated link.
 *
 * A rail is used under the card's lock: never by two threads at once.
 */
#ifndef BCL_RAIL_H
#define BCL_RAIL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include <bcl/status.h>

#include "nicfw/hal.h"

struct bcl_config;
struct bcl_counter_page;
struct bcl_env;
struct bcl_rail;

enum bcl_wire_kind {
	BCL_WIRE_UDP4 = 1,   /* IPv4 address 4, port 2: 6 bytes */
	BCL_WIRE_UDP6 = 2,   /* IPv6 address 16, port 2: 18 bytes */
	BCL_WIRE_PACKET = 3, /* MAC address 6, fan-out hint 1: 7 bytes */
	BCL_WIRE_SIM = 4,
};

/* Where a card can be reached on one wire; network byte order inside. */
struct bcl_wire_address {
	uint8_t kind; /* enum bcl_wire_kind */
	uint8_t length;
	uint8_t bytes[22];
};

struct bcl_rail_limits {
	uint32_t mtu;	 /* largest frame */
	uint32_t burst;	 /* equal frames worth handing over in one call */
	uint32_t window; /* bytes that the receive side can hold */
	bool small;	 /* prefer for messages of up to one frame */
	bool bulk;	 /* prefer for longer messages */
};

/* A frame handed to a rail: at most `niov` pieces, contiguous on the wire. */
struct bcl_rail_tx {
	struct iovec iov[6];
	unsigned niov;
	unsigned length;
};

/*
 * Given by the card's host: `deliver` takes frames, each in one piece (valid
 * during the call), and their source. `gone`: the wire has evidence that a
 * destination is not there. `believed`: how many of the frames so far were of a
 * connection: anybody can send some.
 */
struct bcl_rail_sink {
	void *host;
	void (*deliver)(void *host, unsigned rail,
			const struct bcl_wire_address *source,
			const struct bcl_rx_frame *frames, unsigned n);
	void (*gone)(void *host, unsigned rail,
		     const struct bcl_wire_address *address,
		     enum bcl_status why);
	uint64_t (*believed)(void *host);
};

struct bcl_rail_kind {
	const char *name; /* "udp", "packet" */
	/* What is opened may be taken together as one rail: any of them reaches
	 * any peer, if the network lets it. */
	bool several;

	/*
	 * Open every rail of this kind that the configuration allows, up to
	 * `max`; returns how many. Those that cannot be had are logged once,
	 * with the reason, and reported by *why (for people; may be empty).
	 */
	unsigned (*open)(const struct bcl_env *env,
			 const struct bcl_config *config, uint64_t card,
			 struct bcl_rail **rails, unsigned max, char why[96]);
};

/* A rail object begins with this. */
struct bcl_rail {
	const struct bcl_rail_kind *kind;
	struct bcl_rail_limits limits;
	struct bcl_wire_address address; /* where peers reach it */
	char interface[16];
	char about[96]; /* address, why it was chosen, what it can do */
	int fd;		/* readable when frames wait; -1: none */
	int partner_fd; /* likewise, when those of one source do */
	/* Where it counts; NULL until its host has set it. */
	struct bcl_counter_page *counters;

	/*
	 * Where to put frames together, one behind the other and up to so many
	 * bytes, that transmit() then need not copy: to one destination, each
	 * with a checksum of its payload. Page aligned, and good for the next
	 * transmit(). NULL: anywhere else. The function itself may be NULL,
	 * too.
	 */
	void *(*stage)(struct bcl_rail *rail,
		       const struct bcl_wire_address *destination,
		       uint32_t bytes);

	/* Frames to one destination, all but the last of one length. Returns
	 * how many were taken; their bytes have been copied, unless they are
	 * where stage() said. */
	unsigned (*transmit)(struct bcl_rail *rail,
			     const struct bcl_wire_address *destination,
			     const struct bcl_rail_tx *frames, unsigned n);

	/*
	 * Where a load tells that frames wait: *waiting & waiting_mask; it
	 * moves as they are received, under the card's lock. NULL: only
	 * receive() can tell.
	 */
	_Atomic(const _Atomic uint32_t *) waiting;
	uint32_t waiting_mask;

	/* Deliver what has come, at most about `max` frames. Returns how many
	 * (0: the rail is empty). */
	unsigned (*receive)(struct bcl_rail *rail,
			    const struct bcl_rail_sink *sink, unsigned index,
			    unsigned max);

	/* The limits or the state of the interface changed? Called now and
	 * then; up: the interface works. */
	bool (*check)(struct bcl_rail *rail, bool *up);

	void (*close)(struct bcl_rail *rail);
};

/* A load tells whether frames wait. */
static inline bool bcl_rail_mapped(const struct bcl_rail *rail)
{
	return atomic_load_explicit(&rail->waiting, memory_order_relaxed);
}

/* They do. Acquire: pairs with what makes the word so. */
static inline bool bcl_rail_waiting(const struct bcl_rail *rail)
{
	return atomic_load_explicit(atomic_load_explicit(&rail->waiting,
							 memory_order_relaxed),
				    memory_order_acquire) &
	       rail->waiting_mask;
}

extern const struct bcl_rail_kind bcl_rail_udp;
extern const struct bcl_rail_kind bcl_rail_packet;

/* bcl_rail_count(rail, udp_sendmsg, 1) */
#define bcl_rail_count(rail, name, n)                                         \
	do {                                                                  \
		if ((rail)->counters)                                         \
			bcl_count_add((rail)->counters, BCL_COUNT_##name, n); \
	} while (0)

#endif
