/* SPDX-License-Identifier: MIT */
/*
 * The shared-memory path of a port, for the rest of the transport. The
 * transport polls messages by shm/pair.h over port->pairs. This path maintains
 * port->pairs: a connected pair enters before bcl_peer_up() and leaves before
 * bcl_peer_lose(), only inside bcl_shm_progress(). bcl_shm_idle() takes silent
 * pairs out and in again.
 *
 * A progress turn of the port's owner:
 *
 *	if (bcl_shm_work(port))
 *		bcl_shm_progress(port, now);
 *	for each of port->pairs: bcl_pair_receive()
 *	nothing came: if (bcl_shm_idle(port)) look again
 *
 * No part of a turn makes a system call while peers only exchange messages.
 * bcl_shm_service() does. The owner calls it before it sleeps, and at intervals
 * (SERVICE in poll.c) while it polls; but when all connections have settled the
 * owner leaves this to the helper. The helper thread sleeps on bcl_shm_fd() and
 * calls bcl_shm_assist().
 *
 * Threads: only the owner calls these functions, except bcl_shm_assist(),
 * bcl_shm_fd() and bcl_shm_revoke(). Data of both threads (connections,
 * sockets) is under the service lock. A thread that serves sockets takes the
 * lock by try-lock, and goes on without if that fails. Order of locks: the
 * context's, the service lock, memory_lock.
 */
#ifndef BCL_SHM_SHM_H
#define BCL_SHM_SHM_H

#include "transport/peer.h"
#include "transport/shm/pair.h"

/* The beginning of struct bcl_shm_port: the words that each pass looks at. */
struct bcl_shm_watch {
	_Atomic uint32_t work; /* something waits for bcl_shm_progress() */
	uint32_t idle;	       /* empty passes */
	unsigned nwords;       /* of `active`; 0: all pairs are polled */
	const _Atomic uint64_t *active; /* senders that ask to be polled */
};

enum {
	/* Up to this many pairs, all are polled. */
	BCL_SHM_POLLED = 16,
	BCL_SHM_IDLE_PASSES = 1024, /* between looks at a silent pair */
};

extern const struct bcl_path_ops bcl_shm_ops;

/*
 * Make a port reachable on this host and set port->shm. UNSUPPORTED: switched
 * off (by BCL_SHM or the environment); other statuses: no descriptor, socket or
 * memory left. If the call fails, port->shm stays NULL and why says the reason,
 * for humans.
 */
enum bcl_status bcl_shm_port_open(struct bcl_port *port, char why[96]);

/* Close the shared-memory side; peers see the end at once. Waits only for
 * copies that a peer has begun, into or out of memory of this process. No
 * events. */
void bcl_shm_port_close(struct bcl_port *port);

/*
 * Begin to connect a peer whose address is on this host; the port has shared
 * memory. The attempt ends with bcl_peer_up(), bcl_peer_try_card() or
 * bcl_peer_lose(), within bcl_shm_progress(). Returns NULL, or the reason why
 * there is no attempt.
 */
const char *bcl_shm_connect(struct bcl_peer *peer);

/* Serve the sockets: new connections, handshakes, requests, ends. Makes system
 * calls. */
void bcl_shm_service(struct bcl_port *port, uint64_t now);

/* The same for the helper thread, without the owner's part: this is left for
 * bcl_shm_progress(), and the owner is woken. */
void bcl_shm_assist(struct bcl_port *port, uint64_t now);

/* Check now and then whether both sides agree on the contents of their memory;
 * see audit.h. */
void bcl_shm_audit(struct bcl_port *port, uint64_t now);

/* A descriptor that is readable when bcl_shm_service() or bcl_shm_assist() has
 * something to do; -1: no shared memory. */
int bcl_shm_fd(const struct bcl_port *port);

/* Continue large copies, deferred messages, and the coming and going of
 * peers. */
void bcl_shm_progress(struct bcl_port *port, uint64_t now);

/*
 * Called before the owner sleeps on its object: from now on senders wake it.
 * Returns false if a message is there or something waits for progress; then the
 * owner must not sleep. Either way bcl_shm_awake() follows.
 */
bool bcl_shm_sleep(struct bcl_port *port);
void bcl_shm_awake(struct bcl_port *port);

/* Slots of rings were read: wake peers that sleep until there is room
 * (BCL_PORT_ROOM). */
void bcl_shm_give_room(struct bcl_port *port);

/* The memory has left the context's table: take its grants back, so that no
 * peer accesses the memory from now on. Takes the context's lock. */
void bcl_shm_revoke(struct bcl_context *context, uint32_t handle);

/* Unmap memory of a peer whose connection has ended since the memory was
 * mapped. */
void bcl_shm_unmap(struct bcl_port *port, const void *key);

/* Bring port->counters up to date. They lag behind by the messages that were
 * sent and received since the last idle spell. */
void bcl_shm_count(struct bcl_port *port);

/* Poll more or fewer pairs; see bcl_shm_idle(). */
bool bcl_shm_rescan(struct bcl_port *port);

static inline bool bcl_shm_work(const struct bcl_port *port)
{
	const struct bcl_shm_watch *watch = (const void *)port->shm;

	return watch &&
	       atomic_load_explicit(&watch->work, memory_order_relaxed);
}

/* Called after a pass over port->pairs that found nothing. Returns true if the
 * caller has to look again. */
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
