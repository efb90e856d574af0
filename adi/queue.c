/* SPDX-License-Identifier: MIT */
/* Requests that wait for their peer, and what the peer is owed: both go when
 * the engine serves the peer (serve.c). unexpected.c explains the flow
 * control. */
#include "adi/job.h"
#include "adi/peer.h"
#include "adi/protocol.h"
#include "adi/request.h"

void bcl_request_append(struct bcl_request_queue *queue,
			struct bcl_adi_request *request)
{
	bcl_assert(!*queue->last);
	request->next = NULL;
	*queue->last = request;
	queue->last = &request->next;
}

void bcl_request_prepend(struct bcl_request_queue *queue,
			 struct bcl_adi_request *request)
{
	request->next = queue->first;
	if (!queue->first)
		queue->last = &request->next;
	queue->first = request;
}

struct bcl_adi_request *bcl_request_take_first(struct bcl_request_queue *queue)
{
	struct bcl_adi_request *request = queue->first;

	bcl_assert(request);
	queue->first = request->next;
	if (!queue->first)
		queue->last = &queue->first;
	return request;
}

void bcl_request_remove(struct bcl_request_queue *queue,
			struct bcl_adi_request *request)
{
	struct bcl_adi_request **place = &queue->first;

	for (; *place != request; place = &(*place)->next)
		bcl_assert(*place);
	*place = request->next;
	if (!request->next)
		queue->last = place;
}

void bcl_adi_unqueue(struct bcl_adi_request *request)
{
	bcl_request_remove(&request->peer->queue, request);
	bcl_adi_peer_judge(request->peer);
}

void bcl_adi_peer_wait_turn(struct bcl_adi *adi, struct bcl_adi_peer *peer)
{
	if (peer->waiting)
		return;
	peer->waiting = true;
	if (adi->waiting) {
		peer->next_waiting = adi->waiting->next_waiting;
		adi->waiting->next_waiting = peer;
	} else {
		peer->next_waiting = peer;
	}
	adi->waiting = peer;
	adi->chores |= BCL_CHORE_PEERS;
}

void bcl_adi_owe(struct bcl_adi *adi, struct bcl_adi_peer *peer, unsigned owed)
{
	if (peer->lost)
		return;
	/* STOP and GO cancel each other while the first is not yet sent */
	if (owed == BCL_OWED_STOP && peer->owed & BCL_OWED_GO)
		peer->owed &= ~BCL_OWED_GO;
	else if (owed == BCL_OWED_GO && peer->owed & BCL_OWED_STOP)
		peer->owed &= ~BCL_OWED_STOP;
	else
		peer->owed |= owed;
	bcl_adi_peer_wait_turn(adi, peer);
}

void bcl_adi_peer_resume(struct bcl_adi *adi, struct bcl_adi_peer *peer)
{
	if (peer->withheld.first)
		bcl_adi_peer_wait_turn(adi, peer);
	else
		peer->limit = BCL_ADI_ANNOUNCED;
	bcl_adi_peer_judge(peer);
}
