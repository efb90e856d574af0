/* SPDX-License-Identifier: MIT */
/* The context's card. */
#include "transport/card/card.h"

#include <string.h>

#include "transport/counters.h"
#include "transport/log.h"

enum bcl_status bcl_card_host_open(struct bcl_context *context)
{
	const struct bcl_card_ops *ops = context->env->card;
	struct bcl_card_host *host;
	enum bcl_status status;
	unsigned i;

	if (!ops)
		return BCL_ERR_NORAIL;
	status = ops->open(context, &host);
	if (status)
		return status;
	for (i = 0; i < host->nlines; i++)
		bcl_log(&context->config, BCL_LOG_INFO, "card", "%s",
			host->line[i]);
	context->card = host;
	return BCL_OK;
}

void bcl_card_host_close(struct bcl_context *context)
{
	struct bcl_card_host *host = context->card;

	context->card = NULL;
	host->ops->close(host);
}

void bcl_card_address(const struct bcl_context *context,
		      struct bcl_address *address)
{
	const struct bcl_card_host *host = context->card;
	unsigned r;

	address->nwires = 0;
	for (r = 0; r < host->nrails; r++)
		address->wire[address->nwires++] = host->rail[r].address;
}

unsigned bcl_card_fds(const struct bcl_context *context, int fds[BCL_CARD_FDS])
{
	const struct bcl_card_host *host = context->card;
	unsigned n = 0, r;

	for (r = 0; r < host->nrails; r++) {
		const struct bcl_card_rail_info *rail = &host->rail[r];

		if (rail->fd >= 0)
			fds[n++] = rail->fd;
		if (rail->partner_fd >= 0)
			fds[n++] = rail->partner_fd;
	}
	return n;
}

void bcl_card_watch(struct bcl_context *context)
{
	context->card->ops->watch(context->card);
	bcl_card_counters_copy(context);
}

void bcl_card_exclusive(struct bcl_context *context, struct bcl_card_seat *seat,
			void (*run)(void *arg), void *arg)
{
	context->card->ops->exclusive(context->card, seat, run, arg);
}

void bcl_card_counters_copy(struct bcl_context *context)
{
	context->card->ops->counters(
		context->card,
		&context->counters->values[BCL_COUNT_card_frames_sent]);
}

unsigned bcl_card_describe(const struct bcl_context *context,
			   char lines[][BCL_CARD_LINE], unsigned max)
{
	const struct bcl_card_host *host = context->card;
	unsigned n = host->nlines < max ? host->nlines : max;

	memcpy(lines, host->line, n * sizeof(lines[0]));
	return n;
}
