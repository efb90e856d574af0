/* SPDX-License-Identifier: MIT */
/* The packet interface (bcl/adi.h), for a layer that matches for itself, such
 * as MPICH's channel. Packets are sent at once or queued, without tags; long
 * data is announced in a packet and pulled (rendezvous.c, fetch.c). */
#include <string.h>

#include "adi/iov.h"
#include "adi/job.h"
#include "adi/peer.h"
#include "adi/progress.h"
#include "adi/protocol.h"
#include "adi/request.h"
#include "transport/copy.h"
#include "transport/poll.h"
#include "transport/send.h"
#include "transport/sized.h"

enum {
	VAIN_POLLS = 16, /* polls before a yield, on a crowded host */
};

enum bcl_status bcl_adi_packet_open(struct bcl_adi *adi,
				    const struct bcl_adi_packet_ops *given,
				    void *arg)
{
	struct bcl_adi_packet_ops ops;
	enum bcl_status status;

	if (!adi || !given)
		return BCL_ERR_ARG;
	status = bcl_sized_read(&ops, given, peer);
	if (!status)
		status = bcl_adi_enter(adi);
	if (status)
		return status;
	adi->packet_ops = ops;
	adi->packet_arg = arg;
	bcl_adi_leave(adi);
	return BCL_OK;
}

enum bcl_status bcl_adi_packet_peer(struct bcl_adi *adi, const void *address,
				    size_t length, struct bcl_peer **handle)
{
	struct bcl_adi_peer *peer;
	enum bcl_status status = adi ? bcl_adi_enter(adi) : BCL_ERR_ARG;

	if (status)
		return status;
	status = bcl_peer_open(adi->port, address, length, handle);
	if (!status) {
		peer = bcl_adi_peer_of(adi, *handle);
		if (!peer) {
			status = BCL_ERR_NOMEM;
		} else {
			peer->opened = true;
			/* a rank of the job stays lost; a peer beyond the job
			 * may come back */
			if (peer->rank < 0)
				peer->lost = peer->gone = BCL_OK;
			bcl_adi_peer_judge(peer);
		}
	}
	bcl_adi_leave(adi);
	return status;
}

/* ---- sending ---- */

static char *append_bytes(char *p, const void *from, size_t length)
{
	if (length)
		memcpy(p, from, length);
	return p + length;
}

/* Copies the whole packet into one piece. */
static bool copy_all(struct bcl_adi *adi, struct bcl_adi_request *request,
		     const void *header, size_t header_length,
		     const struct iovec *iov, unsigned niov, size_t length)
{
	char *p = bcl_pool_get(&adi->pool, length);

	if (!p)
		return false;
	request->copy = p;
	request->copy_size = length;
	p = append_bytes(p, header, header_length);
	for (; niov; niov--, iov++)
		p = append_bytes(p, iov->iov_base, iov->iov_len);
	return true;
}

/* Copies the header and the list of pieces, but not the data of the pieces. The
 * list begins with the header; the header lies behind the list. */
static bool copy_header(struct bcl_adi *adi, struct bcl_adi_request *request,
			const void *header, size_t header_length,
			const struct iovec *iov, unsigned niov)
{
	size_t list = (niov + 1) * sizeof(*iov);
	char *p = bcl_pool_get(&adi->pool, list + header_length);

	if (!p)
		return false;
	request->copy = p;
	request->copy_size = list + header_length;
	request->iov = (struct iovec *)p;
	request->niov = (uint16_t)(niov + 1);
	request->iov[0] = (struct iovec){ p + list, header_length };
	memcpy(request->iov + 1, iov, niov * sizeof(*iov));
	append_bytes(p + list, header, header_length);
	return true;
}

static enum bcl_status queue_packet(struct bcl_adi *adi,
				    struct bcl_adi_peer *peer, unsigned type,
				    const void *header, size_t header_length,
				    const struct iovec *iov, unsigned niov,
				    size_t length, uint64_t cookie)
{
	struct bcl_adi_request *request = bcl_request_new(adi);
	bool copied;

	if (!request)
		return BCL_ERR_NOMEM;
	if (cookie && niov &&
	    niov < (length > BCL_MESSAGE_MAX ? BCL_LONG_PIECES
					     : BCL_GATHER_MAX))
		copied = copy_header(adi, request, header, header_length, iov,
				     niov);
	else
		copied = copy_all(adi, request, header, header_length, iov,
				  niov, length);
	if (!copied) {
		bcl_request_free(adi, request);
		return BCL_ERR_NOMEM;
	}
	request->end = BCL_END_COPY | BCL_END_FREE;
	if (cookie)
		request->end |= BCL_END_PACKET;
	request->cookie = cookie;
	bcl_request_make_packet(request, peer, type, 0);
	bcl_adi_submit(adi, request);
	return BCL_OK;
}

static char *append_short(char *p, const void *from, size_t length)
{
	bcl_copy_short(p, from, length);
	return p + length;
}

/* Sends a packet that fits into a slot of shared memory. */
static inline enum bcl_status try_short(struct bcl_adi_peer *peer,
					unsigned type, const void *header,
					size_t header_length,
					const struct iovec *iov, unsigned niov)
{
	char packet[BCL_SHORT_MAX];
	char *p;

	if (!niov)
		return bcl_send_short(peer->peer, type, 0, header,
				      header_length);
	p = append_short(packet, header, header_length);
	for (; niov; niov--, iov++)
		p = append_short(p, iov->iov_base, iov->iov_len);
	return bcl_send_short(peer->peer, type, 0, packet,
			      (size_t)(p - packet));
}

/* `length`: bytes of header and pieces. */
static inline enum bcl_status try_pieces(struct bcl_adi_peer *peer,
					 unsigned type, const void *header,
					 size_t header_length,
					 const struct iovec *iov, unsigned niov,
					 size_t length)
{
	struct iovec pieces[BCL_GATHER_MAX];

	pieces[0] = (struct iovec){ (void *)header, header_length };
	for (unsigned i = 0; i < niov; i++)
		pieces[1 + i] = iov[i];
	return bcl_send_pieces(peer->peer, type, 0, pieces, niov + 1, length);
}

/* `length`: bytes of the pieces. AGAIN: the packet cannot leave at once. */
static inline enum bcl_status try_packet(struct bcl_adi_peer *peer,
					 unsigned type, const void *header,
					 size_t header_length,
					 const struct iovec *iov, unsigned niov,
					 size_t length)
{
	enum bcl_status status;

	if (peer->queue.first || niov >= BCL_GATHER_MAX)
		return BCL_ERR_AGAIN;
	if (bcl_send_is_short(peer->peer, header_length + length))
		status =
			try_short(peer, type, header, header_length, iov, niov);
	else
		status = try_pieces(peer, type, header, header_length, iov,
				    niov, header_length + length);
	if (status != BCL_ERR_AGAIN)
		peer->dirty = true;
	return status;
}

/* bcl_adi_peer_of(), in line for a handle that has a record. */
static inline struct bcl_adi_peer *record_of(struct bcl_adi *adi,
					     struct bcl_peer *handle)
{
	struct bcl_adi_peer *peer = bcl_adi_peer_find(adi, handle);

	return bcl_likely(peer) ? peer : bcl_adi_peer_of(adi, handle);
}

size_t bcl_adi_packet_longest(const struct bcl_peer *peer)
{
	return peer ? bcl_send_longest(peer) : BCL_MESSAGE_MAX;
}

/* Sends a packet. A packet with a cookie always takes a request. A packet
 * without one takes a request if it cannot leave at once and `later` is set;
 * without `later` the status is AGAIN. */
static inline enum bcl_status __attribute__((always_inline))
send_packet(struct bcl_adi *adi, struct bcl_peer *handle, unsigned type,
	    const void *header, size_t header_length, const struct iovec *iov,
	    unsigned niov, uint64_t cookie, bool later)
{
	struct bcl_adi_peer *peer;
	enum bcl_status status = BCL_ERR_AGAIN;
	size_t length;

	if (!handle || type >= BCL_PACKET_TYPES ||
	    header_length > BCL_MESSAGE_MAX ||
	    bcl_nowhere(header, header_length) ||
	    !bcl_adi_iov_length(iov, niov, &length) ||
	    (bcl_unlikely(length > BCL_MESSAGE_MAX - header_length) &&
	     length > bcl_send_longest(handle) - header_length))
		return BCL_ERR_ARG;
	peer = record_of(adi, handle);
	if (!peer)
		return BCL_ERR_NOMEM;
	if (peer->lost)
		return peer->lost;
	if (!cookie && header_length + length <= BCL_MESSAGE_MAX)
		status = try_packet(peer, type, header, header_length, iov,
				    niov, length);
	if (status == BCL_ERR_AGAIN && later)
		status =
			queue_packet(adi, peer, type, header, header_length,
				     iov, niov, header_length + length, cookie);
	return status;
}

enum bcl_status bcl_adi_packet_try(struct bcl_adi *adi, struct bcl_peer *peer,
				   unsigned type, const void *header,
				   size_t header_length,
				   const struct iovec *iov, unsigned niov)
{
	enum bcl_status status =
		bcl_likely(adi != NULL) ? bcl_adi_enter(adi) : BCL_ERR_ARG;

	if (bcl_unlikely(status))
		return status;
	status = send_packet(adi, peer, type, header, header_length, iov, niov,
			     0, false);
	bcl_adi_leave(adi);
	return status;
}

enum bcl_status bcl_adi_packet_send(struct bcl_adi *adi, struct bcl_peer *peer,
				    unsigned type, const void *header,
				    size_t header_length,
				    const struct iovec *iov, unsigned niov,
				    uint64_t cookie)
{
	enum bcl_status status =
		bcl_likely(adi != NULL) ? bcl_adi_enter(adi) : BCL_ERR_ARG;

	if (bcl_unlikely(status))
		return status;
	status = send_packet(adi, peer, type, header, header_length, iov, niov,
			     cookie, true);
	bcl_adi_leave(adi);
	return status;
}

static inline enum bcl_status try_word(struct bcl_adi *adi,
				       struct bcl_peer *handle, unsigned type,
				       uint64_t word, const void *data,
				       size_t length)
{
	struct bcl_adi_peer *peer = record_of(adi, handle);
	enum bcl_status status;

	if (bcl_unlikely(!peer))
		return BCL_ERR_NOMEM;
	if (bcl_unlikely(peer->lost))
		return peer->lost;
	if (bcl_unlikely(peer->queue.first))
		return BCL_ERR_AGAIN;
	status = bcl_send_word(peer->peer, type, word, data, length);
	if (status != BCL_ERR_AGAIN)
		peer->dirty = true;
	return status;
}

enum bcl_status bcl_adi_packet_word(struct bcl_adi *adi, struct bcl_peer *peer,
				    unsigned type, uint64_t word,
				    const void *data, size_t length)
{
	enum bcl_status status;

	if (bcl_unlikely(!adi || !peer || type >= BCL_PACKET_TYPES ||
			 length > BCL_MESSAGE_MAX - sizeof(word) ||
			 bcl_nowhere(data, length)))
		return BCL_ERR_ARG;
	status = bcl_adi_enter(adi);
	if (bcl_unlikely(status))
		return status;
	status = try_word(adi, peer, type, word, data, length);
	bcl_adi_leave(adi);
	return status;
}

/* ---- rendezvous ---- */

/* Makes a request of the packet layer for a rendezvous with the peer. */
static enum bcl_status new_request(struct bcl_adi *adi, struct bcl_peer *handle,
				   void *buffer, size_t length, uint64_t cookie,
				   struct bcl_adi_request **result)
{
	struct bcl_adi_peer *peer = bcl_adi_peer_of(adi, handle);
	struct bcl_adi_request *request;

	if (!peer)
		return BCL_ERR_NOMEM;
	if (peer->lost)
		return peer->lost;
	request = bcl_request_new(adi);
	if (!request)
		return BCL_ERR_NOMEM;
	request->end = BCL_END_FREE | BCL_END_PACKET;
	request->packet = true;
	request->eager = false;
	request->tokened = false;
	request->bounce = NULL;
	request->status.status = BCL_OK;
	request->status.length = length;
	request->peer = peer;
	request->buffer = buffer;
	request->length = length;
	request->cookie = cookie;
	request->limited = false;
	request->released = false;
	*result = request;
	return BCL_OK;
}

static enum bcl_status announce(struct bcl_adi *adi, struct bcl_peer *handle,
				unsigned type, const void *packet,
				size_t packet_length, size_t ticket_at,
				const void *buffer, size_t length,
				uint64_t cookie)
{
	struct bcl_adi_request *request;
	enum bcl_status status;

	status = new_request(adi, handle, (void *)buffer, length, cookie,
			     &request);
	if (status)
		return status;
	if (!copy_all(adi, request, packet, packet_length, NULL, 0,
		      packet_length)) {
		bcl_request_free(adi, request);
		return BCL_ERR_NOMEM;
	}
	request->end |= BCL_END_COPY;
	request->state = BCL_REQUEST_OFFER;
	request->type = (uint8_t)type;
	request->ticket_at = (uint32_t)ticket_at;
	request->key = 0;
	bcl_adi_submit(adi, request);
	return BCL_OK;
}

enum bcl_status bcl_adi_packet_announce(struct bcl_adi *adi,
					struct bcl_peer *peer, unsigned type,
					const void *packet,
					size_t packet_length, size_t ticket_at,
					const void *buffer, size_t length,
					uint64_t cookie)
{
	enum bcl_status status;

	if (!adi || !peer || !packet || bcl_nowhere(buffer, length) ||
	    type >= BCL_PACKET_TYPES || packet_length > BCL_MESSAGE_MAX ||
	    ticket_at > packet_length ||
	    packet_length - ticket_at < BCL_PACKET_TICKET)
		return BCL_ERR_ARG;
	status = bcl_adi_enter(adi);
	if (status)
		return status;
	status = announce(adi, peer, type, packet, packet_length, ticket_at,
			  buffer, length, cookie);
	bcl_adi_leave(adi);
	return status;
}

struct announced {
	uint64_t cookie;
	struct bcl_adi_request *request; /* NULL: not found */
};

static void find_announced(struct bcl_adi *adi, struct bcl_adi_request *request,
			   void *arg)
{
	struct announced *announced = arg;

	(void)adi;
	if (request->state >= BCL_REQUEST_OFFER &&
	    request->state <= BCL_REQUEST_READ && request->packet &&
	    request->cookie == announced->cookie)
		announced->request = request;
}

enum bcl_status bcl_adi_packet_withdraw(struct bcl_adi *adi, uint64_t cookie)
{
	struct announced announced = { .cookie = cookie };
	enum bcl_status status = adi ? bcl_adi_enter(adi) : BCL_ERR_ARG;

	if (status)
		return status;
	status = BCL_ERR_EMPTY;
	bcl_requests_each(adi, find_announced, &announced);
	if (announced.request)
		status = bcl_request_take_back(adi, announced.request)
				 ? BCL_OK
				 : BCL_ERR_BUSY;
	bcl_adi_leave(adi);
	return status;
}

enum bcl_status bcl_adi_packet_pull(struct bcl_adi *adi, struct bcl_peer *peer,
				    const void *ticket, void *buffer,
				    size_t length, uint64_t cookie)
{
	struct bcl_adi_request *request;
	enum bcl_status status;

	if (!adi || !peer || !ticket || bcl_nowhere(buffer, length))
		return BCL_ERR_ARG;
	status = bcl_adi_enter(adi);
	if (status)
		return status;
	status = new_request(adi, peer, buffer, length, cookie, &request);
	if (!status) {
		bcl_request_fetch(request, request->peer, ticket);
		bcl_adi_submit(adi, request);
	}
	bcl_adi_leave(adi);
	return status;
}

/* ---- progress ---- */

enum {
	POLL_EVENTS = 64,
};

/* Returns true for a packet; the progress engine handles other events. */
static inline bool is_packet(const struct bcl_event *event)
{
	return bcl_likely(event->kind == BCL_EVENT_MESSAGE &&
			  event->type < BCL_PACKET_TYPES);
}

/* A turn, like bcl_adi_turn(), for the common case that a packet has come. */
static inline bool __attribute__((always_inline)) turn(struct bcl_adi *adi)
{
	struct bcl_event event;
	enum bcl_status status;

	bcl_assert(bcl_adi_is_held(adi));
	if (bcl_unlikely(adi->stalled))
		return bcl_adi_turn(adi);
	adi->turned = true;
	status = bcl_poll(adi->port, &event);
	if (status == BCL_OK && is_packet(&event))
		bcl_adi_packet(adi, &event);
	else if (status != BCL_ERR_EMPTY)
		bcl_adi_polled(adi, status, &event);
	if (bcl_unlikely(adi->chores) && bcl_adi_do_chores(adi))
		return true;
	return status == BCL_OK;
}

/* Takes the next event of the pairs. Returns false if there is none. */
static inline bool turn_pair(struct bcl_adi *adi)
{
	struct bcl_event event;

	if (bcl_unlikely(adi->stalled) || bcl_poll_pair(adi->port, &event))
		return false;
	if (is_packet(&event))
		bcl_adi_packet(adi, &event);
	else
		bcl_adi_polled(adi, BCL_OK, &event);
	return true;
}

/* After a turn that found something: takes up to POLL_EVENTS - 1 further events
 * of pairs. Returns the number of events, with the first one. */
static unsigned follow(struct bcl_adi *adi)
{
	unsigned n = 1;

	while (n < POLL_EVENTS && turn_pair(adi))
		n++;
	adi->packets_follow = n > 1;
	return n;
}

/*
 * A rank that polls without success may keep the processor from a rank with the
 * awaited message. A few polls are free, because the program may work between
 * the polls. Returns true if the caller is to yield after releasing the lock.
 */
static bool poll_in_vain(struct bcl_adi *adi)
{
	if (!adi->context->crowded || ++adi->vain < VAIN_POLLS)
		return false;
	adi->vain = 0;
	bcl_count(adi->counters, core_yields);
	return true;
}

unsigned bcl_adi_packet_poll(struct bcl_adi *adi)
{
	bool tired = false;
	unsigned n = 0;

	if (bcl_unlikely(!adi || bcl_adi_enter(adi)))
		return 0;
	if (turn(adi)) {
		n = follow(adi);
		adi->packet_idle = (struct bcl_adi_idle){ 0 };
		adi->vain = 0;
	} else {
		tired = poll_in_vain(adi);
	}
	bcl_adi_leave(adi);
	if (tired)
		adi->env->yield(adi->env->world);
	return n;
}

enum bcl_status bcl_adi_packet_next(struct bcl_adi *adi)
{
	enum bcl_status status =
		bcl_likely(adi != NULL) ? bcl_adi_enter(adi) : BCL_ERR_ARG;
	struct bcl_adi_idle idle = { 0 };
	bool waited = false;
	unsigned spins;

	if (bcl_unlikely(status))
		return status;
	spins = bcl_port_may_spin(adi->port) ? adi->spins : 0;
	while (!turn(adi) && !adi->broken) {
		waited = true;
		if (spins)
			spins--;
		else
			bcl_adi_rest(adi, &idle, UINT64_MAX);
	}
	/* after a wait there was only this event, unless packets come in a
	 * row */
	if (!waited || adi->packets_follow)
		follow(adi);
	status = adi->broken;
	bcl_adi_leave(adi);
	return status;
}

void bcl_adi_packet_wake(struct bcl_adi *adi)
{
	if (!adi || bcl_port_forked(adi->port))
		return;
	atomic_store_explicit(&adi->woken, true, memory_order_release);
	if (adi->threads)
		adi->env->wake(adi->env->world, adi->object);
}

enum bcl_status bcl_adi_packet_wait(struct bcl_adi *adi, uint64_t timeout)
{
	enum bcl_status status = adi ? bcl_adi_enter(adi) : BCL_ERR_ARG;
	uint64_t start, end = UINT64_MAX;
	const struct bcl_env *env;
	bool rested = false;

	if (status)
		return status;
	env = adi->env;
	start = env->now(env->world);
	if (timeout < UINT64_MAX - start)
		end = start + timeout;
	if (!adi->chores)
		adi->packet_idle = (struct bcl_adi_idle){ 0 };
	for (;;) {
		status =
			adi->stalled ? BCL_ERR_TIMEOUT : bcl_wait(adi->port, 0);
		adi->turned = true;
		/* AGAIN: there is room for a message that was refused */
		if (status == BCL_ERR_AGAIN)
			status = BCL_OK;
		/* acquire: pairs with the release in bcl_adi_packet_wake() */
		if (atomic_exchange_explicit(&adi->woken, false,
					     memory_order_acquire))
			status = BCL_OK;
		/* queued requests may advance now, and no event tells so */
		if (rested && (adi->chores || adi->stalled) &&
		    status == BCL_ERR_TIMEOUT)
			status = BCL_OK;
		if (status != BCL_ERR_TIMEOUT || env->now(env->world) >= end)
			break;
		bcl_adi_rest(adi, &adi->packet_idle, end);
		rested = true;
	}
	bcl_adi_leave(adi);
	return status;
}
