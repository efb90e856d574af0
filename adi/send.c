/* SPDX-License-Identifier: MIT */
/* Sending: eager and synchronous messages, and the step by which each queued
 * request advances. Longer messages are handed to rendezvous.c. */
#include <string.h>

#include "adi/iov.h"
#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/progress.h"
#include "adi/protocol.h"
#include "adi/request.h"
#include "adi/send.h"
#include "transport/context.h"

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

bool bcl_adi_may_send(const struct bcl_adi_request *request)
{
	const struct bcl_adi_peer *peer = request->peer;

	return peer->announced < peer->limit ||
	       (request->state != BCL_REQUEST_OFFER && !peer->stopped &&
		request->eager);
}

/* ---- requests in a queue --------------------------------------------------
 */

/* Returns true if the message may go eagerly. A message longer than
 * adi->eager_max may, if the transport can send it straight from the caller's
 * memory. */
static bool is_eager(const struct bcl_adi *adi,
		     const struct bcl_adi_request *request)
{
	const struct bcl_peer *peer = request->peer->peer;

	return request->length <= adi->eager_max ||
	       (request->length <= adi->eager_long && !request->sync &&
		request->niov <= BCL_LONG_PIECES && peer &&
		request->length <= bcl_send_longest(peer));
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
		return status;
	case BCL_ERR_UNSUPPORTED: /* the peer has another path now */
		return bcl_request_offer(adi, request);
	default:
		bcl_request_fail(adi, request, status);
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
		bcl_request_fail(adi, request, status);
		return BCL_OK;
	}
	bcl_adi_sent(adi, peer);
	if (request->sync)
		request->state = BCL_REQUEST_SYNC;
	else
		bcl_request_complete(adi, request, BCL_OK);
	return BCL_OK;
}

static enum bcl_status push_packet(struct bcl_adi *adi,
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

static enum bcl_status push_answer(struct bcl_adi *adi,
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

enum bcl_status bcl_request_push(struct bcl_adi *adi,
				 struct bcl_adi_request *request)
{
	switch ((enum bcl_request_state)request->state) {
	case BCL_REQUEST_EAGER:
		if (request->eager &&
		    !(request->limited && request->peer->stopped))
			return push_eager(adi, request);
		return bcl_request_offer(adi, request);
	case BCL_REQUEST_OFFER:
	case BCL_REQUEST_ANNOUNCE:
		return bcl_request_offer(adi, request);
	case BCL_REQUEST_GRANT:
	case BCL_REQUEST_GIVE:
		return bcl_request_grant(adi, request);
	case BCL_REQUEST_PACKET:
		return push_packet(adi, request);
	case BCL_REQUEST_ANSWER:
		return push_answer(adi, request);
	case BCL_REQUEST_CALL:
		return bcl_request_call(adi, request);
	case BCL_REQUEST_PUT:
		return bcl_request_put(adi, request);
	default:
		return bcl_request_pull(adi, request);
	}
}

void bcl_request_fail(struct bcl_adi *adi, struct bcl_adi_request *request,
		      enum bcl_status status)
{
	switch ((enum bcl_request_state)request->state) {
	case BCL_REQUEST_ANNOUNCE:
	case BCL_REQUEST_GIVE:
		/* the event of the offer ends the request */
		request->state = BCL_REQUEST_READ;
		break;
	case BCL_REQUEST_ANSWER:
		/* the message has arrived */
		bcl_request_complete(adi, request, request->status.status);
		break;
	case BCL_REQUEST_CALL:
	case BCL_REQUEST_CALLED:
	case BCL_REQUEST_PULL:
		bcl_adi_pulled(adi, request, status);
		break;
	default:
		bcl_request_complete(adi, request, status);
	}
}

/* ---- starting -------------------------------------------------------------
 */

enum bcl_status __attribute__((noinline))
bcl_adi_send_piece(struct bcl_peer *peer, uint64_t key, const void *data,
		   size_t length)
{
	const struct iovec iov = { (void *)data, length };

	return bcl_send(peer, BCL_ADI_EAGER, key, &iov, 1, 0);
}

void bcl_adi_send_nothing(struct bcl_adi *adi, struct bcl_adi_peer *peer,
			  enum bcl_adi_type type, uint64_t immediate)
{
	const struct iovec nothing = { NULL, 0 };
	struct bcl_adi_request *request = bcl_request_new(adi);

	if (!request)
		return;
	if (bcl_request_set_iov(adi, request, &nothing, 1)) {
		bcl_request_free(adi, request);
		return;
	}
	request->end |= BCL_END_FREE;
	bcl_adi_submit_packet(adi, request, peer, type, immediate);
}

void bcl_adi_send_queued(struct bcl_adi *adi, struct bcl_adi_request *request,
			 unsigned rank, uint64_t key)
{
	request->state = BCL_REQUEST_EAGER;
	request->packet = false;
	request->tokened = false;
	request->released = false;
	request->limited = bcl_match_context(key) <= BCL_ADI_CONTEXT_MAX;
	request->key = key;
	request->status = (struct bcl_adi_status){
		.source = (int)adi->rank,
		.tag = (int)bcl_match_tag(key),
		.length = request->length,
	};
	request->peer = bcl_adi_peer_get(adi, rank);
	if (!request->peer) {
		bcl_request_complete(adi, request, BCL_ERR_NOMEM);
		return;
	}
	request->eager = is_eager(adi, request);
	bcl_adi_submit(adi, request);
}

/* The match key of a message from this rank. */
static inline uint64_t key_of(const struct bcl_adi *adi, unsigned context,
			      int tag)
{
	return adi->own | bcl_match_key(context, 0, (unsigned)tag);
}

/* Starts a message that does not leave at once. */
static enum bcl_status __attribute__((noinline))
start(struct bcl_adi *adi, const void *data, size_t length, unsigned rank,
      uint64_t key, bool sync, struct bcl_adi_request **result)
{
	struct bcl_adi_request *request = bcl_request_new(adi);

	if (!request)
		return BCL_ERR_NOMEM;
	request->buffer = (void *)data;
	request->length = length;
	request->sync = sync;
	bcl_adi_send_queued(adi, request, rank, key);
	*result = request;
	return BCL_OK;
}

static enum bcl_status __attribute__((noinline))
isend(struct bcl_adi *adi, const void *buffer, size_t length, unsigned rank,
      uint64_t key, struct bcl_adi_request **request)
{
	enum bcl_status status = bcl_adi_enter(adi);

	if (bcl_unlikely(status))
		return status;
	if (bcl_adi_send_direct(adi, rank, key, buffer, length) == BCL_OK)
		*request = bcl_request_at_once();
	else
		status = start(adi, buffer, length, rank, key, false, request);
	bcl_adi_leave(adi);
	return status;
}

enum bcl_status bcl_adi_isend(struct bcl_adi *adi, const void *buffer,
			      size_t length, int destination, int tag,
			      unsigned context,
			      struct bcl_adi_request **request)
{
	unsigned rank = (unsigned)destination;
	struct bcl_adi_peer *peer;
	uint64_t key;

	if (bcl_unlikely(!bcl_adi_valid(adi, destination, tag, context) ||
			 !request || bcl_nowhere(buffer, length)))
		return BCL_ERR_ARG;
	key = key_of(adi, context, tag);
	peer = bcl_adi_is_plain(adi) ? bcl_adi_direct(adi, rank, length) : NULL;
	/* the common case calls no other function */
	if (bcl_unlikely(!peer || !bcl_send_is_short(peer->peer, length) ||
			 !bcl_put_short(peer->peer, BCL_ADI_EAGER, key, buffer,
					length)))
		return isend(adi, buffer, length, rank, key, request);
	bcl_adi_sent(adi, peer);
	*request = bcl_request_at_once();
	return bcl_pair_kick(peer->peer->pair);
}

enum bcl_status bcl_adi_issend(struct bcl_adi *adi, const void *buffer,
			       size_t length, int destination, int tag,
			       unsigned context,
			       struct bcl_adi_request **request)
{
	enum bcl_status status;

	if (!bcl_adi_valid(adi, destination, tag, context) || !request ||
	    bcl_nowhere(buffer, length))
		return BCL_ERR_ARG;
	status = bcl_adi_enter(adi);
	if (status)
		return status;
	status = start(adi, buffer, length, (unsigned)destination,
		       key_of(adi, context, tag), true, request);
	bcl_adi_leave(adi);
	return status;
}

static enum bcl_status start_pieces(struct bcl_adi *adi,
				    const struct iovec *iov, unsigned niov,
				    size_t length, unsigned rank, uint64_t key,
				    struct bcl_adi_request **result)
{
	struct bcl_adi_peer *peer = bcl_adi_known(adi, rank);
	struct bcl_adi_request *request;
	enum bcl_status status;

	if (peer && peer->direct && length <= adi->eager_max &&
	    niov <= BCL_GATHER_MAX &&
	    bcl_send(peer->peer, BCL_ADI_EAGER, key, iov, niov, 0) == BCL_OK) {
		bcl_adi_sent(adi, peer);
		*result = bcl_request_at_once();
		return BCL_OK;
	}
	request = bcl_request_new(adi);
	if (!request)
		return BCL_ERR_NOMEM;
	status = bcl_request_set_iov(adi, request, iov, niov);
	if (status) {
		bcl_request_free(adi, request);
		return status;
	}
	request->length = length;
	request->sync = false;
	bcl_adi_send_queued(adi, request, rank, key);
	*result = request;
	return BCL_OK;
}

enum bcl_status bcl_adi_isendv(struct bcl_adi *adi, const struct iovec *iov,
			       unsigned niov, int destination, int tag,
			       unsigned context,
			       struct bcl_adi_request **request)
{
	enum bcl_status status;
	size_t length;

	if (!bcl_adi_valid(adi, destination, tag, context) || !request ||
	    !bcl_adi_iov_length(iov, niov, &length))
		return BCL_ERR_ARG;
	if (niov <= 1)
		return bcl_adi_isend(adi, niov ? iov->iov_base : NULL, length,
				     destination, tag, context, request);
	status = bcl_adi_enter(adi);
	if (status)
		return status;
	status = start_pieces(adi, iov, niov, length, (unsigned)destination,
			      key_of(adi, context, tag), request);
	bcl_adi_leave(adi);
	return status;
}

/* Sends a message that does not leave at once, and waits. */
static enum bcl_status __attribute__((noinline))
send_and_wait(struct bcl_adi *adi, const void *buffer, size_t length,
	      unsigned rank, uint64_t key)
{
	struct bcl_adi_request *request;
	enum bcl_status status;

	status = start(adi, buffer, length, rank, key, false, &request);
	if (!status)
		status = bcl_adi_wait_done(adi, request);
	if (status)
		return status;
	status = request->status.status;
	bcl_request_free(adi, request);
	return status;
}

enum bcl_status bcl_adi_send(struct bcl_adi *adi, const void *buffer,
			     size_t length, int destination, int tag,
			     unsigned context)
{
	unsigned rank = (unsigned)destination;
	enum bcl_status status;
	uint64_t key;

	if (bcl_unlikely(!bcl_adi_valid(adi, destination, tag, context) ||
			 bcl_nowhere(buffer, length)))
		return BCL_ERR_ARG;
	key = key_of(adi, context, tag);
	status = bcl_adi_enter(adi);
	if (bcl_unlikely(status))
		return status;
	status = bcl_adi_send_direct(adi, rank, key, buffer, length);
	if (bcl_unlikely(status == BCL_ERR_AGAIN))
		status = send_and_wait(adi, buffer, length, rank, key);
	bcl_adi_leave(adi);
	return status;
}
