/* SPDX-License-Identifier: MIT */
#include "mock_state.h"
#include "transport/send.h"
#include "transport/shm/pair.h"

void mock_say(struct mock_peer *peer, enum bcl_event_kind kind, unsigned type,
	      uint64_t immediate, const void *data, size_t length)
{
	struct mock *mock = peer->local->mock;
	struct mock_peer *back = mock_peer_find(peer->remote, peer->local);
	const struct bcl_event event = {
		.kind = kind,
		.peer = &back->base,
		.type = type,
		.immediate = immediate,
	};
	uint64_t at = mock_now(mock) + mock_draw(mock, mock->options.latency);

	if (back->base.state == BCL_PEER_CONNECTING &&
	    back->up_at == UINT64_MAX)
		back->up_at = at;
	if (at < peer->last)
		at = peer->last;
	peer->last = at;
	peer->on_way++;
	mock_push(peer->remote, at, &event, data, length)->way = peer;
	peer->local->sent[type]++;
}

enum bcl_status mock_may_send(struct mock_peer *peer)
{
	struct mock *mock = peer->local->mock;
	enum bcl_status status = mock_peer_ready(peer);

	if (!status && (peer->blocked || (mock->options.ring &&
					  peer->on_way >= mock->options.ring)))
		status = BCL_ERR_AGAIN;
	return status;
}

/* No peer of the mock has a pair, so the inline paths of the ADI never call the
 * functions below. */

enum bcl_status bcl_pair_send_full(struct bcl_pair *pair, unsigned type,
				   uint64_t immediate, const void *data,
				   size_t length)
{
	(void)pair, (void)type, (void)immediate, (void)data, (void)length;
	abort();
}

enum bcl_status bcl_pair_attend(struct bcl_pair *pair)
{
	(void)pair;
	abort();
}

enum bcl_status bcl_pair_unusual(struct bcl_pair *pair, uint64_t header,
				 uint64_t immediate, const void *payload)
{
	(void)pair, (void)header, (void)immediate, (void)payload;
	abort();
}

size_t bcl_send_longest(const struct bcl_peer *base)
{
	const struct mock_peer *peer = mock_peer_of((struct bcl_peer *)base);

	return peer->local->mock->options.longs ? BCL_LONG_MAX
						: BCL_MESSAGE_MAX;
}

enum bcl_status bcl_send(struct bcl_peer *base, unsigned type,
			 uint64_t immediate, const struct iovec *iov,
			 unsigned niov, uint64_t cookie)
{
	struct mock_peer *peer = mock_peer_of(base);
	struct mock *mock = mock_enter(peer->local);
	size_t most = cookie && niov <= BCL_LONG_PIECES ? bcl_send_longest(base)
							: BCL_MESSAGE_MAX;
	unsigned char data[BCL_LONG_MAX];
	enum bcl_status status;
	size_t length = 0;

	mock_check(type < BCL_TYPES && niov <= BCL_GATHER_MAX,
		   "send: argument");
	mock_check(!peer->local->reserved, "a send between reserve and commit");
	for (unsigned i = 0; i < niov; i++) {
		mock_check(iov[i].iov_len <= most - length, "send: length");
		if (iov[i].iov_len)
			memcpy(data + length, iov[i].iov_base, iov[i].iov_len);
		length += iov[i].iov_len;
	}
	status = mock_may_send(peer);
	if (!status) {
		mock_say(peer, BCL_EVENT_MESSAGE, type, immediate, data,
			 length);
		if (cookie) {
			const struct bcl_event event = {
				.kind = BCL_EVENT_SENT,
				.peer = base,
				.cookie = cookie,
			};

			mock_push(peer->local, peer->last, &event, NULL, 0);
		}
	}
	mock_leave(mock);
	return status;
}

enum bcl_status bcl_send_pieces(struct bcl_peer *peer, unsigned type,
				uint64_t immediate, const struct iovec *iov,
				unsigned niov, size_t length)
{
	(void)length;
	return bcl_send(peer, type, immediate, iov, niov, 0);
}

enum bcl_status bcl_send_word_long(struct bcl_peer *peer, unsigned type,
				   uint64_t word, const void *data,
				   size_t length)
{
	const struct iovec pieces[] = { { &word, sizeof(word) },
					{ (void *)data, length } };

	return bcl_send(peer, type, 0, pieces, 2, 0);
}

enum bcl_status bcl_reserve(struct bcl_peer *base, size_t length, void **room)
{
	struct mock_peer *peer = mock_peer_of(base);
	struct mock *mock = mock_enter(peer->local);
	enum bcl_status status = mock_may_send(peer);

	mock_check(length <= BCL_MESSAGE_MAX, "reserve: length");
	if (!status) {
		peer->local->reserved = peer;
		*room = peer->local->room;
	}
	mock_leave(mock);
	return status;
}

enum bcl_status bcl_commit(struct bcl_peer *base, unsigned type,
			   uint64_t immediate, size_t length)
{
	struct mock_peer *peer = mock_peer_of(base);
	struct mock *mock = mock_enter(peer->local);

	mock_check(peer->local->reserved == peer, "commit without reserve");
	peer->local->reserved = NULL;
	mock_say(peer, BCL_EVENT_MESSAGE, type, immediate, peer->local->room,
		 length);
	mock_leave(mock);
	return BCL_OK;
}
