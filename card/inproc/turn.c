/* SPDX-License-Identifier: MIT */
/* Turns of the card, under its lock: doorbells, and polling of the rails. See
 * inproc.h. */
#include "card/inproc/inproc.h"

#include "env/counters.h"

/* ---- doorbells ---- */

static inline void serve_doorbell(struct bcl_inproc *host,
				  const struct bcl_host_seat *seat)
{
	struct bcl_card_next next;

	/* Acquire: pairs with submit_silently() in path.c. */
	bcl_card_doorbell(
		host->card, seat->number,
		atomic_load_explicit(seat->made, memory_order_acquire),
		bcl_inproc_now(host), BCL_INPROC_BUDGET, &next);
	bcl_inproc_wants(host, &next);
}

void bcl_inproc_serve_doorbells(struct bcl_inproc *host)
{
	unsigned i;

	bcl_assert(bcl_inproc_is_locked(host));
	for (i = 0; i < BCL_INPROC_PORTS; i++) {
		struct bcl_host_seat *seat = &host->seats[i];

		if (!atomic_load_explicit(&seat->rung, memory_order_relaxed))
			continue;
		/*
		 * Acquire: pairs with bcl_inproc_doorbell(). An exchange,
		 * because a plain store could overwrite a ring whose request
		 * serve_doorbell() does not see.
		 */
		atomic_exchange_explicit(&seat->rung, false,
					 memory_order_acquire);
		if (seat->number)
			serve_doorbell(host, seat);
	}
}

void bcl_inproc_serve_askers(struct bcl_inproc *host)
{
	do {
		bcl_inproc_serve_doorbells(host);
		host->now = 0;
	} while (bcl_inproc_let_go(host, NULL));
}

void __attribute__((flatten))
bcl_inproc_doorbell(struct bcl_host *base, struct bcl_host_seat *seat)
{
	struct bcl_inproc *host = bcl_inproc_of(base);

	if (bcl_inproc_try_lock(host, seat)) {
		bcl_count(host->setup.counters, host_doorbells);
		serve_doorbell(host, seat);
	} else {
		/* Release: the request. Pairs with
		 * bcl_inproc_serve_doorbells(). */
		atomic_store_explicit(&seat->rung, true, memory_order_release);
		if (!bcl_inproc_ask_or_lock(host))
			return;
		bcl_inproc_serve_doorbells(host);
	}
	bcl_inproc_unlock(host, seat);
}

void bcl_inproc_defer(struct bcl_host *host, struct bcl_host_seat *seat)
{
	(void)host;
	/* Release: the requests. Pairs with bcl_inproc_serve_doorbells(). */
	atomic_store_explicit(&seat->rung, true, memory_order_release);
}

/* ---- polling ---- */

enum {
	QUIET = 64,	 /* empty polls until polls become rare */
	QUIET_TURNS = 8, /* then one poll in this many turns */
	IDLE_TURNS = 64, /* likewise, for an end that reaches no node */
	REST_BYTES_PER_NS = 24,
};

/*
 * An idle rail beside other rails is polled rarely, because each poll is a
 * system call: 8 turns of 16 passes each (poll.c) are some microseconds.
 */
static bool skip_idle_rail(const struct bcl_inproc *host,
			   struct bcl_inproc_end *own)
{
	return host->nends > 1 && own->quiet > QUIET &&
	       ++own->skipped % (own->used ? QUIET_TURNS : IDLE_TURNS);
}

/*
 * A receiver that follows its sender closely slows both down: each takes cache
 * lines that the other is about to use. So once a receiver has caught up, it
 * lets some bursts gather before the next poll. The receiver is faster by a
 * third, so it will have caught up again by the end of the expected bytes. The
 * sender's window bounds the pause, so the window stays open.
 */
static void start_rest(struct bcl_inproc *host, struct bcl_inproc_end *own)
{
	uint64_t bytes = bcl_card_expected(host->card, own->number);

	if (bytes > own->rail->limits.window)
		bytes = own->rail->limits.window;
	if (bytes && host->setup.env->real_time)
		own->rest = bcl_inproc_now(host) + bytes / REST_BYTES_PER_NS;
}

static bool is_resting(struct bcl_inproc *host, struct bcl_inproc_end *own)
{
	if (own->rest && bcl_inproc_now(host) >= own->rest)
		own->rest = 0;
	return own->rest;
}

static unsigned poll_end(struct bcl_inproc *host, unsigned e, bool sockets)
{
	struct bcl_inproc_end *own = &host->ends[e];
	struct bcl_rail *rail = own->rail;
	struct bcl_card_next next;
	unsigned n = 0;

	if (!bcl_rail_mapped(rail)) {
		if (!sockets || skip_idle_rail(host, own) ||
		    is_resting(host, own))
			return 0;
		n = rail->receive(rail, &host->sink, e, BCL_INPROC_BUDGET);
	} else if (bcl_rail_waiting(rail)) {
		n = rail->receive(rail, &host->sink, e, BCL_INPROC_BUDGET);
	}
	if (n) {
		own->wet = true;
		own->quiet = 0;
	} else if (sockets) {
		own->quiet++;
		if (own->wet) {
			own->wet = false;
			start_rest(host, own);
			bcl_card_drained(host->card, own->number,
					 bcl_inproc_now(host),
					 BCL_INPROC_BUDGET, &next);
			bcl_inproc_wants(host, &next);
		}
	}
	if (own->blocked && sockets) {
		own->blocked = false;
		bcl_card_transmit_ready(host->card, own->number,
					bcl_inproc_now(host), BCL_INPROC_BUDGET,
					&next);
		bcl_inproc_wants(host, &next);
	}
	return n;
}

static uint64_t read_deadline(const struct bcl_inproc *host)
{
	return atomic_load_explicit(&host->base.deadline, memory_order_relaxed);
}

unsigned bcl_inproc_poll(struct bcl_host *base, struct bcl_host_seat *seat,
			 bool sockets)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	struct bcl_counter_page *counters = host->setup.counters;
	struct bcl_card_next next;
	unsigned n = 0, e;

	if (!bcl_inproc_try_lock(host, seat)) {
		atomic_fetch_add_explicit(
			&counters->values[BCL_COUNT_host_lock_busy], 1,
			memory_order_relaxed);
		return BCL_HOST_BUSY;
	}
	if (!seat)
		bcl_inproc_serve_doorbells(host);
	for (e = 0; e < host->nends; e++)
		n += poll_end(host, e, sockets);
	if (host->grown)
		bcl_inproc_tell_changes(host);
	/* Only if no frame came: with frames the card has seen the clock. */
	if (sockets && !n && bcl_inproc_now(host) >= read_deadline(host)) {
		bcl_card_timer(host->card, host->now, BCL_INPROC_BUDGET, &next);
		bcl_inproc_wants(host, &next);
	}
	bcl_count(counters, host_polls);
	if (!n)
		bcl_count(counters, host_polls_empty);
	bcl_inproc_unlock(host, seat);
	return n;
}
