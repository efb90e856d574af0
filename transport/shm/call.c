/* SPDX-License-Identifier: MIT */
/* The owner of a port calls a peer by shared memory. See shm.h. */
#include <string.h>

#include "transport/shm/handshake.h"
#include "transport/shm/port.h"

const char *bcl_shm_connect(struct bcl_peer *peer)
{
	struct bcl_shm_port *shm = peer->port->shm;
	const struct bcl_env *env = peer->port->context->env;
	uint64_t now = env->now(env->world);
	struct bcl_connection *c;

	pthread_mutex_lock(&shm->lock);
	c = bcl_connection_find(shm, peer->address.card, peer->number, NULL);
	if (c && c->state == BCL_CONNECTION_CARD) {
		bcl_connection_free(c);
		c = NULL;
	}
	if (c) {
		/* the peer has called already */
		c->wanted = true;
	} else {
		c = bcl_connection_new(shm, BCL_CONNECTION_CALLING, now);
		if (c) {
			c->card = peer->address.card;
			memcpy(c->key, peer->address.key, sizeof(c->key));
			c->number = peer->number;
			c->wanted = true;
			bcl_handshake_call(c);
		}
	}
	if (shm->waiting)
		bcl_shm_want(shm, BCL_WORK_SOCKETS);
	pthread_mutex_unlock(&shm->lock);
	return c ? NULL : "shared memory: no memory, or too many peers";
}
