/* SPDX-License-Identifier: MIT */
/* Peers: records by rank and by handle, queues of requests that wait for a
 * peer, flow control towards the peer, and the loss of a peer. */
#include <string.h>

#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/protocol.h"
#include "adi/receive.h"
#include "adi/request.h"
#include "transport/boot/boot.h"
#include "transport/context.h"

/* ---- ranks --------------------------------------------------------------- */

/* Stands for every part of which no rank is in use. Never written. */
static const struct bcl_adi_some_ranks none;

static unsigned parts_of(const struct bcl_adi *adi)
{
	return (adi->size + BCL_ADI_SOME_RANKS - 1) / BCL_ADI_SOME_RANKS;
}

bool bcl_adi_peers_open(struct bcl_adi *adi)
{
	const struct bcl_env *env = adi->env;
	unsigned n = parts_of(adi), i;

	bcl_table_open(&adi->by_handle);
	adi->ranks = env->allocate(env->world, n * sizeof(*adi->ranks));
	if (!adi->ranks)
		return false;
	adi->ranks[0] = &adi->first;
	for (i = 1; i < n; i++)
		adi->ranks[i] = (struct bcl_adi_some_ranks *)&none;
	return true;
}

/* The place for the record of a rank. NULL: no memory. */
static struct bcl_adi_peer **place_of(struct bcl_adi *adi, unsigned rank)
{
	const struct bcl_env *env = adi->env;
	struct bcl_adi_some_ranks *
		*part = &adi->ranks[rank / BCL_ADI_SOME_RANKS],
	       *own;

	if (*part == &none) {
		own = env->allocate(env->world, sizeof(*own));
		if (!own)
			return NULL;
		*part = own;
	}
	return &(*part)->peer[rank % BCL_ADI_SOME_RANKS];
}

static void close_ranks(struct bcl_adi *adi)
{
	const struct bcl_env *env = adi->env;
	unsigned n = parts_of(adi), i;

	if (!adi->ranks)
		return;
	for (i = 1; i < n; i++)
		if (adi->ranks[i] != &none)
			env->release(env->world, adi->ranks[i],
				     sizeof(*adi->ranks[i]));
	env->release(env->world, adi->ranks, n * sizeof(*adi->ranks));
}

/* ---- records ------------------------------------------------------------- */

static struct bcl_adi_peer *record_new(struct bcl_adi *adi)
{
	const struct bcl_env *env = adi->env;
	struct bcl_adi_peer *peer = env->allocate(env->world, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->rank = -1;
	peer->limit = BCL_ADI_ANNOUNCED;
	peer->queue.last = &peer->queue.first;
	peer->withheld.last = &peer->withheld.first;
	peer->called.last = &peer->called.first;
	peer->next = adi->peers;
	adi->peers = peer;
	return peer;
}

struct bcl_adi_peer *bcl_adi_peer_of(struct bcl_adi *adi,
				     struct bcl_peer *handle)
{
	struct bcl_adi_peer *peer = bcl_adi_peer_find(adi, handle);

	if (peer)
		return peer;
	peer = record_new(adi);
	if (!peer)
		return NULL;
	peer->peer = handle;
	bcl_table_put(&adi->by_handle, &peer->node, (uintptr_t)handle,
		      adi->env);
	bcl_adi_peer_judge(peer);
	return peer;
}

static enum bcl_status open_rank(struct bcl_adi *adi, unsigned rank,
				 struct bcl_peer **handle)
{
	uint8_t address[BCL_ADDRESS_MAX];
	enum bcl_status status;
	size_t length;

	status = bcl_boot_get(adi->boot, rank, "address", address,
			      sizeof(address), &length);
	if (status)
		return bcl_status_loss(status) == BCL_LOSS_CONTEXT
			       ? status
			       : BCL_ERR_BOOT;
	if (length == BCL_ADI_WHY_NOT) {
		bcl_log(&adi->context->config, BCL_LOG_ERROR, "adi",
			"rank %u could not join the job: %s", rank,
			bcl_strstatus(address[0]));
		return BCL_ERR_DEAD;
	}
	return bcl_peer_open(adi->port, address, length, handle);
}

struct bcl_adi_peer *bcl_adi_peer_get(struct bcl_adi *adi, unsigned rank)
{
	struct bcl_adi_peer *peer = bcl_adi_known(adi, rank), **place;
	struct bcl_peer *handle;
	enum bcl_status status;

	if (peer)
		return peer;
	place = place_of(adi, rank);
	if (!place)
		return NULL;
	status = open_rank(adi, rank, &handle);
	if (status == BCL_ERR_NOMEM)
		return NULL;
	peer = status ? record_new(adi) : bcl_adi_peer_of(adi, handle);
	if (!peer)
		return NULL;
	peer->rank = (int)rank;
	peer->opened = true;
	*place = peer;
	if (peer->gone)
		adi->ngone++;
	if (status)
		bcl_adi_peer_lose(adi, peer, status);
	return peer;
}

enum bcl_status bcl_adi_peer_bind(struct bcl_adi *adi, unsigned rank,
				  struct bcl_peer *handle)
{
	struct bcl_adi_peer *peer;

	if (rank >= adi->size)
		return BCL_ERR_ARG;
	peer = bcl_adi_peer_get(adi, rank);
	if (!peer)
		return BCL_ERR_NOMEM;
	return peer->peer == handle ? BCL_OK : BCL_ERR_ARG;
}

void bcl_adi_peers_close(struct bcl_adi *adi)
{
	const struct bcl_env *env = adi->env;
	struct bcl_adi_peer *peer;

	while ((peer = adi->peers)) {
		adi->peers = peer->next;
		env->release(env->world, peer, sizeof(*peer));
	}
	bcl_table_close(&adi->by_handle, env);
	close_ranks(adi);
}

/* ---- queues -------------------------------------------------------------- */

void bcl_request_append(struct bcl_request_queue *queue,
			struct bcl_adi_request *request)
{
	bcl_assert(!*queue->last);
	request->next = NULL;
	*queue->last = request;
	queue->last = &request->next;
}

static void prepend(struct bcl_request_queue *queue,
		    struct bcl_adi_request *request)
{
	request->next = queue->first;
	if (!queue->first)
		queue->last = &request->next;
	queue->first = request;
}

static struct bcl_adi_request *take(struct bcl_request_queue *queue)
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

/* Puts the peer into the ring of peers that the engine serves. */
static void wait_turn(struct bcl_adi *adi, struct bcl_adi_peer *peer)
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
	wait_turn(adi, peer);
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
	wait_turn(adi, peer);
}

static bool has_messages(const struct bcl_adi_peer *peer)
{
	return peer->queue.first || peer->withheld.first;
}

static enum bcl_status tell(struct bcl_adi *adi, struct bcl_adi_peer *peer)
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
			return take(&peer->queue);
		if (peer->withheld.first &&
		    bcl_adi_may_send(peer->withheld.first)) {
			request = take(&peer->withheld);
			request->state = BCL_REQUEST_EAGER;
			request->released = true;
			return request;
		}
		if (!request)
			return NULL;
		take(&peer->queue);
		if (!held_back(request))
			return request;
		withhold(adi, request);
	}
}

/* Sends what the peer is owed, then requests. Returns true if nothing is left
 * to do for the peer now. Sets *busy if a request advanced. */
static bool serve(struct bcl_adi *adi, struct bcl_adi_peer *peer, bool *busy)
{
	struct bcl_adi_request *request;

	if (peer->owed && tell(adi, peer) == BCL_ERR_AGAIN)
		return false;
	while ((request = next_request(adi, peer))) {
		if (bcl_request_push(adi, request) == BCL_ERR_AGAIN) {
			prepend(&peer->queue, request);
			return false;
		}
		*busy = true;
	}
	if (peer->withheld.first)
		say_hold(adi, peer);
	else if (peer->owed)
		tell(adi, peer);
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
	if (!peer->lost && !serve(adi, peer, &busy))
		wait_turn(adi, peer);
	bcl_adi_peer_judge(peer);
	return busy;
}

void bcl_adi_peer_resume(struct bcl_adi *adi, struct bcl_adi_peer *peer)
{
	if (peer->withheld.first)
		wait_turn(adi, peer);
	else
		peer->limit = BCL_ADI_ANNOUNCED;
	bcl_adi_peer_judge(peer);
}

/* ---- up and down --------------------------------------------------------- */

struct loss {
	struct bcl_adi *adi;
	struct bcl_adi_peer *peer;
	enum bcl_status status;
	bool referred; /* a request that goes on refers to the peer */
};

static void lose_request(struct bcl_adi *adi, struct bcl_adi_request *request,
			 void *arg)
{
	struct loss *loss = arg;

	if (request->peer != loss->peer || request->state == BCL_REQUEST_DONE ||
	    request->state == BCL_REQUEST_POSTED ||
	    request->state == BCL_REQUEST_RUNNING)
		return;
	if (request->state == BCL_REQUEST_SYNC ||
	    request->state == BCL_REQUEST_LISTED)
		bcl_request_complete(adi, request, loss->status);
	else
		loss->referred = true;
}

static void end_receive(struct bcl_adi *adi, struct bcl_match_receive *receive,
			enum bcl_status status)
{
	struct bcl_adi_request *request = (struct bcl_adi_request *)receive;

	bcl_match_unpost(&adi->match, receive);
	request->status = bcl_adi_unreceived(receive->node.key, receive->class);
	bcl_request_complete(adi, request, status);
}

static void lose_receive(struct bcl_match_receive *receive, void *arg)
{
	struct loss *loss = arg;
	uint64_t key = receive->node.key;

	if (receive->class & BCL_MATCH_ANY_SOURCE ||
	    (int)bcl_match_source(key) != loss->peer->rank)
		return;
	/* bcl_adi_close() goes on with a peer that has left */
	if (loss->peer->lost || bcl_match_context(key) != BCL_ADI_CONTEXT_CLOSE)
		end_receive(loss->adi, receive, loss->status);
}

static void lose_any_source(struct bcl_match_receive *receive, void *arg)
{
	struct loss *loss = arg;

	if (receive->class & BCL_MATCH_ANY_SOURCE)
		end_receive(loss->adi, receive, BCL_ERR_DEAD);
}

/* No message of this rank will come: ends the receives from the rank, and
 * receives of any source if no rank is left. */
static void lose_receives(struct bcl_adi *adi, struct loss *loss)
{
	if (!loss->peer->gone)
		adi->ngone++;
	bcl_assert(adi->ngone <= adi->size);
	loss->peer->gone = (uint8_t)loss->status;
	bcl_match_each(&adi->match, lose_receive, loss);
	if (bcl_adi_is_alone(adi))
		bcl_match_each(&adi->match, lose_any_source, loss);
}

void bcl_adi_peer_left(struct bcl_adi *adi, struct bcl_adi_peer *peer)
{
	struct loss loss = { adi, peer, BCL_ERR_DEAD, false };

	if (peer->gone)
		return;
	bcl_count(adi->counters, adi_ranks_left);
	bcl_log(&adi->context->config, BCL_LOG_INFO, "adi",
		"rank %u of %u: rank %d has left, and is waited for", adi->rank,
		adi->size, peer->rank);
	lose_receives(adi, &loss);
}

static void lose_queue(struct bcl_adi *adi, struct bcl_request_queue *queue,
		       enum bcl_status status)
{
	while (queue->first)
		bcl_request_fail(adi, take(queue), status);
}

/* Forgets a handle that this process never opened; the transport does so, too.
 * Frees the record unless a request or the ring refers to the record. */
static void forget(struct bcl_adi *adi, struct bcl_adi_peer *peer,
		   bool referred)
{
	struct bcl_adi_peer **place = &adi->peers;

	bcl_table_take(&adi->by_handle, &peer->node);
	peer->peer = NULL;
	if (referred || peer->waiting)
		return;
	for (; *place != peer; place = &(*place)->next)
		bcl_assert(*place);
	*place = peer->next;
	adi->env->release(adi->env->world, peer, sizeof(*peer));
}

static bool lose(struct bcl_adi *adi, struct bcl_adi_peer *peer,
		 enum bcl_status status)
{
	struct loss loss = { adi, peer, status, false };

	peer->lost = (uint8_t)status;
	peer->owed = 0;
	bcl_adi_peer_judge(peer);
	if (peer->holds) {
		bcl_assert(adi->nholds);
		peer->holds = false;
		adi->nholds--;
	}
	lose_queue(adi, &peer->queue, status);
	lose_queue(adi, &peer->withheld, status);
	lose_queue(adi, &peer->called, status);
	bcl_requests_each(adi, lose_request, &loss);
	if (peer->rank < 0) {
		peer->gone = (uint8_t)status;
		return loss.referred;
	}
	lose_receives(adi, &loss);
	if (adi->leaving)
		return loss.referred;
	bcl_count(adi->counters, adi_ranks_lost);
	bcl_log(&adi->context->config, BCL_LOG_WARN, "adi",
		"rank %u of %u: rank %d is lost: %s", adi->rank, adi->size,
		peer->rank, bcl_strstatus(status));
	return loss.referred;
}

void bcl_adi_peer_lose(struct bcl_adi *adi, struct bcl_adi_peer *peer,
		       enum bcl_status status)
{
	if (!peer->lost)
		lose(adi, peer, status);
}

void bcl_adi_peer_event(struct bcl_adi *adi, struct bcl_peer *handle,
			enum bcl_status status)
{
	struct bcl_adi_peer *peer = bcl_adi_peer_find(adi, handle);
	bool referred = false;

	if (peer && status && !peer->lost)
		referred = lose(adi, peer, status);
	if (adi->packet_ops.peer)
		adi->packet_ops.peer(adi->packet_arg, handle, status);
	if (peer && status && !peer->opened)
		forget(adi, peer, referred);
}

enum bcl_status bcl_adi_peer(struct bcl_adi *adi, unsigned rank,
			     struct bcl_peer **peer)
{
	struct bcl_adi_peer *record;
	enum bcl_status status;

	if (!adi || rank >= adi->size || !peer)
		return BCL_ERR_ARG;
	status = bcl_adi_enter(adi);
	if (status)
		return status;
	record = bcl_adi_peer_get(adi, rank);
	bcl_adi_leave(adi);
	if (!record)
		return BCL_ERR_NOMEM;
	if (!record->peer)
		return record->lost;
	*peer = record->peer;
	return BCL_OK;
}

enum bcl_status bcl_adi_rank_status(const struct bcl_adi *adi, unsigned rank)
{
	const struct bcl_adi_peer *peer = bcl_adi_known(adi, rank);

	return peer ? peer->gone : BCL_OK;
}
