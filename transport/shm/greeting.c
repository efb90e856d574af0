/* SPDX-License-Identifier: MIT */
/* Making and sending the packets of greeting.h. */
#include "transport/shm/greeting.h"

#include "transport/shm/connection.h"
#include "transport/shm/host.h"
#include "transport/shm/port.h"

struct bcl_greeting bcl_greeting_make(const struct bcl_connection *c,
				      enum bcl_greeting_kind kind)
{
	const struct bcl_context *context = bcl_shm_context(c->shm);
	return (struct bcl_greeting){
		.magic = BCL_GREETING_MAGIC,
		.version = BCL_GREETING_VERSION,
		.kind = kind,
		.flags = context->barrier ? BCL_GREETING_BARRIER : 0,
		.card = context->card_id,
		.to_card = c->card,
		.number = c->shm->port->number,
		.to_number = c->number,
		.slots = c->segment.slots,
		.watch = c->watch,
		.nonce = c->nonce,
		.nonce_address = (uintptr_t)&c->nonce,
		.scratch_address = (uintptr_t)&c->scratch,
	};
}

bool bcl_greeting_send(const struct bcl_connection *c,
		       const struct bcl_greeting *greeting, const int *fds,
		       unsigned nfds)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	return env->shm_host->send(env->world, c->socket, greeting,
				   sizeof(*greeting), fds, nfds);
}
