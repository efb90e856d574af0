/* SPDX-License-Identifier: MIT */
#include "mock_state.h"

struct mock_event *mock_push(struct mock_port *port, uint64_t at,
			     const struct bcl_event *event, const void *data,
			     size_t length)
{
	struct mock_event *entry = malloc(sizeof(*entry) + length);
	struct mock_event **place = &port->events;

	mock_check(entry, "no memory");
	*entry = (struct mock_event){ .at = at, .event = *event };
	if (length)
		memcpy(entry->data, data, length);
	if (event->kind == BCL_EVENT_MESSAGE) {
		entry->event.data = entry->data;
		entry->event.length = length;
	}
	while (*place && (*place)->at <= at)
		place = &(*place)->next;
	entry->next = *place;
	*place = entry;
	if (port->armed)
		port->mock->env->wake(port->mock->env->world,
				      port->base.object);
	return entry;
}

void mock_events_drop(struct mock_port *port)
{
	struct mock_event *entry;

	while ((entry = port->events)) {
		port->events = entry->next;
		if (entry->way)
			entry->way->on_way--;
		free(entry);
	}
	free(port->held);
	port->held = NULL;
}

static void let_go(struct mock_port *port)
{
	struct mock_event *held = port->held;

	if (!held)
		return;
	memset(held->data, 0xdd,
	       held->event.length * (held->event.kind == BCL_EVENT_MESSAGE));
	free(held);
	port->held = NULL;
}

static bool due(struct mock_port *port)
{
	return port->events && port->events->at <= mock_now(port->mock);
}

static void disarm(struct mock_port *port)
{
	if (port->armed)
		port->mock->env->clear(port->mock->env->world,
				       port->base.object);
	port->armed = false;
}

enum bcl_status bcl_poll(struct bcl_port *base, struct bcl_event *event)
{
	struct mock_port *port = mock_port_of(base);
	struct mock *mock;
	struct mock_event *entry;
	struct mock_peer *peer;

	if (bcl_port_forked(base))
		return BCL_ERR_FORKED;
	mock = mock_enter(port);
	let_go(port);
	disarm(port);
	mock_peers_reap(port);
	if (port->dead || !due(port)) {
		mock_leave(mock);
		return port->dead ? BCL_ERR_CLOSED : BCL_ERR_EMPTY;
	}
	entry = port->events;
	port->events = entry->next;
	port->held = entry;
	if (entry->way)
		entry->way->on_way--;
	*event = entry->event;
	if (event->kind == BCL_EVENT_PEER && event->status) {
		peer = mock_peer_of(event->peer);
		peer->dying = !peer->opened;
	}
	mock_leave(mock);
	return BCL_OK;
}

enum bcl_status bcl_arm(struct bcl_port *base)
{
	struct mock_port *port = mock_port_of(base);
	struct mock *mock = mock_enter(port);
	enum bcl_status status = due(port) ? BCL_ERR_AGAIN : BCL_OK;

	disarm(port);
	let_go(port);
	port->armed = !status;
	mock_leave(mock);
	return status;
}

int bcl_port_fd(struct bcl_port *port)
{
	return port->object;
}

enum bcl_status bcl_wait(struct bcl_port *base, uint64_t timeout)
{
	struct mock_port *port = mock_port_of(base);
	struct mock *mock = mock_enter(port);
	uint64_t start = mock_now(mock), end = UINT64_MAX, until;

	let_go(port);
	if (timeout < UINT64_MAX - start)
		end = start + timeout;
	disarm(port);
	while (!due(port)) {
		if (port->dead || mock_now(mock) >= end) {
			mock_leave(mock);
			return port->dead ? BCL_ERR_CLOSED : BCL_ERR_TIMEOUT;
		}
		until = end;
		if (port->events && port->events->at < until)
			until = port->events->at;
		port->armed = true;
		mock_leave(mock);
		mock->env->wait(mock->env->world, port->base.object, until);
		mock_enter(port);
		disarm(port);
	}
	mock_leave(mock);
	return BCL_OK;
}
