/* SPDX-License-Identifier: MIT */
/* Peers: records by rank and by handle, and the loss of a peer. */
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

/* Forgets a handle that this process never opened; the transport does so, too.
 * Frees the record unless a request or the ring refers to the record. */
static void forget_handle(struct bcl_adi *adi, struct bcl_adi_peer *peer,
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

static void lose_queue(struct bcl_adi *adi, struct bcl_request_queue *queue,
		       enum bcl_status status)
{
	while (queue->first)
		bcl_request_fail(adi, bcl_request_take_first(queue), status);
}

static bool lose_peer(struct bcl_adi *adi, struct bcl_adi_peer *peer,
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
		lose_peer(adi, peer, status);
}

void bcl_adi_peer_event(struct bcl_adi *adi, struct bcl_peer *handle,
			enum bcl_status status)
{
	struct bcl_adi_peer *peer = bcl_adi_peer_find(adi, handle);
	bool referred = false;

	if (peer && status && !peer->lost)
		referred = lose_peer(adi, peer, status);
	if (adi->packet_ops.peer)
		adi->packet_ops.peer(adi->packet_arg, handle, status);
	if (peer && status && !peer->opened)
		forget_handle(adi, peer, referred);
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
