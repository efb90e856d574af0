/* SPDX-License-Identifier: MIT */
/* Eager messages: the data leaves with the first message. A synchronous message
 * is answered with MATCHED. Packets travel as eager messages do, without
 * tags. */
#include <string.h>

#include "adi/iov.h"
#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/protocol.h"
#include "adi/request.h"
#include "transport/send.h"

bool bcl_adi_may_send(const struct bcl_adi_request *request)
{
	const struct bcl_adi_peer *peer = request->peer;

	return peer->announced < peer->limit ||
	       (request->state != BCL_REQUEST_OFFER && !peer->stopped &&
		request->eager);
}

enum bcl_status __attribute__((noinline))
bcl_adi_send_piece(struct bcl_peer *peer, uint64_t key, const void *data,
		   size_t length)
{
	const struct iovec iov = { (void *)data, length };

	return bcl_send(peer, BCL_ADI_EAGER, key, &iov, 1, 0);
}

enum bcl_status bcl_adi_send_pieces(struct bcl_peer *peer, unsigned type,
				    uint64_t immediate, const struct iovec *iov,
				    unsigned niov, size_t length)
{
	enum bcl_status status;
	void *room;

	if (niov <= BCL_GATHER_MAX)
		return bcl_send(peer, type, immediate, iov, niov, 0);
	status = bcl_reserve(peer, length, &room);
	if (status)
		return status;
	bcl_adi_gather(room, iov, niov);
	return bcl_commit(peer, type, immediate, length);
}

static enum bcl_status send_sync(struct bcl_peer *peer,
				 const struct bcl_adi_request *request,
				 const struct iovec *iov, unsigned niov)
{
	struct bcl_le64 id = bcl_put64(bcl_request_id(request));
	size_t length = sizeof(id) + request->length;
	enum bcl_status status;
	void *room;

	status = bcl_reserve(peer, length, &room);
	if (status)
		return status;
	memcpy(room, &id, sizeof(id));
	bcl_adi_gather((char *)room + sizeof(id), iov, niov);
	return bcl_commit(peer, BCL_ADI_SYNC, request->key, length);
}

static enum bcl_status push_long(struct bcl_adi *adi,
				 struct bcl_adi_request *request,
				 const struct iovec *iov, unsigned niov)
{
	struct bcl_adi_peer *peer = request->peer;
	enum bcl_status status;

	status = bcl_send(peer->peer, BCL_ADI_EAGER, request->key, iov, niov,
			  (uintptr_t)request);
	switch (status) {
	case BCL_OK:
		bcl_count(adi->counters, adi_sent_long);
		bcl_adi_sent(adi, peer);
		request->state = BCL_REQUEST_SENT;
		return BCL_OK;
	case BCL_ERR_AGAIN:
	case BCL_ERR_UNSUPPORTED: /* the peer has another path now */
		return status;
	default:
		bcl_request_complete(adi, request, status);
		return BCL_OK;
	}
}

static enum bcl_status push_eager(struct bcl_adi *adi,
				  struct bcl_adi_request *request)
{
	struct bcl_adi_peer *peer = request->peer;
	const struct iovec whole = { request->buffer, request->length };
	const struct iovec *iov = request->niov ? request->iov : &whole;
	unsigned niov = request->niov ? request->niov : 1;
	enum bcl_status status;

	if (request->length > BCL_MESSAGE_MAX)
		return push_long(adi, request, iov, niov);
	if (request->sync)
		status = send_sync(peer->peer, request, iov, niov);
	else
		status = bcl_adi_send_pieces(peer->peer, BCL_ADI_EAGER,
					     request->key, iov, niov,
					     request->length);
	if (status == BCL_ERR_AGAIN)
		return status;
	if (status) {
		bcl_request_complete(adi, request, status);
		return BCL_OK;
	}
	bcl_adi_sent(adi, peer);
	if (request->sync)
		request->state = BCL_REQUEST_SYNC;
	else
		bcl_request_complete(adi, request, BCL_OK);
	return BCL_OK;
}

enum bcl_status bcl_request_send(struct bcl_adi *adi,
				 struct bcl_adi_request *request)
{
	if (!request->eager || (request->limited && request->peer->stopped))
		return BCL_ERR_UNSUPPORTED;
	return push_eager(adi, request);
}

void bcl_adi_matched(struct bcl_adi *adi, const struct bcl_event *event)
{
	struct bcl_adi_request *request =
		bcl_request_find(adi, event->immediate);

	if (request && request->state == BCL_REQUEST_SYNC &&
	    request->peer->peer == event->peer)
		bcl_request_complete(adi, request, BCL_OK);
	else
		bcl_count(adi->counters, adi_dropped);
}

/* ---- answers and packets ---- */

enum bcl_status bcl_request_answer(struct bcl_adi *adi,
				   struct bcl_adi_request *request)
{
	enum bcl_status status;

	status = bcl_send(request->peer->peer, BCL_ADI_MATCHED, request->remote,
			  NULL, 0, 0);
	if (status == BCL_ERR_AGAIN)
		return status;
	request->peer->dirty = true;
	/* the receive succeeds even if the sender is lost */
	bcl_request_complete(adi, request, request->status.status);
	return BCL_OK;
}

/* The message has arrived. */
void bcl_request_fail_answer(struct bcl_adi *adi,
			     struct bcl_adi_request *request,
			     enum bcl_status status)
{
	(void)status;
	bcl_request_complete(adi, request, request->status.status);
}

enum bcl_status bcl_request_packet(struct bcl_adi *adi,
				   struct bcl_adi_request *request)
{
	const struct iovec whole = { request->copy, request->copy_size };
	const struct iovec *iov = request->niov ? request->iov : &whole;
	unsigned niov = request->niov ? request->niov : 1;
	bool lent = request->niov || request->copy_size > BCL_MESSAGE_MAX;
	enum bcl_status status;

	status = bcl_send(request->peer->peer, request->type, request->key, iov,
			  niov, lent ? (uintptr_t)request : 0);
	if (status == BCL_ERR_AGAIN)
		return status;
	request->peer->dirty = true;
	if (!status && lent)
		request->state = BCL_REQUEST_SENT;
	else
		bcl_request_complete(adi, request, status);
	return BCL_OK;
}
