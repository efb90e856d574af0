/* SPDX-License-Identifier: MIT */
/*
 * Compares flows end to end: the messages that ports submitted against the
 * messages that were delivered to ports. Only records are compared, so nothing
 * depends on how cards carry the messages. The clocks of two processes differ,
 * and a delivery may be read before its request. Therefore a delivery without a
 * request is judged only after some time.
 */
#ifndef CHECK_FLOW_H
#define CHECK_FLOW_H

#include "tools/check/world.h"

enum check_end {
	CHECK_END_AGAIN,  /* delivered more often than submitted */
	CHECK_END_ORDER,  /* a later message was delivered before */
	CHECK_END_UNSENT, /* delivered, but no port submitted it */
	CHECK_END_LOST,	  /* completed without error, but never delivered */
};

struct check_finding {
	enum check_end end;
	struct check_place place; /* of the record that is wrong */
	struct check_place other; /* of the record that proves the fault; number
				   * 0: none */
	uint64_t card;		  /* sender of the flow */
	unsigned port, peer_port;
};

struct check_flows *check_flows_open(void);
void check_flows_close(struct check_flows *flows);

/* Called for each record after the rules have looked at it. */
void check_flows_record(struct check_event *event);
/* Called when all packets have been read. */
void check_flows_end(struct check_world *world);

/* Findings since check_flows_forget() was last called: loop over i from 0 until
 * the function returns NULL. */
const struct check_finding *check_flows_found(const struct check_flows *flows,
					      unsigned i);
void check_flows_forget(struct check_flows *flows);

#endif
