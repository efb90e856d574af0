/* SPDX-License-Identifier: MIT */
/*
 * One progress turn. Where an event can lie, in the order of cost:
 *
 *  own list       made by the library's own hand
 *  pairs          shared memory: two L1 hits per silent pair
 *  card queues    two loads; written by the card in this process, whoever
 *                 has it run: this thread, another, the helper
 *  mapped rings   a load per rail
 *  sockets        a system call each, so beside pairs or rings they are
 *                 asked rarely: after BCL_NETWORK_EMPTY passes that found
 *                 nothing; then in each pass soon after a message went by
 *                 one, which may be answered, and from an arrival until the
 *                 first empty answer; and when messages keep coming from
 *                 elsewhere, after NETWORK_LIMIT, or longer where a look takes
 *                 long
 *  service        connections, ends, timers: after SERVICE, until nothing has
 *                 changed for SETTLE and the helper looks after them
 *
 * Fairness: pairs are looked at in turn, beginning after the one that gave
 * the last message. After CLOCK_MESSAGES, and after each round of the pairs as
 * long as it has something, the card has its turn before them.
 */
#include <limits.h>

#include "transport/card/card.h"
#include "transport/card/doorbell_batch.h"
#include "transport/env/prefetch.h"
#include "transport/card/queues.h"
#include "transport/internal.h"
#include "transport/poll.h"
#include "transport/shm/shm.h"

enum {
	IDLE_EMPTY = 1024,	 /* passes, when nobody is on the network */
	CLOCK_MESSAGES = 64,	 /* messages between looks at the clock */
	CLOCK_LOOKS = 64,	 /* likewise, looks at the network */
	NETWORK_LIMIT = 20000,	 /* ns without a look at the network */
	NETWORK_LONGEST = 50000, /* likewise, where looks are dear: */
	NETWORK_SHARE = 100,	 /* the part of the time that they may take */
	SERVICE = 200000,	 /* ns between services */
	PUBLISH = 100000000,	 /* ns between copies of counters */
	SETTLE = 1000000000,	 /* ns after a peer came or went */
	RING_HINTS = 4, /* more, between looks at a mapped ring alone */
};

#define CARD_TURN UINT_MAX

static uint64_t now(const struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;

	return env->now(env->world);
}

static void publish(struct bcl_port *port, uint64_t time)
{
	struct bcl_context *context = port->context;

	port->published = time;
	if (port->shm)
		bcl_shm_count(port);
	/* interfaces go up and down; a helper sees to it otherwise */
	if (context->card && !context->helper)
		bcl_host_watch(context);
}

/* What is due without a system call. */
static void tend(struct bcl_port *port, uint64_t time)
{
	struct bcl_context *context = port->context;

	port->served = time;
	if (port->shm)
		bcl_shm_audit(port, time);
	if (bcl_shm_work(port))
		bcl_shm_progress(port, time);
	if (context->card)
		port->network = bcl_host_nodes(context) != 0;
	bcl_peers_reap(port);
	if (time - port->published > PUBLISH)
		publish(port, time);
}

void bcl_port_serve(struct bcl_port *port, uint64_t time)
{
	if (port->shm)
		bcl_shm_service(port, time);
	if (port->context->card)
		bcl_host_poll(port->context, port->card->seat, true);
	tend(port, time);
}

/* The owner polls: sockets are left to the helper once all has settled. */
static void serve_polling(struct bcl_port *port, uint64_t time)
{
	if (port->context->helper && time - port->changed > SETTLE)
		tend(port, time);
	else
		bcl_port_serve(port, time);
}

/* Ask the network, and say how long not to. */
static void look_beside(struct bcl_port *port, uint64_t time)
{
	unsigned frames = bcl_host_poll(port->context, port->card->seat, true);
	uint64_t limit;

	port->network_looked = now(port);
	limit = (port->network_looked - time) * NETWORK_SHARE;
	if (frames || limit < NETWORK_LIMIT)
		limit = NETWORK_LIMIT;
	if (limit > NETWORK_LONGEST)
		limit = NETWORK_LONGEST;
	port->network_limit = limit;
}

/* Messages keep coming: what else is due? */
static void check_clock(struct bcl_port *port)
{
	uint64_t time = now(port);

	port->messages = CLOCK_MESSAGES;
	if (port->card)
		port->turn = CARD_TURN;
	if (bcl_shm_work(port))
		bcl_shm_progress(port, time);
	if (port->looked) {
		port->looked = false;
		port->network_looked = time;
	}
	if (port->network && time - port->network_looked > port->network_limit)
		look_beside(port, time);
	if (time - port->served > SERVICE)
		serve_polling(port, time);
}

/* By a socket. */
static bool expects_answer(struct bcl_port *port)
{
	if (!port->answers)
		return false;
	port->answers--;
	return true;
}

/* Nothing else is polled that would be cheaper. */
static bool only_sockets(const struct bcl_port *port)
{
	return !port->npairs && !port->card->ring;
}

/* Nothing comes: ask what is dear to ask. True: there may be an event. */
static bool __attribute__((noinline)) look(struct bcl_port *port)
{
	unsigned frames = 0;
	uint64_t time;

	port->empty = IDLE_EMPTY;
	if (port->network) {
		port->looked = true;
		/* busy: another thread is about to bring something */
		frames = bcl_host_poll(port->context, port->card->seat, true);
		port->empty =
			frames || only_sockets(port) || expects_answer(port)
				? 1
				: BCL_NETWORK_EMPTY;
		if (--port->looks)
			return frames;
	}
	port->looks = CLOCK_LOOKS;
	time = now(port);
	if (time - port->served <= SERVICE)
		return frames;
	serve_polling(port, time);
	return true;
}

static bool __attribute__((noinline))
card_event(struct bcl_port *port, struct bcl_event *event)
{
	enum bcl_status status = bcl_host_receive(port, event);

	/* news of peers, which go before what comes from them */
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
 * A pause, so that looks do not overlap. It is longer where only a mapped ring
 * is looked at: the system writes a slot's header in many stores.
 */
static inline void look_in_vain(struct bcl_port *port)
{
	unsigned hints = 1;

	if (!port->npairs && port->card && port->card->ring)
		hints += RING_HINTS;
	while (hints--)
		bcl_spin_hint();
}

/*
 * After a message by the pair line: the answer cannot be there yet, and a look
 * would take the line from the peer, which is about to write the answer to it.
 */
static inline void await_answer(struct bcl_port *port)
{
	for (; __builtin_expect(port->hints, 0); port->hints--)
		bcl_spin_hint();
}

/* The next event, wherever it is. */
static enum bcl_status __attribute__((noinline))
take(struct bcl_port *port, struct bcl_event *event)
{
	bool looked = false;
	unsigned i, n;

	if (bcl_shm_work(port))
		bcl_shm_progress(port, now(port));
again:
	if (from_list(port, event))
		return BCL_OK;
	i = port->turn;
	if (i >= port->npairs) {
		port->turn = i = 0;
		port->wrap = 0;
		/* without pairs it has its turn below */
		if (port->npairs && port->card && from_card(port, event)) {
			port->wrap = CARD_TURN;
			return BCL_OK;
		}
	}
	for (n = port->npairs; n; n--) {
		enum bcl_status status = bcl_port_receive(port, i, event);

		if (status == BCL_OK)
			return BCL_OK;
		/* one of the library's own; its effect may be an event */
		if (status == BCL_ERR_AGAIN && from_list(port, event))
			return BCL_OK;
		if (++i == port->npairs)
			i = 0;
	}
	if (port->card) {
		if (bcl_host_port_frames(port->card))
			bcl_host_poll(port->context, port->card->seat, false);
		if (from_card(port, event))
			return BCL_OK;
	}
	if (!looked) {
		looked = true;
		if (bcl_shm_idle(port) || (!--port->empty && look(port)))
			goto again;
	}
	/* what looked for events elsewhere may have left some in the list */
	if (from_list(port, event))
		return BCL_OK;
	/* else the next pass asks the system, which is pause enough */
	if (port->empty != 1)
		look_in_vain(port);
	return BCL_ERR_EMPTY;
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
	if (take(port, &port->stash))
		return false;
	port->flags |= BCL_PORT_STASHED;
	return true;
}

/* What the flags say. True: *event is filled in. */
static bool __attribute__((noinline))
tidy(struct bcl_port *port, struct bcl_event *event)
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

	if (__builtin_expect(status != BCL_OK, 0))
		return status;
	if (__builtin_expect(!event, 0))
		return BCL_ERR_ARG;
	bcl_presence(port->context);
	await_answer(port);
	if (__builtin_expect(port->flags, 0) && tidy(port, event))
		return BCL_OK;
	if (__builtin_expect(port->turn >= port->npairs, 0))
		return take(port, event);
	status = bcl_port_receive(port, port->turn, event);
	if (status == BCL_OK)
		return BCL_OK;
	/* where there is only one pair that is all, mostly; what the card has
	 * of other threads' bringing waits for the next look */
	if (status == BCL_ERR_EMPTY && port->npairs == 1 && port->empty > 1 &&
	    !bcl_shm_work(port) &&
	    !(port->network && bcl_host_port_frames(port->card))) {
		port->empty--;
		look_in_vain(port);
		return BCL_ERR_EMPTY;
	}
	return take(port, event);
}

void bcl_release(struct bcl_port *port)
{
	if (!bcl_port_usable(port) && !(port->flags & BCL_PORT_STASHED))
		bcl_port_release(port);
}
