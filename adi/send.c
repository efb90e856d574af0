/* SPDX-License-Identifier: MIT */
/* The calls that send: a short message leaves at once if it can, others as
 * requests (eager.c, rendezvous.c). */
#include "adi/iov.h"
#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/progress.h"
#include "adi/protocol.h"
#include "adi/request.h"
#include "adi/send.h"
#include "transport/context.h"

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
	return bcl_send_flush(peer->peer);
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
