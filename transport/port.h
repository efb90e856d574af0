/* SPDX-License-Identifier: MIT */
/* The inside of a port, for the files of transport/. The owner's thread uses
 * the port; the helper thread only through the card (under the card's lock) and
 * the shared-memory service (under its lock). */
#ifndef BCL_PORT_H
#define BCL_PORT_H

#include "transport/context.h"

struct bcl_channel;   /* transport/channel.h */
struct bcl_host_port; /* transport/card/queues.h: a port's queues */
struct bcl_pair;      /* transport/shm/pair.h: one connected pair */
struct bcl_self;      /* transport/self.c */
struct bcl_shm_port;  /* transport/shm/shm.h: a port's shared-memory side */

/* Events that the library makes itself, waiting for bcl_poll(). */
struct bcl_event_list {
	struct bcl_event *ring;
	uint32_t head, tail, mask; /* grows on demand, bounded by requests */
};

enum {
	/* Pauses before a look at the pairs; each takes 10 ns or more. */
	BCL_HINTS_AFTER_LINE = 1,
	BCL_HINTS_AFTER_LINES = 2, /* the message used the second line, too */
};

enum bcl_port_flag {
	BCL_PORT_STASHED = 1,	/* `stash` holds an event that bcl_wait()
				 * or bcl_arm() found */
	BCL_PORT_ARMED = 2,	/* senders wake the port */
	BCL_PORT_BLOCK = 4,	/* the last event lies in a block of the card */
	BCL_PORT_SELF = 8,	/* the last event lies in a slot of the self
				 * path */
	BCL_PORT_EVENTS = 16,	/* the port's own list has events */
	BCL_PORT_CLOCK = 32,	/* messages keep coming: check the clock at the
				 * next poll */
	BCL_PORT_DEFERRED = 64, /* the card's doorbell is held back:
				 * doorbell_batch.h */
				/* 128: BCL_PORT_ROOM, shm/pair.h */
};

enum {
	/* After so many ns of short yields in a row the port has the processor
	 * alone. Longer than a slice of the scheduler, by which ranks in
	 * sessions of their own take turns: before its end a yield to another
	 * session returns at once. */
	BCL_PORT_ALONE = 6000000,
	/* After a message left by a socket, the answer may come by a socket:
	 * this many looks expect it. */
	BCL_PORT_ANSWERS = 32,
};

/* Fairness: whose turn it is among the pairs and the card. */
struct bcl_port_turn {
	unsigned next; /* index of the pair to look at first; beyond the pairs:
			* the card's turn */
	unsigned wrap; /* `next` after the last pair's turn */
};

/* The clock: it is expensive to read, so messages and looks are counted. */
struct bcl_port_clock {
	uint32_t messages; /* left until the clock is read */
	uint32_t looks;	   /* at the network, likewise */
};

/* Looks at the network, which cost a system call if a rail has a socket. */
struct bcl_port_network {
	uint32_t empty;	 /* empty passes left until poll_costly_sources() */
	bool used;	 /* the card has peers: look often */
	uint8_t answers; /* looks left that expect an answer by a socket */
	bool looked;	 /* poll_costly_sources() ran since the last check */
	uint64_t time;	 /* now() of the last look, or of the check after it */
	uint64_t limit;	 /* ns from `time` to a look while messages come */
};

/* Spinning: how long the owner pauses, and whether a wait may spin at all. */
struct bcl_port_spin {
	uint32_t hints; /* pauses before the next look at a pair */
	uint32_t alone; /* ns of short yields in a row; see BCL_PORT_ALONE */
	uint64_t crowded_until; /* now() time until which waits assume that
				 * another program computes here, and sleep
				 * soon */
	uint8_t blind;	/* waits left that sleep without looking before */
	uint8_t late;	/* waits in a row that spun in vain, and whose event was
			 * there after another thread had run */
	uint64_t moved; /* now() of the owner's last move to another
			 * processor */
};

/* now() of rare work: the last time each kind was done. */
struct bcl_port_service {
	uint64_t served;    /* sockets of shared memory, timers */
	uint64_t published; /* counters, interfaces */
	uint64_t changed;   /* a peer came or went */
};

struct bcl_port {
	/* hot: read by every poll */
	unsigned flags; /* enum bcl_port_flag; 0 while there is nothing to do
			 * but poll */
	uint32_t fork_generation;
	struct bcl_context *context;
	struct bcl_pair **pairs; /* the pairs to poll; shm/ maintains the
				  * array */
	unsigned npairs;
	struct bcl_port_turn turn;
	struct bcl_port_clock clock;
	struct bcl_host_port *card; /* NULL: the context has no card */
	struct bcl_shm_port *shm;   /* NULL: no shared memory, see shm_why */
	struct bcl_port_network network;
	struct bcl_counter_page *counters;
	struct bcl_event_list events;
	struct bcl_port_spin spin;

	struct bcl_port_service service;
	struct bcl_event stash;
	bool ready; /* other threads may use `shm`; under context->lock */
	uint16_t number;
	unsigned nchannels;
	struct bcl_channel *channels;
	int counters_fd;
	int object; /* env object: peers and the card wake it */
	int group;  /* group of the object, the shared-memory side and, while
		     * the port is armed, the rails */
	struct bcl_self *self; /* messages of the port to itself, NULL: none
				* yet */
	struct bcl_peer *peers;
	struct bcl_peer **hash; /* by (card, number) */
	unsigned nhash, npeers, nlost, nclosed;
	unsigned nrefused; /* peers that are `refused` */
	char shm_why[96];
	struct bcl_port *next;
};

/* True if, as far as is known, no other thread waits for the processor. */
static inline bool bcl_port_may_spin(const struct bcl_port *port)
{
	return !port->context->crowded || port->spin.alone >= BCL_PORT_ALONE;
}

/*
 * A wait of the owner has ended after a yield of `ns`; 0: while the wait spun.
 * If another thread ran in the yield, and in those of the last waits, the peer
 * needs this processor: moves the owner to another one.
 */
void bcl_port_late(struct bcl_port *port, uint64_t ns);

/* The owner leaves an event, or begins an operation that may leave work:
 * wakes a thread, perhaps another one, that sleeps on the armed port, to
 * look again. */
static inline void bcl_port_rouse(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;

	if (bcl_unlikely(port->flags & BCL_PORT_ARMED))
		env->wake(env->world, port->object);
}

static inline bool bcl_port_forked(const struct bcl_port *port)
{
	return bcl_unlikely(port->fork_generation != bcl_fork_generation());
}

/* ARG: there is no port; FORKED: the port belongs to the parent. */
static inline enum bcl_status bcl_port_usable(const struct bcl_port *port)
{
	if (bcl_unlikely(!port))
		return BCL_ERR_ARG;
	return bcl_port_forked(port) ? BCL_ERR_FORKED : BCL_OK;
}

#endif
