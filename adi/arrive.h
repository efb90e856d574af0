/* SPDX-License-Identifier: MIT */
/* Arriving messages; in line the matching of an eager message with its
 * receive. */
#ifndef BCL_ADI_ARRIVE_H
#define BCL_ADI_ARRIVE_H

#include <string.h>

#include "adi/iov.h"
#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/request.h"
#include "adi/unexpected.h"
#include "transport/copy.h"

/* Receives an unexpected message, already out of the tables, and frees the
 * message. */
void bcl_adi_receive_unexpected(struct bcl_adi *adi,
				struct bcl_adi_request *request,
				struct bcl_adi_message *message);
/*
 * The sender of a message with this match key. NULL and *taken: the message was
 * dropped, because the key is malformed or the handle is not that of the rank.
 * NULL and not *taken: the message must wait for memory.
 */
struct bcl_adi_peer *bcl_adi_sender(struct bcl_adi *adi, struct bcl_peer *from,
				    uint64_t key, bool *taken);

/* Handles SYNC and ANNOUNCE with a valid key of the peer. Returns false if
 * there is no memory to keep the message; then nothing was done. */
bool bcl_adi_arrive(struct bcl_adi *adi, struct bcl_adi_peer *peer,
		    const struct bcl_event *event);
/* Handles BCL_EVENT_NOTIFY: data was put into a window, and the put matches a
 * receive of no bytes. Returns false if there is no memory to keep the message;
 * then nothing was done. */
bool bcl_adi_put_arrived(struct bcl_adi *adi, const struct bcl_event *event);
/* Drops the unexpected messages of the caller's contexts. Senders that wait for
 * an answer get one and go on. */
void bcl_adi_discard_unexpected(struct bcl_adi *adi);

/* Keeps a message until a receive matches: `size` bytes of data or ticket.
 * Returns false if there is no memory. */
bool bcl_adi_keep(struct bcl_adi *adi, struct bcl_adi_peer *peer, uint64_t key,
		  const void *data, size_t size, size_t length, uint64_t sync,
		  bool announced);

static inline void bcl_request_copy_in(struct bcl_adi_request *request,
				       uint64_t key, const void *data,
				       size_t length)
{
	size_t n = length < request->length ? length : request->length;

	if (bcl_unlikely(request->niov))
		bcl_adi_scatter(request->iov, request->niov, data, n);
	else if (n <= 16)
		bcl_copy16(request->buffer, data, n);
	else
		memcpy(request->buffer, data, n);
	request->status.source = (int)bcl_match_source(key);
	request->status.tag = (int)bcl_match_tag(key);
	request->status.length = length;
}

static inline enum bcl_status
bcl_request_fits(const struct bcl_adi_request *request, size_t length)
{
	return length <= request->length ? BCL_OK : BCL_ERR_TRUNCATED;
}

/* Handles EAGER from any peer. Returns false if there is no memory to keep the
 * message; then nothing was done. */
static inline bool __attribute__((always_inline))
bcl_adi_arrive_eager(struct bcl_adi *adi, struct bcl_peer *from, uint64_t key,
		     const void *data, size_t length)
{
	unsigned rank = bcl_match_source(key);
	struct bcl_adi_request *request;
	struct bcl_adi_peer *peer = NULL;
	bool taken;

	if (bcl_likely(rank < adi->size && bcl_adi_key_valid(key)))
		peer = bcl_adi_known(adi, rank);
	if (bcl_unlikely(!peer || peer->peer != from)) {
		peer = bcl_adi_sender(adi, from, key, &taken);
		if (!peer)
			return taken;
	}
	request = (void *)bcl_match_arrive(&adi->match, key);
	if (bcl_unlikely(!request))
		return bcl_adi_keep(adi, peer, key, data, length, length, 0,
				    false);
	bcl_request_copy_in(request, key, data, length);
	bcl_count(adi->counters, adi_matched);
	bcl_request_complete(adi, request, bcl_request_fits(request, length));
	return true;
}

#endif
