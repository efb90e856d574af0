/* SPDX-License-Identifier: MIT */
/*
 * The path from a port to itself. Messages lie in a ring of slots, their events
 * in the port's own list. The program reads both in order, so a slot is free
 * again when the event after it is taken. Channels, offers and remote accesses
 * copy at once.
 */
#include <string.h>

#include "transport/internal.h"
#include "transport/key.h"

enum {
	SLOTS = 64,
	TOKEN_MAGIC = 0x5e1f,
};

/* An offer of the port to itself; the token holds its id. */
struct bcl_self_offer {
	struct bcl_self_offer *next;
	const void *buffer;
	size_t length;
	uint64_t cookie;
	uint64_t id;
};

/* A message that waits until its channel is posted. */
struct self_channel {
	struct bcl_channel_waiter waiter; /* must be first */
	struct self_channel *next;
	struct bcl_peer *peer;
	const void *buffer;
	size_t length;
	uint64_t cookie;
};

struct bcl_self {
	uint32_t head, tail; /* slots read, written */
	size_t reserved;     /* length of bcl_reserve() + 1, until the
			      * commit; else 0 */
	uint64_t ids;
	struct bcl_self_offer *offers;
	struct self_channel *waiting;
	_Alignas(8) uint8_t slot[SLOTS][BCL_MESSAGE_MAX];
};

struct token {
	uint64_t card;
	uint64_t id;
	uint64_t length;
	uint16_t port;
	uint16_t magic;
	uint32_t spare;
};

_Static_assert(sizeof(struct token) == BCL_KEY_MAX, "token");

enum bcl_status bcl_self_open(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;

	if (!port->self)
		port->self = env->allocate(env->world, sizeof(*port->self));
	return port->self ? BCL_OK : BCL_ERR_NOMEM;
}

void bcl_self_close(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;
	struct bcl_self *self = port->self;

	if (!self)
		return;
	while (self->offers) {
		struct bcl_self_offer *offer = self->offers;

		self->offers = offer->next;
		env->release(env->world, offer, sizeof(*offer));
	}
	while (self->waiting) {
		struct self_channel *message = self->waiting;

		self->waiting = message->next;
		env->release(env->world, message, sizeof(*message));
	}
	env->release(env->world, self, sizeof(*self));
}

void bcl_self_release(struct bcl_port *port)
{
	bcl_assert(port->self->head != port->self->tail);
	port->self->head++;
}

static void push_event(struct bcl_peer *peer, enum bcl_event_kind kind,
		       uint64_t cookie, size_t length, enum bcl_status status)
{
	const struct bcl_event event = {
		.kind = kind,
		.status = status,
		.peer = peer,
		.cookie = cookie,
		.length = length,
	};

	bcl_event_push(peer->port, &event);
}

/* Makes room for two events, since two may follow an operation. */
static enum bcl_status reserve_events(struct bcl_port *port)
{
	uint32_t used = port->events.tail - port->events.head;
	enum bcl_status status = bcl_event_reserve(port);

	if (!status && used == port->events.mask) {
		port->events.tail++;
		status = bcl_event_reserve(port);
		port->events.tail--;
	}
	return status;
}

static enum bcl_status self_reserve(struct bcl_peer *peer, size_t length,
				    void **room)
{
	struct bcl_self *self = peer->port->self;

	if (self->tail - self->head == SLOTS) {
		bcl_count(peer->port->counters, core_send_again);
		return BCL_ERR_AGAIN;
	}
	self->reserved = length + 1;
	*room = self->slot[self->tail % SLOTS];
	return BCL_OK;
}

static enum bcl_status self_commit(struct bcl_peer *peer, unsigned type,
				   uint64_t immediate, size_t length)
{
	struct bcl_self *self = peer->port->self;
	const struct bcl_event event = {
		.kind = BCL_EVENT_MESSAGE,
		.peer = peer,
		.type = type,
		.immediate = immediate,
		.data = self->slot[self->tail % SLOTS],
		.length = length,
	};
	enum bcl_status status;

	if (length >= self->reserved)
		return BCL_ERR_ARG;
	status = bcl_event_push(peer->port, &event);
	if (status)
		return status;
	self->reserved = 0;
	self->tail++;
	bcl_count(peer->port->counters, core_self_messages);
	return BCL_OK;
}

static enum bcl_status self_send(struct bcl_peer *peer, unsigned type,
				 uint64_t immediate, const struct iovec *iov,
				 unsigned niov, size_t length, uint64_t cookie)
{
	enum bcl_status status = reserve_events(peer->port);
	void *room;
	char *p;

	if (!status)
		status = self_reserve(peer, length, &room);
	if (status)
		return status;
	p = room;
	for (unsigned i = 0; i < niov; i++) {
		if (!iov[i].iov_len)
			continue;
		memcpy(p, iov[i].iov_base, iov[i].iov_len);
		p += iov[i].iov_len;
	}
	self_commit(peer, type, immediate, length);
	if (cookie)
		push_event(peer, BCL_EVENT_SENT, cookie, length, BCL_OK);
	return BCL_OK;
}

static void move_bytes(void *to, const void *from, size_t length)
{
	if (length)
		memmove(to, from, length);
}

static void fill_channel(struct bcl_peer *peer, unsigned number,
			 struct bcl_channel *channel, const void *buffer,
			 size_t length, uint64_t cookie)
{
	size_t n = length < channel->length ? length : channel->length;

	move_bytes(channel->buffer, buffer, n);
	bcl_channel_done(peer->port, number, peer, n,
			 n < length ? BCL_ERR_TRUNCATED : BCL_OK);
	push_event(peer, BCL_EVENT_SENT, cookie, length, BCL_OK);
}

static void channel_posted(struct bcl_channel_waiter *waiter)
{
	struct self_channel *message = (struct self_channel *)waiter;
	struct bcl_port *port = waiter->port;
	const struct bcl_env *env = port->context->env;
	struct self_channel **place = &port->self->waiting;
	struct bcl_channel *channel;

	if (bcl_channel_claim(port, waiter->channel, waiter, &channel))
		return;
	fill_channel(message->peer, waiter->channel, channel, message->buffer,
		     message->length, message->cookie);
	while (*place != message)
		place = &(*place)->next;
	*place = message->next;
	env->release(env->world, message, sizeof(*message));
}

static enum bcl_status self_send_channel(struct bcl_peer *peer, unsigned number,
					 const void *buffer, size_t length,
					 uint64_t cookie)
{
	struct bcl_port *port = peer->port;
	const struct bcl_env *env = port->context->env;
	struct self_channel *message;
	struct bcl_channel *channel;
	enum bcl_status status = reserve_events(port);

	if (status)
		return status;
	message = env->allocate(env->world, sizeof(*message));
	if (!message)
		return BCL_ERR_NOMEM;
	*message = (struct self_channel){
		.waiter.posted = channel_posted,
		.next = port->self->waiting,
		.peer = peer,
		.buffer = buffer,
		.length = length,
		.cookie = cookie,
	};
	status = bcl_channel_claim(port, number, &message->waiter, &channel);
	if (status == BCL_ERR_AGAIN) {
		port->self->waiting = message;
		return BCL_OK;
	}
	env->release(env->world, message, sizeof(*message));
	if (!status)
		fill_channel(peer, number, channel, buffer, length, cookie);
	return status;
}

static enum bcl_status self_offer(struct bcl_peer *peer, const void *buffer,
				  size_t length, uint64_t cookie, void *token)
{
	struct bcl_port *port = peer->port;
	const struct bcl_env *env = port->context->env;
	struct bcl_self_offer *offer =
		env->allocate(env->world, sizeof(*offer));
	struct token t = {
		.card = port->context->card_id,
		.port = port->number,
		.magic = TOKEN_MAGIC,
		.length = length,
	};

	if (!offer)
		return BCL_ERR_NOMEM;
	*offer = (struct bcl_self_offer){
		.next = port->self->offers,
		.buffer = buffer,
		.length = length,
		.cookie = cookie,
		.id = ++port->self->ids,
	};
	port->self->offers = offer;
	t.id = offer->id;
	memcpy(token, &t, sizeof(t));
	return BCL_OK;
}

/* Returns the link to the offer that a token names, or NULL. */
static struct bcl_self_offer **find_offer(struct bcl_peer *peer,
					  const void *token)
{
	struct bcl_port *port = peer->port;
	struct bcl_self_offer **place = &port->self->offers;
	struct token t;

	memcpy(&t, token, sizeof(t));
	if (t.magic != TOKEN_MAGIC || t.card != port->context->card_id ||
	    t.port != port->number)
		return NULL;
	while (*place && (*place)->id != t.id)
		place = &(*place)->next;
	return *place ? place : NULL;
}

static void drop_offer(struct bcl_peer *peer, struct bcl_self_offer **place)
{
	const struct bcl_env *env = peer->port->context->env;
	struct bcl_self_offer *offer = *place;

	*place = offer->next;
	env->release(env->world, offer, sizeof(*offer));
}

static enum bcl_status self_withdraw(struct bcl_peer *peer, const void *token)
{
	struct bcl_self_offer **place = find_offer(peer, token);

	if (!place)
		return BCL_ERR_ARG;
	drop_offer(peer, place);
	return BCL_OK;
}

static enum bcl_status self_pull(struct bcl_peer *peer, const void *token,
				 void *buffer, size_t length, uint64_t cookie)
{
	struct bcl_self_offer **place = find_offer(peer, token);
	enum bcl_status status;

	if (!place || length > (*place)->length)
		return BCL_ERR_ARG;
	status = reserve_events(peer->port);
	if (status)
		return status;
	move_bytes(buffer, (*place)->buffer, length);
	push_event(peer, BCL_EVENT_PULLED, cookie, length, BCL_OK);
	push_event(peer, BCL_EVENT_READ, (*place)->cookie, length, BCL_OK);
	drop_offer(peer, place);
	return BCL_OK;
}

/*
 * Accesses memory of this process, under memory_lock, so that no thread
 * releases the memory meanwhile. The event of the access tells a failure, as on
 * the other paths. `notify`, if not NULL, is a second event after a success.
 */
static enum bcl_status access_memory(struct bcl_peer *peer, const void *bytes,
				     uint64_t offset, size_t length,
				     unsigned rights, uint64_t cookie,
				     void (*run)(void *memory, void *arg),
				     void *arg, const struct bcl_event *notify)
{
	struct bcl_context *context = peer->port->context;
	struct bcl_key key = bcl_key_unpack(bytes);
	enum bcl_status status = reserve_events(peer->port);
	void *memory;

	if (status)
		return status;
	pthread_mutex_lock(&context->memory_lock);
	memory = bcl_memory_check(&context->memories, key.handle, offset,
				  length, rights);
	if (memory)
		run(memory, arg);
	pthread_mutex_unlock(&context->memory_lock);
	push_event(peer, BCL_EVENT_SENT, cookie, length,
		   memory ? BCL_OK : BCL_ERR_MEMORY);
	if (memory && notify)
		bcl_event_push(peer->port, notify);
	return BCL_OK;
}

struct copy {
	void *to;
	const void *from;
	size_t length;
};

static void run_put(void *memory, void *arg)
{
	const struct copy *copy = arg;

	move_bytes(memory, copy->from, copy->length);
}

static void run_get(void *memory, void *arg)
{
	const struct copy *copy = arg;

	move_bytes(copy->to, memory, copy->length);
}

static enum bcl_status self_put(struct bcl_peer *peer, const void *key,
				uint64_t offset, const void *buffer,
				size_t length, uint64_t cookie)
{
	struct copy copy = { .from = buffer, .length = length };

	return access_memory(peer, key, offset, length, BCL_REMOTE_WRITE,
			     cookie, run_put, &copy, NULL);
}

static enum bcl_status self_get(struct bcl_peer *peer, const void *key,
				uint64_t offset, void *buffer, size_t length,
				uint64_t cookie)
{
	struct copy copy = { .to = buffer, .length = length };

	return access_memory(peer, key, offset, length, BCL_REMOTE_READ, cookie,
			     run_get, &copy, NULL);
}

static enum bcl_status self_put_notify(struct bcl_peer *peer, const void *key,
				       uint64_t offset, const void *buffer,
				       size_t length, unsigned type,
				       uint32_t immediate, uint64_t cookie)
{
	struct copy copy = { .from = buffer, .length = length };
	const struct bcl_event event = {
		.kind = BCL_EVENT_NOTIFY,
		.peer = peer,
		.type = type,
		.immediate = immediate,
		.length = length,
	};

	return access_memory(peer, key, offset, length, BCL_REMOTE_WRITE,
			     cookie, run_put, &copy, &event);
}

struct atomic_access {
	bool compare;
	uint64_t operand[2];
	uint64_t *result;
};

static void run_atomic(void *memory, void *arg)
{
	struct atomic_access *access = arg;
	_Atomic uint64_t *word = memory;
	uint64_t old = access->operand[0];

	if (access->compare)
		atomic_compare_exchange_strong(word, &old, access->operand[1]);
	else
		old = atomic_fetch_add(word, access->operand[0]);
	*access->result = old;
}

static enum bcl_status self_atomic(struct bcl_peer *peer, const void *key,
				   uint64_t offset, bool compare,
				   const uint64_t operand[2], uint64_t *result,
				   uint64_t cookie)
{
	struct atomic_access access = {
		.compare = compare,
		.operand = { operand[0], compare ? operand[1] : 0 },
		.result = result,
	};

	return access_memory(peer, key, offset, 8, BCL_REMOTE_ATOMIC, cookie,
			     run_atomic, &access, NULL);
}

static enum bcl_status self_map(struct bcl_peer *peer, const void *bytes,
				void **address)
{
	struct bcl_context *context = peer->port->context;
	struct bcl_key key = bcl_key_unpack(bytes);
	void *memory;

	pthread_mutex_lock(&context->memory_lock);
	memory = bcl_memory_check(&context->memories, key.handle, 0, key.length,
				  key.rights & 0xff);
	pthread_mutex_unlock(&context->memory_lock);
	if (!memory)
		return BCL_ERR_MEMORY;
	*address = memory;
	return BCL_OK;
}

static void self_unmap(struct bcl_peer *peer, const void *key)
{
	(void)peer;
	(void)key;
}

/* Earlier operations are complete already, since this path completes them at
 * once. */
static enum bcl_status self_fence(struct bcl_peer *peer, uint64_t cookie)
{
	enum bcl_status status = bcl_event_reserve(peer->port);

	if (!status)
		push_event(peer, BCL_EVENT_SENT, cookie, 0, BCL_OK);
	return status;
}

static void self_info(const struct bcl_peer *peer, struct bcl_peer_info *info)
{
	(void)peer;
	info->attach = true;
	info->latency = 0.05;
	info->overhead = 0.05;
	info->bandwidth = 10000;
}

static void self_close_peer(struct bcl_peer *peer)
{
	(void)peer;
}

const struct bcl_path_ops bcl_self_ops = {
	.path = BCL_PATH_SELF,
	.send = self_send,
	.reserve = self_reserve,
	.commit = self_commit,
	.send_channel = self_send_channel,
	.offer = self_offer,
	.withdraw = self_withdraw,
	.pull = self_pull,
	.map = self_map,
	.unmap = self_unmap,
	.put = self_put,
	.get = self_get,
	.put_notify = self_put_notify,
	.atomic = self_atomic,
	.fence = self_fence,
	.info = self_info,
	.close = self_close_peer,
};
