/* SPDX-License-Identifier: MIT */
/* Writes frames and records of simulated cards to a pcapng file;
 * see trace.h. */
#include "sim/trace.h"

#include <stdio.h>

#include "env/config.h"
#include "sim/fail.h"
#include "sim/firmware.h"
#include "wire/trace.h"

static void write_record(void *arg, const struct bcl_record *record)
{
	const struct sim_firmware *firmware = arg;
	struct bcl_record_wire wire;

	bcl_record_encode(record, &wire);
	bcl_pcapng_packet(firmware->trace.file, firmware->trace.host,
			  sim_firmware_now(firmware), BCL_PCAPNG_NO_DIRECTION,
			  &(struct iovec){ &wire, sizeof(wire) }, 1);
}

static uint64_t card_of(void *arg, uint32_t node)
{
	const struct sim_firmware *firmware = arg;

	return node < firmware->nnodes ? firmware->nodes[node].shown.card : 0;
}

static unsigned add_interface(struct bcl_pcapng *file,
			      enum bcl_pcapng_link link, unsigned rank,
			      const char *about)
{
	char name[16];

	snprintf(name, sizeof(name), "rank %u", rank);
	bcl_pcapng_interface(file, link, name, about);
	return file->interfaces - 1;
}

void sim_trace_open(struct sim_firmware *firmware, struct bcl_pcapng *file)
{
	const struct bcl_host_setup *setup = &firmware->setup;
	struct sim_trace *trace = &firmware->trace;
	char about[BCL_PCAPNG_TEXT];
	unsigned r;

	if (!setup->config->trace[0])
		return;
	if (!file->interfaces)
		sim_check(bcl_pcapng_open(file, setup->config->trace),
			  "the trace cannot be written");
	trace->file = file;
	snprintf(about, sizeof(about), BCL_TRACE_HOST, setup->card);
	trace->host =
		add_interface(file, BCL_PCAPNG_RECORD, firmware->rank, about);
	for (r = 0; r < firmware->card->nrails; r++) {
		snprintf(about, sizeof(about), BCL_TRACE_RAIL, setup->card, r);
		trace->rail[r] = add_interface(file, BCL_PCAPNG_FRAME,
					       firmware->rank, about);
	}
	trace->journal = (struct bcl_journal){
		.put = write_record,
		.card_of = card_of,
		.arg = firmware,
		.told = true,
	};
	bcl_journal_open(&trace->journal, setup->card, setup->incarnation,
			 firmware->arena_size, setup->config->peer_timeout);
}

void sim_trace_close(struct sim_firmware *firmware, enum bcl_record_kind kind)
{
	if (firmware->trace.file)
		bcl_journal_close(&firmware->trace.journal, kind);
}

void sim_trace_frame(struct sim_firmware *firmware, unsigned rail,
		     enum bcl_pcapng_flags direction, const void *bytes,
		     size_t length)
{
	if (!firmware->trace.file)
		return;
	/* Records the blocks that were given back before the frame. */
	bcl_journal_look(&firmware->trace.journal);
	bcl_pcapng_packet(firmware->trace.file, firmware->trace.rail[rail],
			  sim_firmware_now(firmware), direction,
			  &(struct iovec){ (void *)bytes, length }, 1);
}
