/* SPDX-License-Identifier: MIT */
/* The owner of memory: gives grants to peers that ask, and takes them back when
 * the memory is released or the connection ends. See remote.h. */
#include "transport/shm/remote.h"

#include <inttypes.h>

#include "transport/memory.h"
#include "transport/shm/greeting.h"
#include "transport/shm/port.h"

enum {
	REVOKE_TIME = 1000000000, /* ns that a release waits for a peer that is
				   * in the middle of an access */
};

/* The word with the handle; if there is none, a free word; if there is none,
 * BCL_GRANTS. */
static unsigned find_word(const struct bcl_connection *c, uint32_t handle)
{
	unsigned i, free = BCL_GRANTS;

	for (i = 0; i < BCL_GRANTS; i++) {
		if (c->grants[i] == handle)
			return i;
		if (!c->grants[i] && free == BCL_GRANTS)
			free = i;
	}
	return free;
}

static bool use_grants(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	if (!c->grants)
		c->grants = env->allocate(env->world,
					  BCL_GRANTS * sizeof(*c->grants));
	return c->grants;
}

/* Find the memory of the handle, or NULL. Under memory_lock. */
static const struct bcl_memory *find_memory(struct bcl_connection *c,
					    uint32_t handle)
{
	struct bcl_context *context = bcl_shm_context(c->shm);

	bcl_assert(bcl_is_locked(&context->memory_lock));
	return bcl_memory_find(&context->memories, handle);
}

void bcl_grant_answer(struct bcl_connection *c,
		      const struct bcl_greeting *question)
{
	struct bcl_greeting answer = bcl_greeting_make(c, BCL_GREETING_GRANT);
	struct bcl_context *context = bcl_shm_context(c->shm);
	uint32_t handle = question->handle;
	unsigned word = BCL_GRANTS, nfds = 0;
	const struct bcl_memory *memory;

	bcl_assert(bcl_is_locked(&c->shm->lock));
	/* under the lock: a release either comes before this or revokes the
	 * grant */
	pthread_mutex_lock(&context->memory_lock);
	memory = find_memory(c, handle);

	answer.handle = handle;
	if (memory && use_grants(c))
		word = find_word(c, handle);
	if (!memory) {
		answer.status = BCL_ERR_MEMORY;
	} else if (word == BCL_GRANTS || (!memory->allocated && !c->attach)) {
		answer.status = BCL_ERR_NOMEM;
	} else {
		answer.grant = word;
		answer.base = (uintptr_t)memory->address;
		answer.length = memory->length;
		nfds = memory->allocated;
		c->grants[word] = handle;
		atomic_store_explicit(&c->segment.head->granted[c->side][word],
				      handle, memory_order_release);
	}
	/* A peer that does not read its socket gets no answer. */
	bcl_greeting_send(c, &answer, nfds ? &memory->fd : NULL, nfds);
	pthread_mutex_unlock(&context->memory_lock);
}

/* ---- taking it back ---- */

/* Clear the grant: from now on no access begins. */
static void clear_word(struct bcl_connection *c, unsigned word)
{
	atomic_store_explicit(&c->segment.head->granted[c->side][word], 0,
			      memory_order_relaxed);
}

static uint32_t busy_with(const struct bcl_connection *c)
{
	const _Atomic uint32_t *busy = &c->segment.head->index[!c->side].busy;

	return atomic_load_explicit(busy, memory_order_acquire);
}

/* The connection's word for the handle, or BCL_GRANTS. */
static unsigned granted_word(const struct bcl_connection *c, uint32_t handle)
{
	unsigned word = BCL_GRANTS;

	if (c->grants && c->segment.head)
		word = find_word(c, handle);
	return word < BCL_GRANTS && c->grants[word] == handle ? word
							      : BCL_GRANTS;
}

/* True if the peer is in the middle of a copy by attach; see remote.h. If not,
 * the word is free. */
static bool is_copying(struct bcl_connection *c, uint32_t handle)
{
	unsigned word = granted_word(c, handle);

	if (word == BCL_GRANTS)
		return false;
	if (c->state == BCL_CONNECTION_UP && busy_with(c) == handle)
		return true;
	c->grants[word] = 0;
	return false;
}

static bool revoke_grant(struct bcl_connection *c, uint32_t handle)
{
	unsigned word = granted_word(c, handle);

	if (word == BCL_GRANTS)
		return false;
	clear_word(c, word);
	/* partner: the fence in bcl_access's copy_attached() */
	atomic_thread_fence(memory_order_seq_cst);
	return is_copying(c, handle);
}

static void log_unfinished(const struct bcl_connection *c)
{
	bcl_log(&bcl_shm_context(c->shm)->config, BCL_LOG_ERROR, "shm",
		"port %u of card %016" PRIx64 " does not finish an access to "
		"memory that is released: it is given up",
		c->number, c->card);
}

/* The peer had its time: end the connection. Returns true if the peer is still
 * busy. */
static bool end_if_copying(struct bcl_connection *c, uint32_t handle)
{
	if (!is_copying(c, handle))
		return false;
	log_unfinished(c);
	bcl_connection_end(c);
	return is_copying(c, handle);
}

/* Call work() for each connection of the context's open ports. Returns true if
 * one of the calls did. No lock is held between two calls of this function. */
static bool for_each_connection(struct bcl_context *context, uint32_t handle,
				bool (*work)(struct bcl_connection *c,
					     uint32_t handle))
{
	struct bcl_connection *c;
	struct bcl_port *port;
	bool any = false;

	pthread_mutex_lock(&context->lock);
	for (port = context->ports; port; port = port->next) {
		if (!port->ready || !port->shm)
			continue;
		pthread_mutex_lock(&port->shm->lock);
		for (c = port->shm->connections; c; c = c->next)
			any |= work(c, handle);
		pthread_mutex_unlock(&port->shm->lock);
	}
	pthread_mutex_unlock(&context->lock);
	return any;
}

void bcl_shm_revoke(struct bcl_context *context, uint32_t handle)
{
	const struct bcl_env *env = context->env;
	uint64_t end = env->now(env->world) + REVOKE_TIME;
	bool busy = for_each_connection(context, handle, revoke_grant);

	while (busy && env->now(env->world) <= end) {
		env->yield(env->world);
		busy = for_each_connection(context, handle, is_copying);
	}
	if (busy)
		for_each_connection(context, handle, end_if_copying);
}

void bcl_grants_end(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);
	uint64_t end = env->now(env->world) + REVOKE_TIME;

	bcl_assert(bcl_is_locked(&c->shm->lock));
	if (!c->grants || !c->segment.head)
		return;
	for (unsigned i = 0; i < BCL_GRANTS; i++)
		clear_word(c, i);
	/* partner: the fence in bcl_access's copy_attached() */
	atomic_thread_fence(memory_order_seq_cst);
	while (bcl_connection_lives(c) && !c->pair.broken && busy_with(c)) {
		if (env->now(env->world) > end) {
			log_unfinished(c);
			return;
		}
		env->yield(env->world);
	}
}
