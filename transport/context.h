/* SPDX-License-Identifier: MIT */
/*
 * The inside of a context, a port and a peer, shared by the files of
 * transport/. Who may touch what:
 *
 *  context   set up by bcl_open(), then read-only but for the lists, which
 *            `lock` protects
 *  port      its owner's thread; the helper thread only through the card
 *            (card lock) and the shared-memory service (service lock)
 *  peer      its port's owner
 */
#ifndef BCL_CONTEXT_H
#define BCL_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include <bcl/bcl.h>
#include <bcl/card_abi.h>

#include "transport/config.h"
#include "transport/counters.h"
#include "transport/env/env.h"
#include "transport/env/process.h"
#include "transport/log.h"
#include "transport/random.h"
#include "transport/wire/rail.h"

struct bcl_host;      /* transport/card/ops.h: the card, as the library sees it
		       */
struct bcl_host_port; /* transport/card/queues.h: a port's queues */
struct bcl_shm_port;  /* transport/shm/shm.h: a port's shared-memory side */
struct bcl_pair;      /* transport/shm/pair.h: one connected pair */
struct bcl_helper;    /* transport/helper.h */
struct bcl_self;      /* transport/self.c */

enum {
	BCL_WIRES_MAX = 6, /* wire addresses in an address blob */
};

/* An address blob, taken apart. */
struct bcl_address {
	uint64_t host; /* hash of host name, boot id and BCL_NODE */
	uint64_t card;
	uint8_t key[BCL_KEY_SIZE]; /* of its job */
	uint16_t number;
	uint8_t nwires;
	uint8_t second; /* bit w: wire w is of its kind's second rail */
	struct bcl_wire_address wire[BCL_WIRES_MAX];
};

/*
 * What a path can do. All are called by the port's owner, for a peer that is
 * UP, with arguments that were checked; semantics, events and statuses are
 * those of bcl/bcl.h. Only send, reserve, commit, info and close must be
 * there; another that is NULL is unsupported on the path.
 */
struct bcl_path_ops {
	enum bcl_path path;
	enum bcl_status (*send)(struct bcl_peer *peer, unsigned type,
				uint64_t immediate, const struct iovec *iov,
				unsigned niov, size_t length, uint64_t cookie);
	/* Bytes of a long message, with a cookie, that send() takes: more than
	 * BCL_MESSAGE_MAX. NULL: there are none. */
	size_t (*longest)(const struct bcl_peer *peer);
	enum bcl_status (*reserve)(struct bcl_peer *peer, size_t length,
				   void **room);
	enum bcl_status (*commit)(struct bcl_peer *peer, unsigned type,
				  uint64_t immediate, size_t length);
	enum bcl_status (*send_channel)(struct bcl_peer *peer, unsigned channel,
					const void *buffer, size_t length,
					uint64_t cookie);
	enum bcl_status (*offer)(struct bcl_peer *peer, const void *buffer,
				 size_t length, uint64_t cookie, void *token);
	enum bcl_status (*withdraw)(struct bcl_peer *peer, const void *token);
	enum bcl_status (*pull)(struct bcl_peer *peer, const void *token,
				void *buffer, size_t length, uint64_t cookie);
	enum bcl_status (*map)(struct bcl_peer *peer, const void *key,
			       void **address);
	void (*unmap)(struct bcl_peer *peer, const void *key);
	enum bcl_status (*put)(struct bcl_peer *peer, const void *key,
			       uint64_t offset, const void *buffer,
			       size_t length, uint64_t cookie);
	enum bcl_status (*get)(struct bcl_peer *peer, const void *key,
			       uint64_t offset, void *buffer, size_t length,
			       uint64_t cookie);
	enum bcl_status (*put_notify)(struct bcl_peer *peer, const void *key,
				      uint64_t offset, const void *buffer,
				      size_t length, unsigned type,
				      uint32_t immediate, uint64_t cookie);
	enum bcl_status (*atomic)(struct bcl_peer *peer, const void *key,
				  uint64_t offset, bool compare,
				  const uint64_t operand[2], uint64_t *result,
				  uint64_t cookie);
	enum bcl_status (*fence)(struct bcl_peer *peer, uint64_t cookie);
	/* Is there room for a message, after one that was refused? NULL: none
	 * ever is. */
	bool (*has_room)(const struct bcl_peer *peer);
	void (*info)(const struct bcl_peer *peer, struct bcl_peer_info *info);
	void (*close)(struct bcl_peer *peer);
	/* The handle is given out again, before the path has let go of the
	 * peer. */
	void (*open)(struct bcl_peer *peer);
};

/*
 * State of a peer (bcl_peer_state) and who changes it:
 *
 *  CONNECTING  shared memory: handshake succeeded      UP, path SHARED
 *              shared memory: cannot be had            card is tried
 *              card: HELLO answered                    UP, path CARD
 *              card: nothing answers, refused          LOST
 *  UP          end of file, reset, silence             LOST
 *              the path parts from it, and it is opened  CONNECTING
 *              the same, and it is not                 LOST
 *  LOST        bcl_peer_open() again                   CONNECTING
 */
struct bcl_peer {
	/* hot: read by every send */
	const struct bcl_path_ops *ops; /* never NULL; while CONNECTING and
					 * LOST one that answers so */
	struct bcl_pair *pair;		/* path SHARED, else NULL */
	struct bcl_port *port;
	void *user;
	uint32_t node;	     /* path CARD: the card's index */
	uint32_t generation; /* path CARD: of the node, as the host counts them
			      */
	uint32_t requests;   /* path CARD: not finished */
	uint16_t number;
	uint8_t state; /* enum bcl_peer_state */
	uint8_t lost;  /* the status when LOST */
	bool refused;  /* for want of room: whoever waits is to be woken */

	struct bcl_address address;
	bool address_known;    /* false: it has sent, but was never opened */
	bool opened;	       /* bcl_peer_open() gave the handle out */
	bool closed;	       /* bcl_peer_close() was the last of the two */
	bool hidden;	       /* not in the port's hash */
	void *path;	       /* the path's own record of the peer */
	struct bcl_peer *next; /* all peers of the port */
	struct bcl_peer *next_hashed; /* (card, number) */
	char why[96];
};

/* Events made by the library's own hand, waiting to be polled. */
struct bcl_event_list {
	struct bcl_event *ring;
	uint32_t head, tail, mask; /* grows on demand, bounded by requests */
};

enum {
	/* Each is a pause of 10 ns or more. */
	BCL_HINTS_AFTER_LINE = 1,
	BCL_HINTS_AFTER_LINES = 2, /* the rest of the message was in another */
};

enum bcl_port_flag {
	BCL_PORT_STASHED = 1, /* bcl_wait() found an event: `stash` */
	BCL_PORT_ARMED = 2,   /* senders wake the port */
	BCL_PORT_BLOCK = 4,   /* the last event lies in a block of the card */
	BCL_PORT_SELF = 8,    /* or in a slot of the self path */
	BCL_PORT_EVENTS = 16, /* the port's own list has events */
	BCL_PORT_CLOCK = 32,  /* messages keep coming: look at the clock */
	BCL_PORT_DEFERRED =
		64, /* the card's doorbell is to be rung: doorbell_batch.h */
		    /* 128: BCL_PORT_ROOM, shm/pair.h */
};

enum {
	/* Yields in a row that come back at once: the processor is ours. */
	BCL_PORT_ALONE = 16,
	/* Looks at the sockets, after a message went by one, that may find an
	 * answer. */
	BCL_PORT_ANSWERS = 32,
};

struct bcl_port {
	/* hot: read by every poll */
	unsigned flags; /* enum bcl_port_flag; 0 when there is only polling */
	uint32_t fork_generation;
	struct bcl_context *context;
	struct bcl_pair **pairs; /* those that are polled; kept by shm/ */
	unsigned npairs;
	unsigned turn;		    /* which pair to look at first */
	struct bcl_host_port *card; /* NULL: the context has no card */
	unsigned wrap; /* the turn after that of the last pair: see poll.c */
	struct bcl_shm_port *shm; /* NULL: no shared memory: shm_why */
	uint32_t empty;		  /* passes left until the next look */
	uint32_t messages;	  /* likewise, until the next clock check */
	uint32_t hints;		  /* pauses before the next look */
	bool network;		  /* the card has peers: look often */
	uint8_t answers; /* looks during which one may come by a socket */
	struct bcl_counter_page *counters;
	struct bcl_event_list events;

	uint32_t looks;		 /* until the next clock check */
	uint64_t network_looked; /* now() of the last timed look at the card */
	uint64_t network_limit;	 /* ns from that to the next */
	bool looked;		 /* since the last clock check, for want of
				  * messages */
	uint64_t served;	 /* now() of the last slow service */
	uint64_t published;	 /* now() of the last copy of counters */
	uint64_t changed;	 /* now() when a peer last came or went */
	uint64_t crowded_until;	 /* others compute here: sleep soon */
	uint8_t blind;		 /* waits yet that do not look before it */
	uint32_t alone;		 /* yields that came back at once: wait.c */
	struct bcl_event stash;
	bool ready; /* other threads may look at `shm`; context->lock */
	uint16_t number;
	unsigned nchannels;
	struct bcl_channel *channels;
	int counters_fd;
	int object; /* env object: woken by peers and by the card */
	int group;  /* of the object, the rails and the shared-memory side */
	struct bcl_self *self; /* self.c: what it sent to itself */
	struct bcl_peer *peers;
	struct bcl_peer **hash; /* by (card, number) */
	unsigned nhash, npeers, nlost, nclosed;
	unsigned nrefused; /* peers that are `refused` */
	char shm_why[96];
	struct bcl_port *next;
};

/*
 * A posted channel: FREE, POSTED by bcl_post(), CLAIMED while a path fills
 * it. Paths that have a message for a channel that is not posted wait.
 */
enum bcl_channel_state {
	BCL_CHANNEL_FREE,
	BCL_CHANNEL_POSTED,
	BCL_CHANNEL_CLAIMED,
};

/* Part of a path's record of a message that waits for its channel. */
struct bcl_channel_waiter {
	struct bcl_channel_waiter *next;
	struct bcl_port *port;
	unsigned channel;
	/* The channel is posted: claim it. Off the list before the call. */
	void (*posted)(struct bcl_channel_waiter *waiter);
};

struct bcl_channel {
	void *buffer;
	uint64_t length;
	uint64_t cookie;
	enum bcl_channel_state state;
	struct bcl_channel_waiter *first, **last;
};

struct bcl_memory {
	struct bcl_context *context;
	void *address;
	size_t length;
	uint64_t base;	 /* as in struct bcl_key */
	uint32_t handle; /* slot | generation << 16 */
	unsigned rights;
	bool allocated; /* by bcl_memory_allocate() */
	int fd;		/* its memfd, else -1 */
};

struct bcl_context {
	const struct bcl_env *env;
	unsigned flags;
	struct bcl_config config;
	uint64_t card_id;
	uint64_t incarnation;
	uint8_t key[BCL_KEY_SIZE];
	uint64_t host; /* as in struct bcl_address */
	unsigned local_ranks;
	bool crowded; /* more ranks than processors */
	bool barrier; /* env->barrier() works, and for this process */
	uint32_t fork_generation;

	struct bcl_host *card;	   /* NULL: none could be opened */
	char no_card[192];	   /* why there is none */
	struct bcl_helper *helper; /* NULL: BCL_HELPER=0 or fibers */
	_Alignas(64) _Atomic uint64_t presence; /* counts the program's calls */
	atomic_bool deferred;	/* a doorbell was, since the helper looked */
	_Atomic uint32_t armed; /* ports whose owner is about to sleep */
	_Atomic uint32_t connected; /* peers that are up, not on the card */

	struct bcl_random random;

	pthread_mutex_t lock;	     /* lists, pages of counters */
	pthread_mutex_t memory_lock; /* the table of memories; taken after
				      * `lock`, before the card's */
	struct bcl_port *ports;
	struct bcl_memory **memories; /* by slot; see bcl_memory_check() */
	uint16_t *generations;	      /* of the handles, by slot */
	unsigned nmemories;
	struct bcl_counter_page *counters;
	int counters_fd;
};

/* bcl_open() for a process that has this rank in its job; -1: it has none. */
enum bcl_status bcl_context_open(const struct bcl_context_options *options,
				 int rank, struct bcl_context **context);

/* A send to the peer was, or was not, refused with AGAIN for want of room. */
static inline void bcl_peer_refuse(struct bcl_peer *peer, bool refused)
{
	peer->port->nrefused += (unsigned)refused - (unsigned)peer->refused;
	peer->refused = refused;
}

/* ---- peer.c and event.c, for the paths: the port's owner only. What the
 * helper thread finds is left in the path's memory until the owner looks. */

/* There is none for (card, number). NULL: no memory. */
struct bcl_peer *bcl_peer_make(struct bcl_port *port, uint64_t card,
			       uint16_t number);

static inline struct bcl_peer **bcl_peer_bucket(const struct bcl_port *port,
						uint64_t card, uint16_t number)
{
	/* card ids are random; ports of one card differ in the number */
	return &port->hash[(unsigned)(card ^ card >> 32 ^ number) &
			   (port->nhash - 1)];
}

/* The peer for (card, number), made if it is not there. NULL: no memory. */
static inline struct bcl_peer *
bcl_peer_find(struct bcl_port *port, uint64_t card, uint16_t number, bool make)
{
	struct bcl_peer *peer =
		port->nhash ? *bcl_peer_bucket(port, card, number) : NULL;

	while (peer && (peer->address.card != card || peer->number != number))
		peer = peer->next_hashed;
	return peer || !make ? peer : bcl_peer_make(port, card, number);
}

/*
 * A path is ready: the peer is UP on it; BCL_EVENT_PEER follows. On the
 * shared path peer->pair is set before, and in port->pairs.
 */
void bcl_peer_up(struct bcl_peer *peer, const struct bcl_path_ops *ops,
		 const char *why);
/* Shared memory cannot be had: go on with the card. */
void bcl_peer_try_card(struct bcl_peer *peer, const char *why);
/*
 * The peer is lost: what is sent to it answers the status; BCL_EVENT_PEER
 * follows. The path has let go of it before: peer->pair is not used again.
 */
void bcl_peer_lose(struct bcl_peer *peer, enum bcl_status status);

/*
 * The path ends the connection in good order: nothing is begun with the peer
 * any more, while it keeps peer->path. Then it has let go of the peer: one that
 * is opened is connected again, of others the loss is told, unless `quiet`.
 */
void bcl_peer_part(struct bcl_peer *peer);
void bcl_peer_parted(struct bcl_peer *peer, enum bcl_status status, bool quiet);

/* Queue an event for bcl_poll(). NOMEM only when memory is exhausted. */
enum bcl_status bcl_event_push(struct bcl_port *port,
			       const struct bcl_event *event);

/* ---- channel.c, for the paths: the port's owner only ---- */

/*
 * A message for a channel has come. OK: the channel is the caller's until
 * bcl_channel_done(). AGAIN: it is not posted; `waiter` is called when it
 * is. NOPORT: no such channel.
 */
enum bcl_status bcl_channel_claim(struct bcl_port *port, unsigned channel,
				  struct bcl_channel_waiter *waiter,
				  struct bcl_channel **claimed);
/* The waiter gives up. */
void bcl_channel_forget(struct bcl_channel_waiter *waiter);
/*
 * A channel that was claimed, or that the card filled, has its message of
 * `length` bytes, or failed: BCL_EVENT_CHANNEL follows.
 */
void bcl_channel_done(struct bcl_port *port, unsigned channel,
		      struct bcl_peer *peer, uint64_t length,
		      enum bcl_status status);

/* ---- memory.c ---- */

/*
 * The memory that a handle names, if [offset, offset + length) lies in it
 * and it has the rights; else NULL. Valid while the caller holds the card's
 * lock or memory_lock: bcl_memory_release() takes both.
 */
void *bcl_memory_check(struct bcl_context *context, uint32_t handle,
		       uint64_t offset, uint64_t length, unsigned rights);
/* The same for another node, which counts from the memory's base. */
void *bcl_memory_reach(struct bcl_context *context, uint32_t handle,
		       uint64_t number, uint64_t length, unsigned rights);

/* Does nobody wait for the processor, as far as is known? */
static inline bool bcl_port_may_spin(const struct bcl_port *port)
{
	return !port->context->crowded || port->alone == BCL_PORT_ALONE;
}

/* The program is here: calls but bcl_send() tell the helper thread so. */
static inline void bcl_presence(struct bcl_context *context)
{
	uint64_t calls =
		atomic_load_explicit(&context->presence, memory_order_relaxed);

	atomic_store_explicit(&context->presence, calls + 1,
			      memory_order_relaxed);
}

/* The owner leaves an event, or begins what may leave work: whoever sleeps on
 * the armed port, in another thread perhaps, is to look again. */
static inline void bcl_port_rouse(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;

	if (__builtin_expect(port->flags & BCL_PORT_ARMED, 0))
		env->wake(env->world, port->object);
}

static inline bool bcl_port_forked(const struct bcl_port *port)
{
	return __builtin_expect(port->fork_generation != bcl_fork_generation(),
				0);
}

/* ---- what a public function asks first ---- */

/* ARG: there is none; FORKED: it is the parent's. */
static inline enum bcl_status
bcl_context_usable(const struct bcl_context *context)
{
	if (!context)
		return BCL_ERR_ARG;
	return context->fork_generation != bcl_fork_generation()
		       ? BCL_ERR_FORKED
		       : BCL_OK;
}

static inline enum bcl_status bcl_port_usable(const struct bcl_port *port)
{
	if (__builtin_expect(!port, 0))
		return BCL_ERR_ARG;
	return bcl_port_forked(port) ? BCL_ERR_FORKED : BCL_OK;
}

static inline enum bcl_status bcl_peer_usable(const struct bcl_peer *peer)
{
	if (__builtin_expect(!peer, 0))
		return BCL_ERR_ARG;
	return bcl_port_usable(peer->port);
}

/* Bytes that lie nowhere. */
static inline bool bcl_nowhere(const void *buffer, size_t length)
{
	return __builtin_expect(!buffer && length, 0);
}

#endif
