/* SPDX-License-Identifier: MIT */
/* The receiving side of a connection: frames of the peer, the messages in them,
 * and the deliveries that they lead to. */
#include <stdlib.h>
#include <string.h>

#include "env/crc32c.h"
#include "tools/check/world.h"

enum {
	NEAR = 256, /* numbers searched for a message that was delivered
		     * before */
};

/* ---- frames ---- */

static uint32_t arrival_bit(uint32_t seq)
{
	return 1u << seq % 32;
}

static uint32_t *arrival_word(struct check_lane *lane, uint32_t seq)
{
	return &lane->arrived[seq % BCL_SACK_BITS / 32];
}

bool check_lane_arrived(const struct check_lane *lane, uint32_t seq)
{
	return bcl_before(seq, lane->expected) ||
	       (seq - lane->expected < BCL_SACK_BITS &&
		lane->arrived[seq % BCL_SACK_BITS / 32] & arrival_bit(seq));
}

static void pass_arrived(struct check_lane *lane)
{
	while (*arrival_word(lane, lane->expected) &
	       arrival_bit(lane->expected)) {
		*arrival_word(lane, lane->expected) &=
			~arrival_bit(lane->expected);
		lane->expected++;
	}
}

void check_inbound_skip(struct check_lane *lane, uint32_t seq)
{
	if (!lane->came_known || seq - lane->expected < 1u << 31) {
		if (!lane->came_known || seq - lane->expected > BCL_SACK_BITS) {
			memset(lane->arrived, 0, sizeof(lane->arrived));
			lane->expected = seq;
		}
		while (bcl_before(lane->expected, seq)) {
			*arrival_word(lane, lane->expected) &=
				~arrival_bit(lane->expected);
			lane->expected++;
		}
		pass_arrived(lane);
	}
	if (!lane->came_known || bcl_before(lane->skipped, seq))
		lane->skipped = seq;
	lane->came_known = true;
}

/* ---- messages ---- */

void check_inbound_start(struct check_link *link, uint32_t first_msg)
{
	if (!link->in)
		link->in = calloc(CHECK_MEMORY, sizeof(*link->in));
	if (!link->in)
		abort();
	memset(link->in, 0, CHECK_MEMORY * sizeof(*link->in));
	link->first_in = first_msg;
	link->low = first_msg;
	link->top = first_msg;
	link->peer_base = first_msg;
	link->told_done = first_msg;
}

struct check_arrival *check_arrival(const struct check_link *link, uint32_t msg)
{
	struct check_arrival *arrival;

	if (!link->in || !msg)
		return NULL;
	arrival = &link->in[msg % CHECK_MEMORY];
	return arrival->msg == msg ? arrival : NULL;
}

void check_inbound_frame(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	struct check_link *link = event->link;
	struct check_lane *lane = event->lane;

	if (!link || !link->peer || frame->kind == BCL_FRAME_HELLO ||
	    frame->kind == BCL_FRAME_HELLO_ACK)
		return;
	if (frame->base - link->peer_base <= BCL_MSG_AHEAD + 1)
		link->peer_base = frame->base;
	if (!event->new_frame)
		return;
	*arrival_word(lane, frame->seq) |= arrival_bit(frame->seq);
	pass_arrived(lane);
}

static struct check_arrival *remember_arrival(struct check_event *event)
{
	const struct check_segment *segment = event->segment;
	struct check_link *link = event->link;
	struct check_arrival *arrival = &link->in[segment->msg % CHECK_MEMORY];
	struct check_port *port =
		check_port_find(event->life, segment->dst_port);
	const struct check_ring *ring = NULL;

	if (port)
		ring = check_ring(port, segment->op == BCL_SEG_SYSTEM,
				  segment->total);
	*arrival = (struct check_arrival){
		.msg = segment->msg,
		.op = segment->op,
		.type = segment->type,
		.src_port = segment->src_port,
		.dst_port = segment->dst_port,
		.prev = segment->prev,
		.total = segment->total,
		.target = segment->target,
		.targ64 = segment->targ64,
		.freed = ring ? ring->freed : 0,
		.refused = ring ? ring->refused : 0,
		.place = { event->packet->file, event->packet->number },
	};
	if (!bcl_before(segment->msg, link->top))
		link->top = segment->msg + 1;
	return arrival;
}

/* The reply to a request of ours has arrived. */
static void note_reply(struct check_event *event)
{
	const struct check_segment *segment = event->segment;
	struct check_port *port =
		check_port_find(event->life, segment->dst_port);
	unsigned i;

	for (i = 0; port && i < port->nrequests; i++)
		if (port->requests[i].used &&
		    port->requests[i].progress != CHECK_WAITING &&
		    port->requests[i].token == segment->target &&
		    port->requests[i].asked.card == event->link->card)
			port->requests[i].answered = true;
}

/*
 * Notes the frame until the card acknowledges it. The card may have had no room
 * for earlier frames of the message; a frame with the whole message replaces
 * all earlier frames.
 */
static void note_frame(const struct check_event *event,
		       struct check_arrival *arrival)
{
	uint32_t seq = event->frame->seq;
	int rail = event->packet->rail;

	if (event->segment->length == check_payload(event->segment))
		memset(arrival->untold, 0, sizeof(arrival->untold));
	if (!arrival->untold[rail] || bcl_before(arrival->last[rail], seq))
		arrival->last[rail] = seq;
	arrival->untold[rail] = true;
	arrival->time = event->packet->time;
}

void check_inbound_segment(struct check_event *event)
{
	const struct check_segment *segment = event->segment;
	struct check_link *link = event->link;
	struct check_arrival *arrival;

	if (!event->new_frame || !link->in || segment->msg == 0 ||
	    segment->msg - link->peer_base >= BCL_MSG_AHEAD)
		return;
	arrival = check_arrival(link, segment->msg);
	if (!arrival)
		arrival = remember_arrival(event);
	if (segment->op == BCL_SEG_WITHDRAW) {
		arrival->withdrawn = true;
		return;
	}
	if (!check_is_message(segment->op))
		return;
	note_frame(event, arrival);
	if (arrival->whole)
		return;
	if (arrival->op == BCL_SEG_WITHDRAW)
		arrival->op = segment->op;
	arrival->received += segment->length;
	if (segment->length == segment->total) {
		arrival->digest =
			bcl_crc32c(0, segment->payload, segment->length);
		arrival->has_digest = true;
	}
	if (arrival->received < check_payload(segment))
		return;
	arrival->whole = true;
	if (check_is_reply(segment->op) && link->life == event->life)
		note_reply(event);
}

/*
 * The host may withdraw the memory of a put before the first fragment arrives.
 * The card then informs the sender by a verdict, does not inform its own host,
 * and goes on with the next message at once. The next message may therefore be
 * delivered before the frame with the verdict leaves.
 */
static bool may_have_failed(const struct check_link *link,
			    const struct check_arrival *arrival)
{
	return arrival->op == BCL_SEG_PUT_NOTIFY && !arrival->told &&
	       check_arrival_due(link, arrival);
}

bool check_arrival_due(const struct check_link *link,
		       const struct check_arrival *arrival)
{
	const struct check_arrival *before = check_arrival(link, arrival->prev);

	if (!arrival->prev)
		return true;
	if (!before)
		return bcl_before(arrival->prev, link->peer_base);
	return before->delivered || before->told >= BCL_VERDICT_NOPORT ||
	       may_have_failed(link, before);
}

void check_arrival_pass(const struct check_link *link,
			const struct check_arrival *arrival)
{
	struct check_arrival *before = check_arrival(link, arrival->prev);

	for (; before && !before->delivered && !before->passed;
	     before = check_arrival(link, before->prev))
		before->passed = true;
}

static void note_verdict(const struct check_life *life,
			 struct check_arrival *arrival, unsigned told)
{
	struct check_port *port = check_port_find(life, arrival->dst_port);

	if (port && !arrival->told && told == BCL_VERDICT_REFUSED)
		check_ring(port, arrival->op == BCL_SEG_SYSTEM, arrival->total)
			->refused++;
	arrival->told = (uint8_t)told;
}

/* We acknowledge all frames of a rail before `ack`. */
static void note_ack(struct check_link *link, int rail, uint32_t ack)
{
	struct check_lane *lane = &link->lanes[rail];
	struct check_arrival *arrival;
	uint32_t msg;

	for (msg = link->low; lane->told != ack && msg != link->top; msg++) {
		arrival = check_arrival(link, msg);
		if (arrival && bcl_before(arrival->last[rail], ack) &&
		    !bcl_before(arrival->last[rail], lane->skipped))
			arrival->untold[rail] = false;
	}
	lane->told = ack;
	lane->told_known = true;
}

void check_inbound_told(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	struct check_link *link = event->link;
	struct check_arrival *arrival;
	unsigned i, k, told;

	if (!link || !link->peer || frame->kind == BCL_FRAME_HELLO ||
	    frame->kind == BCL_FRAME_HELLO_ACK)
		return;
	note_ack(link, event->packet->rail, frame->ack);
	if (bcl_before(link->told_done, frame->done))
		link->told_done = frame->done;
	for (k = 0; k < frame->nsegments; k++) {
		const struct check_segment *segment = &frame->segments[k];

		if (segment->op != BCL_SEG_VERDICT)
			continue;
		for (i = 0; i < segment->arg32; i++) {
			told = segment->payload[i / 2] >> i % 2 * 4 & 15;
			arrival = check_arrival(link, segment->target + i);
			if (arrival && told)
				note_verdict(event->life, arrival, told);
		}
	}
}

/* ---- deliveries ---- */

/* True if this number will not be delivered any more. */
static bool is_settled(const struct check_link *link, uint32_t msg)
{
	const struct check_arrival *arrival = check_arrival(link, msg);

	if (!arrival)
		return msg == 0 || bcl_before(msg, link->peer_base);
	return arrival->delivered || arrival->told > BCL_VERDICT_DELIVERED ||
	       (arrival->whole && !check_is_ordered(arrival->op) &&
		arrival->op != BCL_SEG_CHANNEL);
}

static unsigned op_of(const struct bcl_record *record)
{
	switch (record->op) {
	case BCL_CQ_SYSTEM:
		return BCL_SEG_SYSTEM;
	case BCL_CQ_NOTIFY:
		return BCL_SEG_PUT_NOTIFY;
	default:
		return BCL_SEG_CHANNEL;
	}
}

static bool same_flow(const struct check_arrival *arrival,
		      const struct bcl_record *record)
{
	if (arrival->src_port != record->peer_port ||
	    arrival->dst_port != record->port ||
	    (record->target && arrival->msg != record->target))
		return false;
	if (record->op == BCL_CQ_CHANNEL)
		return arrival->op == BCL_SEG_CHANNEL &&
		       (arrival->target & 0xffff) == record->number;
	return check_is_ordered(arrival->op);
}

static bool same_contents(const struct check_arrival *arrival,
			  const struct bcl_record *record)
{
	if (arrival->op != op_of(record))
		return false;
	if (arrival->op == BCL_SEG_CHANNEL)
		return record->status == BCL_ERR_TRUNCATED
			       ? record->length < arrival->total
			       : record->length == arrival->total;
	return arrival->total == record->length &&
	       arrival->type == record->type &&
	       arrival->targ64 == record->value &&
	       (!arrival->has_digest || !(record->flags & BCL_RECORD_DIGEST) ||
		arrival->op != BCL_SEG_SYSTEM ||
		arrival->digest == record->digest);
}

/* The best match for a delivery among the messages of this link. */
static enum check_match match_link(struct check_link *link,
				   const struct bcl_record *record,
				   struct check_arrival **best)
{
	enum check_match match = CHECK_NONE;
	struct check_arrival *arrival;
	uint32_t msg;

	while (link->low != link->top && is_settled(link, link->low))
		link->low++;
	for (msg = link->low; msg != link->top; msg++) {
		enum check_match this = CHECK_MATCHED;

		arrival = check_arrival(link, msg);
		if (!arrival || is_settled(link, msg) ||
		    !same_flow(arrival, record))
			continue;
		if (arrival->passed && !same_contents(arrival, record))
			continue;
		if (arrival->passed)
			this = CHECK_PASSED;
		else if (!arrival->whole)
			this = CHECK_PART;
		else if (!check_arrival_due(link, arrival))
			this = CHECK_EARLY;
		else if (!same_contents(arrival, record))
			this = CHECK_OTHER;
		if (this < match) {
			match = this;
			*best = arrival;
		}
		if (match == CHECK_MATCHED)
			return match;
	}
	for (msg = link->top - 1; match > CHECK_AGAIN && link->top - msg < NEAR;
	     msg--) {
		arrival = check_arrival(link, msg);
		if (arrival && arrival->delivered &&
		    same_flow(arrival, record) &&
		    same_contents(arrival, record)) {
			*best = arrival;
			return CHECK_AGAIN;
		}
	}
	return match;
}

void check_inbound_match(struct check_event *event)
{
	const struct bcl_record *record = &event->record;
	const struct check_life *former = event->life->former;
	enum check_match match = CHECK_NONE, this;
	struct check_arrival *arrival = NULL;
	struct check_link *link;
	bool newest = true;

	if (record->op == BCL_CQ_READ ||
	    (record->op == BCL_CQ_CHANNEL && record->status != BCL_OK &&
	     record->status != BCL_ERR_TRUNCATED))
		return;
	for (link = event->life->links; link; link = link->next) {
		if (link->card != record->card || !link->in)
			continue;
		this = match_link(link, record, &arrival);
		if (!newest && this == CHECK_MATCHED)
			this = CHECK_FORMER;
		if (this < match) {
			match = this;
			event->arrival = arrival;
			event->carrier = link;
		}
		newest = newest && !link->live;
	}
	if (match == CHECK_NONE && former)
		for (link = former->links; link; link = link->next)
			if (link->card == record->card && link->in &&
			    match_link(link, record, &arrival) == CHECK_MATCHED)
				match = CHECK_FORMER;
	event->match = match;
}
