/* SPDX-License-Identifier: MIT */
/* Starts messages and receives, for the calls of the program and for the ADI's
 * own: a message that does not leave at once, an empty message, a receive. A
 * receive for which no message can come ends at once. */
#include "adi/arrive.h"
#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/protocol.h"
#include "adi/receive.h"
#include "adi/request.h"
#include "adi/unexpected.h"
#include "transport/send.h"

/* ---- messages ---- */

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

void bcl_adi_send_queued(struct bcl_adi *adi, struct bcl_adi_request *request,
			 unsigned rank, uint64_t key)
{
	bcl_assert(request->state == BCL_REQUEST_NEW);
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
	bcl_request_make_packet(request, peer, type, immediate);
	bcl_adi_submit(adi, request);
}

/* ---- receives ---- */

bool bcl_adi_receive_kept(struct bcl_adi *adi, struct bcl_adi_request *request,
			  uint64_t key, enum bcl_match_class class)
{
	struct bcl_match_message *message =
		bcl_match_find(&adi->match, key, class);

	if (!message)
		return false;
	bcl_match_take(&adi->match, message);
	bcl_adi_receive_unexpected(adi, request,
				   (struct bcl_adi_message *)message);
	return true;
}

/* Opens the sender, to notice the sender's death. OK: a message may come. */
static enum bcl_status open_sender(struct bcl_adi *adi, uint64_t key)
{
	struct bcl_adi_peer *peer =
		bcl_adi_peer_get(adi, bcl_match_source(key));

	if (!peer)
		return BCL_ERR_NOMEM;
	/* bcl_adi_close() goes on with ranks that have left */
	return bcl_match_context(key) == BCL_ADI_CONTEXT_CLOSE ? peer->lost
							       : peer->gone;
}

bool bcl_adi_may_come(struct bcl_adi *adi, struct bcl_adi_request *request,
		      uint64_t key, enum bcl_match_class class)
{
	enum bcl_status status = BCL_ERR_DEAD;

	if (!(class & BCL_MATCH_ANY_SOURCE))
		status = open_sender(adi, key);
	if (status == BCL_OK)
		return true;
	request->status = bcl_adi_unreceived(key, class);
	bcl_request_complete(adi, request, status);
	return false;
}

void bcl_adi_start_receive(struct bcl_adi *adi, struct bcl_adi_request *request,
			   uint64_t key, enum bcl_match_class class)
{
	bcl_adi_post_receive(adi, request, key, class);
}
