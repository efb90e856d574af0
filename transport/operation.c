/* SPDX-License-Identifier: MIT */
/*
 * Rendezvous and remote memory access: the public functions, which check the
 * arguments and the state of the peer and call the peer's path.
 */
#include "transport/internal.h"
#include "transport/key.h"
#include "transport/shm/shm.h"

/* True if the path of the peer has the operation. */
#define supports(peer, operation) ((peer) && (peer)->ops->operation)

/* Checks whether an operation may go to the path of the peer. `needed`: an
 * argument that must not be NULL. */
static enum bcl_status check_operation(struct bcl_peer *peer,
				       const void *needed, bool supported)
{
	enum bcl_status status = bcl_peer_usable(peer);
	struct bcl_port *port;

	if (status)
		return status;
	if (!needed)
		return BCL_ERR_ARG;
	port = peer->port;
	bcl_presence(port->context);
	if (peer->state == BCL_PEER_LOST) {
		bcl_count(port->counters, core_send_lost);
		return peer->lost;
	}
	if (peer->state == BCL_PEER_CONNECTING) {
		bcl_count(port->counters, core_send_again);
		return BCL_ERR_AGAIN;
	}
	bcl_port_rouse(port);
	return supported ? BCL_OK : BCL_ERR_UNSUPPORTED;
}

/*
 * Checks the access by the key itself, so that a mistake is found here. The
 * owner of the memory decides again, by its own table.
 */
static enum bcl_status check_key(const struct bcl_peer *peer, const void *bytes,
				 uint64_t offset, uint64_t length,
				 unsigned rights)
{
	struct bcl_key key = bcl_key_unpack(bytes);

	if (key.card != peer->address.card)
		return BCL_ERR_ARG;
	return bcl_key_allows(&key, offset, length, rights) ? BCL_OK
							    : BCL_ERR_MEMORY;
}

/* Checks a put or get. */
static enum bcl_status check_transfer(const struct bcl_peer *peer,
				      const void *key, uint64_t offset,
				      const void *buffer, size_t length,
				      unsigned rights)
{
	if (bcl_nowhere(buffer, length))
		return BCL_ERR_ARG;
	return check_key(peer, key, offset, length, rights);
}

enum bcl_status bcl_send_channel(struct bcl_peer *peer, unsigned channel,
				 const void *buffer, size_t length,
				 uint64_t cookie)
{
	enum bcl_status status =
		check_operation(peer, peer, supports(peer, send_channel));

	if (status)
		return status;
	if (channel > UINT16_MAX || bcl_nowhere(buffer, length))
		return BCL_ERR_ARG;
	return peer->ops->send_channel(peer, channel, buffer, length, cookie);
}

enum bcl_status bcl_offer(struct bcl_peer *peer, const void *buffer,
			  size_t length, uint64_t cookie, void *token)
{
	enum bcl_status status =
		check_operation(peer, token, supports(peer, offer));

	if (status)
		return status;
	if (bcl_nowhere(buffer, length))
		return BCL_ERR_ARG;
	return peer->ops->offer(peer, buffer, length, cookie, token);
}

enum bcl_status bcl_withdraw(struct bcl_peer *peer, const void *token)
{
	enum bcl_status status =
		check_operation(peer, token, supports(peer, withdraw));

	return status ? status : peer->ops->withdraw(peer, token);
}

enum bcl_status bcl_pull(struct bcl_peer *peer, const void *token, void *buffer,
			 size_t length, uint64_t cookie)
{
	enum bcl_status status =
		check_operation(peer, token, supports(peer, pull));

	if (status)
		return status;
	if (bcl_nowhere(buffer, length))
		return BCL_ERR_ARG;
	return peer->ops->pull(peer, token, buffer, length, cookie);
}

enum bcl_status bcl_memory_map(struct bcl_peer *peer, const void *key,
			       void **address)
{
	enum bcl_status status = check_operation(peer, address ? key : NULL,
						 supports(peer, map));

	if (!status)
		status = check_key(peer, key, 0, 0, 0);
	if (!status && !(bcl_key_unpack(key).rights & BCL_KEY_ALLOCATED))
		status = BCL_ERR_UNSUPPORTED;
	return status ? status : peer->ops->map(peer, key, address);
}

void bcl_memory_unmap(struct bcl_peer *peer, const void *key)
{
	if (bcl_peer_usable(peer) || !key)
		return;
	if (peer->ops->unmap)
		peer->ops->unmap(peer, key);
	else
		bcl_shm_unmap(peer->port, key);
}

enum bcl_status bcl_put(struct bcl_peer *peer, const void *key, uint64_t offset,
			const void *buffer, size_t length, uint64_t cookie)
{
	enum bcl_status status =
		check_operation(peer, key, supports(peer, put));

	if (!status)
		status = check_transfer(peer, key, offset, buffer, length,
					BCL_REMOTE_WRITE);
	if (status)
		return status;
	return peer->ops->put(peer, key, offset, buffer, length, cookie);
}

enum bcl_status bcl_get(struct bcl_peer *peer, const void *key, uint64_t offset,
			void *buffer, size_t length, uint64_t cookie)
{
	enum bcl_status status =
		check_operation(peer, key, supports(peer, get));

	if (!status)
		status = check_transfer(peer, key, offset, buffer, length,
					BCL_REMOTE_READ);
	if (status)
		return status;
	return peer->ops->get(peer, key, offset, buffer, length, cookie);
}

enum bcl_status bcl_put_notify(struct bcl_peer *peer, const void *key,
			       uint64_t offset, const void *buffer,
			       size_t length, unsigned type, uint32_t immediate,
			       uint64_t cookie)
{
	enum bcl_status status =
		check_operation(peer, key, supports(peer, put_notify));

	if (!status && type >= BCL_TYPES)
		status = BCL_ERR_ARG;
	if (!status)
		status = check_transfer(peer, key, offset, buffer, length,
					BCL_REMOTE_WRITE);
	if (status)
		return status;
	return peer->ops->put_notify(peer, key, offset, buffer, length, type,
				     immediate, cookie);
}

static enum bcl_status atomic_word(struct bcl_peer *peer, const void *key,
				   uint64_t offset, bool compare,
				   const uint64_t operand[2], uint64_t *result,
				   uint64_t cookie)
{
	enum bcl_status status = check_operation(peer, result ? key : NULL,
						 supports(peer, atomic));

	if (!status && (bcl_key_unpack(key).base + offset) % 8)
		status = BCL_ERR_ARG;
	if (!status)
		status = check_key(peer, key, offset, 8, BCL_REMOTE_ATOMIC);
	if (status)
		return status;
	return peer->ops->atomic(peer, key, offset, compare, operand, result,
				 cookie);
}

enum bcl_status bcl_fetch_add(struct bcl_peer *peer, const void *key,
			      uint64_t offset, uint64_t addend,
			      uint64_t *result, uint64_t cookie)
{
	const uint64_t operand[2] = { addend };

	return atomic_word(peer, key, offset, false, operand, result, cookie);
}

enum bcl_status bcl_compare_swap(struct bcl_peer *peer, const void *key,
				 uint64_t offset, uint64_t compare,
				 uint64_t swap, uint64_t *result,
				 uint64_t cookie)
{
	const uint64_t operand[2] = { compare, swap };

	return atomic_word(peer, key, offset, true, operand, result, cookie);
}

enum bcl_status bcl_fence(struct bcl_peer *peer, uint64_t cookie)
{
	enum bcl_status status =
		check_operation(peer, peer, supports(peer, fence));

	return status ? status : peer->ops->fence(peer, cookie);
}
