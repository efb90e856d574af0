/* SPDX-License-Identifier: MIT */
/* The shared-memory side of a port, for the files of shm/. */
#ifndef BCL_SHM_PORT_H
#define BCL_SHM_PORT_H

#include <pthread.h>

#include "transport/shm/connection.h"
#include "transport/shm/shm.h"

enum {
	/* Connections of a port: words of its attention page, bits of its
	 * active page. Further peers are refused and use the card. */
	BCL_SHM_PEERS = BCL_PAGE / sizeof(uint32_t),
};

/* The owner's pending work: bits of watch.work. */
enum bcl_shm_work {
	BCL_WORK_NEWS = 1,    /* a connection's `news` is set */
	BCL_WORK_SOCKETS = 2, /* look at the sockets soon */
	BCL_WORK_OUTBOX = 4,  /* an outbox is not empty */
	BCL_WORK_COPY = 8,    /* a copy or an access goes on */
	BCL_WORK_BROKEN = 16, /* a pair is broken */
	BCL_WORK_LEAVE = 32,  /* a connection may have left, or has to */
};

/* A word of the attention page. 0: the owner is awake and polls the pair.
 * Senders act on the bits. */
enum bcl_attention {
	BCL_ATTENTION_SLEEPING = 1, /* wake the owner by its object */
	BCL_ATTENTION_SILENT = 2,   /* not polled: set the bit in `active` */
	BCL_ATTENTION_ROOM = 4,	    /* wake also for room in the owner's ring */
	BCL_ATTENTION_COUNT = 8,    /* step of the count of sleeps above */
};

/* A mapping of a peer's memory that the program has not unmapped, although the
 * connection has ended. */
struct bcl_orphan {
	struct bcl_orphan *next;
	uint64_t card; /* owner of the memory */
	uint32_t handle;
	unsigned maps;
	void *address;
	size_t length;
};

enum {
	BCL_SHM_SERVED = 16, /* descriptors served in one turn */
};

struct bcl_shm_port {
	struct bcl_shm_watch watch;
	struct bcl_port *port;

	/* written by the owner, read by peers */
	_Atomic uint32_t *attention;
	int attention_fd;
	/* bits set by peers, taken by the owner */
	_Atomic uint64_t *active;
	int active_fd;
	uint32_t sleeps; /* in steps of BCL_ATTENTION_COUNT */
	unsigned socket_passes;
	struct bcl_orphan *orphans;
	_Atomic uint64_t audit_at; /* now() of the next audit */
	_Atomic bool audit_wanted; /* the sleeping owner wants it */
	unsigned rescan;	   /* the silent pair to look at next */
	unsigned nsilent, silent_end;
	unsigned fed; /* peers with attach that have a bounce area */

	/* under the service lock */
	_Alignas(64) pthread_mutex_t lock;
	int listener, group;
	int spare; /* -1: the port does not listen */
	struct bcl_connection *connections;
	uint64_t watches[BCL_SHM_PEERS / 64]; /* bits: words in use */
	unsigned waiting; /* unfinished handshakes, questions, leaves */
	bool said_limit;  /* it was logged that no descriptor is left */

	/* the owner's; at the end, because a port with few peers touches little
	 * of this */
	_Alignas(64) struct bcl_pair *pairs[BCL_SHM_PEERS]; /* port->pairs */
	struct bcl_connection *silent[BCL_SHM_PEERS]; /* indexed by watch */
};

static inline struct bcl_context *bcl_shm_context(const struct bcl_shm_port *s)
{
	return s->port->context;
}

static inline const struct bcl_env *bcl_shm_env(const struct bcl_shm_port *s)
{
	return s->port->context->env;
}

static inline void bcl_shm_want(struct bcl_shm_port *shm, unsigned work)
{
	atomic_fetch_or_explicit(&shm->watch.work, work, memory_order_release);
}

static inline void bcl_shm_done(struct bcl_shm_port *shm, unsigned work)
{
	atomic_fetch_and_explicit(&shm->watch.work, ~work,
				  memory_order_acquire);
}

/* ---- watch.c: the owner ---- */

void bcl_watch_begin(struct bcl_connection *connection);
void bcl_watch_end(struct bcl_connection *connection);
/* Call work() for each connected pair. Returns true if one of the calls did. */
bool bcl_watch_each(struct bcl_shm_port *shm,
		    bool (*work)(struct bcl_connection *connection));
/* Store the value in the attention words of all connected pairs. */
void bcl_watch_set(struct bcl_shm_port *shm, uint32_t value);

#endif
