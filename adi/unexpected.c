/* SPDX-License-Identifier: MIT */
/*
 * Unexpected messages, and the flow control that bounds their memory.
 *
 * The eager messages of one sender take at most BCL_UNEXPECTED bytes,
 * bookkeeping included, plus the messages in flight when the bound is reached.
 * Then the receiver says STOP. From then on the sender announces each message
 * and sends the data when the receiver calls. The receiver says GO when half of
 * the budget is free.
 *
 * An announcement that waits takes memory, too. A sender has at most
 * BCL_ADI_ANNOUNCED of them unmatched; the sender keeps further messages and
 * says HOLD. If a receive or probe finds no message, the message may be one of
 * those that the sender keeps. So the receiver says MORE, and the sender may
 * announce as many again. Memory grows only while a receive or probe really
 * searches, and a message that can be matched never waits behind a message that
 * cannot.
 *
 * Messages in the library's own contexts count for neither bound.
 */
#include <string.h>

#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/unexpected.h"

struct bcl_adi_message *bcl_adi_message_new(struct bcl_adi *adi,
					    struct bcl_adi_peer *peer,
					    const void *data, size_t size)
{
	size_t total = sizeof(struct bcl_adi_message) + size;
	struct bcl_adi_message *message = bcl_pool_get(&adi->pool, total);

	if (!message)
		return NULL;
	message->peer = peer;
	message->size = (uint32_t)total;
	message->charged = 0;
	if (size)
		memcpy(message->data, data, size);
	bcl_count(adi->counters, adi_unexpected);
	return message;
}

void bcl_adi_message_count(struct bcl_adi *adi, struct bcl_adi_message *message)
{
	struct bcl_adi_peer *peer = message->peer;

	message->charged = (uint32_t)bcl_pool_size(message->size);
	peer->unexpected += message->charged;
	adi->unexpected += message->charged;
	if (adi->unexpected > adi->unexpected_peak) {
		bcl_count_add(adi->counters, BCL_COUNT_adi_unexpected_peak,
			      adi->unexpected - adi->unexpected_peak);
		adi->unexpected_peak = adi->unexpected;
	}
	if (peer->unexpected > adi->unexpected_max && !peer->stops) {
		peer->stops = true;
		bcl_count(adi->counters, adi_stops);
		bcl_adi_owe(adi, peer, BCL_OWED_STOP);
	}
}

void bcl_adi_drop_unexpected(struct bcl_adi *adi)
{
	struct bcl_match_message *match;
	struct bcl_adi_message *message;

	while ((match = adi->match.oldest)) {
		message = (struct bcl_adi_message *)match;
		bcl_match_take(&adi->match, match);
		bcl_pool_put(&adi->pool, message, message->size);
	}
}

void bcl_adi_message_free(struct bcl_adi *adi, struct bcl_adi_message *message)
{
	struct bcl_adi_peer *peer = message->peer;

	if (message->charged) {
		bcl_assert(peer->unexpected >= message->charged);
		bcl_assert(adi->unexpected >= message->charged);
		peer->unexpected -= message->charged;
		adi->unexpected -= message->charged;
		if (peer->stops &&
		    peer->unexpected <= adi->unexpected_max / 2) {
			peer->stops = false;
			bcl_adi_owe(adi, peer, BCL_OWED_GO);
		}
	}
	bcl_pool_put(&adi->pool, message, message->size);
}

/* ---- announcements ---- */

static void ask_for_more(struct bcl_adi *adi, struct bcl_adi_peer *peer)
{
	if (!peer->holds)
		return;
	bcl_assert(adi->nholds);
	peer->holds = false;
	adi->nholds--;
	bcl_adi_owe(adi, peer, BCL_OWED_MORE);
}

void bcl_adi_want(struct bcl_adi *adi, uint64_t key, enum bcl_match_class class)
{
	struct bcl_adi_peer *peer;

	if (bcl_match_context(key) > BCL_ADI_CONTEXT_MAX)
		return;
	if (!(class & BCL_MATCH_ANY_SOURCE)) {
		peer = bcl_adi_known(adi, bcl_match_source(key));
		if (peer)
			ask_for_more(adi, peer);
		return;
	}
	for (peer = adi->peers; peer && adi->nholds; peer = peer->next)
		ask_for_more(adi, peer);
}

struct search {
	const struct bcl_adi_peer *peer;
	bool found;
};

static void wants(struct bcl_match_receive *receive, void *arg)
{
	struct search *search = arg;
	uint64_t key = receive->node.key;

	if (bcl_match_context(key) > BCL_ADI_CONTEXT_MAX)
		return;
	if (receive->class & BCL_MATCH_ANY_SOURCE ||
	    (int)bcl_match_source(key) == search->peer->rank)
		search->found = true;
}

void bcl_adi_hold_received(struct bcl_adi *adi, struct bcl_adi_peer *peer)
{
	struct search search = { peer, false };

	if (peer->holds)
		return;
	peer->holds = true;
	adi->nholds++;
	bcl_match_each(&adi->match, wants, &search);
	if (search.found)
		ask_for_more(adi, peer);
}
