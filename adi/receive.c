/* SPDX-License-Identifier: MIT */
/* The calls that receive: post a receive, perhaps wait for the message, and
 * cancel a receive. */
#include "adi/iov.h"
#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/progress.h"
#include "adi/protocol.h"
#include "adi/receive.h"
#include "adi/request.h"
#include "transport/context.h"

static enum bcl_status __attribute__((noinline))
irecv(struct bcl_adi *adi, void *buffer, size_t length, int source, int tag,
      unsigned context, struct bcl_adi_request **result)
{
	struct bcl_adi_request *request;
	enum bcl_match_class class;
	enum bcl_status status;
	uint64_t key;

	if (!bcl_adi_pattern(adi, source, tag, context, &key, &class) ||
	    !result || bcl_nowhere(buffer, length))
		return BCL_ERR_ARG;
	status = bcl_adi_enter(adi);
	if (status)
		return status;
	request = bcl_request_new(adi);
	if (request) {
		request->buffer = buffer;
		request->length = length;
		bcl_adi_post_receive(adi, request, key, class);
		*result = request;
	}
	bcl_adi_leave(adi);
	return request ? BCL_OK : BCL_ERR_NOMEM;
}

/* A free request, if a receive from this rank needs only to be posted. NULL:
 * the receive takes the longer way, irecv(). */
static inline struct bcl_adi_request *plain(const struct bcl_adi *adi,
					    unsigned rank)
{
	if (!bcl_adi_is_plain(adi) || adi->match.oldest || adi->nholds ||
	    !bcl_adi_is_open(adi, rank))
		return NULL;
	return adi->free;
}

enum bcl_status bcl_adi_irecv(struct bcl_adi *adi, void *buffer, size_t length,
			      int source, int tag, unsigned context,
			      struct bcl_adi_request **result)
{
	uint64_t key = bcl_match_key(context, (unsigned)source, (unsigned)tag);
	struct bcl_adi_request *request = NULL;

	if (bcl_likely(bcl_adi_valid(adi, source, tag, context) && result &&
		       !bcl_nowhere(buffer, length)))
		request = plain(adi, (unsigned)source);
	/* the common case calls no other function */
	if (bcl_unlikely(!request ||
			 !bcl_match_post_front(&adi->match, &request->receive,
					       key, BCL_MATCH_EXACT)))
		return irecv(adi, buffer, length, source, tag, context, result);
	bcl_request_take(adi);
	request->buffer = buffer;
	request->length = length;
	request->state = BCL_REQUEST_POSTED;
	*result = request;
	return BCL_OK;
}

enum bcl_status bcl_adi_irecvv(struct bcl_adi *adi, const struct iovec *iov,
			       unsigned niov, int source, int tag,
			       unsigned context,
			       struct bcl_adi_request **result)
{
	struct bcl_adi_request *request;
	enum bcl_match_class class;
	enum bcl_status status;
	size_t length;
	uint64_t key;

	if (!bcl_adi_pattern(adi, source, tag, context, &key, &class) ||
	    !result || !bcl_adi_iov_length(iov, niov, &length))
		return BCL_ERR_ARG;
	if (niov <= 1)
		return bcl_adi_irecv(adi, niov ? iov->iov_base : NULL, length,
				     source, tag, context, result);
	status = bcl_adi_enter(adi);
	if (status)
		return status;
	status = BCL_ERR_NOMEM;
	request = bcl_request_new(adi);
	if (request) {
		request->length = length;
		status = bcl_request_set_iov(adi, request, iov, niov);
		if (status) {
			bcl_request_free(adi, request);
		} else {
			bcl_adi_start_receive(adi, request, key, class);
			*result = request;
		}
	}
	bcl_adi_leave(adi);
	return status;
}

/* The job is broken: takes a request on the caller's stack out of all
 * queues. */
static void abandon(struct bcl_adi *adi, struct bcl_adi_request *request)
{
	switch ((enum bcl_request_state)request->state) {
	case BCL_REQUEST_POSTED:
		bcl_match_unpost(&adi->match, &request->receive);
		break;
	case BCL_REQUEST_ANSWER:
	case BCL_REQUEST_CALL:
	case BCL_REQUEST_PULL:
		bcl_adi_unqueue(request);
		break;
	case BCL_REQUEST_CALLED:
		bcl_request_remove(&request->peer->called, request);
		break;
	default:
		break;
	}
}

enum bcl_status bcl_adi_recv(struct bcl_adi *adi, void *buffer, size_t length,
			     int source, int tag, unsigned context,
			     struct bcl_adi_status *status)
{
	struct bcl_adi_request request;
	enum bcl_match_class class;
	enum bcl_status broken;
	uint64_t key;

	if (bcl_unlikely(
		    !bcl_adi_pattern(adi, source, tag, context, &key, &class) ||
		    bcl_nowhere(buffer, length)))
		return BCL_ERR_ARG;
	broken = bcl_adi_enter(adi);
	if (bcl_unlikely(broken))
		return broken;
	request.state = BCL_REQUEST_NEW;
	request.end = 0;
	request.niov = 0;
	request.buffer = buffer;
	request.length = length;
	bcl_adi_post_receive(adi, &request, key, class);
	broken = bcl_adi_wait_done(adi, &request);
	if (bcl_unlikely(broken))
		abandon(adi, &request);
	bcl_adi_leave(adi);
	if (bcl_unlikely(broken))
		return broken;
	if (status)
		*status = request.status;
	return request.status.status;
}

enum bcl_status bcl_adi_cancel(struct bcl_adi *adi,
			       struct bcl_adi_request *request)
{
	enum bcl_status status;

	if (!adi || !request)
		return BCL_ERR_ARG;
	status = bcl_adi_enter(adi);
	if (status)
		return status;
	if (request->state == BCL_REQUEST_POSTED)
		bcl_request_take_back(adi, request);
	else
		status = BCL_ERR_BUSY;
	bcl_adi_leave(adi);
	return status;
}
