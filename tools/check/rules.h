/* SPDX-License-Identifier: MIT */
/*
 * The rules of the protocol that bcl-check applies to a trace. Each rule looks
 * at an event before the event changes the world (world.h).
 */
#ifndef CHECK_RULES_H
#define CHECK_RULES_H

#include "tools/check/flow.h"
#include "tools/check/world.h"

struct check_rule {
	const char *name;
	const char *says;
	/*
	 * Called for, in this order: each frame; each segment of an intact
	 * outbound DATA frame on a known link; each record; each finding of
	 * flow.h; each life at the end of the trace. NULL: the rule does not
	 * look at these.
	 */
	void (*frame)(struct check_event *event);
	void (*segment)(struct check_event *event);
	void (*record)(struct check_event *event);
	void (*finding)(struct check_world *world,
			const struct check_finding *finding);
	void (*end)(struct check_world *world, struct check_life *life);
};

extern const struct check_rule check_rules[];
extern const unsigned check_nrules;

/* Reports that the current rule (world->rule) is broken. */
void check_complain(struct check_event *event, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void check_complain_at(struct check_world *world,
		       const struct check_place *place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Lets all rules look at a packet, then applies the packet to the world. */
void check_packet(struct check_world *world, const struct check_packet *packet);
/* Called after the last packet. */
void check_end(struct check_world *world);
/* Reads and checks all files to their end. Returns false if a file cannot be
 * read; the reason is on stderr. */
bool check_files(struct check_world *world, char *const *files, unsigned n);

/* ---- rule_frame.c ---- */
void check_rule_frame(struct check_event *event);
void check_rule_handshake(struct check_event *event);
void check_rule_window(struct check_event *event);
void check_rule_ack(struct check_event *event);

/* ---- rule_message.c ---- */
void check_rule_number(struct check_event *event);
void check_rule_number_base(struct check_event *event);
void check_rule_chain(struct check_event *event);
void check_rule_asked(struct check_event *event);
void check_rule_fair(struct check_event *event);

/* ---- rule_again.c ---- */
void check_rule_again_frame(struct check_event *event);
void check_rule_again_message(struct check_event *event);
void check_rule_endless(struct check_event *event);

/* ---- rule_delivery.c ---- */
void check_rule_whole(struct check_event *event);
void check_rule_content(struct check_event *event);
void check_rule_once(struct check_event *event);
void check_rule_order(struct check_event *event);
void check_rule_life(struct check_event *event);
void check_rule_once_flow(struct check_world *world,
			  const struct check_finding *finding);
void check_rule_order_flow(struct check_world *world,
			   const struct check_finding *finding);
void check_rule_sent_flow(struct check_world *world,
			  const struct check_finding *finding);
void check_rule_lost_flow(struct check_world *world,
			  const struct check_finding *finding);

/* ---- rule_verdict.c ---- */
void check_rule_verdict(struct check_event *event);
void check_rule_refusal(struct check_event *event);
void check_rule_blocked(struct check_event *event);
void check_rule_blocked_end(struct check_world *world, struct check_life *life);

/* ---- rule_request.c ---- */
void check_rule_record(struct check_event *event);
void check_rule_record_frame(struct check_event *event);
void check_rule_complete(struct check_event *event);
void check_rule_reason(struct check_event *event);
void check_rule_reason_end(struct check_world *world, struct check_life *life);
void check_rule_fence(struct check_event *event);
void check_rule_stuck(struct check_event *event);
void check_rule_stuck_end(struct check_world *world, struct check_life *life);
void check_rule_memory(struct check_event *event);

#endif
