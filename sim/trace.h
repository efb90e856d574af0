/* SPDX-License-Identifier: MIT */
/*
 * BCL_TRACE in a simulation: one file for all cards, in virtual time. As that
 * of a real run (transport/wire/trace.h), but that nothing stands before a
 * frame.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "transport/card/journal.h"
#include "transport/wire/pcapng.h"

struct sim_firmware;

/* Of one firmware. */
struct sim_trace {
	struct bcl_pcapng *file;	    /* NULL: not asked for */
	unsigned host, rail[BCL_RAILS_MAX]; /* interfaces */
	struct bcl_journal journal;
};

/* Its core is open; the file, if it is asked for, is made by the first. */
void sim_trace_open(struct sim_firmware *firmware, struct bcl_pcapng *file);
/* kind CLOSED, or CRASHED. */
void sim_trace_close(struct sim_firmware *firmware, enum bcl_record_kind kind);

void sim_trace_frame(struct sim_firmware *firmware, unsigned rail,
		     enum bcl_pcapng_flags direction, const void *bytes,
		     size_t length);

#endif
