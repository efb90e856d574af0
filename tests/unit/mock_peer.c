/* SPDX-License-Identifier: MIT */
#include "mock_state.h"

struct mock_peer *mock_peer_find(struct mock_port *local,
				 struct mock_port *remote)
{
	struct mock_peer *peer = local->peers;

	while (peer && (peer->remote != remote || peer->dying))
		peer = peer->next;
	if (peer)
		return peer;
	peer = calloc(1, sizeof(*peer));
	mock_check(peer, "no memory");
	peer->base.port = &local->base;
	peer->base.number = (uint16_t)remote->number;
	peer->base.state = BCL_PEER_CONNECTING;
	peer->local = local;
	peer->remote = remote;
	peer->up_at = UINT64_MAX;
	peer->next = local->peers;
	local->peers = peer;
	return peer;
}

static void peer_event(struct mock_peer *peer, enum bcl_status status,
		       uint64_t at)
{
	const struct bcl_event event = {
		.kind = BCL_EVENT_PEER,
		.status = status,
		.peer = &peer->base,
	};

	mock_push(peer->local, at, &event, NULL, 0);
}

void mock_peer_lose(struct mock_peer *peer, enum bcl_status status)
{
	struct mock *mock = peer->local->mock;
	uint64_t at = mock_now(mock) + mock_draw(mock, mock->options.latency);

	if (peer->base.state == BCL_PEER_LOST)
		return;
	peer->base.state = BCL_PEER_LOST;
	peer->base.lost = (uint8_t)status;
	if (at < peer->last)
		at = peer->last;
	mock_offers_end(peer, status, at);
	peer_event(peer, status, at);
}

static void connect_now(struct mock_peer *peer)
{
	struct mock *mock = peer->local->mock;

	if (peer->remote->dead || !peer->remote->open) {
		mock_peer_lose(peer, BCL_ERR_UNREACHABLE);
		return;
	}
	peer->up_at = mock_now(mock) + mock_draw(mock, mock->options.connect);
	peer_event(peer, BCL_OK, peer->up_at);
}

enum bcl_status mock_peer_ready(struct mock_peer *peer)
{
	struct mock *mock = peer->local->mock;

	if (peer->local->dead)
		return BCL_ERR_CLOSED;
	if (peer->base.state == BCL_PEER_LOST)
		return peer->base.lost;
	if (peer->up_at > mock_now(mock))
		return BCL_ERR_AGAIN;
	peer->base.state = BCL_PEER_UP;
	if (mock->options.again && mock_draw(mock, 99) < mock->options.again)
		return BCL_ERR_AGAIN;
	return BCL_OK;
}

void mock_peers_reap(struct mock_port *port)
{
	struct mock_peer **place = &port->peers, *peer;

	while ((peer = *place)) {
		if (peer->dying && !peer->on_way) {
			*place = peer->next;
			free(peer);
		} else {
			place = &peer->next;
		}
	}
}

void mock_peers_drop(struct mock_port *port)
{
	struct mock_peer *peer;

	while ((peer = port->peers)) {
		port->peers = peer->next;
		free(peer);
	}
}

void mock_port_lost(struct mock *mock, struct mock_port *port)
{
	struct mock_peer *peer;

	for (unsigned i = 0; i < mock->options.ports; i++) {
		for (peer = mock->port[i].peers; peer; peer = peer->next) {
			if (peer->remote == port && &mock->port[i] != port &&
			    mock->port[i].open && !mock->port[i].dead)
				mock_peer_lose(peer, BCL_ERR_DEAD);
		}
	}
}

enum bcl_status bcl_peer_open(struct bcl_port *base, const void *address,
			      size_t length, struct bcl_peer **result)
{
	struct mock_port *port = mock_port_of(base);
	struct mock *mock = mock_enter(port);
	enum bcl_status status = BCL_ERR_ARG;
	struct mock_peer *peer;
	unsigned number;

	if (length == sizeof(number)) {
		memcpy(&number, address, sizeof(number));
		if (number && number <= mock->options.ports)
			status = BCL_OK;
	}
	if (!status) {
		peer = mock_peer_find(port, &mock->port[number - 1]);
		if (peer->base.state == BCL_PEER_LOST)
			peer->base.state = BCL_PEER_CONNECTING;
		if (!peer->opened && peer->base.state == BCL_PEER_CONNECTING)
			connect_now(peer);
		peer->opened = true;
		*result = &peer->base;
	}
	mock_leave(mock);
	return status;
}

void bcl_peer_set_user(struct bcl_peer *peer, void *user)
{
	peer->user = user;
}

void *bcl_peer_user(const struct bcl_peer *peer)
{
	return peer->user;
}
