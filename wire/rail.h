/* SPDX-License-Identifier: MIT */
/*
 * A rail: one kind of wire on one interface, as used by the in-process host of
 * a card. Kinds: UDP on an address of an interface, a packet socket with a
 * mapped receive ring on an interface, a simulated link.
 *
 * The host uses a rail only under the card's lock, so never from two threads at
 * once. It opens and closes rails without the lock, while no other thread knows
 * the rail. No function of a rail blocks; all may enter the kernel.
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

struct bcl_rail_limits {
	uint32_t mtu;	 /* largest frame */
	uint32_t burst;	 /* equal frames worth one call */
	uint32_t window; /* bytes that the receive side can hold */
	bool small;	 /* prefer for messages of up to one frame */
	bool bulk;	 /* prefer for longer messages */
};

/* A frame for a rail: `niov` pieces, contiguous on the wire; `length` bytes in
 * all. */
struct bcl_rail_tx {
	struct iovec iov[6];
	unsigned niov;
	unsigned length;
};

/*
 * The functions of the card's host that a rail calls from receive(), with the
 * sink's `host` and with the `index` that receive() got as `rail`. All are
 * mandatory. The rail keeps neither the sink nor a frame after receive(), and
 * the host keeps no argument. deliver() and gone() run the card, which may call
 * transmit() and stage() of this rail before the return.
 */
struct bcl_rail_sink {
	void *host;
	/* Takes frames with their source; each frame is in one piece. */
	void (*deliver)(void *host, unsigned rail,
			const struct bcl_wire_address *source,
			const struct bcl_rx_frame *frames, unsigned n);
	/* The network reports that a destination does not exist. */
	void (*gone)(void *host, unsigned rail,
		     const struct bcl_wire_address *address,
		     enum bcl_status why);
	/* Returns the number of frames so far that passed all checks of the
	 * card: frames of strangers do not. Only loads. */
	uint64_t (*believed)(void *host);
};

struct bcl_rail_kind {
	const char *name; /* "udp", "packet" */
	/* The host may group opened rails as ends of one rail: each of them
	 * reaches any peer if the network permits. */
	bool several;

	/*
	 * Open up to `max` rails of this kind that the configuration permits.
	 * Returns their number, and stores them; each is the host's until
	 * close(). If a rail cannot be opened, the reason is logged once and
	 * stored in `why` for people. `why` may be empty. The thread that opens
	 * the context calls.
	 */
	unsigned (*open)(const struct bcl_env *env,
			 const struct bcl_config *config, uint64_t card,
			 struct bcl_rail **rails, unsigned max, char why[96]);
};

/* The first member of each rail's own object. All functions but stage() are
 * mandatory. */
struct bcl_rail {
	const struct bcl_rail_kind *kind;
	struct bcl_rail_limits limits;
	struct bcl_wire_address address; /* where peers reach it */
	char interface[16];
	char about[96]; /* address, reason of the choice, abilities */
	int fd;		/* readable when frames wait; -1: none */
	int partner_fd; /* likewise, for frames of one source */
	/* The page of counters; NULL until the host has set the pointer. */
	struct bcl_counter_page *counters;

	/*
	 * Returns memory in which the caller may put frames together, one
	 * behind the other, up to `bytes` in all, for one destination.
	 * transmit() then need not copy. Each frame must have a checksum of its
	 * payload. The memory is page aligned, belongs to the rail, and is good
	 * for the next call of transmit() only. NULL: the caller uses other
	 * memory. The function itself may be NULL, too. Once in a while the
	 * call allocates memory to share.
	 */
	void *(*stage)(struct bcl_rail *rail,
		       const struct bcl_wire_address *destination,
		       uint32_t bytes);

	/*
	 * Send frames to one destination; all but the last have the same
	 * length. Returns the number of frames taken, counted from the first. A
	 * frame that the system refuses for good counts as taken, and is lost.
	 * Less than n: the system has no room, and the host tries again after
	 * some time. The rail has copied the bytes, unless the frames lie in
	 * memory of stage().
	 */
	unsigned (*transmit)(struct bcl_rail *rail,
			     const struct bcl_wire_address *destination,
			     const struct bcl_rail_tx *frames, unsigned n);

	/*
	 * A word that a load can test: frames wait if *waiting & waiting_mask.
	 * The pointer moves as receive() takes frames, under the card's lock.
	 * NULL: only receive() can tell.
	 */
	_Atomic(const _Atomic uint32_t *) waiting;
	uint32_t waiting_mask;

	/* Deliver frames that wait, about `max` at most. Returns their number,
	 * with broken frames that were not delivered; 0: the rail is empty. */
	unsigned (*receive)(struct bcl_rail *rail,
			    const struct bcl_rail_sink *sink, unsigned index,
			    unsigned max);

	/*
	 * The host calls now and then: look at the interface, update the
	 * limits, and set *up to whether the interface works. Returns true if
	 * the limits have changed. If the system does not tell, nothing
	 * changes.
	 */
	bool (*check)(struct bcl_rail *rail, bool *up);

	/* Close the descriptors and free the rail. */
	void (*close)(struct bcl_rail *rail);
};

/* True if a load can tell whether frames wait. */
static inline bool bcl_rail_mapped(const struct bcl_rail *rail)
{
	return atomic_load_explicit(&rail->waiting, memory_order_relaxed);
}

/* True if frames wait; only for a mapped rail. Acquire: pairs with the writer
 * of the word. */
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
