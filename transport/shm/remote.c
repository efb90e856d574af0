/* SPDX-License-Identifier: MIT */
/* Memory of a peer: asking for grants, and the table of known memories. See
 * remote.h. */
#include "transport/shm/remote.h"

#include "transport/shm/bell.h"
#include "transport/shm/greeting.h"
#include "transport/shm/port.h"

struct bcl_remotes *bcl_remotes_use(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	if (!c->remotes)
		c->remotes = env->allocate(env->world, sizeof(*c->remotes));
	return c->remotes;
}

static void forget_remote(const struct bcl_env *env, struct bcl_remote *remote)
{
	if (remote->mapped)
		bcl_file_unmap(env, remote->mapped, remote->length);
	remote->mapped = NULL;
	remote->maps = 0;
	atomic_store_explicit(&remote->state, BCL_REMOTE_FREE,
			      memory_order_relaxed);
}

/* Memory that the program has mapped stays mapped until the program unmaps it
 * or closes the port: the program may still use the address. */
static void keep_mapping(struct bcl_connection *c, struct bcl_remote *remote)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);
	struct bcl_orphan *orphan = env->allocate(env->world, sizeof(*orphan));

	/* without memory for the record, the mapping stays for ever */
	if (orphan) {
		orphan->card = c->card;
		orphan->handle = remote->handle;
		orphan->maps = remote->maps;
		orphan->address = remote->mapped;
		orphan->length = remote->length;
		orphan->next = c->shm->orphans;
		c->shm->orphans = orphan;
	}
	remote->mapped = NULL;
}

void bcl_remotes_free(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);
	unsigned i;

	if (!c->remotes)
		return;
	for (i = 0; i < BCL_REMOTES; i++) {
		struct bcl_remote *remote = &c->remotes->remote[i];

		if (remote->mapped && remote->maps)
			keep_mapping(c, remote);
		forget_remote(env, remote);
	}
	env->release(env->world, c->remotes, sizeof(*c->remotes));
	c->remotes = NULL;
}

static uint32_t state_of(struct bcl_remote *remote)
{
	/* partner: bcl_remote_take() */
	return atomic_load_explicit(&remote->state, memory_order_acquire);
}

/* Find a place for a new record: a free one, or the place of memory that is not
 * mapped by the program and not being asked for. NULL: none. */
static struct bcl_remote *find_place(struct bcl_connection *c)
{
	struct bcl_remotes *remotes = c->remotes;
	unsigned i;

	for (i = 0; i < BCL_REMOTES; i++) {
		struct bcl_remote *remote = &remotes->remote[i];

		/* released memory must not stay mapped here for ever */
		if (state_of(remote) == BCL_REMOTE_FREE ||
		    (state_of(remote) == BCL_REMOTE_GRANTED && !remote->maps &&
		     !bcl_remote_valid(c, remote)))
			return remote;
	}
	for (i = 0; i < BCL_REMOTES; i++) {
		struct bcl_remote *remote =
			&remotes->remote[remotes->victim++ % BCL_REMOTES];

		if (state_of(remote) == BCL_REMOTE_ASKED || remote->maps)
			continue;
		forget_remote(bcl_shm_env(c->shm), remote);
		return remote;
	}
	return NULL;
}

/* Ask the peer for a grant. Returns false if that is impossible just now. */
static bool ask_for_grant(struct bcl_connection *c, uint32_t handle)
{
	struct bcl_greeting question =
		bcl_greeting_make(c, BCL_GREETING_MEMORY);
	struct bcl_shm_port *shm = c->shm;
	struct bcl_remote *remote;
	bool asked = false;

	question.handle = handle;
	if (pthread_mutex_trylock(&shm->lock))
		return false;
	remote = find_place(c);
	if (remote && c->socket >= 0 &&
	    bcl_greeting_send(c, &question, NULL, 0)) {
		remote->handle = handle;
		atomic_store_explicit(&remote->state, BCL_REMOTE_ASKED,
				      memory_order_relaxed);
		shm->waiting++;
		c->remotes->asked++;
		bcl_shm_want(shm, BCL_WORK_SOCKETS);
		asked = true;
	}
	pthread_mutex_unlock(&shm->lock);
	return asked;
}

enum bcl_status bcl_remote_find(struct bcl_connection *c,
				const struct bcl_key *key,
				struct bcl_remote **result)
{
	struct bcl_remotes *remotes = bcl_remotes_use(c);
	unsigned i;

	if (!remotes)
		return BCL_ERR_NOMEM;
	for (i = 0; i < BCL_REMOTES; i++) {
		struct bcl_remote *remote = &remotes->remote[i];
		uint32_t state = state_of(remote);

		if (state == BCL_REMOTE_FREE || remote->handle != key->handle)
			continue;
		if (state == BCL_REMOTE_ASKED)
			return BCL_ERR_AGAIN;
		if (state == BCL_REMOTE_REFUSED) {
			forget_remote(bcl_shm_env(c->shm), remote);
			return BCL_ERR_MEMORY;
		}
		if (state == BCL_REMOTE_GRANTED && !bcl_remote_valid(c, remote))
			return BCL_ERR_MEMORY;
		*result = remote;
		return BCL_OK;
	}
	/* a peer's owner that polls leaves the sockets to the helper, which is
	 * slow */
	if (ask_for_grant(c, key->handle))
		bcl_bell_ring(c, BCL_BELL_SOCKET);
	return BCL_ERR_AGAIN;
}

bool bcl_remote_valid(struct bcl_connection *c, struct bcl_remote *remote)
{
	_Atomic uint32_t *granted = c->segment.head->granted[!c->side];

	if (atomic_load_explicit(&granted[remote->grant],
				 memory_order_acquire) == remote->handle)
		return true;
	/* memory that the program has mapped stays mapped */
	if (!remote->maps)
		forget_remote(bcl_shm_env(c->shm), remote);
	return false;
}

static struct bcl_remote *find_asked(struct bcl_connection *c, uint32_t handle)
{
	unsigned i;

	for (i = 0; c->remotes && i < BCL_REMOTES; i++)
		if (state_of(&c->remotes->remote[i]) == BCL_REMOTE_ASKED &&
		    c->remotes->remote[i].handle == handle)
			return &c->remotes->remote[i];
	return NULL;
}

static uint32_t apply_answer(const struct bcl_env *env,
			     struct bcl_remote *remote,
			     const struct bcl_greeting *answer, const int *fds,
			     unsigned nfds)
{
	remote->length = 0;
	remote->mapped = NULL;
	if (answer->status == BCL_ERR_NOMEM)
		return BCL_REMOTE_RMA;
	if (answer->status || answer->grant >= BCL_GRANTS || !answer->length)
		return BCL_REMOTE_REFUSED;
	if (nfds)
		remote->mapped = bcl_file_map(env, fds[0], answer->length);
	if (nfds && !remote->mapped)
		return BCL_REMOTE_RMA;
	remote->base = answer->base;
	remote->length = answer->length;
	remote->grant = answer->grant;
	return BCL_REMOTE_GRANTED;
}

void bcl_remote_take(struct bcl_connection *c,
		     const struct bcl_greeting *answer, const int *fds,
		     unsigned nfds)
{
	struct bcl_remote *remote = find_asked(c, answer->handle);

	bcl_assert(bcl_is_locked(&c->shm->lock));
	if (!remote)
		return;
	bcl_assert(c->remotes->asked && c->shm->waiting);
	c->remotes->asked--;
	c->shm->waiting--;
	/* partner: state_of() */
	atomic_store_explicit(
		&remote->state,
		apply_answer(bcl_shm_env(c->shm), remote, answer, fds, nfds),
		memory_order_release);
}
