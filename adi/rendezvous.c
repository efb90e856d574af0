/* SPDX-License-Identifier: MIT */
/*
 * Rendezvous, the sender's side. The sender announces a message. The receiver
 * pulls the message when it has matched.
 *
 * The sender must offer a message to the transport before the receiver can
 * pull. The transport holds few offers at a time. So while few announced
 * messages wait, the sender offers a message first, and the announcement
 * carries the token. Further messages are announced by the name of the request.
 * The sender offers them when the receiver calls for them; these are pulled at
 * once and cannot block one another.
 *
 * A short message that is announced because of STOP needs no offer: the sender
 * answers the call with the data.
 */
#include <string.h>

#include "adi/iov.h"
#include "adi/job.h"
#include "adi/peer.h"
#include "adi/protocol.h"
#include "adi/request.h"

/* Copies the pieces together: an offer is one piece of memory. */
static enum bcl_status copy_pieces(struct bcl_adi *adi,
				   struct bcl_adi_request *request)
{
	void *copy = bcl_pool_get(&adi->pool, request->length);

	if (!copy)
		return BCL_ERR_NOMEM;
	bcl_adi_gather(copy, request->iov, request->niov);
	bcl_pool_put(&adi->pool, request->copy, request->copy_size);
	request->copy = copy;
	request->copy_size = request->length;
	request->buffer = copy;
	request->niov = 0;
	bcl_count(adi->counters, adi_bounced);
	return BCL_OK;
}

static enum bcl_status offer(struct bcl_adi *adi,
			     struct bcl_adi_request *request)
{
	enum bcl_status status = BCL_OK;

	if (request->niov)
		status = copy_pieces(adi, request);
	if (!status)
		status = bcl_offer(request->peer->peer, request->buffer,
				   request->length, (uintptr_t)request,
				   request->token);
	return status;
}

/* ---- announcing ---- */

static enum bcl_status announce(struct bcl_adi_request *request, uint64_t id)
{
	struct bcl_adi_announcement announcement = {
		.length = bcl_put64(request->length),
		.ticket.id = bcl_put64(id),
	};
	struct iovec iov = { &announcement, sizeof(announcement) };

	if (!id)
		memcpy(announcement.ticket.token, request->token, BCL_KEY_MAX);
	if (request->packet) {
		memcpy((char *)request->copy + request->ticket_at,
		       &announcement.ticket, sizeof(announcement.ticket));
		iov.iov_base = request->copy;
		iov.iov_len = request->copy_size;
	}
	return bcl_send(request->peer->peer,
			request->packet ? request->type : BCL_ADI_ANNOUNCE,
			request->key, &iov, 1, 0);
}

static void announced(struct bcl_adi *adi, struct bcl_adi_request *request,
		      enum bcl_request_state state)
{
	request->state = (uint8_t)state;
	request->peer->dirty = true;
	bcl_count(adi->counters, adi_sent_announced);
}

enum bcl_status bcl_request_offer(struct bcl_adi *adi,
				  struct bcl_adi_request *request)
{
	enum bcl_status status = BCL_ERR_AGAIN;

	if (request->state != BCL_REQUEST_ANNOUNCE) {
		request->state = BCL_REQUEST_OFFER;
		/* a long message cannot be the answer to a call */
		if (request->length > adi->eager_max)
			request->eager = false;
		if (!request->eager && adi->tokens < BCL_ADI_TOKENS)
			status = offer(adi, request);
		if (status == BCL_ERR_AGAIN) {
			status = announce(request, bcl_request_id(request));
			if (!status) {
				if (request->limited)
					request->peer->announced++;
				announced(adi, request, BCL_REQUEST_LISTED);
				return BCL_OK;
			}
		}
		if (status == BCL_ERR_AGAIN)
			return status;
		if (status) {
			bcl_request_complete(adi, request, status);
			return BCL_OK;
		}
		request->state = BCL_REQUEST_ANNOUNCE;
		request->tokened = true;
		adi->tokens++;
		if (request->limited)
			request->peer->announced++;
	}
	if (announce(request, 0) == BCL_ERR_AGAIN)
		return BCL_ERR_AGAIN;
	/* sent, or the peer is lost: the event of the offer ends the request */
	announced(adi, request, BCL_REQUEST_READ);
	return BCL_OK;
}

/* The message no longer counts as announced. */
static void end_announcement(struct bcl_adi *adi,
			     struct bcl_adi_request *request)
{
	if (request->tokened) {
		bcl_assert(adi->tokens);
		request->tokened = false;
		adi->tokens--;
	}
	if (request->limited) {
		bcl_assert(request->peer->announced);
		request->peer->announced--;
		bcl_adi_peer_resume(adi, request->peer);
	}
}

void bcl_adi_read(struct bcl_adi *adi, struct bcl_adi_request *request,
		  enum bcl_status status)
{
	if (request->state == BCL_REQUEST_ANNOUNCE ||
	    request->state == BCL_REQUEST_GIVE)
		bcl_adi_unqueue(request);
	else
		bcl_assert(request->state == BCL_REQUEST_READ);
	end_announcement(adi, request);
	bcl_request_complete(adi, request, status);
}

void bcl_request_fail_offered(struct bcl_adi *adi,
			      struct bcl_adi_request *request,
			      enum bcl_status status)
{
	(void)adi;
	(void)status;
	/* the event of the offer ends the request */
	request->state = BCL_REQUEST_READ;
}

bool bcl_request_withdraw(struct bcl_adi *adi, struct bcl_adi_request *request)
{
	if (bcl_withdraw(request->peer->peer, request->token))
		return false;
	bcl_adi_read(adi, request, BCL_ERR_CANCELLED);
	return true;
}

/* ---- answering a call ---- */

static enum bcl_status send_data(struct bcl_adi *adi,
				 struct bcl_adi_request *request)
{
	const struct iovec whole = { request->buffer, request->length };
	enum bcl_status status;

	status = bcl_adi_send_pieces(
		request->peer->peer, BCL_ADI_DATA, bcl_request_id(request),
		request->niov ? request->iov : &whole,
		request->niov ? request->niov : 1, request->length);
	if (status == BCL_ERR_AGAIN)
		return status;
	request->peer->dirty = true;
	end_announcement(adi, request);
	bcl_request_complete(adi, request, status);
	return BCL_OK;
}

enum bcl_status bcl_request_grant(struct bcl_adi *adi,
				  struct bcl_adi_request *request)
{
	const struct iovec iov = { request->token, BCL_KEY_MAX };
	enum bcl_status status;

	if (request->eager)
		return send_data(adi, request);
	if (request->state == BCL_REQUEST_GRANT) {
		status = offer(adi, request);
		if (status == BCL_ERR_AGAIN)
			return status;
		if (status) {
			end_announcement(adi, request);
			bcl_request_complete(adi, request, status);
			return BCL_OK;
		}
		request->state = BCL_REQUEST_GIVE;
	}
	if (bcl_send(request->peer->peer, BCL_ADI_TOKEN,
		     bcl_request_id(request), &iov, 1, 0) == BCL_ERR_AGAIN)
		return BCL_ERR_AGAIN;
	/* sent, or the peer is lost: the event of the offer ends the request */
	request->state = BCL_REQUEST_READ;
	request->peer->dirty = true;
	return BCL_OK;
}

/* Answers a call for a request that was taken back: a TOKEN of no bytes. NULL:
 * no memory. */
static struct bcl_adi_request *
disappoint(struct bcl_adi *adi, struct bcl_adi_peer *peer, uint64_t id)
{
	struct bcl_adi_request *request = bcl_request_new(adi);

	if (!request)
		return NULL;
	request->copy = NULL;
	request->copy_size = 0;
	request->end = BCL_END_FREE;
	bcl_request_make_packet(request, peer, BCL_ADI_TOKEN, id);
	return request;
}

struct bcl_adi_request *bcl_adi_call(struct bcl_adi *adi,
				     const struct bcl_event *event)
{
	struct bcl_adi_request *request =
		bcl_request_find(adi, event->immediate);
	struct bcl_adi_peer *peer = bcl_adi_peer_find(adi, event->peer);

	if (!peer) {
		bcl_count(adi->counters, adi_dropped);
		return NULL;
	}
	if (!request || request->state != BCL_REQUEST_LISTED ||
	    request->peer != peer)
		return disappoint(adi, peer, event->immediate);
	bcl_count(adi->counters, adi_called);
	request->state = BCL_REQUEST_GRANT;
	request->released = false;
	return request;
}
