/* SPDX-License-Identifier: MIT */
/*
 * The service of a port's sockets by the owner or the helper: packets of
 * connections, the listener, deadlines. All but the last two functions run
 * under the service lock. See shm.h.
 */
#include <errno.h>
#include <string.h>

#include "transport/shm/audit.h"
#include "transport/shm/greeting.h"
#include "transport/shm/handshake.h"
#include "transport/shm/host.h"
#include "transport/shm/port.h"
#include "transport/shm/socket.h"

/* ---- the socket of a connection ---- */

static void take_request(struct bcl_connection *c, const struct bcl_greeting *g,
			 const int *fds, unsigned nfds)
{
	switch (g->kind) {
	case BCL_GREETING_MEMORY:
		bcl_grant_answer(c, g);
		break;
	case BCL_GREETING_GRANT:
		bcl_remote_take(c, g, fds, nfds);
		break;
	case BCL_GREETING_RMA:
		bcl_rma_serve_from_helper(c);
		break;
	case BCL_GREETING_SENT:
		bcl_audit_take(c, g);
		break;
	default:
		break;
	}
}

static void take_greeting(struct bcl_connection *c,
			  const struct bcl_greeting *g, const int *fds,
			  unsigned nfds)
{
	bool sound = g->magic == BCL_GREETING_MAGIC;

	if (c->state == BCL_CONNECTION_UP && sound)
		take_request(c, g, fds, nfds);
	else if (c->state == BCL_CONNECTION_UP)
		bcl_connection_end(c);
	else if (sound)
		bcl_handshake_take(c, g, fds, nfds);
	else
		bcl_connection_fail(c, BCL_ERR_VERSION,
				    "shared memory: not a greeting");
}

/* Descriptors were lost for want of room. Memory is then not mapped but used by
 * request; a handshake fails. */
static void take_without_descriptors(struct bcl_connection *c,
				     struct bcl_greeting *g)
{
	bcl_connection_refused(c->shm, EMFILE);
	g->status = BCL_ERR_NOMEM;
	if (c->state == BCL_CONNECTION_UP)
		take_greeting(c, g, NULL, 0);
	else
		bcl_connection_fail(c, BCL_ERR_SYSTEM,
				    "shared memory: no descriptor left");
}

/* The socket is readable: take one greeting, or note the end of the peer. */
static void serve_connection(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);
	const struct bcl_shm_host *host = env->shm_host;
	struct bcl_greeting g;
	int fds[BCL_SOCKET_FDS];
	unsigned nfds;

	bcl_assert(bcl_is_locked(&c->shm->lock));
	if (c->socket < 0)
		return;
	switch (host->receive(env->world, c->socket, &g, sizeof(g), fds,
			      &nfds)) {
	case 1:
		take_greeting(c, &g, fds, nfds);
		while (nfds)
			host->close(env->world, fds[--nfds]);
		break;
	case 0:
		break;
	case -2:
		take_without_descriptors(c, &g);
		break;
	default:
		bcl_connection_end(c);
	}
}

/* ---- the listener ---- */

/* No descriptor is left, and another thread took the spare descriptor. Callers
 * then have to wait, and must not keep this port's threads awake meanwhile. */
static void stop_listening(struct bcl_shm_port *shm)
{
	const struct bcl_env *env = bcl_shm_env(shm);

	env->shm_host->group_remove(env->world, shm->group, shm->listener);
}

static void listen_again(struct bcl_shm_port *shm)
{
	const struct bcl_env *env = bcl_shm_env(shm);
	const struct bcl_shm_host *host = env->shm_host;

	shm->spare = host->copy(env->world, shm->attention_fd);
	if (shm->spare < 0)
		bcl_connection_refused(shm, errno);
	if (shm->spare >= 0 &&
	    !host->group_add(env->world, shm->group, shm->listener, shm)) {
		host->close(env->world, shm->spare);
		shm->spare = -1;
	}
}

/* Accept a caller with the spare descriptor and close the socket: the caller
 * uses the card instead of waiting. */
static void turn_caller_away(struct bcl_shm_port *shm)
{
	const struct bcl_env *env = bcl_shm_env(shm);
	const struct bcl_shm_host *host = env->shm_host;
	int fd;

	host->close(env->world, shm->spare);
	fd = host->accept(env->world, shm->listener);
	if (fd >= 0) {
		host->close(env->world, fd);
		bcl_count(bcl_shm_context(shm)->counters, shm_turned_away);
	}
	shm->spare = host->copy(env->world, shm->attention_fd);
	if (shm->spare < 0)
		stop_listening(shm);
}

static void accept_one(struct bcl_shm_port *shm, uint64_t now)
{
	const struct bcl_env *env = bcl_shm_env(shm);
	const struct bcl_shm_host *host = env->shm_host;
	int fd = host->accept(env->world, shm->listener);

	if (fd < 0) {
		bcl_connection_refused(shm, errno);
		if (errno == EMFILE || errno == ENFILE)
			turn_caller_away(shm);
	} else if (!bcl_connection_accept(shm, fd, now)) {
		host->close(env->world, fd);
		bcl_count(bcl_shm_context(shm)->counters, shm_refused);
	}
}

/* ---- all of them ---- */

/* The peer did not answer LEAVE or END in time. */
static void end_unanswered(struct bcl_connection *c)
{
	struct bcl_shm_port *shm = c->shm;

	bcl_assert(c->leaving && shm->waiting);
	c->leaving = false;
	shm->waiting--;
	bcl_count(bcl_shm_context(shm)->counters, shm_leaves_unanswered);
	bcl_connection_end(c);
}

/* Serve connections that wait for their deadline, or for another connection to
 * go. */
static void serve_waiting(struct bcl_shm_port *shm, uint64_t now)
{
	struct bcl_connection *c, *next;

	for (c = shm->connections; c; c = next) {
		next = c->next;
		if (c->state < BCL_CONNECTION_UP) {
			if (bcl_handshake_retry(c, now))
				next = shm->connections;
		} else if (c->leaving && c->state == BCL_CONNECTION_UP &&
			   now >= c->deadline) {
			end_unanswered(c);
		}
	}
}

static void serve_sockets(struct bcl_shm_port *shm, uint64_t now)
{
	const struct bcl_env *env = bcl_shm_env(shm);
	unsigned i;

	if (shm->spare < 0)
		listen_again(shm);
	/* One descriptor at a time: serving one may free the connection of
	 * another. A caller that calls repeatedly, perhaps another user's
	 * process, gets one turn like all callers. */
	for (i = 0; i < BCL_SHM_SERVED; i++) {
		void *who = env->shm_host->group_next(env->world, shm->group);

		if (!who)
			break;
		if (who == shm)
			accept_one(shm, now);
		else
			serve_connection(who);
	}
	if (shm->waiting)
		serve_waiting(shm, now);
	if (shm->waiting)
		bcl_shm_want(shm, BCL_WORK_SOCKETS);
	else
		bcl_shm_done(shm, BCL_WORK_SOCKETS);
}

void bcl_shm_service(struct bcl_port *port, uint64_t now)
{
	struct bcl_shm_port *shm = port->shm;

	if (!shm || pthread_mutex_trylock(&shm->lock))
		return;
	serve_sockets(shm, now);
	pthread_mutex_unlock(&shm->lock);
}

void bcl_shm_assist(struct bcl_port *port, uint64_t now)
{
	struct bcl_shm_port *shm = port->shm;
	const struct bcl_env *env;
	unsigned work;

	if (!shm || pthread_mutex_trylock(&shm->lock))
		return;
	env = bcl_shm_env(shm);
	work = atomic_load_explicit(&shm->watch.work, memory_order_relaxed);
	serve_sockets(shm, now);
	work = ~work &
	       atomic_load_explicit(&shm->watch.work, memory_order_relaxed);
	if (work & BCL_WORK_NEWS || now >= bcl_audit_due(shm))
		env->wake(env->world, port->object);
	pthread_mutex_unlock(&shm->lock);
}
