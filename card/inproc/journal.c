/* SPDX-License-Identifier: MIT */
/* BCL_TRACE: writes the journal of this host's card (card/journal.h)
 * to the trace of its rails. */
#include "card/inproc/inproc.h"
#include "env/config.h"
#include "env/counters.h"
#include "wire/trace.h"

static void write_record(void *arg, const struct bcl_record *record)
{
	const struct bcl_inproc *host = arg;

	bcl_trace_record(host->trace, record);
}

static uint64_t card_of(void *arg, uint32_t node)
{
	const struct bcl_inproc *host = arg;

	return node < host->nnodes ? host->nodes[node].shown.card : 0;
}

static void look_at_queues(void *arg)
{
	struct bcl_inproc *host = arg;

	bcl_journal_look(&host->journal);
}

/*
 * Record the requests and serve the doorbell under one hold of the lock.
 * Otherwise another thread could let the card send before the card hears of the
 * request.
 */
static void record_doorbell(struct bcl_host *base, struct bcl_host_seat *seat)
{
	struct bcl_inproc *host = bcl_inproc_of(base);

	bcl_inproc_lock(host, seat);
	bcl_journal_doorbell(&host->journal, seat->number);
	bcl_count(host->setup.counters, host_doorbells);
	bcl_inproc_defer(base, seat);
	bcl_inproc_serve_doorbells(host);
	bcl_inproc_unlock(host, seat);
}

void bcl_inproc_journal(struct bcl_inproc *host)
{
	const struct bcl_host_setup *setup = &host->setup;

	host->journal = (struct bcl_journal){
		.put = write_record,
		.card_of = card_of,
		.arg = host,
	};
	host->ops = *host->base.ops;
	host->ops.doorbell = record_doorbell;
	host->base.ops = &host->ops;
	bcl_trace_watch(host->trace, look_at_queues, host);
	bcl_journal_open(&host->journal, setup->card, setup->incarnation,
			 host->arena_size, setup->config->peer_timeout);
}

void bcl_inproc_journal_memory(struct bcl_inproc *host)
{
	bcl_journal_memory(&host->journal,
			   host->arena_size - bcl_card_free(host->card));
}
