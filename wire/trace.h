/* SPDX-License-Identifier: MIT */
/*
 * BCL_TRACE: a pcapng file of the frames of both directions, and of the
 * requests to the card and their results (record.h). The first interface of the
 * file has the records. Each rail is one more interface. The descriptions of
 * the interfaces name the card. Frames of a packet rail have their Ethernet
 * header. Frames of a UDP rail have IP and UDP headers made from the addresses.
 *
 * Each process writes its own file: the card id goes before the last dot of the
 * name. Each frame is written at once, so the file of a killed process is
 * complete.
 */
#ifndef BCL_TRACE_H
#define BCL_TRACE_H

#include <inttypes.h>

#include "wire/rail.h"
#include "wire/record.h"

/* Descriptions of interfaces: card id, rail. */
#define BCL_TRACE_HOST "card %016" PRIx64
#define BCL_TRACE_RAIL BCL_TRACE_HOST " rail %u"

struct bcl_trace;

/* SYSTEM: the file cannot be created (logged). NOMEM. */
enum bcl_status bcl_trace_open(const struct bcl_env *env,
			       const struct bcl_config *config, uint64_t card,
			       struct bcl_trace **trace);
void bcl_trace_close(struct bcl_trace *trace);

/*
 * Call `look` before a frame leaves, and before and after a delivery, under the
 * card's lock: then records made by `look` have the right place among the
 * frames.
 */
void bcl_trace_watch(struct bcl_trace *trace, void (*look)(void *arg),
		     void *arg);
void bcl_trace_record(struct bcl_trace *trace, const struct bcl_record *record);

/* Put the trace around *rail, the rail with number `index`. The order of calls
 * is the order of interfaces in the file. NOMEM. */
enum bcl_status bcl_trace_wrap(struct bcl_trace *trace, unsigned index,
			       struct bcl_rail **rail);

#endif
