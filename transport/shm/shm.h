/* SPDX-License-Identifier: MIT */
/*
 * The shared-memory path of a port, for the rest of the transport. Messages
 * are polled by shm/pair.h over port->pairs, which is kept here: a connected
 * pair enters before bcl_peer_up() and leaves before bcl_peer_lose(), only
 * inside bcl_shm_progress().
 *
 * A progress turn of the port's owner:
 *
 *	if (bcl_shm_work(port))
 *		bcl_shm_progress(port, now);
 *	for each of port->pairs: bcl_pair_receive()
 *	nothing came: if (bcl_shm_idle(port)) look again
 *
 * None of this makes a system call while peers only exchange messages.
 * bcl_shm_service() does: before the owner sleeps, and every millisecond or
 * so while it polls in vain. Meanwhile the helper thread, which sleeps on
 * bcl_shm_fd(), calls bcl_shm_assist().
 *
 * Threads: all functions are the owner's but bcl_shm_assist(), bcl_shm_fd()
 * and bcl_shm_revoke(). What both touch (connections, sockets) is under the
 * service lock; who serves sockets takes it by try-lock and goes on without.
 * Order of locks: the context's, the service lock, memory_lock.
 */
#ifndef BCL_SHM_SHM_H
#define BCL_SHM_SHM_H

#include "transport/context.h"
#include "transport/shm/pair.h"

/* The beginning of struct bcl_shm_port: what each pass looks at. */
struct bcl_shm_watch {
	_Atomic uint32_t work; /* something waits for bcl_shm_progress() */
	uint32_t idle;	       /* empty passes */
	unsigned nwords;       /* of `active`; 0: all pairs are polled */
	const _Atomic uint64_t *active; /* senders that ask to be polled */
};

enum {
	BCL_SHM_POLLED = 16,	    /* pairs polled without a question */
	BCL_SHM_IDLE_PASSES = 1024, /* between looks at a silent pair */
};

extern const struct bcl_path_ops bcl_shm_ops;

/*
 * Make a port reachable on this host and set port->shm. UNSUPPORTED: switched
 * off (BCL_SHM, the environment); others: no descriptor, socket or memory
 * left. On failure port->shm stays NULL, and why has the reason for people.
 */
enum bcl_status bcl_shm_port_open(struct bcl_port *port, char why[96]);

/* Peers see the end at once. Waits only for copies into memory of this
 * process that a peer has begun. No events. */
void bcl_shm_port_close(struct bcl_port *port);

/*
 * Begin to connect the peer, whose address is on this host. Ends with
 * bcl_peer_up(), bcl_peer_try_card() or bcl_peer_lose(): possibly within the
 * call, else from bcl_shm_progress() or bcl_shm_service().
 */
void bcl_shm_connect(struct bcl_peer *peer);

/* Sockets: new connections, handshakes, requests, ends. A system call. */
void bcl_shm_service(struct bcl_port *port, uint64_t now);

/* The same by the helper thread, less what belongs to the owner: that is
 * left for bcl_shm_progress(), and the owner woken. */
void bcl_shm_assist(struct bcl_port *port, uint64_t now);

/* Do both sides agree on what is in their memory? Now and then; audit.h. */
void bcl_shm_audit(struct bcl_port *port, uint64_t now);

/* Readable when bcl_shm_service() or bcl_shm_assist() has something to do. */
int bcl_shm_fd(const struct bcl_port *port);

/* Large copies, deferred messages, peers that came or went. */
void bcl_shm_progress(struct bcl_port *port, uint64_t now);

/*
 * Before the owner sleeps on its object: from now on senders wake it. False:
 * a message is there or something waits for progress; do not sleep. Either
 * way bcl_shm_awake() follows.
 */
bool bcl_shm_sleep(struct bcl_port *port);
void bcl_shm_awake(struct bcl_port *port);

/* Slots of rings were read: BCL_PORT_ROOM. */
void bcl_shm_give_room(struct bcl_port *port);

/* The memory is not in the context's table any more: no peer accesses it from
 * now on. Takes the context's lock. */
void bcl_shm_revoke(struct bcl_context *context, uint32_t handle);

/* Unmap a peer's memory whose connection has ended since it was mapped. */
void bcl_shm_unmap(struct bcl_port *port, const void *key);

/* Bring the counters of port->counters up to date; they lag behind by what
 * was sent and received since the last idle spell. */
void bcl_shm_count(struct bcl_port *port);

/* Poll more or fewer pairs; see bcl_shm_idle(). */
bool bcl_shm_rescan(struct bcl_port *port);

static inline bool bcl_shm_work(const struct bcl_port *port)
{
	const struct bcl_shm_watch *watch = (const void *)port->shm;

	return watch &&
	       atomic_load_explicit(&watch->work, memory_order_relaxed);
}

/* After a pass over port->pairs that found nothing. True: look again. */
static inline bool bcl_shm_idle(struct bcl_port *port)
{
	struct bcl_shm_watch *watch = (void *)port->shm;
	unsigned i;

	if (!watch)
		return false;
	if (++watch->idle % BCL_SHM_IDLE_PASSES == 0)
		return bcl_shm_rescan(port);
	for (i = 0; i < watch->nwords; i++)
		if (atomic_load_explicit(&watch->active[i],
					 memory_order_relaxed))
			return bcl_shm_rescan(port);
	return false;
}

#endif
