/* SPDX-License-Identifier: MIT */
/*
 * BCL_TRACE: a pcapng file of the real frames of both directions, and of what
 * the host asked of its card and got (record.h). The records are the first
 * interface of the file, each rail is one more; their descriptions name the
 * card. Frames of a packet rail have their Ethernet header, those of a UDP
 * rail an IP and a UDP header made from the addresses.
 *
 * Each process writes its own file: the card id is put before the last dot of
 * the name. Every frame is written at once, so that the file of a killed
 * process is whole.
 */
#ifndef BCL_TRACE_H
#define BCL_TRACE_H

#include <inttypes.h>

#include "transport/wire/rail.h"
#include "transport/wire/record.h"

/* Descriptions of interfaces: card id, rail. */
#define BCL_TRACE_HOST "card %016" PRIx64
#define BCL_TRACE_RAIL BCL_TRACE_HOST " rail %u"

struct bcl_trace;

/* SYSTEM: the file cannot be made (logged). NOMEM. */
enum bcl_status bcl_trace_open(const struct bcl_env *env,
			       const struct bcl_config *config, uint64_t card,
			       struct bcl_trace **trace);
void bcl_trace_close(struct bcl_trace *trace);

/* Have `look` called before a frame leaves and after frames came, under the
 * card's lock: what it records then stands where it belongs. */
void bcl_trace_watch(struct bcl_trace *trace, void (*look)(void *arg),
		     void *arg);
void bcl_trace_record(struct bcl_trace *trace, const struct bcl_record *record);

/* Put the trace around *rail, which is rail number `index`; in turn. */
enum bcl_status bcl_trace_wrap(struct bcl_trace *trace, unsigned index,
			       struct bcl_rail **rail);

#endif
