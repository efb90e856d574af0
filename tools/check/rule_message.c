/* SPDX-License-Identifier: MIT */
/* Rules about messages as they leave. */
#include "tools/check/rules.h"
#include "transport/env/crc32c.h"

enum {
	BURST = 64, /* frames that a rail is given in one call */
};

/* A segment of a message that has its number for the first time. */
static bool is_new(const struct check_event *event)
{
	return event->link && !event->numbered &&
	       check_is_message(event->segment->op);
}

void check_rule_number(struct check_event *event)
{
	const struct check_segment *segment = event->segment;
	const struct check_number *number = event->numbered;
	const struct check_link *link = event->link;

	if (segment->op == BCL_SEG_WITHDRAW) {
		if (!number)
			check_complain(event,
				       "WITHDRAW of %u, which was not "
				       "sent",
				       (unsigned)segment->msg);
		return;
	}
	if (is_new(event)) {
		if (segment->msg != link->next_out)
			check_complain(event, "message %u; the next one is %u",
				       (unsigned)segment->msg,
				       (unsigned)link->next_out);
		if (segment->msg - event->frame->base >= BCL_MSG_AHEAD)
			check_complain(event,
				       "message %u, while %u has no "
				       "verdict",
				       (unsigned)segment->msg,
				       (unsigned)event->frame->base);
	} else if (number && (number->op != segment->op ||
			      number->type != segment->type ||
			      number->src_port != segment->src_port ||
			      number->dst_port != segment->dst_port ||
			      number->prev != segment->prev ||
			      number->total != segment->total ||
			      number->target != segment->target ||
			      number->targ64 != segment->targ64)) {
		check_complain(event, "message %u was another one in packet %u",
			       (unsigned)segment->msg, number->place.number);
	}
}

void check_rule_chain(struct check_event *event)
{
	const struct check_segment *segment = event->segment;
	const struct check_number *before;
	uint32_t last;

	if (!is_new(event) || !check_is_ordered(segment->op))
		return;
	last = check_chain(event->link, segment->src_port, segment->dst_port)
		       ->last;
	before = check_number(event->link, last);
	if (segment->prev && segment->prev != last)
		check_complain(event,
			       "message %u names %u before it; it was "
			       "%u",
			       (unsigned)segment->msg, (unsigned)segment->prev,
			       (unsigned)last);
	else if (!segment->prev && before && !before->verdict)
		check_complain(event,
			       "message %u names none before it; %u "
			       "has no verdict",
			       (unsigned)segment->msg, (unsigned)last);
}

/* Those of another order have been found by all of this already. */
static bool as_asked(const struct bcl_record *asked,
		     const struct check_segment *segment)
{
	return asked->op == segment->op && asked->length == segment->total &&
	       asked->type == segment->type &&
	       asked->value == segment->targ64 &&
	       (segment->op == BCL_SEG_SYSTEM ||
		(asked->target == segment->target &&
		 asked->arg32 == segment->arg32)) &&
	       (!(asked->flags & BCL_RECORD_DIGEST) ||
		segment->length != segment->total ||
		asked->digest ==
			bcl_crc32c(0, segment->payload, segment->length));
}

void check_rule_asked(struct check_event *event)
{
	const struct check_segment *segment = event->segment;

	if (!is_new(event) || check_is_reply(segment->op) ||
	    !event->life->records || (event->port && event->port->gap))
		return;
	if (!event->port)
		check_complain(event,
			       "message %u of port %u, which is not "
			       "open",
			       (unsigned)segment->msg, segment->src_port);
	else if (!event->source)
		check_complain(event,
			       "message %u: port %u did not ask for "
			       "%s to port %u",
			       (unsigned)segment->msg, segment->src_port,
			       check_op_name(segment->op), segment->dst_port);
	else if (check_is_ordered(segment->op) &&
		 !as_asked(&event->source->asked, segment))
		check_complain(event,
			       "message %u is not what port %u asked "
			       "for in packet %u",
			       (unsigned)segment->msg, segment->src_port,
			       event->source->place.number);
}

/*
 * Only a request with nothing before it is looked at: others wait for their
 * own. Ports are served in turn, each by a burst.
 */
void check_rule_fair(struct check_event *event)
{
	const struct check_request *source = event->source;
	const struct check_port *port;
	uint64_t served, ports = 1;
	int rail = event->packet->rail;

	if (!source || !source->alone || source->delayed ||
	    source->link != event->link ||
	    event->segment->total > BCL_SYSTEM_MAX)
		return;
	for (port = event->life->ports; port; port = port->next)
		ports++;
	served = event->lane->fresh - source->fresh[rail];
	if (served > 2 * BURST * ports)
		check_complain(event,
			       "port %u waited since packet %u for %llu "
			       "frames of others",
			       event->segment->src_port, source->place.number,
			       (unsigned long long)served);
}
