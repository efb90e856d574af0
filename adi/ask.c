/* SPDX-License-Identifier: MIT */
/*
 * Are the ranks still there that are waited for? Who receives from a rank is
 * connected with it, and sees it die. But connections end: for lack of memory,
 * or because it has left, as it may if we are lost to it, though it is not to
 * us. So it is sent a message of nothing from time to time, which connects
 * again and fails if it is gone; the receives fail with it.
 *
 * Not all at once, since each may need a connection; and the same one ever
 * more seldom, lest such messages fill its ring while it computes.
 */
#include "adi/engine.h"

enum {
	ASKED = 16,  /* ranks at a time */
	SELDOM = 64, /* one in so many times at last */
};

void bcl_adi_ask(struct bcl_adi *adi, struct bcl_adi_peer *peer)
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
	bcl_adi_submit_packet(adi, request, peer, BCL_ADI_FLUSH, adi->own);
}

/* The next ranks that are waited for, from adi->ask_next on, round and
 * round. */
struct awaited {
	struct bcl_adi *adi;
	unsigned rank[ASKED], n;
};

static unsigned distance(const struct bcl_adi *adi, unsigned rank)
{
	return (rank + adi->size - adi->ask_next) % adi->size;
}

static void note(struct bcl_match_receive *receive, void *arg)
{
	struct awaited *awaited = arg;
	const struct bcl_adi *adi = awaited->adi;
	unsigned rank = bcl_match_source(receive->node.key), i, k;

	if (receive->class & BCL_MATCH_ANY_SOURCE || rank == adi->rank)
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

/* The first time, the second, the fourth, and so on. */
static bool is_due(struct bcl_adi_peer *peer)
{
	bool due;

	peer->asked++;
	due = !(peer->asked & (peer->asked - 1));
	if (peer->asked == 2 * SELDOM)
		peer->asked = SELDOM;
	return due && !peer->lost;
}

static bool ask_awaited(struct bcl_adi *adi)
{
	struct awaited awaited = { .adi = adi };
	struct bcl_adi_peer *peer;
	bool asked = false;
	unsigned i;

	bcl_match_each(&adi->match, note, &awaited);
	for (i = 0; i < awaited.n; i++) {
		peer = bcl_adi_peer_get(adi, awaited.rank[i]);
		if (!peer || !is_due(peer))
			continue;
		bcl_count(adi->counters, adi_asked);
		bcl_adi_ask(adi, peer);
		asked = true;
	}
	if (awaited.n)
		adi->ask_next = (awaited.rank[awaited.n - 1] + 1) % adi->size;
	return asked;
}

bool bcl_adi_ask_awaited(struct bcl_adi *adi, uint64_t now, uint64_t *end)
{
	uint64_t patience = adi->context->config.peer_timeout / 4;
	bool asked = false;

	if (now >= adi->ask_at) {
		/* If later, nobody has waited that long. */
		if (adi->ask_at && now < adi->ask_at + patience)
			asked = ask_awaited(adi);
		adi->ask_at = now + patience;
	}
	if (*end > adi->ask_at)
		*end = adi->ask_at;
	return asked;
}
