/* SPDX-License-Identifier: MIT */
/*
 * Keepalives: a rank that waits for long finds out whether the ranks that it
 * waits for are still there.
 *
 * A rank that receives from a peer is connected with the peer, and sees the
 * peer die. But connections also end for lack of memory, or because the peer
 * has left: a peer may leave after this rank was lost to the peer, although the
 * peer was not lost to this rank. So the ADI sends an empty message, WAITING,
 * from time to time to each peer that is waited for. The message connects
 * again, and fails if the peer is gone; then the receives fail, too. A peer
 * that is there, but closing, answers LEFT, and the receives fail as well.
 * Otherwise the peer would wait for this rank to close, and this rank for a
 * message of the peer.
 *
 * The ADI sends to few peers at a time, because each may need a connection. One
 * peer gets keepalives ever more seldom, because a peer that computes does not
 * empty its ring.
 */
#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/progress.h"
#include "adi/protocol.h"
#include "transport/context.h"
#include "transport/peer.h"

enum {
	ASKED = 16,	   /* ranks at a time */
	SELDOM = 64,	   /* turns between keepalives to one peer, at last */
	LONG = 1000000000, /* ns of waiting before the first keepalive, at
			    * most */
};

/* The ranks that are waited for, at most ASKED: the next in a circle from
 * adi->keepalive_next on, in order of distance. */
struct awaited {
	struct bcl_adi *adi;
	unsigned rank[ASKED], n;
	bool any; /* a receive of any source waits */
};

static unsigned distance(const struct bcl_adi *adi, unsigned rank)
{
	return (rank + adi->size - adi->keepalive_next) % adi->size;
}

static void note_rank(struct awaited *awaited, unsigned rank)
{
	const struct bcl_adi *adi = awaited->adi;
	unsigned i, k;

	if (rank == adi->rank)
		return;
	for (i = 0; i < awaited->n &&
		    distance(adi, awaited->rank[i]) < distance(adi, rank);
	     i++)
		;
	if (i == ASKED || (i < awaited->n && awaited->rank[i] == rank))
		return;
	awaited->n += awaited->n < ASKED;
	for (k = awaited->n - 1; k > i; k--)
		awaited->rank[k] = awaited->rank[k - 1];
	awaited->rank[i] = rank;
}

static void note(struct bcl_match_receive *receive, void *arg)
{
	struct awaited *awaited = arg;

	if (receive->class & BCL_MATCH_ANY_SOURCE)
		awaited->any = true;
	else
		note_rank(awaited, bcl_match_source(receive->node.key));
}

/* Notes the ranks that are not gone: the known ranks, or the unknown ranks, to
 * which a connection must be made. Returns false if there is none. */
static bool note_all(struct awaited *awaited, bool known)
{
	const struct bcl_adi *adi = awaited->adi;
	const struct bcl_adi_peer *peer;
	bool noted = false;
	unsigned i, rank;

	for (i = 0; i < adi->size; i++) {
		rank = (adi->keepalive_next + i) % adi->size;
		peer = bcl_adi_known(adi, rank);
		if (rank == adi->rank || known != (peer != NULL) ||
		    (peer && peer->gone))
			continue;
		noted = true;
		note_rank(awaited, rank);
	}
	return noted;
}

/* Due at the first turn of the peer, the second, the fourth, and so on. */
static bool is_due(struct bcl_adi_peer *peer)
{
	bool due;

	peer->keepalives++;
	due = !(peer->keepalives & (peer->keepalives - 1));
	if (peer->keepalives == 2 * SELDOM)
		peer->keepalives = SELDOM;
	return due && !peer->gone;
}

static bool send_keepalives(struct bcl_adi *adi)
{
	struct awaited awaited = { .adi = adi };
	struct bcl_adi_peer *peer;
	bool asked = false;
	unsigned i;

	bcl_match_each(&adi->match, note, &awaited);
	if (awaited.any && !note_all(&awaited, true))
		note_all(&awaited, false);
	for (i = 0; i < awaited.n; i++) {
		peer = bcl_adi_peer_get(adi, awaited.rank[i]);
		if (!peer || !is_due(peer))
			continue;
		bcl_count(adi->counters, adi_keepalives);
		bcl_adi_send_nothing(adi, peer, BCL_ADI_WAITING, adi->own);
		asked = true;
	}
	if (awaited.n)
		adi->keepalive_next =
			(awaited.rank[awaited.n - 1] + 1) % adi->size;
	return asked;
}

bool bcl_adi_keepalive(struct bcl_adi *adi, uint64_t now, uint64_t *end)
{
	uint64_t patience = adi->context->config.peer_timeout / 4;
	bool asked = false;

	if (patience > LONG)
		patience = LONG;
	if (now >= adi->keepalive_at) {
		/* If more time has passed, no thread has waited that long. */
		if (adi->keepalive_at && now < adi->keepalive_at + patience) {
			asked = send_keepalives(adi);
			if (adi->client && adi->client->wait)
				asked |= adi->client->wait(adi->client);
		}
		adi->keepalive_at = now + patience;
	}
	if (*end > adi->keepalive_at)
		*end = adi->keepalive_at;
	return asked;
}
