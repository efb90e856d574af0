/* SPDX-License-Identifier: MIT */
/* Serves peers: a request goes at once, or waits in the queue of its peer until
 * the turn of the peer. unexpected.c explains the flow control. */
#include "adi/job.h"
#include "adi/peer.h"
#include "adi/protocol.h"
#include "adi/request.h"
#include "env/counters.h"

static void say_hold(struct bcl_adi *adi, struct bcl_adi_peer *peer)
{
	if (peer->holding)
		return;
	peer->holding = true;
	bcl_count(adi->counters, adi_holds);
	bcl_adi_owe(adi, peer, BCL_OWED_HOLD);
}

static void withhold(struct bcl_adi *adi, struct bcl_adi_request *request)
{
	struct bcl_adi_peer *peer = request->peer;

	request->state = BCL_REQUEST_WITHHELD;
	bcl_request_append(&peer->withheld, request);
	bcl_adi_peer_judge(peer);
	say_hold(adi, peer);
}

/* Returns true if the request is a message that may not be sent or announced
 * now. */
static bool held_back(const struct bcl_adi_request *request)
{
	return request->limited &&
	       (request->state == BCL_REQUEST_EAGER ||
		request->state == BCL_REQUEST_OFFER) &&
	       (request->peer->withheld.first || !bcl_adi_may_send(request));
}

void bcl_adi_submit(struct bcl_adi *adi, struct bcl_adi_request *request)
{
	struct bcl_adi_peer *peer = request->peer;

	bcl_assert(bcl_adi_is_held(adi));
	if (bcl_unlikely(peer->lost)) {
		bcl_request_fail(adi, request, peer->lost);
		return;
	}
	if (!peer->queue.first) {
		if (held_back(request)) {
			withhold(adi, request);
			return;
		}
		if (bcl_request_push(adi, request) != BCL_ERR_AGAIN)
			return;
	}
	bcl_count(adi->counters, adi_queued);
	bcl_request_append(&peer->queue, request);
	bcl_adi_peer_judge(peer);
	bcl_adi_peer_wait_turn(adi, peer);
}

static bool has_messages(const struct bcl_adi_peer *peer)
{
	return peer->queue.first || peer->withheld.first;
}

static enum bcl_status send_owed(struct bcl_adi *adi, struct bcl_adi_peer *peer)
{
	static const enum bcl_adi_type types[] = { BCL_ADI_STOP, BCL_ADI_GO,
						   BCL_ADI_HOLD, BCL_ADI_MORE,
						   BCL_ADI_LEFT };
	enum bcl_status status;
	unsigned i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!(peer->owed & 1u << i))
			continue;
		if (types[i] == BCL_ADI_LEFT && has_messages(peer))
			continue;
		status = bcl_send(peer->peer, types[i], adi->own, NULL, 0, 0);
		if (status)
			return status;
		peer->dirty = true;
		peer->owed &= ~(1u << i);
	}
	return BCL_OK;
}

/*
 * Takes the next request off its queue. NULL: there is none. Withheld requests
 * are older than queued ones, except for a request that was released and then
 * found no room, and now stands first in the queue.
 */
static struct bcl_adi_request *next_request(struct bcl_adi *adi,
					    struct bcl_adi_peer *peer)
{
	struct bcl_adi_request *request;

	for (;;) {
		request = peer->queue.first;
		if (request && request->released)
			return bcl_request_take_first(&peer->queue);
		if (peer->withheld.first &&
		    bcl_adi_may_send(peer->withheld.first)) {
			request = bcl_request_take_first(&peer->withheld);
			request->state = BCL_REQUEST_EAGER;
			request->released = true;
			return request;
		}
		if (!request)
			return NULL;
		bcl_request_take_first(&peer->queue);
		if (!held_back(request))
			return request;
		withhold(adi, request);
	}
}

/* Sends what the peer is owed, then requests. Returns true if nothing is left
 * to do for the peer now. Sets *busy if a request advanced. */
static bool serve_peer(struct bcl_adi *adi, struct bcl_adi_peer *peer,
		       bool *busy)
{
	struct bcl_adi_request *request;

	if (peer->owed && send_owed(adi, peer) == BCL_ERR_AGAIN)
		return false;
	while ((request = next_request(adi, peer))) {
		if (bcl_request_push(adi, request) == BCL_ERR_AGAIN) {
			bcl_request_prepend(&peer->queue, request);
			return false;
		}
		*busy = true;
	}
	if (peer->withheld.first)
		say_hold(adi, peer);
	else if (peer->owed)
		send_owed(adi, peer);
	/* LEFT follows withheld messages: MORE or GO leads back here */
	return !(peer->owed & ~(peer->withheld.first ? BCL_OWED_LEFT : 0u));
}

bool bcl_adi_peers_serve(struct bcl_adi *adi)
{
	struct bcl_adi_peer *last = adi->waiting, *peer;
	bool busy = false;

	if (!last) {
		adi->chores &= ~(unsigned)BCL_CHORE_PEERS;
		return false;
	}
	peer = last->next_waiting;
	/* off the ring meanwhile: completions may queue more requests */
	last->next_waiting = peer->next_waiting;
	if (peer == last)
		adi->waiting = NULL;
	peer->waiting = false;
	if (!peer->lost && !serve_peer(adi, peer, &busy))
		bcl_adi_peer_wait_turn(adi, peer);
	bcl_adi_peer_judge(peer);
	return busy;
}
