/* SPDX-License-Identifier: MIT */
/* Out-of-band messages: a few words from the client of one rank to the client
 * of another, beside all matching. See internal.h. */
#include <string.h>

#include "adi/job.h"
#include "adi/peer.h"
#include "adi/protocol.h"
#include "adi/request.h"

struct bcl_adi_client **bcl_adi_client(struct bcl_adi *adi)
{
	return &adi->client;
}

/* The words on the wire. */
struct words {
	struct bcl_le64 word[BCL_ADI_OOB_WORDS];
};

void bcl_adi_oob_send(struct bcl_adi *adi, unsigned rank,
		      const struct bcl_adi_oob *oob)
{
	struct bcl_adi_peer *peer = bcl_adi_peer_get(adi, rank);
	struct bcl_adi_request *request;
	struct words words;
	unsigned i;

	if (!peer || peer->lost)
		return;
	request = bcl_request_new(adi);
	if (!request)
		return;
	request->copy_size = sizeof(words);
	request->copy = bcl_pool_get(&adi->pool, request->copy_size);
	if (!request->copy) {
		bcl_request_free(adi, request);
		return;
	}
	for (i = 0; i < BCL_ADI_OOB_WORDS; i++)
		words.word[i] = bcl_put64(oob->word[i]);
	memcpy(request->copy, &words, sizeof(words));
	request->end = BCL_END_COPY | BCL_END_FREE;
	bcl_request_make_packet(request, peer, BCL_ADI_OOB, adi->own);
	bcl_adi_submit(adi, request);
}

void bcl_adi_oob_received(struct bcl_adi *adi, unsigned rank,
			  const struct bcl_event *event)
{
	struct bcl_adi_oob oob;
	struct words words;
	unsigned i;

	if (event->length != sizeof(words) || !adi->client) {
		bcl_count(adi->counters, adi_dropped);
		return;
	}
	memcpy(&words, event->data, sizeof(words));
	for (i = 0; i < BCL_ADI_OOB_WORDS; i++)
		oob.word[i] = bcl_get64(words.word[i]);
	adi->client->oob(adi->client, rank, &oob);
	/* The thread that waits for the message may sleep. */
	adi->wake |= adi->sleepers > 0;
}
