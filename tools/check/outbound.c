/* SPDX-License-Identifier: MIT */
/* The sending side of a connection: our frames and messages, and what the peer
 * has said about them. */
#include <stdlib.h>

#include "env/crc32c.h"
#include "tools/check/world.h"

struct check_number *check_number(const struct check_link *link, uint32_t msg)
{
	struct check_number *number;

	if (!link->out || !msg)
		return NULL;
	number = &link->out[msg % CHECK_MEMORY];
	return number->msg == msg ? number : NULL;
}

struct check_chain *check_chain(struct check_link *link, unsigned src_port,
				unsigned dst_port)
{
	struct check_chain *chain = link->chains;

	while (chain &&
	       (chain->src_port != src_port || chain->dst_port != dst_port))
		chain = chain->next;
	if (chain)
		return chain;
	chain = calloc(1, sizeof(*chain));
	if (!chain)
		abort();
	chain->src_port = (uint16_t)src_port;
	chain->dst_port = (uint16_t)dst_port;
	chain->next = link->chains;
	link->chains = chain;
	return chain;
}

/* True if the segment may belong to this request. Messages of a flow leave in
 * the order of submission, all other messages in any order. */
static bool may_belong(const struct check_request *request,
		       const struct check_link *link,
		       const struct check_segment *segment)
{
	const struct bcl_record *asked = &request->asked;

	if (!request->used || request->progress == CHECK_NUMBERED ||
	    request->progress == CHECK_JUDGED || asked->card != link->card ||
	    asked->peer_port != segment->dst_port)
		return false;
	if (check_is_ordered(segment->op))
		return check_is_ordered(asked->op);
	return asked->op == segment->op && asked->length == segment->total &&
	       asked->target == segment->target &&
	       asked->value == segment->targ64;
}

bool check_as_asked(const struct bcl_record *asked,
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

/*
 * True if `request` is a better guess than `than`. A request that agrees with
 * the segment is better than one that does not, and of two equal ones the older
 * is better. Agreement counts first because a message that the card was
 * fetching may leave after the card has learnt that an earlier message was
 * refused.
 */
static bool is_better(const struct check_segment *segment,
		      const struct check_request *request,
		      const struct check_request *than)
{
	bool agrees, agreed;

	if (!than)
		return true;
	agrees = check_as_asked(&request->asked, segment);
	agreed = check_as_asked(&than->asked, segment);
	return agrees == agreed ? request->order < than->order : agrees;
}

void check_outbound_find(struct check_event *event)
{
	const struct check_segment *segment = event->segment;
	struct check_request *request;
	unsigned i;

	event->numbered = NULL;
	event->source = NULL;
	event->port = NULL;
	if (!event->link)
		return;
	event->numbered = check_number(event->link, segment->msg);
	if (event->numbered || check_is_reply(segment->op))
		return;
	event->port = check_port_find(event->life, segment->src_port);
	for (i = 0; event->port && i < event->port->nrequests; i++) {
		request = &event->port->requests[i];
		if (may_belong(request, event->link, segment) &&
		    is_better(segment, request, event->source))
			event->source = request;
	}
}

void check_outbound_frame(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	struct check_lane *lane = event->lane;
	struct check_sent *sent;

	if (!event->link || frame->kind == BCL_FRAME_HELLO ||
	    frame->kind == BCL_FRAME_HELLO_ACK)
		return;
	if (bcl_before(event->link->out_base, frame->base))
		event->link->out_base = frame->base;
	if (frame->kind != BCL_FRAME_DATA)
		return;
	if (!lane->sent)
		lane->sent = calloc(BCL_SACK_BITS, sizeof(*lane->sent));
	if (!lane->sent)
		abort();
	sent = &lane->sent[frame->seq % BCL_SACK_BITS];
	if (sent->seq != frame->seq || event->new_frame)
		*sent = (struct check_sent){ .seq = frame->seq };
	if (sent->heard != event->link->heard)
		sent->times = 0;
	sent->heard = event->link->heard;
	sent->times++;
	sent->again = sent->acked;
	if (!event->new_frame)
		return;
	lane->next = frame->seq + 1;
	lane->fresh++;
	if (!lane->went_known)
		lane->acked = frame->seq;
	lane->went_known = true;
}

/* The number is seen for the first time. */
static void count_number(struct check_link *link, uint32_t msg)
{
	if (bcl_before(msg, link->next_out)) {
		link->gaps -= link->gaps != 0;
		return;
	}
	for (; link->next_out != msg;
	     link->next_out = check_after(link->next_out))
		link->gaps++;
	link->next_out = check_after(msg);
}

void check_outbound_segment(struct check_event *event)
{
	struct check_chain *chain;
	const struct check_segment *segment = event->segment;
	struct check_request *source = event->source;
	struct check_link *link = event->link;

	if (!link)
		return;
	if (segment->op == BCL_SEG_WITHDRAW && event->numbered)
		event->numbered->withdrawn = true;
	if (event->numbered)
		return;
	if (!link->out)
		link->out = calloc(CHECK_MEMORY, sizeof(*link->out));
	if (!link->out)
		abort();
	link->out[segment->msg % CHECK_MEMORY] = (struct check_number){
		.msg = segment->msg,
		.op = segment->op,
		.type = segment->type,
		.src_port = segment->src_port,
		.dst_port = segment->dst_port,
		.prev = segment->prev,
		.total = segment->total,
		.target = segment->target,
		.targ64 = segment->targ64,
		.port = source ? event->port : NULL,
		.request = source ? source->asked.number : 0,
		.order = source ? source->order : 0,
		.place = { event->packet->file, event->packet->number },
	};
	count_number(link, segment->msg);
	/* The request is not known, because none of the message's frames has
	 * left. */
	link->gaps += segment->op == BCL_SEG_WITHDRAW;
	chain = check_chain(link, segment->src_port, segment->dst_port);
	if (check_is_ordered(segment->op) &&
	    (!chain->last || bcl_before(chain->last, segment->msg)))
		chain->last = segment->msg;
	if (!source)
		return;
	source->progress = CHECK_NUMBERED;
	source->token = segment->arg32;
}

static void note_verdict(struct check_event *event, uint32_t msg,
			 enum bcl_verdict verdict)
{
	struct check_link *link = event->link;
	struct check_number *number = check_number(link, msg);
	struct check_request *request;
	bool again;

	if (!number || verdict == BCL_VERDICT_UNKNOWN ||
	    (number->verdict && !number->unheard))
		return;
	again = number->verdict;
	number->verdict = (uint8_t)verdict;
	number->told = event->packet->time;
	number->unheard = event->lane->deaf || event->lane->down;
	number->rail = (uint8_t)event->packet->rail;
	number->said = event->lane->said;
	if (again)
		return;
	link->gaps -= number->op == BCL_SEG_WITHDRAW;
	if (!number->port)
		return;
	request = &number->port->requests[number->request];
	if (!request->used || request->order != number->order)
		return;
	request->verdict = verdict;
	if (verdict == BCL_VERDICT_REFUSED) {
		request->progress = CHECK_REFUSED;
		request->delayed = true;
	} else {
		request->progress = CHECK_JUDGED;
	}
}

void check_outbound_deaf(struct check_link *link, unsigned rail)
{
	struct check_number *number;

	for (number = link->out; number && number < link->out + CHECK_MEMORY;
	     number++)
		if (number->rail == rail &&
		    number->said == link->lanes[rail].said)
			number->unheard = true;
}

static void note_acknowledged(struct check_event *event, uint32_t seq)
{
	struct check_sent *sent = event->lane->sent;

	if (!sent)
		return;
	sent += seq % BCL_SACK_BITS;
	if (sent->seq == seq)
		sent->acked = event->packet->time;
}

void check_outbound_answers(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	struct check_link *link = event->link;
	struct check_lane *lane = event->lane;
	unsigned i, k;

	if (!link || !link->peer || frame->kind == BCL_FRAME_HELLO ||
	    frame->kind == BCL_FRAME_HELLO_ACK ||
	    bcl_before(link->next_out, frame->done))
		return;
	if (lane->went_known && !lane->deaf &&
	    !bcl_before(lane->next, frame->ack))
		for (; bcl_before(lane->acked, frame->ack); lane->acked++)
			note_acknowledged(event, lane->acked);
	for (; bcl_before(link->peer_done, frame->done); link->peer_done++)
		note_verdict(event, link->peer_done, BCL_VERDICT_DELIVERED);
	for (k = 0; k < frame->nsegments; k++) {
		const struct check_segment *segment = &frame->segments[k];

		if (segment->op != BCL_SEG_VERDICT)
			continue;
		for (i = 0; i < segment->arg32; i++)
			note_verdict(event, segment->target + i,
				     segment->payload[i / 2] >> i % 2 * 4 & 15);
	}
}
