/* SPDX-License-Identifier: MIT */
/*
 * Are the ranks still there that are waited for? Who receives from a rank is
 * connected with it, and sees it die. But connections end: for lack of memory,
 * or because it has left, as it may if we are lost to it, though it is not to
 * us. So it is sent a message of nothing from time to time, which connects
 * again and fails if it is gone; the receives fail with it. If it is there, but
 * closing, it answers that it has left, and they fail, too: else it would wait
 * for us to close, and we for a message of it.
 *
 * Not all at once, since each may need a connection; and the same one ever
 * more seldom, lest such messages fill its ring while it computes.
 */
#include "adi/engine.h"

enum {
	ASKED = 16,	   /* ranks at a time */
	SELDOM = 64,	   /* one in so many times at last */
	LONG = 1000000000, /* ns of waiting, at most, before the first time */
};

/* The next ranks that are waited for, from adi->keepalive_next on, round and
 * round. */
struct awaited {
	struct bcl_adi *adi;
	unsigned rank[ASKED], n;
	bool any; /* a message of any rank is waited for */
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

/* Of ranks that are not gone: those that are known; false: there is none. Or
 * those that are not, which takes connections. */
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

/* The first time, the second, the fourth, and so on. */
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
		/* If later, nobody has waited that long. */
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
