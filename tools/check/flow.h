/* SPDX-License-Identifier: MIT */
/*
 * Flows from end to end: messages that ports asked for, against messages that
 * were delivered to ports. Only records are looked at, so that nothing of how
 * cards do it is taken on trust. Clocks of two processes differ, so a delivery
 * may be read before its request is: it is judged some time later.
 */
#ifndef CHECK_FLOW_H
#define CHECK_FLOW_H

#include "tools/check/world.h"

enum check_end {
	CHECK_END_AGAIN,  /* delivered more often than it was asked for */
	CHECK_END_ORDER,  /* a later one was delivered before it */
	CHECK_END_UNSENT, /* delivered, and nobody asked for it */
	CHECK_END_LOST,	  /* completed well and never delivered */
};

struct check_finding {
	enum check_end end;
	struct check_place place; /* of the record that is wrong */
	struct check_place other; /* of the one that shows it, or number 0 */
	uint64_t card;		  /* the flow */
	unsigned port, peer_port;
};

struct check_flows *check_flows_open(void);
void check_flows_close(struct check_flows *flows);

/* After the rules have looked at a record. */
void check_flows_record(struct check_event *event);
/* All has been read. */
void check_flows_end(struct check_world *world);

/* What was found since the last packet; a loop over i from 0 on. */
const struct check_finding *check_flows_found(const struct check_flows *flows,
					      unsigned i);
void check_flows_forget(struct check_flows *flows);

#endif
