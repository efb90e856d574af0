/* SPDX-License-Identifier: MIT */
/*
 * The inside of a context, a port and a peer, for the files of transport/, and
 * the threads that may touch each of them:
 *
 *  context   set up by bcl_open(), then read-only except for the lists, which
 *            `lock` protects
 *  port      the owner's thread; the helper thread only through the card (under
 *            the card's lock) and the shared-memory service (under its lock)
 *  peer      the owner of its port
 */
#ifndef BCL_CONTEXT_H
#define BCL_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include <bcl/bcl.h>
#include <bcl/card_abi.h>

#include "base/base.h"
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
struct bcl_helper;    /* transport/helper.c */
struct bcl_self;      /* transport/self.c */

enum {
	BCL_WIRES_MAX = 6, /* wire addresses in an address blob */
};

/* An address blob, unpacked. */
struct bcl_address {
	uint64_t host; /* hash of host name, boot id and BCL_NODE */
	uint64_t card;
	uint8_t key[BCL_KEY_SIZE]; /* of the port's job */
	uint16_t number;
	uint8_t nwires;
	uint8_t second; /* bit w: wire w is the second rail of its kind */
	struct bcl_wire_address wire[BCL_WIRES_MAX];
};

/*
 * The operations of a path, with the semantics of bcl/bcl.h. Mandatory: send,
 * reserve, commit, info and close. An operation that is NULL is unsupported on
 * the path, unless the slot says otherwise.
 *
 * Caller and locks: only the owner of the port calls, with arguments that were
 * checked. While a peer is CONNECTING or LOST the caller gets only as far as
 * send, reserve and commit of none_ops (peer.c), and info and close. The caller
 * holds no lock of the transport: an operation may take the service lock,
 * memory_lock or the card's lock. Only map() waits for a peer. The others wait
 * at most for such a lock, and may enter the kernel: to send frames, to wake a
 * peer, to copy by attach.
 *
 * Buffers: with cookie 0 the operation has copied the data when the call
 * returns. Otherwise OK means that the buffer belongs to the path until the
 * event with the cookie; the event may be queued before the call returns. With
 * any other status nothing has begun, the buffer is the caller's, and no event
 * follows.
 *
 * Statuses of reserve() and of operations with a cookie: AGAIN, there is no
 * room now (a path with has_room() notes by bcl_peer_refuse() that a ring was
 * full); NOMEM, there is no memory for a record or for the event. A slot's
 * comment names only further statuses.
 */
struct bcl_path_ops {
	enum bcl_path path;
	/* `length` is the sum of the pieces. On the shared path messages go
	 * by peer->pair; send() is called only while the pair is blocked, and
	 * returns AGAIN. */
	enum bcl_status (*send)(struct bcl_peer *peer, unsigned type,
				uint64_t immediate, const struct iovec *iov,
				unsigned niov, size_t length, uint64_t cookie);
	/* Bytes of a long message, with a cookie, that send() takes: more
	 * than BCL_MESSAGE_MAX. Has no effects. NULL: the path takes no long
	 * message. */
	size_t (*longest)(const struct bcl_peer *peer);
	/* OK: *room, of `length` bytes, belongs to the caller until commit(),
	 * the peer's close or the peer's loss. */
	enum bcl_status (*reserve)(struct bcl_peer *peer, size_t length,
				   void **room);
	/* OK: the room is the path's again. ARG: nothing is reserved, or less
	 * than `length`; a reservation stays. NOMEM: likewise stays. */
	enum bcl_status (*commit)(struct bcl_peer *peer, unsigned type,
				  uint64_t immediate, size_t length);
	/* NOPORT, from the self path: there is no such channel; other paths
	 * tell by the event. UNSUPPORTED, from the card: 4 GB or more. */
	enum bcl_status (*send_channel)(struct bcl_peer *peer, unsigned channel,
					const void *buffer, size_t length,
					uint64_t cookie);
	/* Writes BCL_KEY_MAX bytes to `token` if OK. */
	enum bcl_status (*offer)(struct bcl_peer *peer, const void *buffer,
				 size_t length, uint64_t cookie, void *token);
	/* OK: the buffer is the caller's again, and no event follows. BUSY: the
	 * event follows, or has come before. ARG: not an offer of this port. */
	enum bcl_status (*withdraw)(struct bcl_peer *peer, const void *token);
	/* ARG: the token is not from this peer, or offers less. A token of an
	 * offer that has ended is found in the event. */
	enum bcl_status (*pull)(struct bcl_peer *peer, const void *token,
				void *buffer, size_t length, uint64_t cookie);
	/* Blocks for an exchange with the peer's process, at most
	 * BCL_PEER_TIMEOUT (TIMEOUT). OK: *address stays mapped until unmap(),
	 * also after the loss of the peer. MEMORY: there is no such memory.
	 * DEAD: the peer has ended. UNSUPPORTED: the memory can be used by
	 * requests only. NOMEM: too many memories are mapped. */
	enum bcl_status (*map)(struct bcl_peer *peer, const void *key,
			       void **address);
	/* NULL: the caller calls bcl_shm_unmap(), for a mapping from the time
	 * when the peer was on shared memory. */
	void (*unmap)(struct bcl_peer *peer, const void *key);
	/* put() to atomic(): a failure at the target is in the event. NOMEM for
	 * want of room for the event may come after the access. */
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
	/* The path copies `operand` before the call returns; `result` is the
	 * buffer. */
	enum bcl_status (*atomic)(struct bcl_peer *peer, const void *key,
				  uint64_t offset, bool compare,
				  const uint64_t operand[2], uint64_t *result,
				  uint64_t cookie);
	/* AGAIN: pieces of earlier operations are not submitted yet, too. */
	enum bcl_status (*fence)(struct bcl_peer *peer, uint64_t cookie);
	/* True if there is room for a message after one was refused. Only
	 * loads. NULL: the path never tells. */
	bool (*has_room)(const struct bcl_peer *peer);
	/* Fills in members that depend on the path; the others are filled in,
	 * or zero. */
	void (*info)(const struct bcl_peer *peer, struct bcl_peer_info *info);
	/* The program has closed the peer: `opened` and `closed` say so
	 * already. Frees a reservation. Operations under way go on. May end in
	 * bcl_peer_part(), so peer->ops may be another table afterwards. */
	void (*close)(struct bcl_peer *peer);
	/* bcl_peer_open() gives the handle out again before the path has let
	 * go of the peer. NULL: the path need not know. */
	void (*open)(struct bcl_peer *peer);
};

/*
 * State of a peer (bcl_peer_state), and the events that change it:
 *
 *  CONNECTING  shared memory: handshake succeeded      UP, path SHARED
 *              shared memory: not available            card is tried
 *              card: HELLO answered                    UP, path CARD
 *              card: nothing answers, refused          LOST
 *  UP          end of file, reset, silence             LOST
 *              the path parts, the peer is opened      CONNECTING
 *              the path parts, the peer is not opened  LOST
 *  LOST        bcl_peer_open() again                   CONNECTING
 */
struct bcl_peer {
	/* hot: read by every send */
	const struct bcl_path_ops *ops; /* never NULL; while CONNECTING and
					 * LOST the operations of none_ops
					 * (peer.c), which answer AGAIN or
					 * `lost` */
	struct bcl_pair *pair;		/* path SHARED, else NULL */
	struct bcl_port *port;
	void *user;
	uint32_t node;	     /* path CARD: index of the node at the card */
	uint32_t generation; /* path CARD: of the node, as the host counts */
	uint32_t requests;   /* path CARD: requests that are not finished */
	uint16_t number;
	uint8_t state; /* enum bcl_peer_state */
	uint8_t lost;  /* LOST: the status */
	bool refused;  /* a send found no room: bcl_wait() returns when there
			* is some */

	struct bcl_address address;
	bool address_known;    /* false: the peer has sent, but was never
				* opened */
	bool opened;	       /* bcl_peer_open() gave the handle out */
	bool closed;	       /* the last of the two was bcl_peer_close() */
	bool hidden;	       /* not in the port's hash */
	void *path;	       /* the path's own record of the peer, or NULL */
	struct bcl_peer *next; /* all peers of the port */
	struct bcl_peer *next_hashed; /* in the bucket for (card, number) */
	char why[96];
};

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
	/* After this many short yields in a row the port has the processor
	 * alone. */
	BCL_PORT_ALONE = 16,
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
	uint32_t alone; /* short yields in a row, up to BCL_PORT_ALONE */
	uint64_t crowded_until; /* now() time until which waits assume that
				 * another program computes here, and sleep
				 * soon */
	uint8_t blind; /* waits left that sleep without looking before */
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

/*
 * A posted channel. FREE; POSTED by bcl_post(); CLAIMED while a path fills the
 * buffer. A path that has a message for a channel that is not posted waits.
 */
enum bcl_channel_state {
	BCL_CHANNEL_FREE,
	BCL_CHANNEL_POSTED,
	BCL_CHANNEL_CLAIMED,
};

/* Member of a path's record of a message that waits for its channel. */
struct bcl_channel_waiter {
	struct bcl_channel_waiter *next;
	struct bcl_port *port;
	unsigned channel;
	/* The channel has been posted, so the path may claim it. The waiter
	 * is off the list before the call, and may be freed in the call. The
	 * port's owner calls, inside bcl_post(). */
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
	int fd;		/* memfd of the memory, else -1 */
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
	bool barrier; /* env->barrier() works, for this process, too */
	uint32_t fork_generation;

	struct bcl_host *card;	   /* NULL: no card could be opened */
	char no_card[192];	   /* why there is no card */
	struct bcl_helper *helper; /* NULL: BCL_HELPER=off, or fibers */
	_Alignas(64) _Atomic uint64_t presence; /* counts the program's calls */
	atomic_bool deferred;	/* a doorbell was held back since the helper
				 * looked */
	_Atomic uint32_t armed; /* ports whose owner sleeps or is about to */
	_Atomic uint32_t connected; /* peers that are up on shared memory */

	struct bcl_random random;

	pthread_mutex_t lock;	     /* lists, counter pages */
	pthread_mutex_t memory_lock; /* the table of memories; a thread takes
				      * it after `lock` and before the card's
				      * lock */
	struct bcl_port *ports;
	struct bcl_memory **memories; /* by slot; see bcl_memory_check() */
	uint16_t *generations;	      /* of the handles, by slot */
	unsigned nmemories;
	struct bcl_counter_page *counters;
	int counters_fd;
};

/* For assertions: true if a thread holds the mutex, which is not recursive. A
 * mutex does not say which thread. */
static inline bool bcl_is_locked(const pthread_mutex_t *mutex)
{
	pthread_mutex_t *own = (pthread_mutex_t *)(uintptr_t)mutex;

	if (pthread_mutex_trylock(own))
		return true;
	pthread_mutex_unlock(own);
	return false;
}

/* As bcl_open(), in this environment, for a process with this rank in its job;
 * -1: without one. */
enum bcl_status bcl_context_open(const struct bcl_env *env,
				 const struct bcl_context_options *options,
				 int rank, struct bcl_context **context);

/* Records whether the last send to the peer was refused with AGAIN for want
 * of room. */
static inline void bcl_peer_refuse(struct bcl_peer *peer, bool refused)
{
	peer->port->nrefused += (unsigned)refused - (unsigned)peer->refused;
	peer->refused = refused;
}

/*
 * ---- peer.c and event.c, for the paths: only the port's owner calls. The
 * helper thread leaves its findings in the path's memory until the owner looks.
 */

/* Makes the peer (card, number), which must not exist. NULL: no memory. */
struct bcl_peer *bcl_peer_make(struct bcl_port *port, uint64_t card,
			       uint16_t number);

static inline struct bcl_peer **bcl_peer_bucket(const struct bcl_port *port,
						uint64_t card, uint16_t number)
{
	/* Card ids are random; ports of one card differ in the number. */
	return &port->hash[(unsigned)(card ^ card >> 32 ^ number) &
			   (port->nhash - 1)];
}

/* Returns the peer (card, number), or NULL. `make`: makes the peer if it
 * does not exist; NULL then means no memory. */
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
 * The path is ready: sets the peer UP on the path and queues BCL_EVENT_PEER. On
 * the shared path the caller has set peer->pair and entered it in port->pairs
 * before.
 */
void bcl_peer_up(struct bcl_peer *peer, const struct bcl_path_ops *ops,
		 const char *why);
/* Shared memory is not available: continues with the card. */
void bcl_peer_try_card(struct bcl_peer *peer, const char *why);
/*
 * The peer is lost: sends to the peer now return the status, and BCL_EVENT_PEER
 * follows. The path has let go of the peer before, and does not use peer->pair
 * again.
 */
void bcl_peer_lose(struct bcl_peer *peer, enum bcl_status status);

/*
 * The path ends the connection in good order. bcl_peer_part(): nothing more
 * begins with the peer, while peer->path stays. bcl_peer_parted(): the path
 * has let go of the peer. If the peer is opened, it is connected again;
 * otherwise the loss is reported, unless `quiet`.
 */
void bcl_peer_part(struct bcl_peer *peer);
void bcl_peer_parted(struct bcl_peer *peer, enum bcl_status status, bool quiet);

/* Queues an event for bcl_poll(). NOMEM, and the event is lost, if memory is
 * exhausted; after bcl_event_reserve() the call cannot fail. */
enum bcl_status bcl_event_push(struct bcl_port *port,
			       const struct bcl_event *event);

/* ---- channel.c, for the paths: only the port's owner calls ---- */

/*
 * A message for a channel has arrived. OK: the channel belongs to the caller
 * until bcl_channel_done(). AGAIN: the channel is not posted; waiter->posted()
 * is called when it is. NOPORT: there is no such channel.
 */
enum bcl_status bcl_channel_claim(struct bcl_port *port, unsigned channel,
				  struct bcl_channel_waiter *waiter,
				  struct bcl_channel **claimed);
/* The path gives up waiting. */
void bcl_channel_forget(struct bcl_channel_waiter *waiter);
/*
 * A channel that a path has claimed, or that the card has filled, has its
 * message of `length` bytes, or failed: queues BCL_EVENT_CHANNEL and frees the
 * channel.
 */
void bcl_channel_done(struct bcl_port *port, unsigned channel,
		      struct bcl_peer *peer, uint64_t length,
		      enum bcl_status status);

/* ---- memory.c ---- */

/*
 * Returns the address of [offset, offset + length) in the memory that the
 * handle names. NULL: no such handle, out of bounds, or without these rights.
 * Valid while the caller holds the card's lock or memory_lock:
 * bcl_memory_release() takes both.
 */
void *bcl_memory_check(struct bcl_context *context, uint32_t handle,
		       uint64_t offset, uint64_t length, unsigned rights);
/* The same for another node, whose `number` counts from the memory's base. */
void *bcl_memory_reach(struct bcl_context *context, uint32_t handle,
		       uint64_t number, uint64_t length, unsigned rights);

/* True if, as far as is known, no other thread waits for the processor. */
static inline bool bcl_port_may_spin(const struct bcl_port *port)
{
	return !port->context->crowded || port->spin.alone == BCL_PORT_ALONE;
}

/* Counts a call of the program, so that the helper thread sees that the
 * program is here. All calls but bcl_send() count. */
static inline void bcl_presence(struct bcl_context *context)
{
	uint64_t calls =
		atomic_load_explicit(&context->presence, memory_order_relaxed);

	atomic_store_explicit(&context->presence, calls + 1,
			      memory_order_relaxed);
}

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

/* ---- checks of the public functions ---- */

/* ARG: there is no context; FORKED: the context belongs to the parent. */
static inline enum bcl_status
bcl_context_usable(const struct bcl_context *context)
{
	if (!context)
		return BCL_ERR_ARG;
	return context->fork_generation != bcl_fork_generation()
		       ? BCL_ERR_FORKED
		       : BCL_OK;
}

/* The same for a port, and for a peer. */
static inline enum bcl_status bcl_port_usable(const struct bcl_port *port)
{
	if (bcl_unlikely(!port))
		return BCL_ERR_ARG;
	return bcl_port_forked(port) ? BCL_ERR_FORKED : BCL_OK;
}

static inline enum bcl_status bcl_peer_usable(const struct bcl_peer *peer)
{
	if (bcl_unlikely(!peer))
		return BCL_ERR_ARG;
	return bcl_port_usable(peer->port);
}

/* True if there are bytes, but no buffer. */
static inline bool bcl_nowhere(const void *buffer, size_t length)
{
	return bcl_unlikely(!buffer && length);
}

#endif
