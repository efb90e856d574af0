/* SPDX-License-Identifier: MIT */
/* Arriving messages: each is matched with a posted receive, or kept until a
 * receive or the end of the job takes the message. */
#include <string.h>

#include "adi/arrive.h"
#include "adi/protocol.h"

static void answer_sender(struct bcl_adi *adi, struct bcl_adi_request *request,
			  struct bcl_adi_peer *peer, uint64_t sync)
{
	request->status.status =
		bcl_request_fits(request, request->status.length);
	request->state = BCL_REQUEST_ANSWER;
	request->peer = peer;
	request->remote = sync;
	request->limited = false;
	request->released = false;
	bcl_adi_submit(adi, request);
}

static void fetch(struct bcl_adi *adi, struct bcl_adi_request *request,
		  struct bcl_adi_peer *peer, uint64_t key, const void *ticket,
		  size_t length)
{
	request->status = (struct bcl_adi_status){
		.source = (int)bcl_match_source(key),
		.tag = (int)bcl_match_tag(key),
		.length = length,
		.status = bcl_request_fits(request, length),
	};
	request->packet = false;
	bcl_request_fetch(request, peer, ticket);
	bcl_adi_submit(adi, request);
}

void bcl_adi_receive_unexpected(struct bcl_adi *adi,
				struct bcl_adi_request *request,
				struct bcl_adi_message *message)
{
	uint64_t key = bcl_match_message_key(&message->match);

	bcl_count(adi->counters, adi_matched_late);
	if (message->announced) {
		fetch(adi, request, message->peer, key, message->data,
		      message->length);
	} else {
		bcl_request_copy_in(request, key, message->data,
				    message->length);
		if (message->sync)
			answer_sender(adi, request, message->peer,
				      message->sync);
		else
			bcl_request_complete(
				adi, request,
				bcl_request_fits(request, message->length));
	}
	bcl_adi_message_free(adi, message);
}

/* ---- messages arrive ---- */

struct bcl_adi_peer *bcl_adi_sender(struct bcl_adi *adi, struct bcl_peer *from,
				    uint64_t key, bool *taken)
{
	unsigned rank = bcl_match_source(key);
	struct bcl_adi_peer *peer = NULL;
	enum bcl_status status = BCL_ERR_ARG;

	*taken = true;
	/* the rank in the key counts only if the handle belongs to that rank */
	if (rank < adi->size)
		peer = bcl_adi_known(adi, rank);
	if (!peer || peer->peer != from) {
		status = bcl_adi_peer_bind(adi, rank, from);
		if (status == BCL_ERR_NOMEM)
			*taken = false;
		else if (status)
			bcl_count(adi->counters, adi_dropped);
		if (status)
			return NULL;
		peer = bcl_adi_known(adi, rank);
	}
	if (bcl_adi_key_valid(key))
		return peer;
	bcl_count(adi->counters, adi_dropped);
	return NULL;
}

/* Drops a message while the job is closing: no receive will come. If the sender
 * waits for an answer, the message is received into no buffer. */
static void discard(struct bcl_adi *adi, struct bcl_adi_peer *peer,
		    uint64_t key, const struct bcl_adi_message *message)
{
	struct bcl_adi_request *request;

	bcl_count(adi->counters, adi_discarded);
	if (!message->sync && !message->announced)
		return;
	request = bcl_request_new(adi);
	if (!request)
		return;
	request->end = BCL_END_FREE;
	request->length = 0;
	request->buffer = NULL;
	if (message->announced) {
		fetch(adi, request, peer, key, message->data, message->length);
	} else {
		request->status.length = message->length;
		answer_sender(adi, request, peer, message->sync);
	}
}

void bcl_adi_discard_unexpected(struct bcl_adi *adi)
{
	struct bcl_match_message *match, *newer;
	struct bcl_adi_message *message;

	for (match = adi->match.oldest; match; match = newer) {
		newer = match->newer;
		message = (struct bcl_adi_message *)match;
		if (bcl_match_context(bcl_match_message_key(match)) >
		    BCL_ADI_CONTEXT_MAX)
			continue;
		bcl_match_take(&adi->match, match);
		discard(adi, message->peer, bcl_match_message_key(match),
			message);
		bcl_adi_message_free(adi, message);
	}
}

bool bcl_adi_keep(struct bcl_adi *adi, struct bcl_adi_peer *peer, uint64_t key,
		  const void *data, size_t size, size_t length, uint64_t sync,
		  bool announced)
{
	struct bcl_adi_message *message;

	message = bcl_adi_message_new(adi, peer, data, size);
	if (!message)
		return false;
	message->length = length;
	message->sync = sync;
	message->announced = announced;
	if (adi->closing && bcl_match_context(key) != BCL_ADI_CONTEXT_CLOSE) {
		discard(adi, peer, key, message);
		bcl_adi_message_free(adi, message);
		return true;
	}
	if (bcl_match_context(key) <= BCL_ADI_CONTEXT_MAX && !announced)
		bcl_adi_message_count(adi, message);
	bcl_match_keep(&adi->match, &message->match, key);
	return true;
}

static bool arrive_announced(struct bcl_adi *adi, struct bcl_adi_peer *peer,
			     const struct bcl_event *event)
{
	struct bcl_adi_announcement announcement;
	uint64_t key = event->immediate;
	struct bcl_match_receive *receive;
	size_t length;

	memcpy(&announcement, event->data, sizeof(announcement));
	length = bcl_get64(announcement.length);
	receive = bcl_match_arrive(&adi->match, key);
	if (!receive)
		return bcl_adi_keep(adi, peer, key, &announcement.ticket,
				    sizeof(announcement.ticket), length, 0,
				    true);
	fetch(adi, (struct bcl_adi_request *)receive, peer, key,
	      &announcement.ticket, length);
	return true;
}

static bool arrive_sync(struct bcl_adi *adi, struct bcl_adi_peer *peer,
			const struct bcl_event *event)
{
	const char *data = (const char *)event->data + BCL_ADI_SYNC_HEAD;
	size_t length = event->length - BCL_ADI_SYNC_HEAD;
	uint64_t key = event->immediate, sync;
	struct bcl_match_receive *receive;
	struct bcl_le64 head;

	memcpy(&head, event->data, sizeof(head));
	sync = bcl_get64(head);
	receive = bcl_match_arrive(&adi->match, key);
	if (!receive)
		return bcl_adi_keep(adi, peer, key, data, length, length, sync,
				    false);
	bcl_request_copy_in((struct bcl_adi_request *)receive, key, data,
			    length);
	answer_sender(adi, (struct bcl_adi_request *)receive, peer, sync);
	return true;
}

bool bcl_adi_arrive(struct bcl_adi *adi, struct bcl_adi_peer *peer,
		    const struct bcl_event *event)
{
	if (event->type == BCL_ADI_ANNOUNCE &&
	    event->length == sizeof(struct bcl_adi_announcement))
		return arrive_announced(adi, peer, event);
	if (event->type == BCL_ADI_SYNC && event->length >= BCL_ADI_SYNC_HEAD)
		return arrive_sync(adi, peer, event);
	bcl_count(adi->counters, adi_dropped);
	return true;
}

bool bcl_adi_put_arrived(struct bcl_adi *adi, const struct bcl_event *event)
{
	const struct bcl_adi_peer *peer = bcl_adi_peer_find(adi, event->peer);
	const struct bcl_adi_target *target = adi->targets;

	while (target && target->handle != event->immediate)
		target = target->next;
	if (!target || !peer || peer->rank < 0) {
		bcl_count(adi->counters, adi_dropped);
		return true;
	}
	return bcl_adi_arrive_eager(adi, event->peer,
				    bcl_match_key(target->context,
						  (unsigned)peer->rank,
						  target->tag),
				    target->key, 0);
}
