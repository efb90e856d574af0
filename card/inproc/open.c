/* SPDX-License-Identifier: MIT */
/* Opening and closing the in-process host: its rails with decorators, and the
 * card core. See inproc.h. */
#include "card/inproc/inproc.h"

#include <stdio.h>
#include <string.h>

#include "env/log.h"
#include "wire/fault.h"
#include "wire/trace.h"

enum {
	RAILS_PER_KIND = 2
};

/* The ends that rails of one kind make. */
struct kind {
	const struct bcl_rail_kind *kind;
	unsigned first_end;
	unsigned first, rails; /* the first rail of the card, and how many */
	unsigned interfaces;
};

/* The card's rail for a new end: the rail of the same interface if there is
 * one, else each rail of the kind in turn. */
static unsigned number_of(struct bcl_inproc *host, struct kind *of,
			  const struct bcl_rail *rail)
{
	unsigned e;

	for (e = of->first_end; e < host->nends; e++)
		if (!strcmp(host->ends[e].rail->interface, rail->interface))
			return host->ends[e].number;
	return of->first + of->interfaces++ % of->rails;
}

static bool find_room(const struct bcl_inproc *host,
		      const struct bcl_rail *rail)
{
	struct bcl_wire_address wires[BCL_HOST_ENDS];
	unsigned e;

	for (e = 0; e < host->nends; e++)
		wires[e] = host->ends[e].rail->address;
	wires[e] = rail->address;
	return bcl_address_fits(wires, e + 1);
}

static void add_end(struct bcl_inproc *host, struct kind *of,
		    struct bcl_rail *rail)
{
	struct bcl_host *base = &host->base;
	unsigned number;

	if (!find_room(host, rail)) {
		snprintf(base->line[base->nlines++], BCL_HOST_LINE,
			 "%s: not used, as peers cannot be told more: %s",
			 rail->kind->name, rail->about);
		rail->close(rail);
		return;
	}
	number = number_of(host, of, rail);
	rail->counters = host->setup.counters;
	host->ends[host->nends++] = (struct bcl_inproc_end){
		.rail = rail,
		.number = (uint8_t)number,
		.up = true,
		.used = number >= host->nrails,
	};
	if (host->nrails <= number)
		host->nrails = number + 1;
}

static void open_kind(struct bcl_inproc *host, const struct bcl_rail_kind *kind)
{
	const struct bcl_host_setup *setup = &host->setup;
	struct bcl_host *base = &host->base;
	struct bcl_rail *rails[BCL_HOST_ENDS];
	struct kind of = { kind, host->nends, host->nrails, 0, 0 };
	unsigned room = BCL_HOST_ENDS - host->nends, n, i;
	char why[96] = "";

	of.rails = BCL_RAILS_MAX - host->nrails;
	if (of.rails > RAILS_PER_KIND)
		of.rails = RAILS_PER_KIND;
	if (!of.rails || (!kind->several && room > of.rails))
		room = of.rails;
	n = kind->open(host->setup.env, setup->config, setup->card, rails, room,
		       why);
	if (*why)
		snprintf(base->line[base->nlines++], BCL_HOST_LINE, "%s", why);
	for (i = 0; i < n; i++)
		add_end(host, &of, rails[i]);
}

static void open_rails(struct bcl_inproc *host)
{
	const struct bcl_rail_kind *const *kind;
	unsigned several;

	/* Kinds that can use any number of ends come last and take the
	 * remaining ends. */
	for (several = 0; several < 2; several++)
		for (kind = host->setup.env->rails; kind && *kind; kind++)
			if ((*kind)->several == several)
				open_kind(host, *kind);
}

static enum bcl_status decorate_rails(struct bcl_inproc *host)
{
	const struct bcl_config *config = host->setup.config;
	enum bcl_status status = BCL_OK;
	unsigned e;

	if (config->trace[0])
		status = bcl_trace_open(host->setup.env, config,
					host->setup.card, &host->trace);
	if (status)
		return status;
	/* The trace is outermost: it shows frames as the card sends and
	 * receives them. */
	for (e = 0; e < host->nends && !status; e++) {
		struct bcl_inproc_end *end = &host->ends[e];

		if (config->fault[0])
			status = bcl_fault_wrap(host->setup.env, config,
						end->number, &end->rail);
		if (!status && host->trace)
			status = bcl_trace_wrap(host->trace, end->number,
						&end->rail);
	}
	return status;
}

enum {
	RTO_MIN = 2000000,   /* ns */
	RTO_MAX = 100000000, /* ns, or the time-out of peers if less */
};

static enum bcl_status open_card(struct bcl_inproc *host)
{
	const struct bcl_host_setup *setup = &host->setup;
	uint64_t timeout = setup->config->peer_timeout;
	struct bcl_card_config config = {
		.card = setup->card,
		.incarnation = setup->incarnation,
		.peer_timeout = timeout,
		.ack_delay = 200 * 1000,
		.rto_min = RTO_MIN,
		.rto_max = timeout < RTO_MAX ? timeout : RTO_MAX,
		.max_nodes = BCL_INPROC_NODES,
		.max_messages = BCL_INPROC_MESSAGES,
		.pcrc = setup->config->pcrc,
	};

	memcpy(config.key, setup->key, sizeof(config.key));
	host->arena_size = bcl_card_arena(
		&config, BCL_INPROC_PORTS, BCL_INPROC_CONNECTIONS,
		BCL_INPROC_PORTS * BCL_INPROC_CHANNELS);
	host->arena = host->setup.env->allocate(host->setup.env->world,
						host->arena_size);
	if (!host->arena)
		return BCL_ERR_NOMEM;
	host->hal = bcl_inproc_hal;
	host->card = bcl_card_open(host->arena, host->arena_size, &host->hal,
				   host, &config);
	return host->card ? BCL_OK : BCL_ERR_NOMEM;
}

static void release_host(struct bcl_inproc *host)
{
	const struct bcl_env *env = host->setup.env;
	unsigned e;

	for (e = 0; e < host->nends; e++)
		host->ends[e].rail->close(host->ends[e].rail);
	if (host->trace)
		bcl_trace_close(host->trace);
	if (host->arena)
		env->release(env->world, host->arena, host->arena_size);
	if (host->nodes)
		env->release(env->world, host->nodes,
			     host->nnodes * sizeof(*host->nodes));
	if (host->stage)
		env->release(env->world, host->stage, BCL_INPROC_STAGE);
	env->release(env->world, host, sizeof(*host));
}

/* Collect the reasons of all kinds of rail, for a user who needs a network. */
static void tell_none(const struct bcl_inproc *host, char why[BCL_HOST_WHY])
{
	const struct bcl_host *base = &host->base;
	unsigned i;

	why[0] = 0;
	for (i = 0; i < base->nlines; i++)
		snprintf(why + strlen(why), BCL_HOST_WHY - strlen(why), "%s%s",
			 i ? "; " : "", base->line[i]);
}

static enum bcl_status set_up_host(struct bcl_inproc *host,
				   char why[BCL_HOST_WHY])
{
	const struct bcl_env *env = host->setup.env;
	enum bcl_status status;

	open_rails(host);
	if (!host->nrails) {
		tell_none(host, why);
		return BCL_ERR_NORAIL;
	}
	status = decorate_rails(host);
	if (status)
		return status;
	host->stage = env->allocate(env->world, BCL_INPROC_STAGE);
	if (!host->stage)
		return BCL_ERR_NOMEM;
	status = open_card(host);
	if (status)
		return status;
	if (host->trace)
		bcl_inproc_journal(host);
	bcl_inproc_lock(host, NULL);
	bcl_inproc_tell_changes(host);
	bcl_inproc_unlock(host, NULL);
	return BCL_OK;
}

/* Fill in the fields that the library reads. */
static void show_rails(struct bcl_inproc *host)
{
	struct bcl_host *base = &host->base;
	unsigned e;

	base->nends = host->nends;
	for (e = 0; e < host->nends; e++) {
		const struct bcl_rail *rail = host->ends[e].rail;

		base->end[e] = (struct bcl_host_end){
			.address = rail->address,
			.rail = host->ends[e].number,
			.kind = rail->kind->name,
			.interface = rail->interface,
			.small = rail->limits.small,
			.fd = rail->fd,
			.partner_fd = rail->partner_fd,
		};
		if (bcl_rail_mapped(rail))
			base->ring = rail;
		snprintf(base->line[base->nlines++], BCL_HOST_LINE,
			 "rail %u: %s on %s: %s, frames of %u bytes",
			 host->ends[e].number, rail->kind->name,
			 rail->interface, rail->about, rail->limits.mtu);
	}
}

enum bcl_status bcl_inproc_open(const struct bcl_host_setup *setup,
				char why[BCL_HOST_WHY],
				struct bcl_host **result)
{
	const struct bcl_env *env = setup->env;
	struct bcl_inproc *host = env->allocate(env->world, sizeof(*host));
	enum bcl_status status;

	if (!host)
		return BCL_ERR_NOMEM;
	host->base.ops = env->card;
	host->base.card = setup->card;
	host->base.changes = &host->changes;
	host->setup = *setup;
	host->sink = bcl_inproc_sink;
	host->sink.host = host;
	atomic_store_explicit(&host->base.deadline, UINT64_MAX,
			      memory_order_relaxed);
	status = set_up_host(host, why);
	if (status) {
		release_host(host);
		return status;
	}
	show_rails(host);
	*result = &host->base;
	return BCL_OK;
}

void bcl_inproc_close(struct bcl_host *base)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	uint32_t node, result;

	bcl_inproc_lock(host, NULL);
	for (node = 0; node < host->nnodes; node++) {
		const struct bcl_control control = {
			.op = BCL_CTL_DISCONNECT,
			.node = node,
		};

		if (host->nodes[node].shown.state != BCL_NODE_CLOSED)
			bcl_inproc_command(host, &control, &result);
	}
	if (host->trace)
		bcl_journal_close(&host->journal, BCL_RECORD_CLOSED);
	bcl_inproc_unlock(host, NULL);
	release_host(host);
}
