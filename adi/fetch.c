/* SPDX-License-Identifier: MIT */
/* Rendezvous, the receiver's side: calls for announced messages, and pulls
 * them. rendezvous.c explains the protocol. */
#include <string.h>

#include "adi/iov.h"
#include "adi/job.h"
#include "adi/peer.h"
#include "adi/protocol.h"
#include "adi/request.h"

/* Bytes of the message that fit into the receive. */
static size_t wanted(const struct bcl_adi_request *request)
{
	return request->status.length < request->length ? request->status.length
							: request->length;
}

void bcl_request_fetch(struct bcl_adi_request *request,
		       struct bcl_adi_peer *peer, const void *bytes)
{
	struct bcl_adi_ticket ticket;

	memcpy(&ticket, bytes, sizeof(ticket));
	memcpy(request->token, ticket.token, BCL_KEY_MAX);
	request->remote = bcl_get64(ticket.id);
	request->state = request->remote ? BCL_REQUEST_CALL : BCL_REQUEST_PULL;
	request->peer = peer;
	request->limited = false;
	request->released = false;
	request->bounce = NULL;
}

/* ---- calling ---- */

enum bcl_status bcl_request_call(struct bcl_adi *adi,
				 struct bcl_adi_request *request)
{
	struct bcl_adi_peer *peer = request->peer;
	enum bcl_status status;

	status =
		bcl_send(peer->peer, BCL_ADI_CALL, request->remote, NULL, 0, 0);
	if (status == BCL_ERR_AGAIN)
		return status;
	if (status) {
		bcl_adi_pulled(adi, request, status);
		return BCL_OK;
	}
	peer->dirty = true;
	request->state = BCL_REQUEST_CALLED;
	bcl_request_append(&peer->called, request);
	return BCL_OK;
}

static void take_data(struct bcl_adi *adi, struct bcl_adi_request *request,
		      const struct bcl_event *event)
{
	size_t n = wanted(request);

	if (event->length < n)
		n = event->length;
	if (request->niov)
		bcl_adi_scatter(request->iov, request->niov, event->data, n);
	else if (n)
		memcpy(request->buffer, event->data, n);
	bcl_request_complete(adi, request, request->status.status);
}

struct bcl_adi_request *bcl_adi_called(struct bcl_adi *adi,
				       const struct bcl_event *event)
{
	struct bcl_adi_peer *peer = bcl_adi_peer_find(adi, event->peer);
	struct bcl_adi_request *request = peer ? peer->called.first : NULL;

	while (request && request->remote != event->immediate)
		request = request->next;
	if (!request) {
		bcl_count(adi->counters, adi_dropped);
		return NULL;
	}
	bcl_request_remove(&peer->called, request);
	if (event->type == BCL_ADI_TOKEN && event->length == BCL_KEY_MAX) {
		memcpy(request->token, event->data, BCL_KEY_MAX);
		request->state = BCL_REQUEST_PULL;
		return request;
	}
	if (event->type == BCL_ADI_DATA && !request->packet)
		take_data(adi, request, event);
	else
		bcl_adi_pulled(adi, request, BCL_ERR_CANCELLED);
	return NULL;
}

/* ---- pulling ---- */

enum bcl_status bcl_request_pull(struct bcl_adi *adi,
				 struct bcl_adi_request *request)
{
	size_t length = wanted(request);
	void *to = request->buffer;
	enum bcl_status status;

	if (request->niov && length && !request->bounce) {
		request->bounce = bcl_pool_get(&adi->pool, length);
		request->bounce_size = length;
		bcl_count(adi->counters, adi_bounced);
		if (!request->bounce)
			request->status.status = BCL_ERR_NOMEM;
	}
	if (request->niov) {
		to = request->bounce;
		/* without memory a pull of no bytes still completes the
		 * sender's request */
		if (!to)
			length = 0;
	}
	status = bcl_pull(request->peer->peer, request->token, to, length,
			  (uintptr_t)request);
	if (status == BCL_ERR_AGAIN)
		return status;
	if (status)
		bcl_adi_pulled(adi, request, status);
	else
		request->state = BCL_REQUEST_PULLED;
	return BCL_OK;
}

void bcl_adi_pulled(struct bcl_adi *adi, struct bcl_adi_request *request,
		    enum bcl_status status)
{
	if (request->bounce) {
		if (!status)
			bcl_adi_scatter(request->iov, request->niov,
					request->bounce, wanted(request));
		bcl_pool_put(&adi->pool, request->bounce, request->bounce_size);
		request->bounce = NULL;
	}
	bcl_request_complete(adi, request,
			     status ? status : request->status.status);
}
