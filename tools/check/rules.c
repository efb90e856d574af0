/* SPDX-License-Identifier: MIT */
/* The table of all rules, and the loop that applies them to packets. */
#include "tools/check/rules.h"

#include <stdarg.h>
#include <stdio.h>

const struct check_rule check_rules[] = {
	{ .name = "frame",
	  .says = "a card sends frames that every card would take",
	  .frame = check_rule_frame },
	{ .name = "handshake",
	  .says = "a handshake comes first and names card, life and "
		  "connection",
	  .frame = check_rule_handshake },
	{ .name = "window",
	  .says = "frames count up, no more than a window ahead of what is "
		  "acknowledged",
	  .frame = check_rule_window },
	{ .name = "ack",
	  .says = "only frames that have arrived are acknowledged, and for "
		  "good",
	  .frame = check_rule_ack },
	{ .name = "number",
	  .says = "messages count up, and a number means one message",
	  .frame = check_rule_number_base,
	  .segment = check_rule_number },
	{ .name = "chain",
	  .says = "a message names the one before it in its flow until that "
		  "has a verdict",
	  .segment = check_rule_chain },
	{ .name = "asked",
	  .says = "what is sent is what a port asked for, in its order",
	  .segment = check_rule_asked },
	{ .name = "fair",
	  .says = "a port that waits is served after two bursts of each "
		  "other at most",
	  .segment = check_rule_fair },
	{ .name = "again",
	  .says = "what was acknowledged or has its verdict is not sent again",
	  .frame = check_rule_again_frame,
	  .segment = check_rule_again_message },
	{ .name = "endless",
	  .says = "into silence a frame is repeated ever more seldom",
	  .frame = check_rule_endless },
	{ .name = "whole",
	  .says = "only messages that have wholly arrived are delivered",
	  .record = check_rule_whole },
	{ .name = "content",
	  .says = "a message is delivered as it arrived",
	  .record = check_rule_content },
	{ .name = "once",
	  .says = "a message is delivered once",
	  .record = check_rule_once,
	  .finding = check_rule_once_flow },
	{ .name = "order",
	  .says = "messages from one port to another are delivered in order",
	  .record = check_rule_order,
	  .finding = check_rule_order_flow },
	{ .name = "life",
	  .says = "nothing of a former life is delivered",
	  .record = check_rule_life },
	{ .name = "sent",
	  .says = "what is delivered to a port was asked for by another",
	  .finding = check_rule_sent_flow },
	{ .name = "lost",
	  .says = "a message whose request ended well was delivered",
	  .finding = check_rule_lost_flow },
	{ .name = "verdict",
	  .says = "verdicts are true and do not change",
	  .frame = check_rule_verdict },
	{ .name = "refusal",
	  .says = "a message is refused if its port's ring is full, or the "
		  "one before it was refused",
	  .frame = check_rule_refusal },
	{ .name = "blocked",
	  .says = "a message that may be delivered is, whatever other flows "
		  "wait for",
	  .frame = check_rule_blocked,
	  .end = check_rule_blocked_end },
	{ .name = "record",
	  .says = "hosts ask of open ports and living cards",
	  .frame = check_rule_record_frame,
	  .record = check_rule_record },
	{ .name = "complete",
	  .says = "a request completes once, and well only with its verdict "
		  "or reply",
	  .record = check_rule_complete },
	{ .name = "reason",
	  .says = "a request fails only if its peer is lost or says so",
	  .record = check_rule_reason,
	  .end = check_rule_reason_end },
	{ .name = "fence",
	  .says = "a fence completes after all before it",
	  .record = check_rule_fence },
	{ .name = "stuck",
	  .says = "every request completes",
	  .record = check_rule_stuck,
	  .end = check_rule_stuck_end },
	{ .name = "memory",
	  .says = "rings and the card's memory hold no more than they have",
	  .record = check_rule_memory },
};
const unsigned check_nrules = sizeof(check_rules) / sizeof(*check_rules);
_Static_assert(sizeof(check_rules) / sizeof(*check_rules) <= CHECK_RULES,
	       "rules");

static void print_complaint(struct check_world *world,
			    const struct check_place *place, const char *format,
			    va_list arguments)
{
	unsigned *said = &world->said[world->rule - check_rules];

	world->complaints++;
	if (++*said > CHECK_SAID)
		return;
	printf("%s:%u: %s: ", place->file, place->number, world->rule->name);
	vprintf(format, arguments);
	putchar('\n');
	if (*said == CHECK_SAID)
		printf("(no more of %s is said)\n", world->rule->name);
}

void check_complain(struct check_event *event, const char *format, ...)
{
	const struct check_place place = { event->packet->file,
					   event->packet->number };
	va_list arguments;

	va_start(arguments, format);
	print_complaint(event->world, &place, format, arguments);
	va_end(arguments);
}

void check_complain_at(struct check_world *world,
		       const struct check_place *place, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_complaint(world, place, format, arguments);
	va_end(arguments);
}

static void ask_frame(struct check_event *event)
{
	struct check_world *world = event->world;
	unsigned i;

	for (i = 0; i < check_nrules; i++) {
		world->rule = &check_rules[i];
		if (world->rule->frame)
			world->rule->frame(event);
	}
}

static void ask_segment(struct check_event *event)
{
	struct check_world *world = event->world;
	unsigned i;

	for (i = 0; i < check_nrules; i++) {
		world->rule = &check_rules[i];
		if (world->rule->segment)
			world->rule->segment(event);
	}
}

static void ask_record(struct check_event *event)
{
	struct check_world *world = event->world;
	unsigned i;

	for (i = 0; i < check_nrules; i++) {
		world->rule = &check_rules[i];
		if (world->rule->record)
			world->rule->record(event);
	}
}

static void ask_findings(struct check_world *world)
{
	const struct check_finding *finding;
	unsigned i, k;

	for (k = 0; (finding = check_flows_found(world->flows, k)); k++)
		for (i = 0; i < check_nrules; i++) {
			world->rule = &check_rules[i];
			if (world->rule->finding)
				world->rule->finding(world, finding);
		}
	check_flows_forget(world->flows);
}

/* In turn, since a segment may be about the one before it. */
static void take_segments(struct check_event *event)
{
	unsigned i;

	if (event->frame->kind != BCL_FRAME_DATA || !event->link)
		return;
	for (i = 0; i < event->frame->nsegments; i++) {
		event->segment = &event->frame->segments[i];
		if (!event->packet->outbound) {
			check_inbound_segment(event);
			continue;
		}
		check_outbound_find(event);
		ask_segment(event);
		check_outbound_segment(event);
	}
}

static void take_frame(struct check_event *event)
{
	ask_frame(event);
	if (event->bad)
		return;
	check_link_frame(event);
	take_segments(event);
	if (event->packet->outbound) {
		check_outbound_frame(event);
		check_inbound_told(event);
	} else {
		check_inbound_frame(event);
		check_outbound_answers(event);
	}
}

void check_packet(struct check_world *world, const struct check_packet *packet)
{
	struct check_event event;

	check_world_find(world, packet, &event);
	if (!event.host) {
		take_frame(&event);
		return;
	}
	ask_record(&event);
	if (event.bad)
		return;
	check_world_record(&event);
	check_flows_record(&event);
	ask_findings(world);
}

void check_end(struct check_world *world)
{
	struct check_life *life;
	unsigned i, k;

	for (k = 0; k < CHECK_LIVES; k++)
		for (life = world->lives[k]; life; life = life->next)
			for (i = 0; i < check_nrules; i++) {
				world->rule = &check_rules[i];
				if (world->rule->end)
					world->rule->end(world, life);
			}
	check_flows_end(world);
	ask_findings(world);
}

/* Passes all packets in turn to take(). Returns false if a file cannot be read;
 * the reason is on stderr. */
static bool read_files(struct check_world *world, char *const *files,
		       unsigned n,
		       void (*take)(struct check_world *world,
				    const struct check_packet *packet))
{
	struct check_reader *reader = check_reader_open(files, n);
	struct check_packet packet;
	int more;

	if (!reader)
		return false;
	while ((more = check_reader_next(reader, &packet)) > 0)
		take(world, &packet);
	check_reader_close(reader);
	return !more;
}

static void note_seal(struct check_world *world,
		      const struct check_packet *packet)
{
	if (packet->rail != CHECK_HOST &&
	    check_frame_header(packet->bytes, packet->length, &world->frame))
		check_seals_note(world->seals, &world->frame, packet->outbound);
}

bool check_files(struct check_world *world, char *const *files, unsigned n)
{
	if (!read_files(world, files, n, note_seal) ||
	    !read_files(world, files, n, check_packet))
		return false;
	check_end(world);
	return true;
}
