/* SPDX-License-Identifier: MIT */
/* The table of operations of the shared-memory path (struct bcl_path_ops). */
#include "transport/shm/leave.h"
#include "transport/shm/port.h"

/* Microseconds and MB/s between peers of one host, as bcl-perf finds them on
 * common machines: estimates for the time before anything was measured. */
static const double typical_latency = 0.1, typical_overhead = 0.02;
static const double attach_bandwidth = 20000, copy_bandwidth = 10000;

static enum bcl_status shm_send(struct bcl_peer *peer, unsigned type,
				uint64_t immediate, const struct iovec *iov,
				unsigned niov, size_t length, uint64_t cookie)
{
	struct bcl_connection *c = peer->path;

	(void)cookie;
	if (c->blocked)
		return BCL_ERR_AGAIN;
	return bcl_pair_send_iov(&c->pair, type, immediate, iov, niov, length);
}

static enum bcl_status shm_reserve(struct bcl_peer *peer, size_t length,
				   void **room)
{
	struct bcl_connection *c = peer->path;
	enum bcl_status status = BCL_ERR_AGAIN;

	if (!c->blocked)
		status = bcl_pair_reserve(&c->pair, length, room);
	if (!status)
		c->reserved = length + 1;
	return status;
}

static enum bcl_status shm_commit(struct bcl_peer *peer, unsigned type,
				  uint64_t immediate, size_t length)
{
	struct bcl_connection *c = peer->path;

	if (length >= c->reserved)
		return BCL_ERR_ARG;
	c->reserved = 0;
	bcl_pair_commit(&c->pair, type, immediate, length);
	return BCL_OK;
}

static enum bcl_status shm_send_channel(struct bcl_peer *peer, unsigned channel,
					const void *buffer, size_t length,
					uint64_t cookie)
{
	return bcl_posted_send(peer->path, channel, buffer, length, cookie);
}

static enum bcl_status shm_offer(struct bcl_peer *peer, const void *buffer,
				 size_t length, uint64_t cookie, void *token)
{
	struct bcl_token made;
	enum bcl_status status = bcl_offer_make(peer->path, BCL_OFFER_READ,
						buffer, length, cookie, &made);

	if (!status)
		memcpy(token, &made, sizeof(made));
	return status;
}

static enum bcl_status shm_withdraw(struct bcl_peer *peer, const void *bytes)
{
	struct bcl_token token;

	memcpy(&token, bytes, sizeof(token));
	return bcl_offer_withdraw(peer->path, &token);
}

static enum bcl_status shm_pull(struct bcl_peer *peer, const void *bytes,
				void *buffer, size_t length, uint64_t cookie)
{
	const struct bcl_pull_request request = {
		.kind = BCL_PULL_USER,
		.buffer = buffer,
		.length = length,
		.cookie = cookie,
	};
	struct bcl_token token;

	memcpy(&token, bytes, sizeof(token));
	return bcl_pull_begin(peer->path, &token, &request);
}

static bool shm_has_room(const struct bcl_peer *peer)
{
	const struct bcl_connection *c = peer->path;

	return !c->blocked && bcl_pair_has_room(&c->pair);
}

static void shm_info(const struct bcl_peer *peer, struct bcl_peer_info *info)
{
	const struct bcl_connection *c = peer->path;

	info->attach = c->attach;
	info->latency = typical_latency;
	info->overhead = typical_overhead;
	info->bandwidth = info->attach ? attach_bandwidth : copy_bandwidth;
}

static void shm_close(struct bcl_peer *peer)
{
	bcl_leave_begin(peer->path);
}

static void shm_open(struct bcl_peer *peer)
{
	bcl_shm_want(peer->port->shm, BCL_WORK_LEAVE);
}

const struct bcl_path_ops bcl_shm_ops = {
	.path = BCL_PATH_SHARED,
	.send = shm_send,
	.reserve = shm_reserve,
	.commit = shm_commit,
	.send_channel = shm_send_channel,
	.offer = shm_offer,
	.withdraw = shm_withdraw,
	.pull = shm_pull,
	.map = bcl_remote_map,
	.unmap = bcl_remote_unmap,
	.put = bcl_access_put,
	.get = bcl_access_get,
	.put_notify = bcl_access_put_notify,
	.atomic = bcl_access_atomic,
	.fence = bcl_access_fence,
	.has_room = shm_has_room,
	.info = shm_info,
	.close = shm_close,
	.open = shm_open,
};
