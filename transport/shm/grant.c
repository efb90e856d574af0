/* SPDX-License-Identifier: MIT */
/* The owner of memory: who may use it, and the end of that. */
#include "transport/shm/remote.h"

#include "transport/shm/greeting.h"
#include "transport/shm/port.h"

enum {
	REVOKE_TIME = 1000000000, /* ns that a release waits for a peer that
				   * is in the middle of an access */
};

/* The word with the handle; else a free one; else BCL_GRANTS. */
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

/* Under memory_lock. */
static const struct bcl_memory *find_memory(struct bcl_connection *c,
					    uint32_t handle)
{
	struct bcl_context *context = bcl_shm_context(c->shm);

	if (!bcl_memory_check(context, handle, 0, 0, 0))
		return NULL;
	return context->memories[handle & 0xffff];
}

void bcl_grant_answer(struct bcl_connection *c,
		      const struct bcl_greeting *question)
{
	struct bcl_greeting answer = bcl_greeting_make(c, BCL_GREETING_GRANT);
	struct bcl_context *context = bcl_shm_context(c->shm);
	uint32_t handle = question->handle;
	unsigned word = BCL_GRANTS, nfds = 0;
	const struct bcl_memory *memory;

	/* so that a release comes before this, or revokes the grant */
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
	/* A peer that does not read its answers asks in vain. */
	bcl_greeting_send(c, &answer, nfds ? &memory->fd : NULL, nfds);
	pthread_mutex_unlock(&context->memory_lock);
}

/* The peer may be copying by attach: see remote.h. */
static void wait_for(struct bcl_connection *c, uint32_t handle)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);
	uint64_t end = env->now(env->world) + REVOKE_TIME;
	const _Atomic uint32_t *busy = &c->segment.head->index[!c->side].busy;

	/* partner: the fence in bcl_access's copy */
	atomic_thread_fence(memory_order_seq_cst);
	while (atomic_load_explicit(busy, memory_order_acquire) == handle &&
	       c->state == BCL_CONNECTION_UP) {
		if (env->now(env->world) > end) {
			bcl_log(&bcl_shm_context(c->shm)->config, BCL_LOG_ERROR,
				"shm",
				"a peer does not finish an access to memory "
				"that is released");
			return;
		}
		env->yield(env->world);
	}
}

static void revoke(struct bcl_connection *c, uint32_t handle)
{
	unsigned word;

	if (!c->grants || !c->segment.head)
		return;
	word = find_word(c, handle);
	if (word == BCL_GRANTS || c->grants[word] != handle)
		return;
	c->grants[word] = 0;
	atomic_store_explicit(&c->segment.head->granted[c->side][word], 0,
			      memory_order_relaxed);
	wait_for(c, handle);
}

void bcl_shm_revoke(struct bcl_context *context, uint32_t handle)
{
	struct bcl_port *port;
	struct bcl_connection *c;

	pthread_mutex_lock(&context->lock);
	for (port = context->ports; port; port = port->next) {
		if (!port->shm)
			continue;
		pthread_mutex_lock(&port->shm->lock);
		for (c = port->shm->connections; c; c = c->next)
			revoke(c, handle);
		pthread_mutex_unlock(&port->shm->lock);
	}
	pthread_mutex_unlock(&context->lock);
}
