/* SPDX-License-Identifier: MIT */
/* Probes: iprobe looks for a message that a receive would match, improbe also
 * takes the message out, and imrecv receives a message that improbe took. */
#include "adi/arrive.h"
#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/progress.h"
#include "adi/receive.h"
#include "adi/request.h"
#include "adi/unexpected.h"
#include "transport/context.h"
#include "transport/peer.h"

static enum bcl_status probe(struct bcl_adi *adi, int source, int tag,
			     unsigned context, bool take,
			     struct bcl_adi_message **message,
			     struct bcl_adi_status *result)
{
	struct bcl_match_message *found;
	struct bcl_adi_message *kept;
	struct bcl_adi_peer *peer;
	enum bcl_match_class class;
	uint64_t key;

	if (!bcl_adi_pattern(adi, source, tag, context, &key, &class))
		return BCL_ERR_ARG;
	found = bcl_match_find(&adi->match, key, class);
	if (!found) {
		bcl_adi_turn(adi);
		if (adi->broken)
			return adi->broken;
		found = bcl_match_find(&adi->match, key, class);
	}
	if (!found) {
		if (adi->nholds)
			bcl_adi_want(adi, key, class);
		if (source == BCL_ANY_SOURCE)
			return bcl_adi_is_alone(adi) ? BCL_ERR_DEAD
						     : BCL_ERR_EMPTY;
		peer = bcl_adi_peer_get(adi, (unsigned)source);
		return !peer	    ? BCL_ERR_NOMEM
		       : peer->gone ? (enum bcl_status)peer->gone
				    : BCL_ERR_EMPTY;
	}
	kept = (struct bcl_adi_message *)found;
	key = bcl_match_message_key(found);
	if (result)
		*result = (struct bcl_adi_status){
			.source = (int)bcl_match_source(key),
			.tag = (int)bcl_match_tag(key),
			.length = kept->length,
		};
	if (take) {
		bcl_match_take(&adi->match, found);
		*message = kept;
	}
	return BCL_OK;
}

enum bcl_status bcl_adi_iprobe(struct bcl_adi *adi, int source, int tag,
			       unsigned context, struct bcl_adi_status *result)
{
	enum bcl_status status = adi ? bcl_adi_enter(adi) : BCL_ERR_ARG;

	if (status)
		return status;
	status = probe(adi, source, tag, context, false, NULL, result);
	bcl_adi_leave(adi);
	return status;
}

enum bcl_status bcl_adi_improbe(struct bcl_adi *adi, int source, int tag,
				unsigned context,
				struct bcl_adi_message **message,
				struct bcl_adi_status *result)
{
	enum bcl_status status;

	if (!adi || !message)
		return BCL_ERR_ARG;
	status = bcl_adi_enter(adi);
	if (status)
		return status;
	status = probe(adi, source, tag, context, true, message, result);
	bcl_adi_leave(adi);
	return status;
}

enum bcl_status bcl_adi_imrecv(struct bcl_adi *adi, void *buffer, size_t length,
			       struct bcl_adi_message **message,
			       struct bcl_adi_request **result)
{
	struct bcl_adi_request *request;
	enum bcl_status status;

	if (!adi || !message || !*message || !result ||
	    bcl_nowhere(buffer, length))
		return BCL_ERR_ARG;
	status = bcl_adi_enter(adi);
	if (status)
		return status;
	request = bcl_request_new(adi);
	if (request) {
		request->buffer = buffer;
		request->length = length;
		bcl_adi_receive_unexpected(adi, request, *message);
		*message = NULL;
		*result = request;
	}
	bcl_adi_leave(adi);
	return request ? BCL_OK : BCL_ERR_NOMEM;
}
