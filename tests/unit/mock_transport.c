/* SPDX-License-Identifier: MIT */
#include "mock_transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/key.h"
#include "transport/send.h"
#include "transport/shm/pair.h"

enum {
	PORTS = 64,
	MAGIC = 0x3c0d,
	VALUES = 8,
};

struct mock_peer {
	struct bcl_peer base; /* first */
	struct mock_port *local, *remote;
	uint64_t up_at;	 /* CONNECTING until then */
	uint64_t last;	 /* when the last message to it arrives */
	unsigned on_way; /* messages to it that it has not taken */
	bool blocked, opened, dying;
	struct mock_peer *next;
};

struct mock_event {
	struct mock_event *next;
	uint64_t at;
	struct bcl_event event;
	struct mock_peer *way; /* whose on_way it counts in */
	unsigned char data[];
};

struct mock_offer {
	struct mock_offer *next;
	struct mock_peer *owner;
	const void *buffer;
	size_t length;
	uint64_t cookie, id;
	bool withdrawn;
};

struct mock_port {
	struct bcl_port base; /* first */
	struct mock *mock;
	unsigned number; /* from 1 */
	bool open, dead;
	bool armed;
	struct mock_peer *peers;
	struct mock_event *events; /* in order of time */
	struct mock_event *held;
	struct mock_peer *reserved;
	unsigned char room[BCL_MESSAGE_MAX];
	unsigned offers;
	unsigned sent[BCL_TYPES];
	struct bcl_memory memory; /* of no bytes: none */
	struct bcl_counter_page page;
};

struct mock_value {
	char name[BCL_BOOT_NAME_MAX];
	unsigned char value[128];
	size_t length;
};

struct mock_boot {
	struct bcl_boot base; /* first */
	struct mock *mock;
	struct mock_value values[VALUES];
	unsigned nvalues, fences;
};

struct mock {
	const struct bcl_env *env;
	struct mock_options options;
	pthread_mutex_t lock;
	uint64_t random;
	uint64_t ids;
	struct bcl_context context[PORTS];
	struct mock_port port[PORTS];
	struct mock_boot boot[PORTS];
	struct mock_offer *offers;
};

struct token {
	uint64_t magic, id, length, spare;
};

_Static_assert(sizeof(struct token) == BCL_KEY_MAX, "token");

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "mock transport: %s\n", what);
	abort();
}

static uint64_t draw(struct mock *mock, uint64_t most)
{
	mock->random ^= mock->random >> 12;
	mock->random ^= mock->random << 25;
	mock->random ^= mock->random >> 27;
	return most ? mock->random * 2685821657736338717ull % (most + 1) : 0;
}

static uint64_t now(struct mock *mock)
{
	return mock->env->now(mock->env->world);
}

static struct mock_port *port_of(struct bcl_port *port)
{
	return (struct mock_port *)port;
}

static struct mock_peer *peer_of(struct bcl_peer *peer)
{
	return (struct mock_peer *)peer;
}

/* A call for the port begins: its mock, locked. */
static struct mock *enter(struct mock_port *port)
{
	pthread_mutex_lock(&port->mock->lock);
	check(port->open, "a port that is not open");
	return port->mock;
}

static void leave(struct mock *mock)
{
	pthread_mutex_unlock(&mock->lock);
}

/* ---- events ---- */

static struct mock_event *push(struct mock_port *port, uint64_t at,
			       const struct bcl_event *event, const void *data,
			       size_t length)
{
	struct mock_event *entry = malloc(sizeof(*entry) + length);
	struct mock_event **place = &port->events;

	check(entry, "no memory");
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

static struct mock_peer *find_peer(struct mock_port *local,
				   struct mock_port *remote)
{
	struct mock_peer *peer = local->peers;

	while (peer && (peer->remote != remote || peer->dying))
		peer = peer->next;
	if (peer)
		return peer;
	peer = calloc(1, sizeof(*peer));
	check(peer, "no memory");
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

	push(peer->local, at, &event, NULL, 0);
}

static void lose(struct mock_peer *peer, enum bcl_status status)
{
	struct mock *mock = peer->local->mock;
	struct mock_offer **place = &mock->offers, *offer;
	uint64_t at = now(mock) + draw(mock, mock->options.latency);

	if (peer->base.state == BCL_PEER_LOST)
		return;
	peer->base.state = BCL_PEER_LOST;
	peer->base.lost = (uint8_t)status;
	if (at < peer->last)
		at = peer->last;
	while ((offer = *place)) {
		const struct bcl_event event = {
			.kind = BCL_EVENT_READ,
			.status = status,
			.peer = &peer->base,
			.cookie = offer->cookie,
		};

		if (offer->owner != peer) {
			place = &offer->next;
			continue;
		}
		*place = offer->next;
		if (!offer->withdrawn)
			push(peer->local, at, &event, NULL, 0);
		peer->local->offers--;
		free(offer);
	}
	peer_event(peer, status, at);
}

static void connect_now(struct mock_peer *peer)
{
	struct mock *mock = peer->local->mock;

	if (peer->remote->dead || !peer->remote->open) {
		lose(peer, BCL_ERR_UNREACHABLE);
		return;
	}
	peer->up_at = now(mock) + draw(mock, mock->options.connect);
	peer_event(peer, BCL_OK, peer->up_at);
}

/* May something be handed over for the peer now? */
static enum bcl_status ready(struct mock_peer *peer)
{
	struct mock *mock = peer->local->mock;

	if (peer->local->dead)
		return BCL_ERR_CLOSED;
	if (peer->base.state == BCL_PEER_LOST)
		return peer->base.lost;
	if (peer->up_at > now(mock))
		return BCL_ERR_AGAIN;
	peer->base.state = BCL_PEER_UP;
	if (mock->options.again && draw(mock, 99) < mock->options.again)
		return BCL_ERR_AGAIN;
	return BCL_OK;
}

static void send_event(struct mock_peer *peer, enum bcl_event_kind kind,
		       unsigned type, uint64_t immediate, const void *data,
		       size_t length)
{
	struct mock *mock = peer->local->mock;
	struct mock_peer *back = find_peer(peer->remote, peer->local);
	const struct bcl_event event = {
		.kind = kind,
		.peer = &back->base,
		.type = type,
		.immediate = immediate,
	};
	uint64_t at = now(mock) + draw(mock, mock->options.latency);

	if (back->base.state == BCL_PEER_CONNECTING &&
	    back->up_at == UINT64_MAX)
		back->up_at = at;
	if (at < peer->last)
		at = peer->last;
	peer->last = at;
	peer->on_way++;
	push(peer->remote, at, &event, data, length)->way = peer;
	peer->local->sent[type]++;
}

static enum bcl_status may_send(struct mock_peer *peer)
{
	struct mock *mock = peer->local->mock;
	enum bcl_status status = ready(peer);

	if (!status && (peer->blocked || (mock->options.ring &&
					  peer->on_way >= mock->options.ring)))
		status = BCL_ERR_AGAIN;
	return status;
}

/* ---- the interface ---- */

enum bcl_status bcl_open(const struct bcl_context_options *options,
			 struct bcl_context **context)
{
	(void)options;
	(void)context;
	check(false, "a context comes from mock_context()");
	return BCL_ERR_SYSTEM;
}

void bcl_close(struct bcl_context *context)
{
	(void)context;
}

enum bcl_status bcl_port_open(struct bcl_context *context,
			      const struct bcl_port_options *options,
			      struct bcl_port **result)
{
	struct mock *mock = (struct mock *)context->helper;
	struct mock_port *port = &mock->port[context - mock->context];

	(void)options;
	pthread_mutex_lock(&mock->lock);
	check(!port->open, "a second port of a process");
	port->open = true;
	port->base.context = context;
	port->base.counters = &port->page;
	port->base.fork_generation = bcl_fork_generation();
	port->base.object = mock->env->object_open(mock->env->world);
	*result = &port->base;
	pthread_mutex_unlock(&mock->lock);
	return BCL_OK;
}

static void drop_events(struct mock_port *port)
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

static void lost_by_others(struct mock *mock, struct mock_port *port)
{
	struct mock_peer *peer;

	for (unsigned i = 0; i < mock->options.ports; i++) {
		for (peer = mock->port[i].peers; peer; peer = peer->next) {
			if (peer->remote == port && &mock->port[i] != port &&
			    mock->port[i].open && !mock->port[i].dead)
				lose(peer, BCL_ERR_DEAD);
		}
	}
}

void bcl_port_close(struct bcl_port *base)
{
	struct mock_port *port = port_of(base);
	struct mock *mock = enter(port);

	drop_events(port);
	port->open = false;
	lost_by_others(mock, port);
	mock->env->object_close(mock->env->world, port->base.object);
	leave(mock);
}

enum bcl_status bcl_port_address(struct bcl_port *base, void *address,
				 size_t *length)
{
	struct mock_port *port = port_of(base);

	memcpy(address, &port->number, sizeof(port->number));
	*length = sizeof(port->number);
	return BCL_OK;
}

enum bcl_status bcl_peer_open(struct bcl_port *base, const void *address,
			      size_t length, struct bcl_peer **result)
{
	struct mock_port *port = port_of(base);
	struct mock *mock = enter(port);
	enum bcl_status status = BCL_ERR_ARG;
	struct mock_peer *peer;
	unsigned number;

	if (length == sizeof(number)) {
		memcpy(&number, address, sizeof(number));
		if (number && number <= mock->options.ports)
			status = BCL_OK;
	}
	if (!status) {
		peer = find_peer(port, &mock->port[number - 1]);
		if (peer->base.state == BCL_PEER_LOST)
			peer->base.state = BCL_PEER_CONNECTING;
		if (!peer->opened && peer->base.state == BCL_PEER_CONNECTING)
			connect_now(peer);
		peer->opened = true;
		*result = &peer->base;
	}
	leave(mock);
	return status;
}

/* No peer has a pair, so what the ADI does in line ends before these. */

enum bcl_status bcl_pair_send_full(struct bcl_pair *pair, unsigned type,
				   uint64_t immediate, const void *data,
				   size_t length)
{
	(void)pair, (void)type, (void)immediate, (void)data, (void)length;
	abort();
}

enum bcl_status bcl_pair_attend(struct bcl_pair *pair)
{
	(void)pair;
	abort();
}

enum bcl_status bcl_pair_unusual(struct bcl_pair *pair, uint64_t header,
				 uint64_t immediate, const void *payload)
{
	(void)pair, (void)header, (void)immediate, (void)payload;
	abort();
}

enum bcl_status bcl_send(struct bcl_peer *base, unsigned type,
			 uint64_t immediate, const struct iovec *iov,
			 unsigned niov, uint64_t cookie)
{
	struct mock_peer *peer = peer_of(base);
	struct mock *mock = enter(peer->local);
	unsigned char data[BCL_MESSAGE_MAX];
	enum bcl_status status;
	size_t length = 0;

	check(type < BCL_TYPES && niov <= BCL_GATHER_MAX, "send: argument");
	check(!peer->local->reserved, "a send between reserve and commit");
	for (unsigned i = 0; i < niov; i++) {
		check(iov[i].iov_len <= sizeof(data) - length, "send: length");
		if (iov[i].iov_len)
			memcpy(data + length, iov[i].iov_base, iov[i].iov_len);
		length += iov[i].iov_len;
	}
	status = may_send(peer);
	if (!status) {
		send_event(peer, BCL_EVENT_MESSAGE, type, immediate, data,
			   length);
		if (cookie) {
			const struct bcl_event event = {
				.kind = BCL_EVENT_SENT,
				.peer = base,
				.cookie = cookie,
			};

			push(peer->local, peer->last, &event, NULL, 0);
		}
	}
	leave(mock);
	return status;
}

enum bcl_status bcl_send_pieces(struct bcl_peer *peer, unsigned type,
				uint64_t immediate, const struct iovec *iov,
				unsigned niov, size_t length)
{
	(void)length;
	return bcl_send(peer, type, immediate, iov, niov, 0);
}

enum bcl_status bcl_reserve(struct bcl_peer *base, size_t length, void **room)
{
	struct mock_peer *peer = peer_of(base);
	struct mock *mock = enter(peer->local);
	enum bcl_status status = may_send(peer);

	check(length <= BCL_MESSAGE_MAX, "reserve: length");
	if (!status) {
		peer->local->reserved = peer;
		*room = peer->local->room;
	}
	leave(mock);
	return status;
}

enum bcl_status bcl_commit(struct bcl_peer *base, unsigned type,
			   uint64_t immediate, size_t length)
{
	struct mock_peer *peer = peer_of(base);
	struct mock *mock = enter(peer->local);

	check(peer->local->reserved == peer, "commit without reserve");
	peer->local->reserved = NULL;
	send_event(peer, BCL_EVENT_MESSAGE, type, immediate, peer->local->room,
		   length);
	leave(mock);
	return BCL_OK;
}

enum bcl_status bcl_offer(struct bcl_peer *base, const void *buffer,
			  size_t length, uint64_t cookie, void *token)
{
	struct mock_peer *peer = peer_of(base);
	struct mock *mock = enter(peer->local);
	enum bcl_status status = ready(peer);
	struct mock_offer *offer;
	struct token t = { .magic = MAGIC, .length = length };

	if (!status && mock->options.offers &&
	    peer->local->offers >= mock->options.offers)
		status = BCL_ERR_AGAIN;
	if (!status) {
		peer->local->offers++;
		offer = calloc(1, sizeof(*offer));
		check(offer, "no memory");
		t.id = ++mock->ids;
		*offer = (struct mock_offer){
			.next = mock->offers,
			.owner = peer,
			.buffer = buffer,
			.length = length,
			.cookie = cookie,
			.id = t.id,
		};
		mock->offers = offer;
		memcpy(token, &t, sizeof(t));
	}
	leave(mock);
	return status;
}

enum bcl_status bcl_withdraw(struct bcl_peer *base, const void *token)
{
	struct mock_peer *peer = peer_of(base);
	struct mock *mock = enter(peer->local);
	enum bcl_status status = (enum bcl_status)peer->base.lost;
	struct mock_offer *offer = mock->offers;
	struct token t;

	memcpy(&t, token, sizeof(t));
	check(t.magic == MAGIC, "withdraw: not a token");
	while (offer && offer->id != t.id)
		offer = offer->next;
	check(!offer || (offer->owner == peer && !offer->withdrawn),
	      "withdraw: not one's own offer");
	if (!status && !offer)
		status = BCL_ERR_BUSY;
	if (!status)
		offer->withdrawn = true;
	leave(mock);
	return status;
}

enum bcl_status bcl_pull(struct bcl_peer *base, const void *token, void *buffer,
			 size_t length, uint64_t cookie)
{
	struct mock_peer *peer = peer_of(base);
	struct mock *mock = enter(peer->local);
	enum bcl_status status = ready(peer);
	struct mock_offer **place = &mock->offers, *offer;
	struct bcl_event event = { .kind = BCL_EVENT_PULLED,
				   .peer = base,
				   .cookie = cookie,
				   .length = length };
	struct token t;

	memcpy(&t, token, sizeof(t));
	check(t.magic == MAGIC, "pull: not a token");
	if (status)
		goto out;
	while (*place && (*place)->id != t.id)
		place = &(*place)->next;
	offer = *place;
	check(offer, "pull: a token that was used or never given");
	check(offer->owner->remote == peer->local &&
		      offer->owner->local == peer->remote,
	      "pull: an offer to somebody else");
	check(length <= offer->length, "pull: more than was offered");
	*place = offer->next;
	if (offer->withdrawn)
		event.status = BCL_ERR_CANCELLED;
	else if (length)
		memcpy(buffer, offer->buffer, length);
	push(peer->local, now(mock) + draw(mock, mock->options.transfer),
	     &event, NULL, 0);
	event.kind = BCL_EVENT_READ;
	event.peer = &offer->owner->base;
	event.cookie = offer->cookie;
	if (offer->withdrawn)
		goto done;
	push(peer->remote, now(mock) + draw(mock, mock->options.transfer),
	     &event, NULL, 0);
done:
	offer->owner->local->offers--;
	free(offer);
out:
	leave(mock);
	return status;
}

/* ---- memory ---- */

enum bcl_status bcl_memory_register(struct bcl_context *context, void *address,
				    size_t length, unsigned rights,
				    struct bcl_memory **result)
{
	struct mock *mock = (struct mock *)context->helper;
	struct mock_port *port = &mock->port[context - mock->context];

	enter(port);
	check(!port->memory.length, "register: one memory at a time");
	port->memory = (struct bcl_memory){
		.context = context,
		.address = address,
		.length = length,
		.rights = rights,
		.handle = (uint32_t)++mock->ids,
	};
	*result = &port->memory;
	leave(mock);
	return BCL_OK;
}

void bcl_memory_release(struct bcl_memory *memory)
{
	memory->length = 0;
}

void bcl_memory_key(const struct bcl_memory *memory, void *bytes)
{
	const struct bcl_key key = {
		.length = memory->length,
		.handle = memory->handle,
		.rights = memory->rights,
	};

	bcl_key_pack(&key, bytes);
}

/* There is no card. */
void *bcl_memory_check(struct bcl_context *context, uint32_t handle,
		       uint64_t offset, uint64_t length, unsigned rights)
{
	(void)context, (void)handle, (void)offset, (void)length, (void)rights;
	abort();
}

/* It is there at once, its notice when a message sent now would be. */
enum bcl_status bcl_put_notify(struct bcl_peer *base, const void *bytes,
			       uint64_t offset, const void *buffer,
			       size_t length, unsigned type, uint32_t immediate,
			       uint64_t cookie)
{
	const struct bcl_key key = bcl_key_unpack(bytes);
	struct mock_peer *peer = peer_of(base);
	struct mock *mock = enter(peer->local);
	const struct bcl_memory *memory = &peer->remote->memory;
	struct bcl_event event = { .kind = BCL_EVENT_SENT,
				   .peer = base,
				   .cookie = cookie };
	enum bcl_status status = may_send(peer);

	check(type < BCL_TYPES &&
		      bcl_key_allows(&key, offset, length, BCL_REMOTE_WRITE),
	      "put: argument");
	if (!memory->length || memory->handle != key.handle) {
		event.status = BCL_ERR_MEMORY;
	} else if (!status) {
		memcpy((char *)memory->address + offset, buffer, length);
		send_event(peer, BCL_EVENT_NOTIFY, type, immediate, NULL, 0);
	}
	if (!status)
		push(peer->local,
		     now(mock) + draw(mock, mock->options.transfer), &event,
		     NULL, 0);
	leave(mock);
	return status;
}

static void reap(struct mock_port *port)
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
	return port->events && port->events->at <= now(port->mock);
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
	struct mock_port *port = port_of(base);
	struct mock *mock;
	struct mock_event *entry;
	struct mock_peer *peer;

	if (bcl_port_forked(base))
		return BCL_ERR_FORKED;
	mock = enter(port);
	let_go(port);
	disarm(port);
	reap(port);
	if (port->dead || !due(port)) {
		leave(mock);
		return port->dead ? BCL_ERR_CLOSED : BCL_ERR_EMPTY;
	}
	entry = port->events;
	port->events = entry->next;
	port->held = entry;
	if (entry->way)
		entry->way->on_way--;
	*event = entry->event;
	if (event->kind == BCL_EVENT_PEER && event->status) {
		peer = peer_of(event->peer);
		peer->dying = !peer->opened;
	}
	leave(mock);
	return BCL_OK;
}

enum bcl_status bcl_arm(struct bcl_port *base)
{
	struct mock_port *port = port_of(base);
	struct mock *mock = enter(port);
	enum bcl_status status = due(port) ? BCL_ERR_AGAIN : BCL_OK;

	disarm(port);
	let_go(port);
	port->armed = !status;
	leave(mock);
	return status;
}

int bcl_port_fd(struct bcl_port *port)
{
	return port->object;
}

enum bcl_status bcl_wait(struct bcl_port *base, uint64_t timeout)
{
	struct mock_port *port = port_of(base);
	struct mock *mock = enter(port);
	uint64_t start = now(mock), end = UINT64_MAX, until;

	let_go(port);
	if (timeout < UINT64_MAX - start)
		end = start + timeout;
	disarm(port);
	while (!due(port)) {
		if (port->dead || now(mock) >= end) {
			leave(mock);
			return port->dead ? BCL_ERR_CLOSED : BCL_ERR_TIMEOUT;
		}
		until = end;
		if (port->events && port->events->at < until)
			until = port->events->at;
		port->armed = true;
		leave(mock);
		mock->env->wait(mock->env->world, port->base.object, until);
		enter(port);
		disarm(port);
	}
	leave(mock);
	return BCL_OK;
}

void bcl_peer_set_user(struct bcl_peer *peer, void *user)
{
	peer->user = user;
}

void *bcl_peer_user(const struct bcl_peer *peer)
{
	return peer->user;
}

/* ---- bootstrap ---- */

static enum bcl_status boot_put(struct bcl_boot *base, const char *name,
				const void *value, size_t length)
{
	struct mock_boot *boot = (struct mock_boot *)base;
	struct mock_value *entry = &boot->values[boot->nvalues];

	pthread_mutex_lock(&boot->mock->lock);
	check(boot->nvalues < VALUES && length <= sizeof(entry->value),
	      "boot: too much");
	snprintf(entry->name, sizeof(entry->name), "%s", name);
	memcpy(entry->value, value, length);
	entry->length = length;
	boot->nvalues++;
	pthread_mutex_unlock(&boot->mock->lock);
	return BCL_OK;
}

static enum bcl_status boot_get(struct bcl_boot *base, unsigned rank,
				const char *name, void *value, size_t size,
				size_t *length)
{
	struct mock *mock = ((struct mock_boot *)base)->mock;
	enum bcl_status status = BCL_ERR_EMPTY;
	struct mock_boot *boot;

	if (rank >= mock->options.ports)
		return status;
	boot = &mock->boot[rank];
	pthread_mutex_lock(&mock->lock);
	for (unsigned i = 0; i < boot->nvalues; i++) {
		if (strcmp(boot->values[i].name, name))
			continue;
		check(boot->values[i].length <= size, "boot: size");
		*length = boot->values[i].length;
		memcpy(value, boot->values[i].value, *length);
		status = BCL_OK;
	}
	pthread_mutex_unlock(&mock->lock);
	return status;
}

static enum bcl_status boot_fence(struct bcl_boot *base)
{
	struct mock_boot *boot = (struct mock_boot *)base;
	struct mock *mock = boot->mock;
	unsigned fence, i;

	pthread_mutex_lock(&mock->lock);
	fence = ++boot->fences;
	for (i = 0; i < base->size && i < mock->options.ports;) {
		if (mock->boot[i].fences >= fence) {
			i++;
			continue;
		}
		pthread_mutex_unlock(&mock->lock);
		mock->env->yield(mock->env->world);
		pthread_mutex_lock(&mock->lock);
	}
	pthread_mutex_unlock(&mock->lock);
	return BCL_OK;
}

static const struct bcl_boot_kind boot_kind = {
	.name = "mock",
	.put = boot_put,
	.get = boot_get,
	.fence = boot_fence,
};

struct bcl_boot *mock_boot(struct mock *mock, unsigned i, unsigned n)
{
	struct mock_boot *boot = &mock->boot[i];

	boot->mock = mock;
	boot->base.kind = &boot_kind;
	boot->base.rank = i;
	boot->base.size = n;
	return &boot->base;
}

/* ---- the world ---- */

struct mock *mock_open(const struct bcl_env *env,
		       const struct mock_options *options)
{
	struct mock *mock = calloc(1, sizeof(*mock));
	pthread_mutexattr_t recursive;
	struct bcl_context *context;

	check(mock && options->ports <= PORTS, "too many ports");
	mock->env = env;
	mock->options = *options;
	mock->random = options->seed * 0x9e3779b97f4a7c15ull + 1;
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&mock->lock, &recursive);
	for (unsigned i = 0; i < options->ports; i++) {
		mock->port[i].mock = mock;
		mock->port[i].number = i + 1;
		context = &mock->context[i];
		context->env = env;
		context->helper = (struct bcl_helper *)mock;
		context->config.env = env;
		context->config.eager_max =
			options->eager_max ? options->eager_max : 4096;
		context->config.unexpected =
			options->unexpected ? options->unexpected : 4 << 20;
		strcpy(context->config.log, "error");
	}
	return mock;
}

void mock_close(struct mock *mock)
{
	struct mock_offer *offer;
	struct mock_peer *peer;

	for (unsigned i = 0; i < mock->options.ports; i++) {
		drop_events(&mock->port[i]);
		while ((peer = mock->port[i].peers)) {
			mock->port[i].peers = peer->next;
			free(peer);
		}
	}
	while ((offer = mock->offers)) {
		mock->offers = offer->next;
		free(offer);
	}
	pthread_mutex_destroy(&mock->lock);
	free(mock);
}

struct bcl_context *mock_context(struct mock *mock, unsigned i)
{
	return &mock->context[i];
}

void mock_kill(struct mock *mock, unsigned i)
{
	struct mock_offer **place = &mock->offers, *offer;

	pthread_mutex_lock(&mock->lock);
	mock->port[i].dead = true;
	if (mock->port[i].open)
		mock->env->wake(mock->env->world, mock->port[i].base.object);
	lost_by_others(mock, &mock->port[i]);
	while ((offer = *place)) {
		if (offer->owner->local == &mock->port[i]) {
			*place = offer->next;
			free(offer);
		} else {
			place = &offer->next;
		}
	}
	pthread_mutex_unlock(&mock->lock);
}

void mock_block(struct mock *mock, unsigned i, unsigned j, bool blocked)
{
	pthread_mutex_lock(&mock->lock);
	find_peer(&mock->port[i], &mock->port[j])->blocked = blocked;
	pthread_mutex_unlock(&mock->lock);
}

void mock_inject(struct mock *mock, unsigned i, unsigned j, unsigned type,
		 uint64_t immediate, const void *data, size_t length)
{
	pthread_mutex_lock(&mock->lock);
	send_event(find_peer(&mock->port[i], &mock->port[j]), BCL_EVENT_MESSAGE,
		   type, immediate, data, length);
	pthread_mutex_unlock(&mock->lock);
}

unsigned mock_sent(struct mock *mock, unsigned i, int type)
{
	unsigned sum = 0;
	int t;

	pthread_mutex_lock(&mock->lock);
	for (t = 0; t < BCL_TYPES; t++)
		sum += type < 0 || type == t ? mock->port[i].sent[t] : 0;
	pthread_mutex_unlock(&mock->lock);
	return sum;
}

uint64_t mock_count(struct mock *mock, unsigned i, enum bcl_counter_id id)
{
	return bcl_counter_get(&mock->port[i].page, id);
}
