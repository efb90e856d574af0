/* SPDX-License-Identifier: MIT */
/* Rules about messages as the sender puts them on the wire. */
#include "tools/check/rules.h"

enum {
	BURST = 64, /* frames that the card puts on a rail in one call */
};

/* True for a segment that shows the number of a message for the first time. */
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

	if (is_new(event)) {
		if (bcl_before(segment->msg, link->out_base))
			check_complain(event,
				       "message %u, and all before %u "
				       "had their verdicts",
				       (unsigned)segment->msg,
				       (unsigned)link->out_base);
		if (segment->msg - event->frame->base >= BCL_MSG_AHEAD)
			check_complain(event,
				       "message %u, while %u has no "
				       "verdict",
				       (unsigned)segment->msg,
				       (unsigned)event->frame->base);
	} else if (number && segment->op != BCL_SEG_WITHDRAW &&
		   /* withdrawn before a frame of the message left: the contents
		    * are unknown */
		   number->op != BCL_SEG_WITHDRAW &&
		   (number->op != segment->op ||
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

void check_rule_number_base(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	const struct check_link *link = event->link;
	uint32_t msg;

	if (!event->packet->outbound || event->bad || !link ||
	    frame->kind == BCL_FRAME_HELLO ||
	    frame->kind == BCL_FRAME_HELLO_ACK ||
	    frame->base - link->out_base > BCL_MSG_AHEAD + 1)
		return;
	for (msg = link->out_base; msg != frame->base; msg++)
		if (msg && !check_number(link, msg))
			check_complain(event,
				       "message %u has its verdict, and "
				       "was not sent",
				       (unsigned)msg);
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
	if (event->link->gaps || segment->msg != event->link->next_out)
		return; /* the message may name a predecessor that it has
			 * overtaken */
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

/* Returns an older request of the flow of which no frame has left. Returns NULL
 * if there is none, or if the message may have overtaken older messages. */
static const struct check_request *
skipped_request(const struct check_event *event)
{
	const struct check_request *source = event->source, *request;
	unsigned i;

	if (event->link->gaps || event->segment->msg != event->link->next_out)
		return NULL;
	for (i = 0; i < event->port->nrequests; i++) {
		request = &event->port->requests[i];
		if (request->used && request->progress == CHECK_WAITING &&
		    request->order < source->order &&
		    check_is_ordered(request->asked.op) &&
		    request->asked.card == source->asked.card &&
		    request->asked.peer_port == source->asked.peer_port)
			return request;
	}
	return NULL;
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
	else if (!check_is_ordered(segment->op))
		return;
	else if (!check_as_asked(&event->source->asked, segment))
		check_complain(event,
			       "message %u is not what port %u asked "
			       "for in packet %u",
			       (unsigned)segment->msg, segment->src_port,
			       event->source->place.number);
	else if (skipped_request(event))
		check_complain(event,
			       "message %u before what port %u asked "
			       "for in packet %u",
			       (unsigned)segment->msg, segment->src_port,
			       skipped_request(event)->place.number);
}

/*
 * Ports are served in turn, each by a burst. The rule judges only a request
 * without earlier requests of its port to the peer: later requests wait for the
 * earlier. A request of which the card had perhaps not heard when the record
 * was written (BCL_RECORD_EARLY) is not judged.
 */
void check_rule_fair(struct check_event *event)
{
	const struct check_request *source = event->source;
	const struct check_port *port;
	uint64_t served, ports = 1;
	int rail = event->packet->rail;

	if (!source || !source->alone || source->delayed ||
	    source->asked.flags & BCL_RECORD_EARLY ||
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
