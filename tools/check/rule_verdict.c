/* SPDX-License-Identifier: MIT */
/* Rules about the verdicts that a receiver gives on messages. */
#include "tools/check/rules.h"

/* True for an outbound frame that can carry verdicts. */
static bool carries_verdicts(const struct check_event *event)
{
	return event->packet->outbound && !event->bad && event->link &&
	       event->link->in && event->frame->kind != BCL_FRAME_HELLO &&
	       event->frame->kind != BCL_FRAME_HELLO_ACK;
}

/* The port of an ordered message, or NULL if the trace does not show all
 * deliveries to the port. */
static struct check_port *port_of(const struct check_life *life,
				  const struct check_arrival *arrival)
{
	struct check_port *port = check_port_find(life, arrival->dst_port);

	return life->records && port && !port->gap &&
			       check_is_ordered(arrival->op)
		       ? port
		       : NULL;
}

/* The verdict that the frame's VERDICT segments give on a message. */
static unsigned told_by(const struct check_frame *frame, uint32_t msg)
{
	unsigned i;

	for (i = 0; i < frame->nsegments; i++) {
		const struct check_segment *segment = &frame->segments[i];
		uint32_t at = msg - segment->target;

		if (segment->op == BCL_SEG_VERDICT && at < segment->arg32)
			return segment->payload[at / 2] >> at % 2 * 4 & 15;
	}
	return BCL_VERDICT_UNKNOWN;
}

static void said_delivered(struct check_event *event, uint32_t msg)
{
	const struct check_link *link = event->link;
	const struct check_arrival *arrival = check_arrival(link, msg);

	if (!arrival) {
		if (msg && !bcl_before(msg, link->peer_base))
			check_complain(event,
				       "message %u is settled; it has "
				       "not arrived",
				       (unsigned)msg);
		return;
	}
	if (arrival->delivered || bcl_before(msg, link->peer_base))
		return;
	if (arrival->told > BCL_VERDICT_DELIVERED)
		check_complain(event,
			       "message %u is settled; it was refused, "
			       "and its sender does not know",
			       (unsigned)msg);
	else if (port_of(event->life, arrival))
		check_complain(event,
			       "message %u of packet %u was not "
			       "delivered",
			       (unsigned)msg, arrival->place.number);
	else if (!arrival->whole)
		check_complain(event,
			       "message %u of packet %u has not wholly "
			       "arrived",
			       (unsigned)msg, arrival->place.number);
}

static void inspect_verdict(struct check_event *event, uint32_t msg,
			    unsigned told)
{
	const struct check_arrival *arrival = check_arrival(event->link, msg);

	if (told == BCL_VERDICT_UNKNOWN)
		return;
	if (told > BCL_VERDICT_TRUNCATED)
		check_complain(event, "message %u: verdict %u", (unsigned)msg,
			       told);
	else if (arrival && arrival->told && arrival->told != told)
		check_complain(event, "message %u had verdict %u and has %u",
			       (unsigned)msg, arrival->told, told);
	else if (told == BCL_VERDICT_DELIVERED)
		said_delivered(event, msg);
	else if (arrival && arrival->delivered)
		check_complain(event, "message %u of packet %u was delivered",
			       (unsigned)msg, arrival->place.number);
	else if (!arrival && !bcl_before(msg, event->link->peer_base))
		check_complain(event,
			       "message %u has a verdict; it has not "
			       "arrived",
			       (unsigned)msg);
}

void check_rule_verdict(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	uint32_t msg, i;
	unsigned k;

	if (!carries_verdicts(event))
		return;
	if (bcl_before(frame->done, event->link->told_done))
		check_complain(event,
			       "all before %u were settled, and are not "
			       "any more",
			       (unsigned)event->link->told_done);
	for (msg = event->link->told_done; bcl_before(msg, frame->done); msg++)
		said_delivered(event, msg);
	for (k = 0; k < frame->nsegments; k++) {
		const struct check_segment *segment = &frame->segments[k];

		if (segment->op != BCL_SEG_VERDICT)
			continue;
		for (i = 0; i < segment->arg32; i++)
			inspect_verdict(event, segment->target + i,
					segment->payload[i / 2] >> i % 2 * 4 &
						15);
	}
}

/* Blocks reserved by messages on their way to the port. */
static uint32_t reserved_blocks(const struct check_life *life,
				struct check_port *port,
				const struct check_ring *ring)
{
	const struct check_link *link;
	const struct check_arrival *arrival;
	uint32_t msg, n = 0;

	for (link = life->links; link; link = link->next) {
		if (!link->in)
			continue;
		for (msg = link->low; msg != link->top; msg++) {
			arrival = check_arrival(link, msg);
			n += arrival && !arrival->delivered &&
			     !arrival->passed && !arrival->told &&
			     check_is_ordered(arrival->op) &&
			     arrival->dst_port == port->number &&
			     ring == check_ring(port,
						arrival->op == BCL_SEG_SYSTEM,
						arrival->total);
		}
	}
	return n;
}

/* True if there may have been no free block for the message at some time since
 * the first frame arrived. */
static bool was_full(const struct check_life *life, struct check_port *port,
		     const struct check_ring *ring,
		     const struct check_arrival *arrival)
{
	uint32_t used =
		ring->taken - arrival->freed + ring->refused - arrival->refused;
	/* A message that arrived before its predecessor left one block to the
	 * predecessor. */
	uint32_t room = ring->n - (arrival->prev != 0);

	/* reserved_blocks() also counts the message itself. */
	return used >= room ||
	       used + reserved_blocks(life, port, ring) - 1 >= room;
}

void check_rule_refusal(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	const struct check_arrival *arrival, *before;
	const struct check_ring *ring;
	struct check_port *port;
	unsigned i, k;

	if (!carries_verdicts(event))
		return;
	for (k = 0; k < frame->nsegments; k++) {
		const struct check_segment *segment = &frame->segments[k];

		if (segment->op != BCL_SEG_VERDICT)
			continue;
		for (i = 0; i < segment->arg32; i++) {
			arrival =
				check_arrival(event->link, segment->target + i);
			if (!arrival || arrival->told || arrival->withdrawn ||
			    told_by(frame, arrival->msg) != BCL_VERDICT_REFUSED)
				continue;
			before = check_arrival(event->link, arrival->prev);
			port = port_of(event->life, arrival);
			if (!port)
				continue;
			ring = check_ring(port, arrival->op == BCL_SEG_SYSTEM,
					  arrival->total);
			if ((before && (before->told == BCL_VERDICT_REFUSED ||
					told_by(frame, before->msg) ==
						BCL_VERDICT_REFUSED)) ||
			    was_full(event->life, port, ring, arrival))
				continue;
			check_complain(event,
				       "message %u of packet %u is refused; "
				       "port %u has %u blocks and used %u",
				       (unsigned)arrival->msg,
				       arrival->place.number, port->number,
				       (unsigned)ring->n,
				       (unsigned)(ring->taken - ring->freed));
		}
	}
}

/* True if the card has accepted the whole message. A card without room accepts
 * a frame only when the frame is retransmitted. */
static bool is_accepted(const struct check_arrival *arrival)
{
	unsigned rail;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		if (arrival->untold[rail])
			return false;
	return arrival->whole;
}

static void inspect_untold(struct check_world *world, struct check_link *link,
			   uint64_t now)
{
	struct check_arrival *arrival;
	uint32_t msg;

	for (msg = link->low; msg != link->top; msg++) {
		arrival = check_arrival(link, msg);
		if (!arrival || !is_accepted(arrival) || arrival->delivered ||
		    arrival->told || arrival->withdrawn ||
		    !port_of(link->life, arrival) ||
		    !check_arrival_due(link, arrival) ||
		    now - arrival->time < world->patience ||
		    bcl_before(msg, link->peer_base))
			continue;
		check_complain_at(world, &arrival->place,
				  "message %u to port %u was whole %llu ms "
				  "ago, and waits",
				  (unsigned)msg, arrival->dst_port,
				  (unsigned long long)(now - arrival->time) /
					  1000000);
		arrival->withdrawn = true; /* complain only once */
	}
}

void check_rule_blocked(struct check_event *event)
{
	struct check_link *link = event->link;
	uint64_t now = event->packet->time;

	if (event->bad || !link || !link->in || now < link->next_look)
		return;
	inspect_untold(event->world, link, now);
	link->next_look = now + event->world->patience / 4;
}

void check_rule_blocked_end(struct check_world *world, struct check_life *life)
{
	struct check_link *link;

	for (link = life->over ? NULL : life->links; link; link = link->next)
		if (link->in)
			inspect_untold(world, link, life->last);
}
