/* SPDX-License-Identifier: MIT */
/* Opening and closing the rails and the card. */
#include "transport/card/inproc/inproc.h"

#include <stdio.h>
#include <string.h>

#include "transport/log.h"
#include "transport/wire/fault.h"
#include "transport/wire/trace.h"

enum {
	RAILS_PER_KIND = 2
};

static void open_rails(struct bcl_inproc *host)
{
	struct bcl_context *context = host->context;
	struct bcl_card_host *base = &host->base;
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
			snprintf(base->line[base->nlines++], BCL_CARD_LINE,
				 "%s", why);
		for (i = 0; i < n; i++) {
			rails[i]->counters = context->counters;
			host->rails[host->nrails++] =
				(struct bcl_inproc_rail){ .rail = rails[i],
							  .up = true };
		}
	}
}

static enum bcl_status decorate_rails(struct bcl_inproc *host)
{
	const struct bcl_config *config = &host->context->config;
	enum bcl_status status = BCL_OK;
	unsigned r;

	if (config->trace[0])
		status = bcl_trace_open(host->env, config,
					host->context->card_id, &host->trace);
	if (status)
		return status;
	/* A trace shows frames as the card sends and gets them. */
	for (r = 0; r < host->nrails && !status; r++) {
		if (config->fault[0])
			status = bcl_fault_wrap(host->env, config, r,
						&host->rails[r].rail);
		if (!status && host->trace)
			status = bcl_trace_wrap(host->trace, r,
						&host->rails[r].rail);
	}
	return status;
}

static enum bcl_status open_card(struct bcl_inproc *host)
{
	struct bcl_context *context = host->context;
	struct bcl_card_config config = {
		.card = context->card_id,
		.incarnation = context->incarnation,
		.peer_timeout = context->config.peer_timeout,
		.ack_delay = 200 * 1000,
		.rto_min = 2 * 1000 * 1000,
		.rto_max = 100 * 1000 * 1000,
		.max_nodes = BCL_INPROC_NODES,
		.max_messages = BCL_INPROC_MESSAGES,
		.pcrc = context->config.pcrc,
	};

	memcpy(config.key, context->key, sizeof(config.key));
	host->arena_size = bcl_card_arena(
		&config, BCL_INPROC_PORTS, BCL_INPROC_CONNECTIONS,
		BCL_INPROC_PORTS * BCL_INPROC_CHANNELS);
	host->arena = host->env->allocate(host->env->world, host->arena_size);
	if (!host->arena)
		return BCL_ERR_NOMEM;
	host->hal = bcl_inproc_hal;
	host->card = bcl_card_open(host->arena, host->arena_size, &host->hal,
				   host, &config);
	return host->card ? BCL_OK : BCL_ERR_NOMEM;
}

static void release(struct bcl_inproc *host)
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
			     host->nnodes * sizeof(*host->nodes));
	if (host->stage)
		env->release(env->world, host->stage, BCL_INPROC_STAGE);
	env->release(env->world, host, sizeof(*host));
}

static enum bcl_status set_up(struct bcl_inproc *host)
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
	host->stage = env->allocate(env->world, BCL_INPROC_STAGE);
	if (!host->stage)
		return BCL_ERR_NOMEM;
	status = open_card(host);
	if (status)
		return status;
	if (host->trace)
		bcl_inproc_journal(host);
	for (r = 0; r < host->nrails; r++)
		bcl_inproc_tell_rail(host, r);
	return BCL_OK;
}

/* What the library sees of it. */
static void show(struct bcl_inproc *host)
{
	struct bcl_card_host *base = &host->base;
	unsigned r;

	base->nrails = host->nrails;
	for (r = 0; r < host->nrails; r++) {
		const struct bcl_rail *rail = host->rails[r].rail;

		base->rail[r] = (struct bcl_card_rail_info){
			.address = rail->address,
			.kind = rail->kind->name,
			.interface = rail->interface,
			.small = rail->limits.small,
			.fd = rail->fd,
			.partner_fd = rail->partner_fd,
		};
		if (bcl_rail_mapped(rail))
			base->ring = rail;
		snprintf(base->line[base->nlines++], BCL_CARD_LINE,
			 "rail %u: %s on %s: %s, frames of %u bytes", r,
			 rail->kind->name, rail->interface, rail->about,
			 rail->limits.mtu);
	}
}

enum bcl_status bcl_inproc_open(struct bcl_context *context,
				struct bcl_card_host **result)
{
	const struct bcl_env *env = context->env;
	struct bcl_inproc *host = env->allocate(env->world, sizeof(*host));
	enum bcl_status status;

	if (!host)
		return BCL_ERR_NOMEM;
	host->base.ops = &bcl_card_inproc;
	host->context = context;
	host->env = env;
	host->sink = bcl_inproc_sink;
	host->sink.host = host;
	atomic_store_explicit(&host->base.deadline, UINT64_MAX,
			      memory_order_relaxed);
	status = set_up(host);
	if (status) {
		release(host);
		return status;
	}
	show(host);
	*result = &host->base;
	return BCL_OK;
}

void bcl_inproc_close(struct bcl_card_host *base)
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
	release(host);
}
