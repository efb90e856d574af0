/* SPDX-License-Identifier: MIT */
/*
 * The shared-memory side of a port, inside shm/.
 */
#ifndef BCL_SHM_PORT_H
#define BCL_SHM_PORT_H

#include <pthread.h>

#include "transport/shm/connection.h"
#include "transport/shm/shm.h"

enum {
	/* Connections of a port: words of its attention page, bits of its
	 * active page. More are refused and use the card. */
	BCL_SHM_PEERS = BCL_PAGE / sizeof(uint32_t),
};

/* Why the owner is wanted: bits of watch.work. */
enum bcl_shm_work {
	BCL_WORK_NEWS = 1,    /* a connection's `news` is set */
	BCL_WORK_SOCKETS = 2, /* look at the sockets soon */
	BCL_WORK_OUTBOX = 4,  /* an outbox is not empty */
	BCL_WORK_COPY = 8,    /* a copy or an access goes on */
	BCL_WORK_BROKEN = 16, /* a pair is broken */
	BCL_WORK_LEAVE = 32,  /* a side of a connection may have left it */
};

/* A word of the attention page. 0: awake, and polls that pair. */
enum bcl_attention {
	BCL_ATTENTION_SLEEPING = 1, /* write to the port's object */
	BCL_ATTENTION_SILENT = 2,   /* not polled: set the bit in `active` */
	BCL_ATTENTION_ROOM = 4,	    /* also when there is room in its ring */
	BCL_ATTENTION_COUNT = 8,    /* step of the count of sleeps above */
};

/* Memory that the program has mapped and not unmapped, of a peer whose
 * connection has ended. */
struct bcl_orphan {
	struct bcl_orphan *next;
	uint64_t card; /* whose it is */
	uint32_t handle;
	unsigned maps;
	void *address;
	size_t length;
};

enum {
	BCL_SHM_SERVED = 16, /* things on sockets looked at in one turn */
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
	_Atomic bool audit_wanted; /* while the owner sleeps */
	unsigned rescan;	   /* the silent pair to look at next */
	unsigned nsilent, silent_end;

	/* the service lock */
	_Alignas(64) pthread_mutex_t lock;
	int listener, group;
	int spare; /* -1: nobody is listened to */
	struct bcl_connection *connections;
	uint64_t watches[BCL_SHM_PEERS / 64]; /* bits: words in use */
	unsigned waiting; /* handshakes and questions not finished */
	bool said_limit;  /* that no descriptor is left */

	/* the owner's; last, since few peers touch little of them */
	_Alignas(64) struct bcl_pair *pairs[BCL_SHM_PEERS]; /* port->pairs */
	struct bcl_connection *silent[BCL_SHM_PEERS];	    /* by watch */
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

/* The system refused what a connection needs: for people, if it is a limit of
 * descriptors, once. Under the service lock. */
void bcl_shm_refused(struct bcl_shm_port *shm, int error);

/* ---- peers.c: the owner ---- */

/* Nothing of the user's goes to the peer, or everything again. */
void bcl_shm_block(struct bcl_connection *connection, bool blocked);
/* Is there something for a copy or an access to do, just now? */
bool bcl_shm_copies_ready(struct bcl_connection *connection);

/* ---- watch.c: the owner ---- */

void bcl_watch_begin(struct bcl_connection *connection);
void bcl_watch_end(struct bcl_connection *connection);
/* For each connected pair; true: one of the calls was. */
bool bcl_watch_each(struct bcl_shm_port *shm,
		    bool (*work)(struct bcl_connection *connection));

#endif
