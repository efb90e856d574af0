/* SPDX-License-Identifier: MIT */
/* The context's card: opening, closing, addresses, descriptors and
 * descriptions. See card.h. */
#include "transport/card/card.h"

#include <stdio.h>
#include <string.h>

#include "env/counters.h"
#include "env/log.h"

static enum bcl_status tell_card(struct bcl_context *context, const char *where,
				 const char *why)
{
	snprintf(context->which_card, sizeof(context->which_card), "%s%s%s",
		 where, *why ? ": " : "", why);
	bcl_log(&context->config, BCL_LOG_INFO, "card", "the card is %s",
		context->which_card);
	return BCL_OK;
}

/* The user wants the card in the kernel, and no other. */
static enum bcl_status refuse_card(const struct bcl_context *context,
				   enum bcl_status status, const char *why)
{
	bcl_log(&context->config, BCL_LOG_ERROR, "card",
		"BCL_CARD=kernel: %s; BCL_CARD=auto does without it", why);
	/* NORAIL would mean that there is no network. */
	return status == BCL_ERR_NORAIL ? BCL_ERR_SYSTEM : status;
}

static enum bcl_status open_in_process(struct bcl_context *context,
				       const struct bcl_host_setup *setup,
				       const char *why, struct bcl_host **host)
{
	const struct bcl_host_ops *ops = context->env->card;
	enum bcl_status status;

	if (!ops)
		return BCL_ERR_NORAIL;
	status = ops->open(setup, context->no_card, host);
	return status ? status : tell_card(context, "in the process", why);
}

/* Open the card that BCL_CARD asks for. An environment without a kernel has one
 * card, whatever the setting. */
static enum bcl_status open_card(struct bcl_context *context,
				 const struct bcl_host_setup *setup,
				 struct bcl_host **host)
{
	const struct bcl_host_ops *kernel = context->env->kernel_card;
	const char *setting = context->config.card;
	char why[BCL_HOST_WHY] = "";
	enum bcl_status status;

	if (!kernel)
		return open_in_process(context, setup, "", host);
	if (!strcmp(setting, "process"))
		return open_in_process(context, setup, "BCL_CARD=process",
				       host);
	status = kernel->open(setup, why, host);
	if (!status)
		return tell_card(context, "in the kernel", "");
	if (!*why)
		snprintf(why, sizeof(why), "%s", bcl_strstatus(status));
	if (!strcmp(setting, "kernel"))
		return refuse_card(context, status, why);
	return open_in_process(context, setup, why, host);
}

enum bcl_status bcl_host_open(struct bcl_context *context)
{
	struct bcl_host_setup setup = {
		.env = context->env,
		.config = &context->config,
		.card = context->card_id,
		.incarnation = context->incarnation,
		.barrier = context->barrier,
		.random = &context->random,
		.counters = context->counters,
		.memories = &context->memories,
	};
	struct bcl_host *host;
	enum bcl_status status;
	unsigned i;

	memcpy(setup.key, context->key, sizeof(setup.key));
	status = open_card(context, &setup, &host);
	if (status)
		return status;
	context->card_id = host->card;
	for (i = 0; i < host->nlines; i++)
		bcl_log(&context->config, BCL_LOG_INFO, "card", "%s",
			host->line[i]);
	context->card = host;
	return BCL_OK;
}

void bcl_host_close(struct bcl_context *context)
{
	struct bcl_host *host = context->card;

	context->card = NULL;
	host->ops->close(host);
}

static unsigned first_rail(const struct bcl_host *host, const char *kind)
{
	unsigned e = 0;

	while (strcmp(host->end[e].kind, kind))
		e++;
	return host->end[e].rail;
}

void bcl_host_address(const struct bcl_context *context,
		      struct bcl_address *address)
{
	const struct bcl_host *host = context->card;
	unsigned e;

	address->nwires = 0;
	address->second = 0;
	for (e = 0; e < host->nends; e++) {
		if (host->end[e].rail != first_rail(host, host->end[e].kind))
			address->second |= (uint8_t)(1 << e);
		address->wire[address->nwires++] = host->end[e].address;
	}
}

unsigned bcl_host_fds(const struct bcl_context *context, int fds[BCL_HOST_FDS])
{
	const struct bcl_host *host = context->card;
	unsigned n = 0, e;

	for (e = 0; e < host->nends; e++) {
		const struct bcl_host_end *end = &host->end[e];

		if (end->fd >= 0)
			fds[n++] = end->fd;
		if (end->partner_fd >= 0)
			fds[n++] = end->partner_fd;
	}
	return n;
}

void bcl_host_watch(struct bcl_context *context)
{
	context->card->ops->watch(context->card);
	bcl_host_counters_copy(context);
}

void bcl_host_exclusive(struct bcl_context *context, struct bcl_host_seat *seat,
			void (*run)(void *arg), void *arg)
{
	context->card->ops->exclusive(context->card, seat, run, arg);
}

void bcl_host_counters_copy(struct bcl_context *context)
{
	context->card->ops->counters(
		context->card, &context->counters->values[BCL_COUNT_CARD]);
}

unsigned bcl_host_describe(const struct bcl_context *context,
			   char lines[][BCL_HOST_LINE], unsigned max)
{
	const struct bcl_host *host = context->card;
	unsigned n = host->nlines < max ? host->nlines : max;

	memcpy(lines, host->line, n * sizeof(lines[0]));
	return n;
}
