/* SPDX-License-Identifier: MIT */
/* Mappings of a peer's memory that the program asks for; see remote.h. */
#include "transport/shm/port.h"
#include "transport/shm/remote.h"

/* True if the program has mapped as many memories as there are places. */
static bool all_mapped(const struct bcl_connection *c)
{
	unsigned i = 0;

	while (i < BCL_REMOTES && c->remotes->remote[i].maps)
		i++;
	return i == BCL_REMOTES;
}

enum bcl_status bcl_remote_map(struct bcl_peer *peer, const void *bytes,
			       void **address)
{
	struct bcl_connection *c = peer->path;
	struct bcl_context *context = peer->port->context;
	const struct bcl_env *env = context->env;
	uint64_t end = env->now(env->world) + context->config.peer_timeout;
	struct bcl_key key = bcl_key_unpack(bytes);
	struct bcl_remote *remote;
	enum bcl_status status;

	while ((status = bcl_remote_find(c, &key, &remote)) == BCL_ERR_AGAIN) {
		uint64_t now = env->now(env->world);

		if (all_mapped(c))
			return BCL_ERR_NOMEM;
		if (now > end)
			return BCL_ERR_TIMEOUT;
		if (atomic_load_explicit(&c->ended, memory_order_relaxed))
			return BCL_ERR_DEAD;
		bcl_shm_service(peer->port, now);
		env->yield(env->world);
	}
	if (status)
		return status;
	if (!remote->mapped)
		return BCL_ERR_UNSUPPORTED;
	remote->maps++;
	*address = remote->mapped;
	return BCL_OK;
}

void bcl_shm_unmap(struct bcl_port *port, const void *bytes)
{
	const struct bcl_env *env = port->context->env;
	struct bcl_key key = bcl_key_unpack(bytes);
	struct bcl_orphan **place, *orphan;

	if (!port->shm)
		return;
	place = &port->shm->orphans;
	while ((orphan = *place) &&
	       (orphan->card != key.card || orphan->handle != key.handle))
		place = &orphan->next;
	if (!orphan || --orphan->maps)
		return;
	*place = orphan->next;
	bcl_file_unmap(env, orphan->address, orphan->length);
	env->release(env->world, orphan, sizeof(*orphan));
}

void bcl_remote_unmap(struct bcl_peer *peer, const void *bytes)
{
	struct bcl_connection *c = peer->path;
	uint32_t handle = bcl_key_unpack(bytes).handle;
	unsigned i;

	for (i = 0; c->remotes && i < BCL_REMOTES; i++) {
		struct bcl_remote *remote = &c->remotes->remote[i];

		if (remote->mapped && remote->handle == handle &&
		    remote->maps) {
			/* the owner may have released the memory meanwhile */
			if (!--remote->maps)
				bcl_remote_valid(c, remote);
			return;
		}
	}
	bcl_shm_unmap(peer->port, bytes);
}
