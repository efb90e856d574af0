/* SPDX-License-Identifier: MIT */
/* The sending side of the system channel: bcl_send(), bcl_reserve(),
 * bcl_commit(), and the slow paths of send.h. */
#include "base/base.h"
#include "transport/internal.h"
#include "transport/send.h"

enum {
	/* BCL_HINTS_AFTER_LINE for a program, which may look for the answer
	 * at once; the ADI looks later, because its own work comes first. */
	HINTS_AFTER_SEND = 2,
};

/* Sends on the shared path. The message lies where the receiver reads it when
 * the call returns, so the event follows at once. */
static enum bcl_status send_pair(struct bcl_peer *peer, unsigned type,
				 uint64_t immediate, const struct iovec *iov,
				 unsigned niov, size_t length, uint64_t cookie)
{
	const struct bcl_event event = {
		.kind = BCL_EVENT_SENT,
		.peer = peer,
		.cookie = cookie,
		.length = length,
	};
	enum bcl_status status = BCL_OK;

	if (cookie)
		status = bcl_event_reserve(peer->port);
	if (!status)
		status = bcl_pair_send_iov(peer->pair, type, immediate, iov,
					   niov, length);
	if (!status && cookie)
		status = bcl_event_push(peer->port, &event);
	return status;
}

size_t bcl_send_longest(const struct bcl_peer *peer)
{
	return peer->ops->longest ? peer->ops->longest(peer) : BCL_MESSAGE_MAX;
}

static enum bcl_status __attribute__((noinline))
send_any(struct bcl_peer *peer, unsigned type, uint64_t immediate,
	 const struct iovec *iov, unsigned niov, uint64_t cookie)
{
	size_t most = cookie && niov <= BCL_LONG_PIECES ? BCL_LONG_MAX
							: BCL_MESSAGE_MAX;
	size_t length = 0;

	if (bcl_port_forked(peer->port))
		return BCL_ERR_FORKED;
	if (type >= BCL_TYPES || niov > BCL_GATHER_MAX || (niov && !iov))
		return BCL_ERR_ARG;
	for (unsigned i = 0; i < niov; i++) {
		/* each on its own, so that the sum cannot wrap */
		if (iov[i].iov_len > most ||
		    bcl_nowhere(iov[i].iov_base, iov[i].iov_len))
			return BCL_ERR_ARG;
		length += iov[i].iov_len;
	}
	if (length > most)
		return BCL_ERR_ARG;
	if (length > BCL_MESSAGE_MAX && peer->state == BCL_PEER_UP &&
	    length > bcl_send_longest(peer))
		return BCL_ERR_UNSUPPORTED;
	if (peer->pair)
		return send_pair(peer, type, immediate, iov, niov, length,
				 cookie);
	return peer->ops->send(peer, type, immediate, iov, niov, length,
			       cookie);
}

enum bcl_status bcl_send(struct bcl_peer *peer, unsigned type,
			 uint64_t immediate, const struct iovec *iov,
			 unsigned niov, uint64_t cookie)
{
	enum bcl_status status;
	bool plain;

	/* Separate tests: a branch that is not taken is cheaper than a
	 * combined condition. */
	if (bcl_unlikely(!peer))
		return BCL_ERR_ARG;
	if (bcl_unlikely(!iov))
		return send_any(peer, type, immediate, iov, niov, cookie);
	plain = niov == 1 && iov->iov_base && type < BCL_TYPES;
	if (plain && !cookie && bcl_send_is_short(peer, iov->iov_len)) {
		status = bcl_send_short(peer, type, immediate, iov->iov_base,
					iov->iov_len);
		peer->port->spin.hints = HINTS_AFTER_SEND;
		return status;
	}
	if (plain && !peer->pair && iov->iov_len <= BCL_MESSAGE_MAX)
		return bcl_port_forked(peer->port)
			       ? BCL_ERR_FORKED
			       : peer->ops->send(peer, type, immediate, iov, 1,
						 iov->iov_len, cookie);
	return send_any(peer, type, immediate, iov, niov, cookie);
}

enum bcl_status bcl_send_pieces(struct bcl_peer *peer, unsigned type,
				uint64_t immediate, const struct iovec *iov,
				unsigned niov, size_t length)
{
	if (bcl_port_forked(peer->port))
		return BCL_ERR_FORKED;
	if (peer->pair)
		return bcl_pair_send_iov(peer->pair, type, immediate, iov, niov,
					 length);
	return peer->ops->send(peer, type, immediate, iov, niov, length, 0);
}

enum bcl_status bcl_send_word_long(struct bcl_peer *peer, unsigned type,
				   uint64_t word, const void *data,
				   size_t length)
{
	const struct iovec pieces[] = { { &word, sizeof(word) },
					{ (void *)data, length } };

	if (bcl_port_forked(peer->port))
		return BCL_ERR_FORKED;
	if (peer->pair)
		return bcl_pair_send_word(peer->pair, type, word, data, length);
	return peer->ops->send(peer, type, 0, pieces, 2, sizeof(word) + length,
			       0);
}

enum bcl_status bcl_reserve(struct bcl_peer *peer, size_t length, void **room)
{
	enum bcl_status status = bcl_peer_usable(peer);

	if (status)
		return status;
	if (!room || length > BCL_MESSAGE_MAX)
		return BCL_ERR_ARG;
	bcl_presence(peer->port->context);
	return peer->ops->reserve(peer, length, room);
}

enum bcl_status bcl_commit(struct bcl_peer *peer, unsigned type,
			   uint64_t immediate, size_t length)
{
	enum bcl_status status = bcl_peer_usable(peer);

	if (status)
		return status;
	if (type >= BCL_TYPES || length > BCL_MESSAGE_MAX)
		return BCL_ERR_ARG;
	bcl_presence(peer->port->context);
	return peer->ops->commit(peer, type, immediate, length);
}
