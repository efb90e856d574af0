/* SPDX-License-Identifier: MIT */
/* Put, get, atomics and fence on a peer's memory, for the operations of a path;
 * see remote.h. */
#include "transport/event.h"
#include "transport/shm/attach.h"
#include "transport/shm/notify.h"
#include "transport/shm/port.h"

enum {
	PIECE = 4 << 20, /* bytes copied by attach between looks at the grant */
};

static enum bcl_status complete_access(struct bcl_connection *c,
				       uint64_t cookie, size_t length,
				       enum bcl_status status)
{
	const struct bcl_event event = {
		.kind = BCL_EVENT_SENT,
		.status = status,
		.peer = c->pair.peer,
		.cookie = cookie,
		.length = length,
	};

	return bcl_event_push(c->shm->port, &event);
}

static enum bcl_status copy_attached(struct bcl_connection *c,
				     struct bcl_remote *remote, uint64_t offset,
				     uint8_t *buffer, size_t length, bool put)
{
	_Atomic uint32_t *busy = &c->segment.head->index[c->side].busy;
	enum bcl_status status = BCL_OK;

	while (length && !status) {
		size_t n = length < PIECE ? length : PIECE;
		uint64_t at = remote->base + offset;

		atomic_store_explicit(busy, remote->handle,
				      memory_order_relaxed);
		/* partner: the fence in revoke_grant(), bcl_grants_end() */
		atomic_thread_fence(memory_order_seq_cst);
		if (!bcl_remote_valid(c, remote))
			status = BCL_ERR_MEMORY;
		else if (put)
			status = bcl_attach_write(c, buffer, at, n);
		else
			status = bcl_attach_read(c, buffer, at, n);
		atomic_store_explicit(busy, 0, memory_order_release);
		buffer += n;
		offset += n;
		length -= n;
	}
	return status;
}

/* Copy directly. OK: the copy is done. UNSUPPORTED: this access needs a
 * request. */
static enum bcl_status copy_directly(struct bcl_connection *c,
				     const struct bcl_key *key, uint64_t offset,
				     uint8_t *buffer, size_t length, bool put)
{
	struct bcl_remote *remote;
	enum bcl_status status;

	if (!c->attach && !(key->rights & BCL_KEY_ALLOCATED))
		return BCL_ERR_UNSUPPORTED;
	status = bcl_remote_find(c, key, &remote);
	if (status)
		return status;
	if (!remote->length)
		return BCL_ERR_UNSUPPORTED;
	if (offset > remote->length || length > remote->length - offset)
		return BCL_ERR_MEMORY;
	if (!remote->mapped)
		return copy_attached(c, remote, offset, buffer, length, put);
	if (put)
		memcpy((uint8_t *)remote->mapped + offset, buffer, length);
	else
		memcpy(buffer, (uint8_t *)remote->mapped + offset, length);
	return BCL_OK;
}

static enum bcl_status put_or_get(struct bcl_connection *c,
				  const struct bcl_access *access,
				  const struct bcl_key *key)
{
	enum bcl_status status;

	/* not before a put with notification has finished */
	if (c->blocked)
		return BCL_ERR_AGAIN;
	status = copy_directly(c, key, access->offset, access->buffer,
			       access->length, access->op == BCL_RMA_PUT);
	if (status == BCL_ERR_UNSUPPORTED)
		return bcl_rma_begin(c, access);
	if (status == BCL_ERR_AGAIN || status == BCL_ERR_NOMEM)
		return status;
	return complete_access(c, access->cookie, access->length, status);
}

enum bcl_status bcl_access_put(struct bcl_peer *peer, const void *bytes,
			       uint64_t offset, const void *buffer,
			       size_t length, uint64_t cookie)
{
	const struct bcl_key key = bcl_key_unpack(bytes);
	const struct bcl_access access = {
		.op = BCL_RMA_PUT,
		.handle = key.handle,
		.offset = offset,
		.buffer = (uint8_t *)(uintptr_t)buffer,
		.length = length,
		.cookie = cookie,
	};

	return put_or_get(peer->path, &access, &key);
}

enum bcl_status bcl_access_get(struct bcl_peer *peer, const void *bytes,
			       uint64_t offset, void *buffer, size_t length,
			       uint64_t cookie)
{
	const struct bcl_key key = bcl_key_unpack(bytes);
	const struct bcl_access access = {
		.op = BCL_RMA_GET,
		.handle = key.handle,
		.offset = offset,
		.buffer = buffer,
		.length = length,
		.cookie = cookie,
	};

	return put_or_get(peer->path, &access, &key);
}

enum bcl_status bcl_access_put_notify(struct bcl_peer *peer, const void *bytes,
				      uint64_t offset, const void *buffer,
				      size_t length, unsigned type,
				      uint32_t immediate, uint64_t cookie)
{
	struct bcl_connection *c = peer->path;
	const struct bcl_key key = bcl_key_unpack(bytes);
	const struct bcl_access access = {
		.op = BCL_RMA_PUT,
		.notify = true,
		.type = (uint8_t)type,
		.immediate = immediate,
		.handle = key.handle,
		.offset = offset,
		.buffer = (uint8_t *)(uintptr_t)buffer,
		.length = length,
		.cookie = cookie,
	};
	enum bcl_status status;
	void *room;

	/* copy nothing unless there is room for the notification */
	if (c->blocked || bcl_pair_reserve(&c->pair, 0, &room))
		return BCL_ERR_AGAIN;
	status = copy_directly(c, &key, offset, access.buffer, length, true);
	if (status == BCL_ERR_UNSUPPORTED) {
		status = bcl_rma_begin(c, &access);
		if (!status)
			bcl_connection_block(c, true);
		return status;
	}
	if (status == BCL_ERR_AGAIN || status == BCL_ERR_NOMEM)
		return status;
	if (!status)
		bcl_notify_send(c, &access);
	return complete_access(c, cookie, length, status);
}

enum bcl_status bcl_access_atomic(struct bcl_peer *peer, const void *bytes,
				  uint64_t offset, bool compare,
				  const uint64_t operand[2], uint64_t *result,
				  uint64_t cookie)
{
	struct bcl_connection *c = peer->path;
	const struct bcl_key key = bcl_key_unpack(bytes);
	const struct bcl_access access = {
		.op = compare ? BCL_RMA_COMPARE_SWAP : BCL_RMA_FETCH_ADD,
		.handle = key.handle,
		.offset = offset,
		.buffer = (uint8_t *)result,
		.length = sizeof(*result),
		.operand = { operand[0], operand[1] },
		.cookie = cookie,
	};
	struct bcl_remote *remote;
	enum bcl_status status;

	if (c->blocked)
		return BCL_ERR_AGAIN;
	if (!(key.rights & BCL_KEY_ALLOCATED))
		return bcl_rma_begin(c, &access);
	status = bcl_remote_find(c, &key, &remote);
	if (!status && !remote->mapped)
		return bcl_rma_begin(c, &access);
	if (status == BCL_ERR_AGAIN || status == BCL_ERR_NOMEM)
		return status;
	if (!status && (offset > remote->length || remote->length - offset < 8))
		status = BCL_ERR_MEMORY;
	if (!status)
		*result = bcl_atomic_word(
			(_Atomic uint64_t *)((char *)remote->mapped + offset),
			compare, operand);
	return complete_access(c, cookie, sizeof(*result), status);
}

enum bcl_status bcl_access_fence(struct bcl_peer *peer, uint64_t cookie)
{
	struct bcl_connection *c = peer->path;

	/* All operations except requests are complete when their calls
	 * return. */
	if (c->blocked || (c->remotes && c->remotes->accesses))
		return BCL_ERR_AGAIN;
	return complete_access(c, cookie, 0, BCL_OK);
}
