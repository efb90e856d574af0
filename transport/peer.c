/* SPDX-License-Identifier: MIT */
/*
 * Peers of a port: the table by (card, number), and the changes of state (see
 * struct bcl_peer in peer.h).
 */
#include <stdio.h>
#include <string.h>

#include "transport/internal.h"
#include "transport/send.h"
#include "transport/sized.h"

enum {
	FIRST_HASH = 64,
};

/* ---- the path of a peer that is not up ---- */

static enum bcl_status not_up(const struct bcl_peer *peer)
{
	struct bcl_counter_page *counters = peer->port->counters;

	if (peer->state == BCL_PEER_LOST) {
		bcl_count(counters, core_send_lost);
		return peer->lost;
	}
	bcl_count(counters, core_send_again);
	return BCL_ERR_AGAIN;
}

static enum bcl_status none_send(struct bcl_peer *peer, unsigned type,
				 uint64_t immediate, const struct iovec *iov,
				 unsigned niov, size_t length, uint64_t cookie)
{
	(void)type;
	(void)immediate;
	(void)iov;
	(void)niov;
	(void)length;
	(void)cookie;
	return not_up(peer);
}

static enum bcl_status none_reserve(struct bcl_peer *peer, size_t length,
				    void **room)
{
	(void)length;
	(void)room;
	return not_up(peer);
}

static enum bcl_status none_commit(struct bcl_peer *peer, unsigned type,
				   uint64_t immediate, size_t length)
{
	(void)type;
	(void)immediate;
	(void)length;
	return not_up(peer);
}

static void none_info(const struct bcl_peer *peer, struct bcl_peer_info *info)
{
	(void)peer;
	(void)info;
}

static void none_close(struct bcl_peer *peer)
{
	/* Shared memory itself ends the connection that it has begun. */
	if (!peer->calling)
		return;
	peer->calling = false;
	bcl_peer_part(peer);
}

static const struct bcl_path_ops none_ops = {
	.path = BCL_PATH_NONE,
	.send = none_send,
	.reserve = none_reserve,
	.commit = none_commit,
	.info = none_info,
	.close = none_close,
};

/* ---- the peers of a port ---- */

static void hash_insert(struct bcl_port *port, struct bcl_peer *peer)
{
	struct bcl_peer **first =
		bcl_peer_bucket(port, peer->address.card, peer->number);

	peer->next_hashed = *first;
	*first = peer;
}

static bool hash_grow(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;
	unsigned size = port->nhash ? 2 * port->nhash : FIRST_HASH;
	struct bcl_peer **hash =
		env->allocate(env->world, size * sizeof(*hash));

	if (!hash)
		return false;
	if (port->hash)
		env->release(env->world, port->hash,
			     port->nhash * sizeof(*hash));
	port->hash = hash;
	port->nhash = size;
	for (struct bcl_peer *peer = port->peers; peer; peer = peer->next)
		if (!peer->hidden)
			hash_insert(port, peer);
	return true;
}

struct bcl_peer *bcl_peer_make(struct bcl_port *port, uint64_t card,
			       uint16_t number)
{
	const struct bcl_env *env = port->context->env;
	struct bcl_peer *peer;

	if (port->npeers >= port->nhash && !hash_grow(port))
		return NULL;
	peer = env->allocate(env->world, sizeof(*peer));
	if (!peer)
		return NULL;
	peer->ops = &none_ops;
	peer->port = port;
	peer->node = BCL_NODE_NONE;
	peer->number = number;
	peer->state = BCL_PEER_CONNECTING;
	peer->address.card = card;
	peer->address.number = number;
	peer->next = port->peers;
	port->peers = peer;
	port->npeers++;
	hash_insert(port, peer);
	return peer;
}

/* True if only operations that are under way keep the peer. */
static unsigned ends_by_itself(const struct bcl_peer *peer)
{
	return peer->closed && peer->ops->path == BCL_PATH_CARD;
}

static void set_closed(struct bcl_peer *peer, bool closed)
{
	peer->port->nclosed -= ends_by_itself(peer);
	peer->closed = closed;
	peer->port->nclosed += ends_by_itself(peer);
}

static void set_ops(struct bcl_peer *peer, const struct bcl_path_ops *ops)
{
	peer->port->nclosed -= ends_by_itself(peer);
	peer->ops = ops;
	peer->port->nclosed += ends_by_itself(peer);
}

/* Takes the peer out of the hash: messages from its port now make a new
 * peer. */
static void hide_peer(struct bcl_peer *peer)
{
	struct bcl_peer **hashed =
		bcl_peer_bucket(peer->port, peer->address.card, peer->number);

	if (peer->hidden)
		return;
	while (*hashed != peer)
		hashed = &(*hashed)->next_hashed;
	*hashed = peer->next_hashed;
	peer->hidden = true;
}

static void forget_peer(struct bcl_port *port, struct bcl_peer **place)
{
	const struct bcl_env *env = port->context->env;
	struct bcl_peer *peer = *place;

	hide_peer(peer);
	*place = peer->next;
	bcl_peer_refuse(peer, false);
	port->npeers--;
	set_closed(peer, false);
	port->nlost -= peer->state == BCL_PEER_LOST;
	env->release(env->world, peer, sizeof(*peer));
}

/* True if nobody holds the peer and its path needs it no more. */
static bool is_forgotten(const struct bcl_peer *peer)
{
	if (peer->opened || peer->requests || peer->path || peer->calling)
		return false;
	return peer->state == BCL_PEER_LOST || ends_by_itself(peer);
}

void bcl_peers_reap(struct bcl_port *port)
{
	struct bcl_peer **place = &port->peers;

	if (!port->nlost && !port->nclosed)
		return;
	/* a queued event may name such a peer */
	if (bcl_event_pending(port) || port->flags & BCL_PORT_STASHED)
		return;
	while (*place) {
		if (is_forgotten(*place))
			forget_peer(port, place);
		else
			place = &(*place)->next;
	}
}

bool bcl_peers_room(struct bcl_port *port, bool take)
{
	struct bcl_peer *peer;
	bool found = false;

	for (peer = port->peers; peer && port->nrefused; peer = peer->next) {
		if (!peer->refused || !peer->ops->has_room ||
		    !peer->ops->has_room(peer))
			continue;
		if (take)
			bcl_peer_refuse(peer, false);
		found = true;
	}
	return found;
}

static void count_out(struct bcl_peer *peer)
{
	if (peer->ops->path == BCL_PATH_SHARED)
		atomic_fetch_sub_explicit(&peer->port->context->connected, 1,
					  memory_order_relaxed);
}

void bcl_peers_free(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;

	while (port->peers) {
		count_out(port->peers);
		forget_peer(port, &port->peers);
	}
	if (port->hash)
		env->release(env->world, port->hash,
			     port->nhash * sizeof(*port->hash));
}

/* ---- coming up, going down ---- */

static void set_state(struct bcl_peer *peer, enum bcl_peer_state state)
{
	peer->port->nlost += state == BCL_PEER_LOST;
	peer->port->nlost -= peer->state == BCL_PEER_LOST;
	peer->state = state;
}

static void push_peer_event(struct bcl_peer *peer, enum bcl_status status)
{
	const struct bcl_event event = {
		.kind = BCL_EVENT_PEER,
		.status = status,
		.peer = peer,
	};

	bcl_event_push(peer->port, &event);
}

/* Remembers the time: connections often come several at a time; see poll.c. */
static void note_change(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;

	port->service.changed = env->now(env->world);
}

static void set_why(struct bcl_peer *peer, const char *why)
{
	snprintf(peer->why, sizeof(peer->why), "%s", why);
}

void bcl_peer_up(struct bcl_peer *peer, const struct bcl_path_ops *ops,
		 const char *why)
{
	struct bcl_counter_page *counters = peer->port->counters;

	bcl_assert(peer->state != BCL_PEER_UP);
	bcl_assert(ops->send && ops->reserve && ops->commit && ops->info &&
		   ops->close);
	set_ops(peer, ops);
	/* a port that connects after the close counts as a stranger */
	set_closed(peer, false);
	set_state(peer, BCL_PEER_UP);
	note_change(peer->port);
	if (ops->path == BCL_PATH_SHARED) {
		bcl_count(counters, core_peers_shared);
		atomic_fetch_add_explicit(&peer->port->context->connected, 1,
					  memory_order_relaxed);
		set_why(peer, why);
	} else if (ops->path == BCL_PATH_CARD) {
		bcl_count(counters, core_peers_card);
		peer->port->network.used = true;
		/* the reason why shared memory is out says more */
		if (!peer->why[0])
			set_why(peer, why);
	}
	bcl_log(&peer->port->context->config, BCL_LOG_INFO, "peer",
		"port %u: %016llx/%u is up, path %u: %s", peer->port->number,
		(unsigned long long)peer->address.card, peer->number, ops->path,
		peer->why);
	push_peer_event(peer, BCL_OK);
}

/* Takes the peer off its path. `state` is the new state, `status` the reason
 * of a loss. */
static void leave_path(struct bcl_peer *peer, enum bcl_peer_state state,
		       enum bcl_status status)
{
	count_out(peer);
	bcl_peer_refuse(peer, false);
	set_ops(peer, &none_ops);
	peer->pair = NULL;
	set_state(peer, state);
	peer->lost = (uint8_t)status;
	note_change(peer->port);
}

static void tell_lost(struct bcl_peer *peer, enum bcl_status status)
{
	bcl_count(peer->port->counters, core_peers_lost);
	bcl_log(&peer->port->context->config, BCL_LOG_INFO, "peer",
		"port %u: %016llx/%u is lost: %s", peer->port->number,
		(unsigned long long)peer->address.card, peer->number,
		bcl_strstatus(status));
	push_peer_event(peer, status);
}

void bcl_peer_lose(struct bcl_peer *peer, enum bcl_status status)
{
	if (peer->state == BCL_PEER_LOST)
		return;
	leave_path(peer, BCL_PEER_LOST, status);
	tell_lost(peer, status);
}

void bcl_peer_connecting(struct bcl_peer *peer)
{
	set_state(peer, BCL_PEER_CONNECTING);
	peer->why[0] = 0;
	note_change(peer->port);
}

void bcl_peer_part(struct bcl_peer *peer)
{
	leave_path(peer, peer->opened ? BCL_PEER_CONNECTING : BCL_PEER_LOST,
		   BCL_ERR_DEAD);
}

bool bcl_peer_parted(struct bcl_peer *peer, enum bcl_status status, bool quiet)
{
	bcl_peer_part(peer);
	if (!peer->opened && !quiet)
		tell_lost(peer, status);
	return peer->opened;
}

bool bcl_peer_opened(struct bcl_peer *peer, const struct bcl_address *address)
{
	bool fresh = peer->state == BCL_PEER_CONNECTING && !peer->address_known;
	bool closed = peer->closed;

	peer->address = *address;
	peer->address_known = true;
	peer->opened = true;
	set_closed(peer, false);
	if (fresh || peer->state == BCL_PEER_LOST)
		return true;
	if (closed && peer->ops->open)
		peer->ops->open(peer);
	return false;
}

void bcl_peer_close(struct bcl_peer *peer)
{
	if (bcl_peer_usable(peer))
		return;
	bcl_presence(peer->port->context);
	peer->opened = false;
	peer->user = NULL;
	set_closed(peer, true);
	peer->ops->close(peer);
	if (ends_by_itself(peer))
		hide_peer(peer);
}

void bcl_peer_set_user(struct bcl_peer *peer, void *user)
{
	if (!bcl_peer_usable(peer))
		peer->user = user;
}

void *bcl_peer_user(const struct bcl_peer *peer)
{
	return peer ? peer->user : NULL;
}

enum bcl_status bcl_peer_info(const struct bcl_peer *peer,
			      struct bcl_peer_info *result)
{
	enum bcl_status status = bcl_peer_usable(peer);
	struct bcl_peer_info info;

	if (status)
		return status;
	if (!result)
		return BCL_ERR_ARG;
	info = (struct bcl_peer_info){
		.path = peer->ops->path,
		.state = peer->state,
		.status = peer->state == BCL_PEER_LOST ? peer->lost : BCL_OK,
		.card = peer->address.card,
		.number = peer->number,
		.longest = bcl_send_longest(peer),
		.level = 2,
	};
	if (info.path == BCL_PATH_SHARED ||
	    peer->address.host == peer->port->context->host)
		info.level = 1;
	if (info.path == BCL_PATH_SELF)
		info.level = 0;
	memcpy(info.why, peer->why, sizeof(info.why));
	peer->ops->info(peer, &info);
	return bcl_sized_write(result, &info, why);
}
