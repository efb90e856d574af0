/* SPDX-License-Identifier: MIT */
/*
 * One progress turn of a port. The places where an event can lie, in the order
 * of cost:
 *
 *  own list       events that the library itself has made
 *  pairs          shared memory: two L1 hits per silent pair
 *  card queues    two loads; the card in this process writes them, whichever
 *                 thread runs the card: this thread, another, the helper
 *  mapped rings   a load per rail
 *  sockets        a system call each, so beside pairs or rings they are polled
 *                 rarely: after BCL_NETWORK_EMPTY empty passes; in each pass
 *                 for BCL_PORT_ANSWERS looks after a message left by a socket,
 *                 since the answer may come by a socket; in each pass from an
 *                 arrival until the first poll that finds nothing; and, when
 *                 messages keep coming from elsewhere, after NETWORK_LIMIT, or
 *                 later where a look is slow
 *  service        connections, ends, timers: after SERVICE, until nothing has
 *                 changed for SETTLE and the helper serves them
 *
 * Fairness: a poll looks at the pairs in turn, beginning after the pair that
 * gave the last message. The card has its turn before the pairs after
 * CLOCK_MESSAGES, and, while the card has events, after each round of the
 * pairs.
 */
#include <limits.h>

#include "base/base.h"
#include "env/prefetch.h"
#include "transport/card/card.h"
#include "transport/card/doorbell_batch.h"
#include "transport/card/queues.h"
#include "transport/internal.h"
#include "transport/poll.h"
#include "transport/shm/shm.h"

enum {
	IDLE_EMPTY = 1024,	 /* empty passes until a look, without a peer
				  * on the network */
	CLOCK_MESSAGES = 64,	 /* messages between clock checks */
	CLOCK_LOOKS = 64,	 /* looks at the network between clock checks */
	NETWORK_LIMIT = 20000,	 /* ns without a look at the network */
	NETWORK_LONGEST = 50000, /* the same, where looks are slow: */
	NETWORK_SHARE = 100,	 /* looks in vain take 1/100 of the time */
	SERVICE = 200000,	 /* ns between services */
	PUBLISH = 100000000,	 /* ns between copies of counters */
	SETTLE = 1000000000,	 /* ns after a peer came or went */
	RING_HINTS = 4, /* extra pauses between looks at a mapped ring alone */
};

#define CARD_TURN UINT_MAX

static uint64_t read_clock(const struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;

	return env->now(env->world);
}

static void publish_counters(struct bcl_port *port, uint64_t time)
{
	struct bcl_context *context = port->context;

	port->service.published = time;
	if (port->shm)
		bcl_shm_count(port);
	/* Interfaces go up and down; with a helper, the helper watches them. */
	if (context->card && !context->helper)
		bcl_host_watch(context);
}

/* Does the work that is due and needs no system call. */
static void do_due_work(struct bcl_port *port, uint64_t time)
{
	struct bcl_context *context = port->context;

	port->service.served = time;
	if (port->shm)
		bcl_shm_audit(port, time);
	if (bcl_shm_work(port))
		bcl_shm_progress(port, time);
	if (context->card)
		port->network.used = bcl_host_nodes(context) != 0;
	bcl_peers_reap(port);
	if (time - port->service.published > PUBLISH)
		publish_counters(port, time);
}

void bcl_port_serve(struct bcl_port *port, uint64_t time)
{
	if (port->shm)
		bcl_shm_service(port, time);
	if (port->context->card)
		bcl_host_poll(port->context, port->card->seat, true);
	do_due_work(port, time);
}

/* Service while the owner polls: once nothing has changed for SETTLE the
 * sockets are left to the helper. */
static void serve_polling(struct bcl_port *port, uint64_t time)
{
	if (port->context->helper && time - port->service.changed > SETTLE)
		do_due_work(port, time);
	else
		bcl_port_serve(port, time);
}

/* Polls the network, and computes when to do so again. */
static void poll_network(struct bcl_port *port, uint64_t time)
{
	unsigned frames = bcl_host_poll(port->context, port->card->seat, true);
	uint64_t limit;

	port->network.time = read_clock(port);
	limit = (port->network.time - time) * NETWORK_SHARE;
	if (frames || limit < NETWORK_LIMIT)
		limit = NETWORK_LIMIT;
	if (limit > NETWORK_LONGEST)
		limit = NETWORK_LONGEST;
	port->network.limit = limit;
}

/* Messages keep coming: does other work that is due. */
static void check_clock(struct bcl_port *port)
{
	uint64_t time = read_clock(port);

	port->clock.messages = CLOCK_MESSAGES;
	if (port->card)
		port->turn.next = CARD_TURN;
	if (bcl_shm_work(port))
		bcl_shm_progress(port, time);
	if (port->network.looked) {
		port->network.looked = false;
		port->network.time = time;
	}
	if (port->network.used &&
	    time - port->network.time > port->network.limit)
		poll_network(port, time);
	if (time - port->service.served > SERVICE)
		serve_polling(port, time);
}

/* True if the answer to a message may come by a socket. */
static bool expects_answer(struct bcl_port *port)
{
	if (!port->network.answers)
		return false;
	port->network.answers--;
	return true;
}

/* True if the port polls nothing that would be cheaper than sockets. */
static bool only_sockets(const struct bcl_port *port)
{
	return !port->npairs && !port->card->ring;
}

/* No message comes: looks where a look is costly. True: there may be an
 * event. */
static bool __attribute__((noinline)) poll_costly_sources(struct bcl_port *port)
{
	unsigned frames = 0;
	uint64_t time;

	port->network.empty = IDLE_EMPTY;
	if (port->network.used) {
		port->network.looked = true;
		/* BUSY counts, too: another thread is about to bring
		 * something */
		frames = bcl_host_poll(port->context, port->card->seat, true);
		port->network.empty =
			frames || only_sockets(port) || expects_answer(port)
				? 1
				: BCL_NETWORK_EMPTY;
		if (--port->clock.looks)
			return frames;
	}
	port->clock.looks = CLOCK_LOOKS;
	time = read_clock(port);
	if (time - port->service.served <= SERVICE)
		return frames;
	serve_polling(port, time);
	return true;
}

static bool __attribute__((noinline))
card_event(struct bcl_port *port, struct bcl_event *event)
{
	enum bcl_status status = bcl_host_receive(port, event);

	/* news of peers, ahead of messages from these peers */
	if (status == BCL_ERR_AGAIN && bcl_event_pending(port)) {
		bcl_event_pop(port, event);
		return true;
	}
	if (status)
		return false;
	bcl_port_count_messages(port, 1);
	if (event->kind == BCL_EVENT_MESSAGE)
		port->flags |= BCL_PORT_BLOCK;
	else if (event->kind == BCL_EVENT_CHANNEL)
		bcl_channel_filled(port, event);
	return true;
}

static inline bool from_card(struct bcl_port *port, struct bcl_event *event)
{
	return !bcl_host_port_idle(port->card) && card_event(port, event);
}

static inline bool from_list(struct bcl_port *port, struct bcl_event *event)
{
	if (!bcl_event_pending(port))
		return false;
	bcl_event_pop(port, event);
	bcl_port_count_messages(port, 1);
	return true;
}

/*
 * Pauses, so that looks do not overlap. The pause is longer if only a mapped
 * ring is polled: the system writes the header of a slot in many stores.
 */
static inline void pause_after_miss(struct bcl_port *port)
{
	unsigned hints = 1;

	if (!port->npairs && port->card && port->card->ring)
		hints += RING_HINTS;
	while (hints--)
		bcl_spin_hint();
}

/*
 * Pauses after a send by the pair line. The answer cannot be there yet, and a
 * look would take the line away from the peer, which is about to write the
 * answer to it.
 */
static inline void await_answer(struct bcl_port *port)
{
	for (; bcl_unlikely(port->spin.hints); port->spin.hints--)
		bcl_spin_hint();
}

/* The card has its turn before the pairs, and again after this round of the
 * pairs if it has an event now. */
static inline bool card_first(struct bcl_port *port, struct bcl_event *event)
{
	port->turn.next = 0;
	port->turn.wrap = 0;
	/* without pairs the card has its turn in poll_sources() */
	if (!port->npairs || !port->card || !from_card(port, event))
		return false;
	port->turn.wrap = CARD_TURN;
	return true;
}

/* One round of the pairs. */
static inline bool from_pairs(struct bcl_port *port, struct bcl_event *event)
{
	unsigned i = port->turn.next, n;

	for (n = port->npairs; n; n--) {
		enum bcl_status status = bcl_port_receive(port, i, event);

		if (status == BCL_OK)
			return true;
		/* a message of the library itself, which may have made an
		 * event */
		if (status == BCL_ERR_AGAIN && from_list(port, event))
			return true;
		if (++i == port->npairs)
			i = 0;
	}
	return false;
}

/* One pass over the places where loads can find an event. */
static inline bool poll_sources(struct bcl_port *port, struct bcl_event *event)
{
	if (from_list(port, event))
		return true;
	if (port->turn.next >= port->npairs && card_first(port, event))
		return true;
	if (from_pairs(port, event))
		return true;
	if (!port->card)
		return false;
	if (bcl_host_port_frames(port->card))
		bcl_host_poll(port->context, port->card->seat, false);
	return from_card(port, event);
}

/* Takes the next event, wherever it lies. */
static enum bcl_status __attribute__((noinline))
take_event(struct bcl_port *port, struct bcl_event *event)
{
	bool looked = false;

	if (bcl_shm_work(port))
		bcl_shm_progress(port, read_clock(port));
	while (!poll_sources(port, event)) {
		if (!looked &&
		    (bcl_shm_idle(port) ||
		     (!--port->network.empty && poll_costly_sources(port)))) {
			looked = true;
			continue;
		}
		/* the looks may have left events in the list */
		if (from_list(port, event))
			break;
		/* otherwise the next pass makes a system call, which is pause
		 * enough */
		if (port->network.empty != 1)
			pause_after_miss(port);
		return BCL_ERR_EMPTY;
	}
	return BCL_OK;
}

void bcl_port_release(struct bcl_port *port)
{
	if (port->flags & BCL_PORT_BLOCK)
		bcl_host_release(port);
	if (port->flags & BCL_PORT_SELF)
		bcl_self_release(port);
	port->flags &= ~(unsigned)(BCL_PORT_BLOCK | BCL_PORT_SELF);
}

static void ring_if_held(struct bcl_port *port)
{
	if (port->flags & BCL_PORT_DEFERRED)
		bcl_host_ring(port);
}

static void check_clock_if_due(struct bcl_port *port)
{
	if (port->flags & BCL_PORT_CLOCK) {
		port->flags &= ~(unsigned)BCL_PORT_CLOCK;
		check_clock(port);
	}
}

static void give_room_if_due(struct bcl_port *port)
{
	if (port->flags & BCL_PORT_ROOM)
		bcl_shm_give_room(port);
}

bool bcl_port_stash(struct bcl_port *port)
{
	ring_if_held(port);
	give_room_if_due(port);
	if (port->flags & BCL_PORT_STASHED)
		return true;
	check_clock_if_due(port);
	if (take_event(port, &port->stash))
		return false;
	port->flags |= BCL_PORT_STASHED;
	return true;
}

/* Does what the port's flags ask for. True: *event is filled in. */
static bool __attribute__((noinline))
obey_flags(struct bcl_port *port, struct bcl_event *event)
{
	ring_if_held(port);
	give_room_if_due(port);
	if (port->flags & BCL_PORT_STASHED) {
		port->flags &= ~(unsigned)BCL_PORT_STASHED;
		*event = port->stash;
		return true;
	}
	if (port->flags & BCL_PORT_ARMED)
		bcl_port_disarm(port);
	bcl_port_release(port);
	check_clock_if_due(port);
	return from_list(port, event);
}

enum bcl_status bcl_poll(struct bcl_port *port, struct bcl_event *event)
{
	enum bcl_status status = bcl_port_usable(port);

	if (bcl_unlikely(status != BCL_OK))
		return status;
	if (bcl_unlikely(!event))
		return BCL_ERR_ARG;
	bcl_presence(port->context);
	await_answer(port);
	if (bcl_unlikely(port->flags) && obey_flags(port, event))
		return BCL_OK;
	if (bcl_unlikely(port->turn.next >= port->npairs))
		return take_event(port, event);
	status = bcl_port_receive(port, port->turn.next, event);
	if (status == BCL_OK)
		return BCL_OK;
	/*
	 * With a single pair there is mostly nothing else to poll. Events that
	 * other threads have brought to the card's queues wait until the next
	 * poll_costly_sources().
	 */
	if (status == BCL_ERR_EMPTY && port->npairs == 1 &&
	    port->network.empty > 1 && !bcl_shm_work(port) &&
	    !(port->network.used && bcl_host_port_frames(port->card))) {
		port->network.empty--;
		pause_after_miss(port);
		return BCL_ERR_EMPTY;
	}
	return take_event(port, event);
}

void bcl_release(struct bcl_port *port)
{
	if (!bcl_port_usable(port) && !(port->flags & BCL_PORT_STASHED))
		bcl_port_release(port);
}
