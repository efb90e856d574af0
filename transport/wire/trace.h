/* SPDX-License-Identifier: MIT */
/*
 * BCL_TRACE: a pcapng file of the real frames of both directions. Each rail
 * is an interface of the file. Frames of a packet rail have their Ethernet
 * header, those of a UDP rail an IP and a UDP header made from the addresses.
 *
 * Each process writes its own file: the card id is put before the last dot of
 * the name. Every frame is written at once, so that the file of a killed
 * process is whole.
 */
#ifndef BCL_TRACE_H
#define BCL_TRACE_H

#include "transport/wire/rail.h"

struct bcl_trace;

/* SYSTEM: the file cannot be made (logged). NOMEM. */
enum bcl_status bcl_trace_open(const struct bcl_env *env,
			       const struct bcl_config *config, uint64_t card,
			       struct bcl_trace **trace);
void bcl_trace_close(struct bcl_trace *trace);

/* Put the trace around *rail, which is rail number `index`; in turn. */
enum bcl_status bcl_trace_wrap(struct bcl_trace *trace, unsigned index,
			       struct bcl_rail **rail);

#endif
