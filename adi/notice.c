/* SPDX-License-Identifier: MIT */
/* Words between the ranks' clients, beside all messages. */
#include <string.h>

#include "adi/engine.h"

struct bcl_adi_client **bcl_adi_client(struct bcl_adi *adi)
{
	return &adi->client;
}

void bcl_adi_notify(struct bcl_adi *adi, unsigned rank, uint64_t word)
{
	struct bcl_adi_peer *peer = bcl_adi_peer_get(adi, rank);
	struct bcl_le64 bytes = bcl_put64(word);
	struct bcl_adi_request *request;

	if (!peer || peer->lost)
		return;
	request = bcl_request_new(adi);
	if (!request)
		return;
	request->copy_size = sizeof(bytes);
	request->copy = bcl_pool_get(&adi->pool, request->copy_size);
	if (!request->copy) {
		bcl_request_free(adi, request);
		return;
	}
	memcpy(request->copy, &bytes, sizeof(bytes));
	request->end = BCL_END_COPY | BCL_END_FREE;
	bcl_adi_submit_packet(adi, request, peer, BCL_ADI_NOTICE, adi->own);
}

void bcl_adi_hear(struct bcl_adi *adi, unsigned rank,
		  const struct bcl_event *event)
{
	struct bcl_le64 bytes;

	if (event->length != sizeof(bytes) || !adi->client) {
		bcl_count(adi->counters, adi_dropped);
		return;
	}
	memcpy(&bytes, event->data, sizeof(bytes));
	adi->client->notice(adi->client, rank, bcl_get64(bytes));
	/* It may be for a thread that sleeps, while another one turns. */
	adi->wake |= adi->sleepers > 0;
}
