/* SPDX-License-Identifier: MIT */
/* Messages of the library that wait for room; see outbox.h. */
#include "transport/shm/outbox.h"

#include "transport/shm/port.h"

/* Send without a note that the program was refused: only the library was. */
static enum bcl_status send_for_library(struct bcl_connection *c, unsigned type,
					uint64_t immediate, const void *payload,
					size_t length)
{
	struct bcl_peer *peer = c->pair.peer;
	bool refused = peer->refused;
	enum bcl_status status;

	status = bcl_pair_send(&c->pair, type, immediate, payload, length);
	if (status)
		bcl_peer_refuse(peer, refused);
	return status;
}

void bcl_outbox_post(struct bcl_connection *connection, unsigned type,
		     uint64_t immediate, const void *payload, size_t length)
{
	struct bcl_outbox *outbox = &connection->outbox;
	struct bcl_shm_port *shm = connection->shm;
	const struct bcl_env *env = bcl_shm_env(shm);
	struct bcl_outbox_entry *entry;

	/* reserved room lies where this message would go */
	if (!connection->reserved && outbox->head == outbox->tail &&
	    !send_for_library(connection, type, immediate, payload, length))
		return;
	if (!outbox->entries)
		outbox->entries = env->allocate(
			env->world, BCL_OUTBOX_MAX * sizeof(*entry));
	if (!outbox->entries || outbox->tail - outbox->head == BCL_OUTBOX_MAX) {
		bcl_pair_break(&connection->pair, "unread answers",
			       outbox->tail - outbox->head);
		return;
	}
	entry = &outbox->entries[outbox->tail++ % BCL_OUTBOX_MAX];
	entry->type = (uint8_t)type;
	entry->length = (uint8_t)length;
	entry->immediate = immediate;
	if (length)
		memcpy(entry->payload, payload, length);
	bcl_shm_want(shm, BCL_WORK_OUTBOX);
}

bool bcl_outbox_flush(struct bcl_connection *connection)
{
	struct bcl_outbox *outbox = &connection->outbox;

	if (connection->reserved)
		return outbox->head != outbox->tail;
	while (outbox->head != outbox->tail) {
		struct bcl_outbox_entry *entry =
			&outbox->entries[outbox->head % BCL_OUTBOX_MAX];

		if (send_for_library(connection, entry->type, entry->immediate,
				     entry->payload, entry->length))
			return true;
		outbox->head++;
	}
	return false;
}

void bcl_outbox_free(struct bcl_connection *connection)
{
	const struct bcl_env *env = bcl_shm_env(connection->shm);
	struct bcl_outbox *outbox = &connection->outbox;

	env->release(env->world, outbox->entries,
		     BCL_OUTBOX_MAX * sizeof(*outbox->entries));
	outbox->entries = NULL;
	outbox->head = outbox->tail = 0;
}
