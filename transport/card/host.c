/* SPDX-License-Identifier: MIT */
#include "transport/card/inside.h"

#include <stdio.h>
#include <string.h>

#include "transport/counters.h"
#include "transport/env/process.h"
#include "transport/log.h"
#include "transport/wire/fault.h"
#include "transport/wire/trace.h"

/* ---- the lock ---- */

bool bcl_card_try_lock(struct bcl_card_host *host)
{
	uint32_t expected = BCL_CARD_FREE;

	/* Acquire: pairs with the release of the last holder. */
	return atomic_compare_exchange_strong_explicit(
		&host->lock, &expected, BCL_CARD_HELD, memory_order_acquire,
		memory_order_relaxed);
}

void bcl_card_lock(struct bcl_card_host *host)
{
	while (!bcl_card_try_lock(host))
		host->env->yield(host->env->world);
}

/*
 * The lock is taken: have its holder serve the doorbells. True: it was free
 * after all and is ours. Release: the holder sees which `rung` it is about.
 */
static bool ask_or_lock(struct bcl_card_host *host)
{
	return atomic_exchange_explicit(&host->lock, BCL_CARD_ASKED,
					memory_order_acq_rel) == BCL_CARD_FREE;
}

static inline void doorbell(struct bcl_card_host *host,
			    const struct bcl_card_seat *seat)
{
	const _Atomic uint32_t *made =
		(void *)&seat->queues->indices->requests_made;
	struct bcl_card_next next;

	/* Acquire: pairs with submit() in path.c. */
	bcl_card_doorbell(host->card, seat->number,
			  atomic_load_explicit(made, memory_order_acquire),
			  bcl_card_now(host), BCL_CARD_BUDGET, &next);
	bcl_card_wants(host, &next);
}

static void __attribute__((noinline)) serve_doorbells(struct bcl_card_host *host)
{
	unsigned i;

	for (i = 0; i < BCL_CARD_PORTS; i++) {
		struct bcl_card_seat *seat = &host->seats[i];

		if (!atomic_load_explicit(&seat->rung, memory_order_relaxed))
			continue;
		atomic_store_explicit(&seat->rung, false, memory_order_relaxed);
		if (seat->number)
			doorbell(host, seat);
	}
}

void bcl_card_unlock(struct bcl_card_host *host)
{
	for (;;) {
		host->now = 0;
		/* Acquire and release: pairs with ask_or_lock() and with the
		 * next holder. */
		if (atomic_exchange_explicit(&host->lock, BCL_CARD_FREE,
					     memory_order_acq_rel) !=
		    BCL_CARD_ASKED)
			return;
		if (!bcl_card_try_lock(host) && !ask_or_lock(host))
			return;
		serve_doorbells(host);
	}
}

enum {
	/* A clock reading is good for so many cycles: some microseconds, which
	 * no timer of the card minds, for a third of the price. */
	CLOCK_CYCLES = 16384,
};

uint64_t bcl_card_now(struct bcl_card_host *host)
{
	uint64_t cycles;

	if (host->now)
		return host->now;
	cycles = host->env->real_time ? bcl_cycles() : 0;
	if (!cycles || cycles - host->clock_cycles > CLOCK_CYCLES) {
		host->clock = host->env->now(host->env->world);
		host->clock_cycles = cycles;
	}
	host->now = host->clock;
	return host->now;
}

void bcl_card_wants(struct bcl_card_host *host,
		    const struct bcl_card_next *next)
{
	uint64_t deadline = next->more ? 0 : next->deadline;

	atomic_store_explicit(&host->deadline, deadline, memory_order_relaxed);
}

void __attribute__((flatten))
bcl_card_ring(struct bcl_card_host *host, struct bcl_card_seat *seat)
{
	if (!bcl_card_try_lock(host)) {
		atomic_store_explicit(&seat->rung, true, memory_order_relaxed);
		if (!ask_or_lock(host))
			return;
		atomic_store_explicit(&seat->rung, false, memory_order_relaxed);
	}
	bcl_count(host->context->counters, host_doorbells);
	doorbell(host, seat);
	bcl_card_unlock(host);
}

enum bcl_status bcl_card_command(struct bcl_card_host *host,
				 const struct bcl_control *control,
				 uint32_t *result)
{
	struct bcl_card_next next;
	enum bcl_status status;

	status = bcl_card_control(host->card, control, bcl_card_now(host),
				  result, &next);
	bcl_card_wants(host, &next);
	return status;
}

void bcl_card_exclusive(struct bcl_context *context, void (*run)(void *arg),
			void *arg)
{
	bcl_card_lock(context->card);
	run(arg);
	bcl_card_unlock(context->card);
}

/* ---- polling ---- */

enum {
	QUIET = 64,	 /* empty polls after which a rail is polled rarely */
	QUIET_TURNS = 8, /* then in one of so many turns */
	REST_BYTES_PER_NS = 24,
};

/*
 * Beside other rails one that brings nothing costs its system call only now
 * and then: 8 turns, of 16 passes each (poll.c), are some microseconds.
 */
static bool skip(const struct bcl_card_host *host, struct bcl_card_rail *own)
{
	return host->nrails > 1 && own->quiet > QUIET &&
	       ++own->skipped % QUIET_TURNS;
}

/*
 * A receiver at its sender's heels slows both: each takes lines out of the
 * other's cache that the other is about to use. So one that has caught up lets
 * some bursts gather first. It is faster by a third, so by the end of what is
 * to come it will have caught up again; and the sender's window is not shut.
 */
static void rest(struct bcl_card_host *host, unsigned r)
{
	struct bcl_card_rail *own = &host->rails[r];
	uint64_t bytes = bcl_card_expected(host->card, r);

	if (bytes > own->rail->limits.window)
		bytes = own->rail->limits.window;
	if (bytes && host->env->real_time)
		own->rest = bcl_card_now(host) + bytes / REST_BYTES_PER_NS;
}

static bool rests(struct bcl_card_host *host, struct bcl_card_rail *own)
{
	if (own->rest && bcl_card_now(host) >= own->rest)
		own->rest = 0;
	return own->rest;
}

static unsigned poll_rail(struct bcl_card_host *host, unsigned r, bool sockets)
{
	struct bcl_card_rail *own = &host->rails[r];
	struct bcl_rail *rail = own->rail;
	struct bcl_card_next next;
	unsigned n = 0;

	if (!bcl_rail_mapped(rail)) {
		if (!sockets || skip(host, own) || rests(host, own))
			return 0;
		n = rail->receive(rail, &host->sink, r, BCL_CARD_BUDGET);
	} else if (bcl_rail_waiting(rail)) {
		n = rail->receive(rail, &host->sink, r, BCL_CARD_BUDGET);
	}
	if (n) {
		own->wet = true;
		own->quiet = 0;
	} else if (sockets) {
		own->quiet++;
		if (own->wet) {
			own->wet = false;
			rest(host, r);
			bcl_card_drained(host->card, r, bcl_card_now(host),
					 BCL_CARD_BUDGET, &next);
			bcl_card_wants(host, &next);
		}
	}
	if (own->blocked && sockets) {
		own->blocked = false;
		bcl_card_transmit_ready(host->card, r, bcl_card_now(host),
					BCL_CARD_BUDGET, &next);
		bcl_card_wants(host, &next);
	}
	return n;
}

unsigned bcl_card_poll(struct bcl_context *context, bool sockets)
{
	struct bcl_card_host *host = context->card;
	struct bcl_card_next next;
	unsigned n = 0, r;

	if (!bcl_card_try_lock(host)) {
		atomic_fetch_add_explicit(
			&context->counters->values[BCL_COUNT_host_lock_busy], 1,
			memory_order_relaxed);
		return BCL_CARD_BUSY;
	}
	for (r = 0; r < host->nrails; r++)
		n += poll_rail(host, r, sockets);
	/* What has come is looked at first: the card saw the clock with it. */
	if (sockets && !n && bcl_card_now(host) >= bcl_card_deadline(context)) {
		bcl_card_timer(host->card, host->now, BCL_CARD_BUDGET, &next);
		bcl_card_wants(host, &next);
	}
	bcl_count(context->counters, host_polls);
	if (!n)
		bcl_count(context->counters, host_polls_empty);
	bcl_card_unlock(host);
	return n;
}

uint64_t bcl_card_deadline(const struct bcl_context *context)
{
	struct bcl_card_host *host = context->card;

	return atomic_load_explicit(&host->deadline, memory_order_relaxed);
}

unsigned bcl_card_fds(const struct bcl_context *context, int *fds, unsigned max)
{
	const struct bcl_card_host *host = context->card;
	unsigned n = 0, r;

	for (r = 0; r < host->nrails && n < max; r++)
		if (host->rails[r].rail->fd >= 0)
			fds[n++] = host->rails[r].rail->fd;
	return n;
}

unsigned bcl_card_nodes(const struct bcl_context *context)
{
	struct bcl_card_host *host = context->card;

	return atomic_load_explicit(&host->alive, memory_order_relaxed);
}

static void tell_rail(struct bcl_card_host *host, unsigned r)
{
	const struct bcl_card_rail *own = &host->rails[r];
	const struct bcl_rail_limits *limits = &own->rail->limits;
	const struct bcl_control control = {
		.op = BCL_CTL_RAIL,
		.rail = { .number = r,
			  .up = own->up,
			  .mtu = limits->mtu,
			  .burst = limits->burst,
			  .window = limits->window,
			  .small = limits->small,
			  .bulk = limits->bulk },
	};
	uint32_t result;

	bcl_card_command(host, &control, &result);
}

void bcl_card_watch(struct bcl_context *context)
{
	struct bcl_card_host *host = context->card;
	unsigned r;

	bcl_card_lock(host);
	for (r = 0; r < host->nrails; r++) {
		struct bcl_rail *rail = host->rails[r].rail;
		bool up = host->rails[r].up;

		if (!rail->check(rail, &up) && up == host->rails[r].up)
			continue;
		if (up != host->rails[r].up)
			bcl_log(&context->config, BCL_LOG_WARN, "card",
				"rail %u, %s on %s, is %s", r, rail->kind->name,
				rail->interface, up ? "up" : "down");
		host->rails[r].up = up;
		tell_rail(host, r);
	}
	bcl_card_unlock(host);
	bcl_card_counters_copy(context);
}

void bcl_card_counters_copy(struct bcl_context *context)
{
	struct bcl_card_host *host = context->card;
	const uint64_t *values;
	unsigned i;

	bcl_card_lock(host);
	values = bcl_card_counters(host->card);
	for (i = 0; i < BCL_CARD_NCOUNTERS; i++)
		atomic_store_explicit(
			&context->counters
				 ->values[BCL_COUNT_card_frames_sent + i],
			values[i], memory_order_relaxed);
	bcl_card_unlock(host);
}

/* ---- opening and closing ---- */

enum {
	RAILS_PER_KIND = 2
};

static void open_rails(struct bcl_card_host *host)
{
	struct bcl_context *context = host->context;
	const struct bcl_rail_kind *const *kind;
	char why[96];

	for (kind = host->env->rails; kind && *kind; kind++) {
		struct bcl_rail *rails[BCL_RAILS_MAX];
		/* An address blob lists no more. */
		unsigned room = BCL_WIRES_MAX - host->nrails, n, i;

		if (room > RAILS_PER_KIND)
			room = RAILS_PER_KIND;
		*why = 0;
		n = (*kind)->open(host->env, &context->config, context->card_id,
				  rails, room, why);
		if (*why)
			snprintf(host->lines[host->nlines++], BCL_CARD_LINE,
				 "%s", why);
		for (i = 0; i < n; i++) {
			rails[i]->counters = context->counters;
			host->rails[host->nrails++] =
				(struct bcl_card_rail){ .rail = rails[i],
							.up = true };
		}
	}
}

static enum bcl_status decorate_rails(struct bcl_card_host *host)
{
	const struct bcl_config *config = &host->context->config;
	enum bcl_status status = BCL_OK;
	unsigned r;

	if (config->trace[0])
		status = bcl_trace_open(host->env, config,
					host->context->card_id, &host->trace);
	if (status)
		return status;
	for (r = 0; r < host->nrails; r++) {
		if (host->trace)
			status = bcl_trace_wrap(host->trace, r,
						&host->rails[r].rail);
		if (status)
			return status;
		if (!config->fault[0])
			continue;
		status = bcl_fault_wrap(host->env, config, r,
					&host->rails[r].rail);
		if (status)
			return status;
	}
	return BCL_OK;
}

static enum bcl_status open_card(struct bcl_card_host *host)
{
	struct bcl_context *context = host->context;
	struct bcl_card_config config = {
		.card = context->card_id,
		.incarnation = context->incarnation,
		.peer_timeout = context->config.peer_timeout,
		.ack_delay = 200 * 1000,
		.rto_min = 2 * 1000 * 1000,
		.rto_max = 100 * 1000 * 1000,
		.max_nodes = BCL_CARD_NODES,
		.max_messages = BCL_CARD_MESSAGES,
		.pcrc = context->config.pcrc,
	};

	memcpy(config.key, context->key, sizeof(config.key));
	host->arena_size =
		bcl_card_arena(&config, BCL_CARD_PORTS, BCL_CARD_CONNECTIONS,
			       BCL_CARD_PORTS * BCL_CARD_OFFERS);
	host->arena = host->env->allocate(host->env->world, host->arena_size);
	if (!host->arena)
		return BCL_ERR_NOMEM;
	host->hal = bcl_card_hal;
	host->card = bcl_card_open(host->arena, host->arena_size, &host->hal,
				   host, &config);
	return host->card ? BCL_OK : BCL_ERR_NOMEM;
}

static void release(struct bcl_card_host *host)
{
	const struct bcl_env *env = host->env;
	unsigned r;

	for (r = 0; r < host->nrails; r++)
		host->rails[r].rail->close(host->rails[r].rail);
	if (host->trace)
		bcl_trace_close(host->trace);
	if (host->arena)
		env->release(env->world, host->arena, host->arena_size);
	if (host->nodes)
		env->release(env->world, host->nodes,
			     BCL_CARD_NODES * sizeof(*host->nodes));
	if (host->stage)
		env->release(env->world, host->stage, BCL_CARD_STAGE);
	env->release(env->world, host, sizeof(*host));
}

static enum bcl_status set_up(struct bcl_card_host *host)
{
	const struct bcl_env *env = host->env;
	enum bcl_status status;
	unsigned r;

	open_rails(host);
	if (!host->nrails)
		return BCL_ERR_NORAIL;
	status = decorate_rails(host);
	if (status)
		return status;
	host->nodes = env->allocate(env->world,
				    BCL_CARD_NODES * sizeof(*host->nodes));
	host->stage = env->allocate(env->world, BCL_CARD_STAGE);
	if (!host->nodes || !host->stage)
		return BCL_ERR_NOMEM;
	status = open_card(host);
	if (status)
		return status;
	for (r = 0; r < host->nrails; r++)
		tell_rail(host, r);
	return BCL_OK;
}

enum bcl_status bcl_card_host_open(struct bcl_context *context)
{
	const struct bcl_env *env = context->env;
	struct bcl_card_host *host = env->allocate(env->world, sizeof(*host));
	enum bcl_status status;
	unsigned r;

	if (!host)
		return BCL_ERR_NOMEM;
	host->context = context;
	host->env = env;
	host->sink = bcl_card_sink;
	host->sink.host = host;
	atomic_store_explicit(&host->deadline, UINT64_MAX,
			      memory_order_relaxed);
	status = set_up(host);
	if (status) {
		release(host);
		return status;
	}
	for (r = 0; r < host->nrails; r++)
		snprintf(host->lines[host->nlines++], BCL_CARD_LINE,
			 "rail %u: %s on %s: %s, frames of %u bytes", r,
			 host->rails[r].rail->kind->name,
			 host->rails[r].rail->interface,
			 host->rails[r].rail->about,
			 host->rails[r].rail->limits.mtu);
	for (r = 0; r < host->nlines; r++)
		bcl_log(&context->config, BCL_LOG_INFO, "card", "%s",
			host->lines[r]);
	context->card = host;
	return BCL_OK;
}

void bcl_card_host_close(struct bcl_context *context)
{
	struct bcl_card_host *host = context->card;
	uint32_t node, result;

	bcl_card_lock(host);
	for (node = 0; node < BCL_CARD_NODES; node++) {
		const struct bcl_control control = {
			.op = BCL_CTL_DISCONNECT,
			.node = node,
		};

		if (host->nodes[node].state != BCL_NODE_CLOSED)
			bcl_card_command(host, &control, &result);
	}
	bcl_card_unlock(host);
	bcl_card_counters_copy(context);
	context->card = NULL;
	release(host);
}

void bcl_card_address(const struct bcl_context *context,
		      struct bcl_address *address)
{
	const struct bcl_card_host *host = context->card;
	unsigned r;

	address->card = context->card_id;
	address->nwires = 0;
	if (!host)
		return;
	for (r = 0; r < host->nrails; r++)
		address->wire[address->nwires++] = host->rails[r].rail->address;
}

unsigned bcl_card_describe(const struct bcl_context *context,
			   char lines[][BCL_CARD_LINE], unsigned max)
{
	const struct bcl_card_host *host = context->card;
	unsigned n = host->nlines < max ? host->nlines : max;

	memcpy(lines, host->lines, n * sizeof(lines[0]));
	return n;
}
