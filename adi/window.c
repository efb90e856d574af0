/* SPDX-License-Identifier: MIT */
/* Messages that are put where their receiver has said; see internal.h. */
#include "adi/arrive.h"
#include "transport/key.h"

enum bcl_status bcl_adi_window_open(struct bcl_adi *adi,
				    struct bcl_adi_window *window, void *memory,
				    size_t length, unsigned tag,
				    unsigned context)
{
	enum bcl_status status;

	status = bcl_memory_register(adi->context, memory, length,
				     BCL_REMOTE_WRITE, &window->memory);
	if (status)
		return status;
	bcl_memory_key(window->memory, window->key);
	window->handle = bcl_key_unpack(window->key).handle;
	window->tag = tag;
	window->context = context;
	window->next = adi->windows;
	adi->windows = window;
	return BCL_OK;
}

void bcl_adi_window_close(struct bcl_adi *adi, struct bcl_adi_window *window)
{
	struct bcl_adi_window **link = &adi->windows;

	while (*link != window)
		link = &(*link)->next;
	*link = window->next;
	bcl_memory_release(window->memory);
}

enum bcl_status bcl_request_put(struct bcl_adi *adi,
				struct bcl_adi_request *request)
{
	enum bcl_status status;

	status = bcl_put_notify(
		request->peer->peer, request->token, request->remote,
		request->buffer, request->length, BCL_ADI_PUT,
		bcl_key_unpack(request->token).handle, (uintptr_t)request);
	if (status == BCL_ERR_AGAIN)
		return status;
	if (status) {
		bcl_request_fail(adi, request, status);
		return BCL_OK;
	}
	request->state = BCL_REQUEST_SENT;
	bcl_count(adi->counters, adi_sent_put);
	return BCL_OK;
}

bool bcl_adi_notified(struct bcl_adi *adi, const struct bcl_event *event)
{
	const struct bcl_adi_peer *peer = bcl_adi_peer_find(adi, event->peer);
	const struct bcl_adi_window *window = adi->windows;

	while (window && window->handle != event->immediate)
		window = window->next;
	if (!window || !peer || peer->rank < 0) {
		bcl_count(adi->counters, adi_dropped);
		return true;
	}
	return bcl_adi_arrive_eager(adi, event->peer,
				    bcl_match_key(window->context,
						  (unsigned)peer->rank,
						  window->tag),
				    window->key, 0);
}
