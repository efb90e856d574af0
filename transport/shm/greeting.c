/* SPDX-License-Identifier: MIT */
#include "transport/shm/greeting.h"

#include <string.h>

#include "transport/shm/connection.h"
#include "transport/shm/port.h"

struct bcl_greeting bcl_greeting_make(const struct bcl_connection *c,
				      enum bcl_greeting_kind kind)
{
	const struct bcl_context *context = bcl_shm_context(c->shm);
	struct bcl_greeting g = {
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

	memcpy(g.key, context->key, sizeof(g.key));
	return g;
}
