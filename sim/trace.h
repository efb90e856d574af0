/* SPDX-License-Identifier: MIT */
/*
 * BCL_TRACE in a simulation: a single file for all cards, in virtual time. The
 * format is that of a real run (wire/trace.h), except that no headers
 * precede a frame.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "card/journal.h"
#include "wire/pcapng.h"

struct sim_firmware;

/* The trace of one firmware. */
struct sim_trace {
	struct bcl_pcapng *file;	    /* NULL: no trace */
	unsigned host, rail[BCL_RAILS_MAX]; /* numbers of interfaces */
	struct bcl_journal journal;
};

/* Call when the core is open. The first call creates the file, if a trace is
 * wanted. */
void sim_trace_open(struct sim_firmware *firmware, struct bcl_pcapng *file);
/* `kind` is CLOSED or CRASHED. */
void sim_trace_close(struct sim_firmware *firmware, enum bcl_record_kind kind);

void sim_trace_frame(struct sim_firmware *firmware, unsigned rail,
		     enum bcl_pcapng_flags direction, const void *bytes,
		     size_t length);

#endif
