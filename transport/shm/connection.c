/* SPDX-License-Identifier: MIT */
/*
 * The records of connections: making and freeing, descriptors that are watched,
 * the end of a peer. See connection.h.
 */
#include "transport/shm/connection.h"

#include <errno.h>
#include <string.h>

#include "transport/shm/host.h"
#include "transport/shm/port.h"

static void close_fd(struct bcl_connection *c, int *fd)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	if (*fd >= 0)
		env->shm_host->close(env->world, *fd);
	*fd = -1;
}

bool bcl_connection_watch(struct bcl_connection *c, int fd)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	return env->shm_host->group_add(env->world, c->shm->group, fd, c);
}

static bool in_handshake(const struct bcl_connection *c)
{
	return c->state < BCL_CONNECTION_UP;
}

void bcl_connection_tell_owner(struct bcl_connection *c)
{
	bcl_assert(bcl_is_locked(&c->shm->lock));
	c->news = true;
	bcl_shm_want(c->shm, BCL_WORK_NEWS);
}

void bcl_connection_set_state(struct bcl_connection *c,
			      enum bcl_connection_state state)
{
	bool before = in_handshake(c);

	bcl_assert(bcl_is_locked(&c->shm->lock));
	bcl_assert(bcl_connection_may_follow(c->state, state));
	c->state = state;
	c->shm->waiting += in_handshake(c) - before;
	if (state == BCL_CONNECTION_UP || state == BCL_CONNECTION_ENDED ||
	    state == BCL_CONNECTION_FAILED)
		bcl_connection_tell_owner(c);
}

void bcl_connection_hang_up(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	bcl_assert(bcl_is_locked(&c->shm->lock));
	if (c->socket < 0)
		return;
	env->shm_host->hang_up(env->world, c->socket);
	/* Removed explicitly, because closing may not: a child may hold the
	 * file open. */
	env->shm_host->group_remove(env->world, c->shm->group, c->socket);
	close_fd(c, &c->socket);
}

/* Give back all resources that are shared with the peer. */
static void release_shared(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	bcl_connection_hang_up(c);
	close_fd(c, &c->wake);
	if (c->segment.head)
		bcl_segment_unmap(env, &c->segment);
	bcl_page_unmap(env, (void *)(uintptr_t)c->its_attention);
	c->its_attention = NULL;
	bcl_page_unmap(env, c->its_active);
	c->its_active = NULL;
}

/* Take a free word of the attention page. */
static bool take_watch(struct bcl_connection *c)
{
	uint64_t *words = c->shm->watches;
	uint32_t i;

	for (i = 0; i < BCL_SHM_PEERS; i++) {
		if (words[i / 64] >> i % 64 & 1)
			continue;
		words[i / 64] |= UINT64_C(1) << i % 64;
		c->watch = i;
		return true;
	}
	return false;
}

static void give_watch(struct bcl_connection *c)
{
	struct bcl_shm_port *shm = c->shm;

	bcl_assert(shm->watches[c->watch / 64] >> c->watch % 64 & 1);
	atomic_store_explicit(&shm->attention[c->watch], 0,
			      memory_order_relaxed);
	shm->watches[c->watch / 64] &= ~(UINT64_C(1) << c->watch % 64);
}

struct bcl_connection *bcl_connection_new(struct bcl_shm_port *shm,
					  enum bcl_connection_state state,
					  uint64_t now)
{
	const struct bcl_env *env = bcl_shm_env(shm);
	struct bcl_connection *c = env->allocate(env->world, sizeof(*c));

	bcl_assert(bcl_is_locked(&shm->lock));
	if (!c)
		return NULL;
	c->shm = shm;
	c->socket = c->wake = c->segment.fd = -1;
	c->deadline = now + bcl_shm_context(shm)->config.peer_timeout;
	c->nonce = env->random(env->world);
	if (!take_watch(c)) {
		env->release(env->world, c, sizeof(*c));
		return NULL;
	}
	c->next = shm->connections;
	shm->connections = c;
	c->state = BCL_CONNECTION_GONE;
	bcl_connection_set_state(c, state);
	return c;
}

void bcl_connection_free(struct bcl_connection *c)
{
	struct bcl_shm_port *shm = c->shm;
	const struct bcl_env *env = bcl_shm_env(shm);
	struct bcl_connection **p = &shm->connections;

	if (c->remotes)
		shm->waiting -= c->remotes->asked;
	shm->waiting -= c->leaving;
	bcl_connection_set_state(c, BCL_CONNECTION_GONE);
	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	bcl_assert(c->shm->silent[c->watch] != c);
	give_watch(c);
	release_shared(c);
	bcl_outbox_free(c);
	bcl_large_free(c);
	bcl_remotes_free(c);
	if (c->grants)
		env->release(env->world, c->grants,
			     BCL_GRANTS * sizeof(*c->grants));
	env->release(env->world, c, sizeof(*c));
}

void bcl_connection_fail(struct bcl_connection *c, enum bcl_status status,
			 const char *why)
{
	if (!c->wanted) {
		bcl_connection_free(c);
		return;
	}
	release_shared(c);
	c->status = (uint8_t)status;
	c->why = why;
	bcl_connection_set_state(c, BCL_CONNECTION_FAILED);
}

void bcl_connection_refused(struct bcl_shm_port *shm, int error)
{
	bcl_assert(bcl_is_locked(&shm->lock));
	if (shm->said_limit || (error != EMFILE && error != ENFILE))
		return;
	shm->said_limit = true;
	bcl_log(&bcl_shm_context(shm)->config, BCL_LOG_WARN, "shm",
		"port %u cannot connect by shared memory: %s",
		shm->port->number, bcl_log_reason(error));
}

bool bcl_connection_accept(struct bcl_shm_port *shm, int fd, uint64_t now)
{
	const struct bcl_env *env = bcl_shm_env(shm);
	struct bcl_connection *c;
	pid_t pid;

	if (!env->shm_host->peer(env->world, fd, &pid))
		return false;
	c = bcl_connection_new(shm, BCL_CONNECTION_ACCEPTED, now);
	if (!c)
		return false;
	if (!bcl_connection_watch(c, fd)) {
		bcl_connection_refused(shm, errno);
		bcl_connection_free(c);
		return false;
	}
	c->socket = fd;
	c->pid = pid;
	return true;
}

void bcl_connection_wake(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	/* partner: the fence in bcl_shm_sleep() */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&c->its_attention[c->its_watch],
				 memory_order_relaxed) &
	    BCL_ATTENTION_SLEEPING)
		env->wake(env->world, c->wake);
}

struct bcl_connection *bcl_connection_find(const struct bcl_shm_port *shm,
					   uint64_t card, uint16_t number,
					   const struct bcl_connection *but)
{
	struct bcl_connection *c;

	bcl_assert(bcl_is_locked(&shm->lock));
	for (c = shm->connections; c; c = c->next)
		if (c != but && c->card == card && c->number == number &&
		    c->state != BCL_CONNECTION_HELD)
			return c;
	return NULL;
}

bool bcl_connection_lives(const struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	return !atomic_load_explicit(&c->ended, memory_order_relaxed) &&
	       !env->shm_host->has_ended(env->world, c->socket);
}

void bcl_connection_end(struct bcl_connection *c)
{
	if (c->state == BCL_CONNECTION_UP) {
		bcl_connection_hang_up(c);
		atomic_store_explicit(&c->ended, true, memory_order_relaxed);
		bcl_connection_set_state(c, BCL_CONNECTION_ENDED);
	} else {
		bcl_connection_fail(
			c, BCL_ERR_UNREACHABLE,
			"shared memory: it hung up in the handshake");
	}
}

void bcl_connection_block(struct bcl_connection *c, bool blocked)
{
	/* without peer->pair a send goes through the table, which answers
	 * AGAIN */
	c->blocked = blocked;
	if (c->pair.peer->state == BCL_PEER_UP)
		c->pair.peer->pair = blocked ? NULL : &c->pair;
}
