/* SPDX-License-Identifier: MIT */
/*
 * The in-process host of a card: the threads of the program run the card core
 * and give the core its rails, its memory and its clock.
 *
 * One lock protects each card. A call that only makes progress tries the lock,
 * and returns if another thread holds the lock: the holder does the work. A
 * call that must take effect (open, connect, post, ...) waits for the lock. A
 * holder keeps the lock for one budget of frames at most.
 */
#ifndef BCL_CARD_INPROC_H
#define BCL_CARD_INPROC_H

#include "base/base.h"
#include "card/journal.h"
#include "card/ops.h"
#include "env/env.h"
#include "env/process.h"
#include "wire/address.h"

enum {
	BCL_INPROC_PORTS = 64,
	BCL_INPROC_CHANNELS = 64,      /* per port, on average */
	BCL_INPROC_CONNECTIONS = 1024, /* at a time; idle ones are closed */
	BCL_INPROC_NODES = 8192,
	BCL_INPROC_MESSAGES = 8192,
	BCL_INPROC_BUDGET = 256,
	BCL_INPROC_BURST = 64, /* frames in one call of transmit() */
	BCL_INPROC_STAGE = 1 << 16,
	BCL_INPROC_STAGE_AT = 48, /* payloads begin on a cache line */
	BCL_INPROC_AREAS = 8,	  /* handles per port: a power of two */
	BCL_INPROC_HANDLES = BCL_INPROC_PORTS * BCL_INPROC_AREAS,
};

/* The host's knowledge of a node. The card gave the index. */
struct bcl_inproc_node {
	struct bcl_host_node shown; /* without `known` and `ends` */
	struct bcl_ways ways;
};

/*
 * The lock. A thread that finds the lock HELD and has work that must be done
 * makes the lock ASKED and leaves. The holder does this work before releasing
 * the lock.
 *
 * Atomic read-modify-write instructions are expensive for short messages. So a
 * port that was the only user of the lock for many turns gets the lock with a
 * bias: the owner of the port enters and leaves by plain loads and stores.
 * Another thread that wants the lock revokes the bias with a membarrier and
 * waits until the owner has left.
 *
 *  state   event                                          next
 *  FREE    a thread takes the lock                        HELD
 *  HELD    a thread asks the holder                       ASKED
 *          released by a port that was alone              BIASED
 *          released                                       FREE
 *  ASKED   released, then taken to serve the asker        FREE, HELD
 *  BIASED  the owner of the port enters and leaves        BIASED
 *          another thread takes the lock                  HELD
 */
enum bcl_inproc_lock {
	BCL_INPROC_FREE,
	BCL_INPROC_HELD,
	BCL_INPROC_ASKED,
	BCL_INPROC_BIASED, /* plus the index of the port's seat */
};

/* A port as the card's functions find it. The handles of its areas contain the
 * index of the seat. */
struct bcl_host_seat {
	uint16_t number;     /* 0: free */
	_Atomic bool rung;   /* a doorbell is deferred, or the lock was held */
	_Atomic bool inside; /* the owner has entered by the bias */
	uint32_t bias;	     /* value of the lock with a bias for this port */
	int object;	     /* the owner's, to be woken */
	const _Atomic uint32_t *made, *sleeping; /* in the port's indices */
};

/* A rail of the card. The rail is up if at least one end is up. */
struct bcl_inproc_rail {
	unsigned up;		       /* bit e: end e works */
	struct bcl_rail_limits limits; /* the least of all ends in use */
};

/* One address of a rail, with the host's state for polling this address. */
struct bcl_inproc_end {
	struct bcl_rail *rail;
	uint8_t number; /* of the rail, for the card */
	bool up;
	bool used;	  /* reaches a node, or is the first of its rail */
	bool wet;	  /* frames came since bcl_card_drained() */
	bool blocked;	  /* took fewer frames than offered */
	uint32_t quiet;	  /* polls in a row that found no frame */
	uint32_t skipped; /* polls left out because of `quiet` */
	uint64_t rest;	  /* no poll before this time, if not 0 */
};

struct bcl_trace;

struct bcl_inproc {
	struct bcl_host base;
	_Atomic uint32_t lock;	  /* enum bcl_inproc_lock */
	_Atomic uint32_t changes; /* base.changes */

	/* Below: constant, or protected by the lock. */
	struct bcl_host_setup setup;
	struct bcl_card *card;
	struct bcl_hal hal;
	struct bcl_rail_sink sink;
	unsigned nrails;
	struct bcl_inproc_rail rails[BCL_RAILS_MAX];
	unsigned nends;
	struct bcl_inproc_end ends[BCL_HOST_ENDS];
	bool grown;			  /* an end came into use */
	const struct bcl_host_seat *last; /* the last holder, and the number */
	uint32_t alone;			  /* of its turns in a row */
	uint64_t now;		      /* time of this turn; 0: not read yet */
	uint64_t clock, clock_cycles; /* the last reading, and its cycles */

	/* source of the frames that the card handles now, or NULL */
	const struct bcl_wire_address *source;
	unsigned source_end;

	/* to the node of the CONNECT in progress */
	struct bcl_ways *connecting;

	struct bcl_inproc_node *nodes; /* by index; a node may lack an entry */
	uint32_t nnodes;
	struct bcl_host_seat seats[BCL_INPROC_PORTS];
	struct bcl_host_area areas[BCL_INPROC_HANDLES]; /* by handle - 1 */
	struct bcl_rail_tx tx[BCL_INPROC_BURST];
	uint8_t *stage;		 /* memory to build a burst in */
	struct bcl_trace *trace; /* NULL: no BCL_TRACE; else also: */
	struct bcl_journal journal;
	struct bcl_host_ops ops;
	void *arena;
	uint32_t arena_size;
};

static inline struct bcl_inproc *bcl_inproc_of(struct bcl_host *host)
{
	return (struct bcl_inproc *)(void *)host; /* base is the first member */
}

/* ---- lock.c: `seat` is of the port whose owner calls, or NULL ---- */

/* Take the lock unless a thread holds the lock. A bias is revoked. */
bool bcl_inproc_take(struct bcl_inproc *host);
void bcl_inproc_lock(struct bcl_inproc *host, struct bcl_host_seat *seat);
/*
 * Another thread holds the lock: ask the holder to serve the doorbells. Returns
 * true if the lock was free by then: the caller holds the lock and has to serve
 * the doorbells.
 */
bool bcl_inproc_ask_or_lock(struct bcl_inproc *host);
/* Release the lock. Returns true if a thread asked meanwhile: the caller holds
 * the lock again, for bcl_inproc_serve_askers(). */
bool bcl_inproc_let_go(struct bcl_inproc *host,
		       const struct bcl_host_seat *seat);

/* In turn.c, for bcl_inproc_unlock(): serve the doorbells of the threads that
 * asked, and release the lock. */
void bcl_inproc_serve_askers(struct bcl_inproc *host);

/* For assertions: true if a thread holds the lock, or has entered by the
 * bias. */
static inline bool bcl_inproc_is_locked(const struct bcl_inproc *host)
{
	uint32_t lock = atomic_load_explicit(&host->lock, memory_order_relaxed);

	if (lock < BCL_INPROC_BIASED)
		return lock != BCL_INPROC_FREE;
	return atomic_load_explicit(
		&host->seats[lock - BCL_INPROC_BIASED].inside,
		memory_order_relaxed);
}

/* Enter by the bias. Returns false if the lock has no bias for the port. */
static inline bool bcl_inproc_enter(const struct bcl_inproc *host,
				    struct bcl_host_seat *seat)
{
	atomic_store_explicit(&seat->inside, true, memory_order_relaxed);
	/* Pairs with the barrier in take_bias(), lock.c. */
	atomic_signal_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&host->lock, memory_order_relaxed) ==
	    seat->bias)
		return true;
	/* Release: pairs with take_bias(), for the owner's work during earlier
	 * turns. */
	atomic_store_explicit(&seat->inside, false, memory_order_release);
	return false;
}

static inline bool bcl_inproc_try_lock(struct bcl_inproc *host,
				       struct bcl_host_seat *seat)
{
	return (seat && bcl_inproc_enter(host, seat)) || bcl_inproc_take(host);
}

static inline void bcl_inproc_unlock(struct bcl_inproc *host,
				     struct bcl_host_seat *seat)
{
	bcl_assert(bcl_inproc_is_locked(host));
	host->now = 0;
	if (seat && atomic_load_explicit(&seat->inside, memory_order_relaxed))
		/* Release: pairs with the acquire in take_bias(). */
		atomic_store_explicit(&seat->inside, false,
				      memory_order_release);
	else if (bcl_unlikely(bcl_inproc_let_go(host, seat)))
		bcl_inproc_serve_askers(host);
}

/* ---- the clock of a turn ---- */

enum {
	/*
	 * A reading of the clock serves for this many cycles of the processor:
	 * some microseconds, which no timer of the card notices. The cycle
	 * counter takes a third of the time of the clock.
	 */
	BCL_INPROC_CLOCK = 16384,
};

/* The time of this turn: one reading of the clock serves the whole turn. */
static inline uint64_t bcl_inproc_now(struct bcl_inproc *host)
{
	uint64_t cycles;

	if (host->now)
		return host->now;
	cycles = host->setup.env->real_time ? bcl_cycles() : 0;
	if (!cycles || cycles - host->clock_cycles > BCL_INPROC_CLOCK) {
		host->clock = host->setup.env->now(host->setup.env->world);
		host->clock_cycles = cycles;
	}
	host->now = host->clock;
	return host->now;
}

/* Store the deadline that the card asks for. */
static inline void bcl_inproc_wants(struct bcl_inproc *host,
				    const struct bcl_card_next *next)
{
	uint64_t deadline = next->more ? 0 : next->deadline;

	atomic_store_explicit(&host->base.deadline, deadline,
			      memory_order_relaxed);
}

/* ---- turn.c ---- */

/* Serve each port that rang while the lock was held, or deferred its
 * doorbell. */
void bcl_inproc_serve_doorbells(struct bcl_inproc *host);

void bcl_inproc_doorbell(struct bcl_host *host, struct bcl_host_seat *seat);
void bcl_inproc_defer(struct bcl_host *host, struct bcl_host_seat *seat);
unsigned bcl_inproc_poll(struct bcl_host *host, struct bcl_host_seat *seat,
			 bool sockets);

/* ---- node.c ---- */

/* The entry for the node that the card knows by this index. Makes the entry if
 * needed. NULL: no memory. */
struct bcl_inproc_node *bcl_inproc_node_make(struct bcl_inproc *host,
					     uint32_t index, uint64_t card);
enum bcl_status bcl_inproc_connect(struct bcl_host *host,
				   const struct bcl_address *address,
				   const struct bcl_host_way *ways, unsigned n,
				   uint32_t *index, struct bcl_host_node *node);
uint32_t bcl_inproc_node(struct bcl_host *host, uint32_t index,
			 struct bcl_host_node *node);
enum bcl_status bcl_inproc_node_info(struct bcl_host *host, uint32_t index,
				     struct bcl_node_info *info);

static inline bool bcl_inproc_alive(unsigned state)
{
	return state == BCL_NODE_CONNECTING || state == BCL_NODE_UP;
}

/* ---- rails.c ---- */

/* The caller holds the lock. */
enum bcl_status bcl_inproc_command(struct bcl_inproc *host,
				   const struct bcl_control *control,
				   uint32_t *result);

/* Tell the card the limits and states of its rails that have changed with their
 * ends. */
void bcl_inproc_tell_changes(struct bcl_inproc *host);

/* ---- port.c ---- */

/* The seat with this port number, or a free seat if `number` is 0. The search
 * begins at the seat that belongs to `port`. NULL: none. */
struct bcl_host_seat *bcl_inproc_seat_find(struct bcl_inproc *host,
					   uint16_t port, uint16_t number);

enum bcl_status bcl_inproc_port_open(struct bcl_host *host, int object,
				     struct bcl_control *control,
				     struct bcl_host_area areas[BCL_AREAS],
				     struct bcl_host_seat **seat);
void bcl_inproc_port_close(struct bcl_host *host, struct bcl_host_seat *seat);

/* ---- open.c ---- */

enum bcl_status bcl_inproc_open(const struct bcl_host_setup *setup,
				char why[BCL_HOST_WHY],
				struct bcl_host **result);
void bcl_inproc_close(struct bcl_host *host);

/* ---- journal.c: only with a trace ---- */

void bcl_inproc_journal(struct bcl_inproc *host);
void bcl_inproc_journal_memory(struct bcl_inproc *host);

/* ---- hal.c ---- */

extern const struct bcl_hal bcl_inproc_hal;
extern const struct bcl_rail_sink bcl_inproc_sink;

#endif
