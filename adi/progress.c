/* SPDX-License-Identifier: MIT */
/*
 * The progress engine: takes the events of the job's port and hands each to the
 * part of the ADI that it concerns. An eager message of a pair takes a short
 * way, in line.
 */
#include "adi/arrive.h"
#include "adi/job.h"
#include "adi/peer.h"
#include "adi/progress.h"
#include "adi/protocol.h"
#include "adi/request.h"
#include "adi/schedule.h"
#include "adi/unexpected.h"
#include "transport/poll.h"

/* Handles a message that controls the flow between two ranks. */
static void flow(struct bcl_adi *adi, struct bcl_adi_peer *peer, unsigned type)
{
	switch (type) {
	case BCL_ADI_STOP:
		peer->stopped = true;
		bcl_adi_peer_judge(peer);
		bcl_count(adi->counters, adi_stopped);
		break;
	case BCL_ADI_GO:
		peer->stopped = false;
		bcl_adi_peer_resume(adi, peer);
		break;
	case BCL_ADI_HOLD:
		bcl_adi_hold_received(adi, peer);
		break;
	case BCL_ADI_MORE:
		peer->limit += BCL_ADI_ANNOUNCED;
		peer->holding = false;
		bcl_adi_peer_resume(adi, peer);
		break;
	case BCL_ADI_FLUSH:
		break;
	case BCL_ADI_WAITING:
		peer->waits = true;
		if (adi->closing)
			bcl_adi_owe(adi, peer, BCL_OWED_LEFT);
		break;
	case BCL_ADI_LEFT:
		bcl_adi_peer_left(adi, peer);
		break;
	default:
		bcl_count(adi->counters, adi_dropped);
	}
}

static bool message(struct bcl_adi *adi, const struct bcl_event *event)
{
	struct bcl_adi_peer *peer;
	bool taken;

	peer = bcl_adi_sender(adi, event->peer, event->immediate, &taken);
	if (!peer)
		return taken;
	if (event->type <= BCL_ADI_ANNOUNCE)
		return bcl_adi_arrive(adi, peer, event);
	if (event->type == BCL_ADI_OOB)
		bcl_adi_oob_received(adi, (unsigned)peer->rank, event);
	else
		flow(adi, peer, event->type);
	return true;
}

/* Starts what an answer makes possible. NULL: nothing. */
static void go_on(struct bcl_adi *adi, struct bcl_adi_request *request)
{
	if (request)
		bcl_adi_submit(adi, request);
}

/* Handles an event that is not EAGER. Returns false if there is no memory for
 * the event; then nothing was done. */
static bool __attribute__((noinline))
dispatch(struct bcl_adi *adi, const struct bcl_event *event)
{
	struct bcl_adi_request *request = (void *)(uintptr_t)event->cookie;

	switch (event->kind) {
	case BCL_EVENT_MESSAGE:
		if (event->type < BCL_PACKET_TYPES)
			bcl_adi_packet(adi, event);
		else if (event->type == BCL_ADI_MATCHED)
			bcl_adi_matched(adi, event);
		else if (event->type == BCL_ADI_CALL)
			go_on(adi, bcl_adi_call(adi, event));
		else if (event->type == BCL_ADI_TOKEN ||
			 event->type == BCL_ADI_DATA)
			go_on(adi, bcl_adi_called(adi, event));
		else
			return message(adi, event);
		break;
	case BCL_EVENT_SENT:
		bcl_assert(request->state == BCL_REQUEST_SENT);
		bcl_request_complete(adi, request, event->status);
		break;
	case BCL_EVENT_READ:
		bcl_adi_read(adi, request, event->status);
		break;
	case BCL_EVENT_PULLED:
		bcl_assert(request->state == BCL_REQUEST_PULLED);
		bcl_adi_pulled(adi, request, event->status);
		break;
	case BCL_EVENT_PEER:
		bcl_adi_peer_event(adi, event->peer, event->status);
		break;
	case BCL_EVENT_NOTIFY:
		return bcl_adi_put_arrived(adi, event);
	case BCL_EVENT_CHANNEL:
		bcl_count(adi->counters, adi_dropped);
		break;
	}
	return true;
}

static bool deliver(struct bcl_adi *adi, const struct bcl_event *event)
{
	if (bcl_likely(event->type == BCL_ADI_EAGER &&
		       event->kind == BCL_EVENT_MESSAGE))
		return bcl_adi_arrive_eager(adi, event->peer, event->immediate,
					    event->data, event->length);
	return dispatch(adi, event);
}

/* Keeps an event for which there is no memory. Turns try the event again
 * instead of polling. Meanwhile the senders' rings fill up; this bounds the
 * senders until there is memory or a receive. */
static void __attribute__((noinline))
stall(struct bcl_adi *adi, const struct bcl_event *event)
{
	adi->event = *event;
	adi->stalled = true;
	bcl_count(adi->counters, adi_stalls);
	bcl_log(&adi->context->config, BCL_LOG_ERROR, "adi",
		"rank %u: no memory for a message of %zu bytes of rank %u; "
		"%zu bytes are kept for receives: waiting for a receive or "
		"for memory",
		adi->rank, event->length, bcl_match_source(event->immediate),
		adi->unexpected);
}

bool bcl_adi_do_chores(struct bcl_adi *adi)
{
	bool busy = false;

	if (adi->chores & BCL_CHORE_PEERS)
		busy = bcl_adi_peers_serve(adi);
	if (adi->chores & BCL_CHORE_SCHEDULES)
		busy |= bcl_adi_schedules_serve(adi);
	return busy;
}

static bool turn_stalled(struct bcl_adi *adi)
{
	adi->stalled = !deliver(adi, &adi->event);
	if (adi->chores && bcl_adi_do_chores(adi))
		return true;
	return !adi->stalled;
}

static void __attribute__((noinline))
take(struct bcl_adi *adi, struct bcl_event event)
{
	if (bcl_unlikely(!deliver(adi, &event)))
		stall(adi, &event);
}

/* Bits of the source, and bit 31 of the tag. Two keys that agree in these bits
 * have the same rank, and are both valid or both invalid. */
#define KEY_OF_OTHERS UINT64_C(0x0000ffff80000000)

/*
 * Takes up to n further messages after the eager message with the key `first`
 * from this peer. Stops at a message that is not in the ring, is not eager, is
 * not of the same rank, or that no posted receive matches.
 */
static void follow(struct bcl_adi *adi, struct bcl_peer *from, uint64_t first,
		   unsigned n)
{
	const unsigned rank = bcl_match_source(first);
	const struct bcl_adi_peer *peer = NULL;
	struct bcl_adi_request *request;
	struct bcl_row row;
	const void *data;
	unsigned taken;
	size_t length;
	uint64_t key;

	/* the first message may have been dropped: the handle was not the
	 * rank's */
	if (rank < adi->size && bcl_adi_key_valid(first))
		peer = bcl_adi_known(adi, rank);
	if (bcl_unlikely(!peer || peer->peer != from))
		return;
	n = bcl_row_begin(&row, adi->port, from, n);
	for (taken = 0; taken < n; taken++) {
		if (!bcl_row_look(&row, BCL_ADI_EAGER, &key) ||
		    (key ^ first) & KEY_OF_OTHERS)
			break;
		request = (void *)bcl_match_arrive(&adi->match, key);
		if (!request)
			break;
		data = bcl_row_take(&row, &length);
		bcl_request_copy_in(request, key, data, length);
		bcl_request_complete(adi, request,
				     bcl_request_fits(request, length));
	}
	bcl_port_count_messages(adi->port, taken);
	bcl_count_add(adi->counters, BCL_COUNT_adi_matched, taken);
}

/* Takes up to `most` messages of the pair in turn. Returns false if the pair
 * has none, or if anything else is due. take() gets the event by value: in the
 * common case the event need not be in memory. */
static inline bool __attribute__((always_inline))
turn_pair(struct bcl_adi *adi, unsigned most)
{
	struct bcl_event event;

	if (bcl_unlikely(adi->stalled) || bcl_poll_pair(adi->port, &event))
		return false;
	if (bcl_unlikely(event.type != BCL_ADI_EAGER ||
			 !bcl_adi_arrive_eager(adi, event.peer, event.immediate,
					       event.data, event.length)))
		take(adi, event);
	else if (most > 1 && !adi->port->flags)
		follow(adi, event.peer, event.immediate, most - 1);
	return true;
}

void bcl_adi_polled(struct bcl_adi *adi, enum bcl_status status,
		    const struct bcl_event *event)
{
	if (status)
		adi->broken = status;
	else if (bcl_unlikely(!deliver(adi, event)))
		stall(adi, event);
}

/* The rest of a turn in which turn_pair() found nothing. */
static bool __attribute__((noinline)) turn_elsewhere(struct bcl_adi *adi)
{
	struct bcl_event event;
	enum bcl_status status;

	if (bcl_unlikely(adi->stalled))
		return turn_stalled(adi);
	status = bcl_poll(adi->port, &event);
	if (status != BCL_ERR_EMPTY)
		bcl_adi_polled(adi, status, &event);
	if (bcl_unlikely(adi->chores) && bcl_adi_do_chores(adi))
		return true;
	return status == BCL_OK;
}

static inline bool __attribute__((always_inline))
turn(struct bcl_adi *adi, unsigned most)
{
	bcl_assert(bcl_adi_is_held(adi));
	adi->turned = true;
	if (!turn_pair(adi, most))
		return turn_elsewhere(adi);
	if (bcl_unlikely(adi->chores))
		bcl_adi_do_chores(adi);
	return true;
}

bool bcl_adi_turn(struct bcl_adi *adi)
{
	return turn(adi, 1);
}

bool bcl_adi_spin_for(struct bcl_adi *adi, struct bcl_adi_request *request,
		      unsigned most)
{
	const unsigned patience = bcl_port_may_spin(adi->port) ? adi->spins : 0;
	unsigned spins = patience;

	if (bcl_unlikely(adi->threads))
		return false;
	do {
		if (turn(adi, most))
			spins = patience;
		else if (!spins--)
			return false;
	} while (request->state != BCL_REQUEST_DONE);
	return true;
}

void bcl_adi_progress(struct bcl_adi *adi)
{
	if (!adi || bcl_adi_enter(adi))
		return;
	bcl_adi_turn(adi);
	bcl_adi_leave(adi);
}
