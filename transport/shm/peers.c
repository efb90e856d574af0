/* SPDX-License-Identifier: MIT */
/* Connections from the owner's side: peers that come and go, and the progress
 * of the port. See shm.h. */
#include <string.h>

#include "transport/shm/audit.h"
#include "transport/shm/handshake.h"
#include "transport/shm/leave.h"
#include "transport/shm/port.h"

enum {
	SOCKET_PASSES = 16, /* passes between looks at the sockets */
	NEWS_MAX = 64,	    /* connections looked at in one turn */
};

/* The owner lets a connection go. */
static void drop_connection(struct bcl_connection *c)
{
	struct bcl_shm_port *shm = c->shm;

	bcl_shm_count(shm->port);
	bcl_watch_end(c);
	if (c->pair.peer) {
		c->pair.peer->pair = NULL;
		c->pair.peer->path = NULL;
	}
	pthread_mutex_lock(&shm->lock);
	bcl_grants_end(c);
	bcl_connection_free(c);
	pthread_mutex_unlock(&shm->lock);
}

static void lose_connection(struct bcl_connection *c, enum bcl_status status)
{
	struct bcl_peer *peer = c->pair.peer;
	bool quiet = bcl_leave_is_quiet(c);
	bool parts = quiet || bcl_leave_has_begun(c);

	bcl_large_end(c, status);
	bcl_rma_end(c, status);
	drop_connection(c);
	if (!parts)
		bcl_peer_lose(peer, status);
	else if (bcl_peer_parted(peer, status, quiet))
		bcl_peer_connect(peer);
}

static bool bind_to_peer(struct bcl_connection *c)
{
	struct bcl_shm_port *shm = c->shm;
	struct bcl_peer *peer =
		bcl_peer_find(shm->port, c->card, c->number, true);
	bool closed;

	if (!peer || peer->state == BCL_PEER_UP) {
		drop_connection(c);
		return false;
	}
	c->pair.peer = peer;
	peer->pair = &c->pair;
	peer->path = c;
	bcl_watch_begin(c);
	closed = peer->closed && c->wanted;
	bcl_peer_up(peer, &bcl_shm_ops, c->why);
	if (closed)
		bcl_peer_close(peer);
	return true;
}

static void resolve_failure(struct bcl_connection *c)
{
	struct bcl_shm_port *shm = c->shm;
	struct bcl_peer *peer =
		bcl_peer_find(shm->port, c->card, c->number, false);
	enum bcl_status status = c->status;
	const char *why = c->why;
	bool lost = status == BCL_ERR_JOBKEY || status == BCL_ERR_VERSION;

	pthread_mutex_lock(&shm->lock);
	if (lost || !peer || peer->closed)
		bcl_connection_free(c);
	else
		bcl_connection_set_state(c, BCL_CONNECTION_CARD);
	pthread_mutex_unlock(&shm->lock);
	if (!peer || peer->state != BCL_PEER_CONNECTING)
		return;
	if (peer->closed)
		bcl_peer_part(peer);
	else if (lost)
		bcl_peer_lose(peer, status);
	else
		bcl_peer_try_card(peer, why);
}

/* The peer calls, although this side took the card: confirm that the peer is
 * still on the card, or free the connection. */
static void confirm_card(struct bcl_connection *c)
{
	struct bcl_shm_port *shm = c->shm;
	struct bcl_peer *peer =
		bcl_peer_find(shm->port, c->card, c->number, false);

	pthread_mutex_lock(&shm->lock);
	if (peer && peer->state != BCL_PEER_LOST)
		c->confirmed = true;
	else
		bcl_connection_free(c);
	pthread_mutex_unlock(&shm->lock);
}

/* Handle the news of a connection. Returns true if the owner has to look
 * again. */
static bool take_news(struct bcl_connection *c, uint8_t state)
{
	if (state == BCL_CONNECTION_FAILED) {
		resolve_failure(c);
		return false;
	}
	if (state == BCL_CONNECTION_CARD) {
		confirm_card(c);
		return false;
	}
	if (!c->pair.peer && !bind_to_peer(c))
		return false;
	if (state != BCL_CONNECTION_ENDED) {
		bcl_audit_hear(c);
		return false;
	}
	/* first deliver all messages that the peer has published */
	if (bcl_pair_ready(&c->pair))
		return true;
	lose_connection(c, BCL_ERR_DEAD);
	return false;
}

static struct bcl_connection *next_news(struct bcl_shm_port *shm,
					uint8_t *state)
{
	struct bcl_connection *c;

	pthread_mutex_lock(&shm->lock);
	for (c = shm->connections; c && !c->news; c = c->next)
		;
	if (c) {
		c->news = false;
		*state = c->state;
	}
	pthread_mutex_unlock(&shm->lock);
	return c;
}

static void hear_news(struct bcl_shm_port *shm)
{
	struct bcl_connection *c;
	bool again = false;
	unsigned heard = 0;
	uint8_t state;

	bcl_shm_done(shm, BCL_WORK_NEWS);
	for (; heard < NEWS_MAX && (c = next_news(shm, &state)); heard++)
		again |= take_news(c, state);
	if (heard == NEWS_MAX)
		bcl_shm_want(shm, BCL_WORK_NEWS);
	if (!again)
		return;
	pthread_mutex_lock(&shm->lock);
	for (c = shm->connections; c; c = c->next)
		c->news |= c->state == BCL_CONNECTION_ENDED;
	pthread_mutex_unlock(&shm->lock);
	bcl_shm_want(shm, BCL_WORK_NEWS);
}

/* ---- progress ---- */

static bool progress_copies(struct bcl_connection *c)
{
	bool more = bcl_large_progress(c);

	return bcl_rma_progress(c) || more;
}

/* A connection, polled or silent, for which is() returns true; NULL: none. */
static struct bcl_connection *
find_connection(const struct bcl_shm_port *shm,
		bool (*is)(const struct bcl_connection *))
{
	unsigned i;

	for (i = 0; i < shm->port->npairs; i++)
		if (is(shm->pairs[i]->connection))
			return shm->pairs[i]->connection;
	for (i = 0; i < shm->silent_end; i++)
		if (shm->silent[i] && is(shm->silent[i]))
			return shm->silent[i];
	return NULL;
}

static bool is_broken(const struct bcl_connection *c)
{
	return c->pair.broken;
}

static void break_pairs(struct bcl_shm_port *shm)
{
	struct bcl_connection *c;

	bcl_shm_done(shm, BCL_WORK_BROKEN);
	while ((c = find_connection(shm, is_broken)))
		lose_connection(c, BCL_ERR_DEAD);
}

static void leave_peers(struct bcl_shm_port *shm)
{
	struct bcl_connection *c;

	bcl_shm_done(shm, BCL_WORK_LEAVE);
	if (bcl_watch_each(shm, bcl_leave_progress))
		bcl_shm_want(shm, BCL_WORK_LEAVE);
	while ((c = find_connection(shm, bcl_leave_is_over))) {
		bcl_count(shm->port->counters, shm_left);
		lose_connection(c, BCL_ERR_DEAD);
	}
}

void bcl_shm_progress(struct bcl_port *port, uint64_t now)
{
	struct bcl_shm_port *shm = port->shm;
	uint32_t work =
		atomic_load_explicit(&shm->watch.work, memory_order_acquire);

	if ((work & BCL_WORK_SOCKETS) &&
	    shm->socket_passes++ % SOCKET_PASSES == 0)
		bcl_shm_service(port, now);
	if (work & BCL_WORK_OUTBOX) {
		bcl_shm_done(shm, BCL_WORK_OUTBOX);
		if (bcl_watch_each(shm, bcl_outbox_flush))
			bcl_shm_want(shm, BCL_WORK_OUTBOX);
	}
	if (work & BCL_WORK_COPY) {
		bcl_shm_done(shm, BCL_WORK_COPY);
		if (bcl_watch_each(shm, progress_copies))
			bcl_shm_want(shm, BCL_WORK_COPY);
	}
	if (work & BCL_WORK_LEAVE)
		leave_peers(shm);
	/* include the findings of the calls above: the caller may be about to
	 * sleep, and nobody wakes the caller for packets that it has taken from
	 * a socket itself */
	work = atomic_load_explicit(&shm->watch.work, memory_order_acquire);
	if (work & BCL_WORK_BROKEN)
		break_pairs(shm);
	if (work & BCL_WORK_NEWS)
		hear_news(shm);
}
