/* SPDX-License-Identifier: MIT */
/*
 * The in-process host: gives the card core its rails, its memory and its
 * clock, from the program's own threads.
 *
 * One lock per card. Calls that only make progress try it and leave if
 * another thread holds it: that thread does the work. Calls that must have
 * their effect (open, connect, post, ...) wait for it; it is held for one
 * budget of frames at most.
 */
#ifndef BCL_CARD_INPROC_H
#define BCL_CARD_INPROC_H

#include "transport/card/journal.h"
#include "transport/card/ops.h"
#include "transport/context.h"

enum {
	BCL_INPROC_PORTS = 64,
	BCL_INPROC_CHANNELS = 64,      /* per port, on the average */
	BCL_INPROC_CONNECTIONS = 1024, /* at a time; idle ones are closed */
	BCL_INPROC_NODES = 8192,
	BCL_INPROC_MESSAGES = 8192,
	BCL_INPROC_BUDGET = 256,
	BCL_INPROC_BURST = 64, /* frames in one transmit() */
	BCL_INPROC_STAGE = 1 << 16,
	BCL_INPROC_STAGE_AT = 48, /* so that payloads begin on a cache line */
	BCL_INPROC_AREAS = 8,	  /* handles per port: a power of two */
	BCL_INPROC_HANDLES = BCL_INPROC_PORTS * BCL_INPROC_AREAS,
};

/* What the host knows of a node: index as the card gave it. */
struct bcl_inproc_node {
	struct bcl_host_node shown;
	uint8_t proved; /* bit r: it answered there, where it is called */
	uint8_t nways;
	uint8_t end[BCL_RAILS_MAX]; /* of ours, and which address there: */
	struct bcl_wire_address address[BCL_RAILS_MAX];
	/* It is called by all of them in turn until it answers. */
	struct bcl_wire_address wire[BCL_WIRES_MAX];
	struct bcl_host_way way[BCL_HOST_WAYS];
	uint8_t turn[BCL_RAILS_MAX];
	uint64_t refused; /* bit w: way[w], since it was asked to connect */
};

/*
 * The lock. Who finds it HELD, and has something that must be done, makes it
 * ASKED and leaves: the holder does it before it lets go.
 *
 * Locked instructions are dear to short messages. So the lock is left to a port
 * that had it alone for many turns: its owner goes in and out by loads and
 * stores. Who else wants it takes that bias away with a membarrier, and waits
 * until the owner is out.
 *
 *  state   event                                          next
 *  FREE    taken                                          HELD
 *  HELD    asked for                                      ASKED
 *          let go by a port that had it alone             BIASED
 *          let go                                         FREE
 *  ASKED   let go, and taken again to serve who asked     FREE, HELD
 *  BIASED  the port's owner goes in and out               BIASED
 *          taken by somebody else                         HELD
 */
enum bcl_inproc_lock {
	BCL_INPROC_FREE,
	BCL_INPROC_HELD,
	BCL_INPROC_ASKED,
	BCL_INPROC_BIASED, /* and the place of the port's seat */
};

/* A port as the card's functions find it; its place is in its handles. */
struct bcl_host_seat {
	uint16_t number;     /* 0: free */
	_Atomic bool rung;   /* while the lock was taken, or held back */
	_Atomic bool inside; /* the owner is, by the bias */
	uint32_t bias;	     /* the lock when it is left to this port */
	struct bcl_port *port;
	const _Atomic uint32_t *made, *sleeping; /* in its indices */
};

/* What the card knows as one rail: one end of it is enough to be up. */
struct bcl_inproc_rail {
	unsigned up;		       /* bit e: end e works */
	struct bcl_rail_limits limits; /* the least of the ends in use */
};

/* One address of a rail, and what its host remembers about polling it. */
struct bcl_inproc_end {
	struct bcl_rail *rail;
	uint8_t number; /* of the card's rail */
	bool up;
	bool used;	  /* a node is reached by it, or it is the first */
	bool wet;	  /* frames came since the card was told it is empty */
	bool blocked;	  /* it took fewer frames than it was offered */
	uint32_t quiet;	  /* polls in a row that found nothing */
	uint32_t skipped; /* polls left out for that */
	uint64_t rest;	  /* not polled before this time */
};

struct bcl_trace;

struct bcl_inproc {
	struct bcl_host base;
	_Atomic uint32_t lock; /* enum bcl_inproc_lock */

	/* Below: under the lock, or constant. */
	struct bcl_context *context;
	const struct bcl_env *env;
	struct bcl_card *card;
	struct bcl_hal hal;
	struct bcl_rail_sink sink;
	unsigned nrails;
	struct bcl_inproc_rail rails[BCL_RAILS_MAX];
	unsigned nends;
	struct bcl_inproc_end ends[BCL_HOST_ENDS];
	bool grown;			  /* an end is in use that was not */
	const struct bcl_host_seat *last; /* who had the lock, and for */
	uint32_t alone;			  /* so many turns in a row */
	uint64_t now;			  /* of this turn; 0: not asked yet */
	uint64_t clock, clock_cycles;	  /* the last reading, and when */

	/* the frames that are being handled */
	const struct bcl_wire_address *source;
	unsigned source_end;

	/* the node that a CONNECT in progress is about */
	struct bcl_inproc_node *connecting;

	struct bcl_inproc_node *nodes; /* by index; there may be more */
	uint32_t nnodes;
	struct bcl_host_seat seats[BCL_INPROC_PORTS];
	struct bcl_host_area areas[BCL_INPROC_HANDLES]; /* by handle - 1 */
	struct bcl_rail_tx tx[BCL_INPROC_BURST];
	uint8_t *stage;		 /* where a burst is put together */
	struct bcl_trace *trace; /* NULL: no BCL_TRACE; else also: */
	struct bcl_journal journal;
	struct bcl_host_ops ops;
	void *arena;
	uint32_t arena_size;
};

/* Where a frame goes, and by which end. */
struct bcl_inproc_target {
	const struct bcl_wire_address *address; /* NULL: not known */
	unsigned end;
};

static inline struct bcl_inproc *bcl_inproc_of(struct bcl_host *host)
{
	return (struct bcl_inproc *)(void *)host; /* its first member */
}

/* ---- lock.c: `seat` is of the port whose owner calls, or NULL ---- */

/* Whoever has it, unless it is in use. */
bool bcl_inproc_take(struct bcl_inproc *host);
void bcl_inproc_lock(struct bcl_inproc *host, struct bcl_host_seat *seat);
/*
 * It is taken: have its holder serve the doorbells. True: it was let go
 * meanwhile and is ours, and they are ours to serve.
 */
bool bcl_inproc_ask_or_lock(struct bcl_inproc *host);
/* Does what others left to be done. */
void bcl_inproc_let_go(struct bcl_inproc *host,
		       const struct bcl_host_seat *seat);

/* If the lock is left to the port. */
static inline bool bcl_inproc_enter(const struct bcl_inproc *host,
				    struct bcl_host_seat *seat)
{
	atomic_store_explicit(&seat->inside, true, memory_order_relaxed);
	/* Pairs with the barrier of who takes the bias away. */
	atomic_signal_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&host->lock, memory_order_relaxed) ==
	    seat->bias)
		return true;
	/* Release: what was done before by the bias. */
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
	host->now = 0;
	if (seat && atomic_load_explicit(&seat->inside, memory_order_relaxed))
		/* Release: pairs with who takes the bias away. */
		atomic_store_explicit(&seat->inside, false,
				      memory_order_release);
	else
		bcl_inproc_let_go(host, seat);
}

/* ---- turn.c ---- */

/* All that were rung while the lock was taken. */
void bcl_inproc_serve_doorbells(struct bcl_inproc *host);

/* The clock of this turn. */
uint64_t bcl_inproc_now(struct bcl_inproc *host);

/* The card said what it wants. */
void bcl_inproc_wants(struct bcl_inproc *host,
		      const struct bcl_card_next *next);

void bcl_inproc_doorbell(struct bcl_host *host, struct bcl_host_seat *seat);
void bcl_inproc_defer(struct bcl_host *host, struct bcl_host_seat *seat);
unsigned bcl_inproc_poll(struct bcl_host *host, struct bcl_host_seat *seat,
			 bool sockets);

/* ---- node.c ---- */

/* The node of this index, which the card gave to `card`. NULL: no memory. */
struct bcl_inproc_node *bcl_inproc_node_make(struct bcl_inproc *host,
					     uint32_t index, uint64_t card);
enum bcl_status bcl_inproc_connect(struct bcl_host *host,
				   const struct bcl_address *address,
				   const struct bcl_host_way *ways, unsigned n,
				   uint32_t *index, struct bcl_host_node *node);
/* Where the next HELLO for the rail goes: to where the node was reached or the
 * likely way, then to each way in turn. */
struct bcl_inproc_target bcl_inproc_hello_to(const struct bcl_inproc *host,
					     struct bcl_inproc_node *node,
					     unsigned rail);
/* Frames from the end to the address were refused: is that all that the node's
 * rail has? */
bool bcl_inproc_refused(const struct bcl_inproc *host,
			struct bcl_inproc_node *node, unsigned end,
			const struct bcl_wire_address *address);
uint32_t bcl_inproc_node(struct bcl_host *host, uint32_t index,
			 struct bcl_host_node *node);
enum bcl_status bcl_inproc_node_info(struct bcl_host *host, uint32_t index,
				     struct bcl_node_info *info);

static inline bool bcl_inproc_alive(unsigned state)
{
	return state == BCL_NODE_CONNECTING || state == BCL_NODE_UP;
}

/* ---- inproc.c ---- */

/* Under the lock. */
enum bcl_status bcl_inproc_command(struct bcl_inproc *host,
				   const struct bcl_control *control,
				   uint32_t *result);

/* The seat of this number, 0: a free one; the port's own place is looked at
 * first. */
struct bcl_host_seat *bcl_inproc_seat_find(struct bcl_inproc *host,
					   uint16_t port, uint16_t number);

/* Tell the card what its rails can do by their ends, if that has changed. */
void bcl_inproc_tell_changes(struct bcl_inproc *host);

/* ---- open.c ---- */

enum bcl_status bcl_inproc_open(struct bcl_context *context,
				struct bcl_host **result);
void bcl_inproc_close(struct bcl_host *host);

/* ---- journal.c: only with a trace ---- */

void bcl_inproc_journal(struct bcl_inproc *host);
void bcl_inproc_journal_memory(struct bcl_inproc *host);

/* ---- hal.c ---- */

extern const struct bcl_hal bcl_inproc_hal;
extern const struct bcl_rail_sink bcl_inproc_sink;

#endif
