/* SPDX-License-Identifier: MIT */
/*
 * State of a job, and the lock that protects all of the state. The lock exists
 * only with BCL_ADI_THREADS.
 */
#ifndef BCL_ADI_JOB_H
#define BCL_ADI_JOB_H

#include <pthread.h>
#include <stdatomic.h>

#include "adi/internal.h"
#include "adi/match.h"
#include "adi/pool.h"
#include "adi/table.h"
#include "base/base.h"
#include "env/process.h"

struct bcl_adi_peer;
struct bcl_request_slab;

enum {
	BCL_ADI_SOME_RANKS = 64,
};

/* Peers of consecutive ranks. A process with few peers has few of these
 * parts. */
struct bcl_adi_some_ranks {
	struct bcl_adi_peer *peer[BCL_ADI_SOME_RANKS]; /* NULL: not used yet */
};

enum bcl_adi_chore {
	BCL_CHORE_PEERS = 1,	 /* a peer is in adi->waiting */
	BCL_CHORE_SCHEDULES = 2, /* a schedule is in adi->ready */
};

struct bcl_adi {
	/* hot */
	struct bcl_port *port;
	/* Peers by rank, in parts. No part is NULL: see bcl_adi_known(). */
	struct bcl_adi_some_ranks **ranks;
	uint32_t size;
	uint32_t rank;
	uint64_t own;	  /* this rank as the source of a match key */
	size_t eager_max; /* eager by any path, bytes */
	unsigned chores;  /* enum bcl_adi_chore */
	unsigned spins;	  /* turns before bcl_adi_wait_any() */
	/* Fork generation in which a call neither takes the lock nor is refused
	 * with FORKED. With BCL_ADI_THREADS no generation qualifies. */
	uint32_t plain_in;
	bool threads;
	bool stalled; /* `event` waits for memory */
	bool closing; /* the caller receives no more */
	bool leaving; /* ranks that leave are not reported as lost */
	struct bcl_adi_request *free;
	struct bcl_counter_page *counters;

	const struct bcl_env *env;
	struct bcl_context *context;
	struct bcl_boot *boot;
	bool own_context, own_boot;
	enum bcl_status broken; /* the port is lost, or this is a fork */

	struct bcl_event event;
	unsigned tokens; /* see BCL_ADI_TOKENS */

	/* peer.c */
	struct bcl_adi_peer *peers;
	struct bcl_table by_handle;
	struct bcl_adi_peer *waiting; /* circular; the peer served last */
	unsigned nholds;	      /* peers that said HOLD */
	unsigned ngone;		      /* other ranks gone */

	/* request.c */
	struct bcl_request_slab **slabs;
	uint32_t nslabs, slabs_size;
	struct bcl_pool pool;

	/* unexpected.c */
	size_t unexpected_max; /* budget per peer, bytes */
	size_t unexpected, unexpected_peak;

	/* schedule.c */
	struct bcl_adi_schedule *ready, **ready_last;

	/* eager.c */
	size_t eager_long; /* eager by paths that take long messages, bytes */

	/* packet.c */
	struct bcl_adi_packet_ops packet_ops;
	void *packet_arg;
	struct bcl_adi_idle packet_idle; /* since the last event */
	unsigned vain;			 /* polls without an event, since a
					  * yield */
	bool packets_follow;		 /* packets come in a row from one
					  * pair */

	/* keepalive.c */
	uint64_t keepalive_at;	 /* next call, ns; 0: nobody waited yet */
	unsigned keepalive_next; /* first rank to look at */

	/* oob.c */
	struct bcl_adi_client *client;

	/* put.c */
	struct bcl_adi_target *targets;

	/* lock.c */
	pthread_mutex_t lock;
	pthread_t owner;	 /* of the lock, for assertions */
	unsigned held;		 /* times that the owner has the lock */
	_Atomic unsigned wanted; /* threads that wait for the lock */
	_Atomic bool woken;	 /* set by bcl_adi_packet_wake() */
	unsigned sleepers;
	bool wake;    /* a sleeper need not wait any longer */
	bool turned;  /* the port was polled, and is disarmed */
	bool napping; /* a sleeper wakes up by itself, for the chores */
	int object;   /* wakes the sleepers */
	int group;    /* `object` and the port, to sleep on both */

	struct bcl_match match;

	struct bcl_adi_some_ranks first; /* part 0 of `ranks` */
};

/* Returns true if a message to or from this rank can have the tag and the
 * context. */
static inline bool bcl_adi_valid(const struct bcl_adi *adi, int rank, int tag,
				 unsigned context)
{
	/* one comparison for two: a negative tag is beyond all contexts */
	return bcl_likely(adi != NULL) && (unsigned)rank < adi->size &&
	       (context | ((unsigned)tag & 0x80000000)) <= BCL_ADI_CONTEXT_MAX;
}

/* Returns false if the tag of the key has bit 31 set, which no tag has. */
static inline bool bcl_adi_key_valid(uint64_t key)
{
	return !(key & 0x80000000);
}

/* ---- lock.c ---- */

enum {
	BCL_ADI_NAP = 1000000, /* ns of a sleep from which nothing might wake
				* the thread */
};

/* Returns true if this thread has the lock, or if there is none. For
 * assertions: other builds do not know the owner of the lock. */
bool bcl_adi_is_held(const struct bcl_adi *adi);
enum bcl_status bcl_adi_threads_open(struct bcl_adi *adi);
void bcl_adi_threads_close(struct bcl_adi *adi);
/* OK: entered, with the lock held if there are threads. FORKED: not entered. */
enum bcl_status bcl_adi_enter_slowly(struct bcl_adi *adi);
void bcl_adi_unlock_threads(struct bcl_adi *adi);
/* Releases the lock for a moment, and yields if another thread wants the
 * lock. */
void bcl_adi_breathe(struct bcl_adi *adi, bool yield);
/* Sleeps until the port has events, one of the requests is done, or `end`.
 * While an event waits for memory, the sleep is a nap. */
void bcl_adi_sleep_until(struct bcl_adi *adi,
			 struct bcl_adi_request *const *requests, unsigned n,
			 uint64_t end);

/* Returns true if only one thread calls, and this is no forked child. */
static inline bool bcl_adi_is_plain(const struct bcl_adi *adi)
{
	return bcl_likely(adi->plain_in == bcl_fork_generation());
}

/* OK: entered. FORKED: not entered. */
static inline enum bcl_status bcl_adi_enter(struct bcl_adi *adi)
{
	return bcl_adi_is_plain(adi) ? BCL_OK : bcl_adi_enter_slowly(adi);
}

static inline void bcl_adi_leave(struct bcl_adi *adi)
{
	if (bcl_unlikely(adi->threads))
		bcl_adi_unlock_threads(adi);
}

#endif
