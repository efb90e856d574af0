/* SPDX-License-Identifier: MIT */
/* Rules about single frames and their numbers. */
#include "tools/check/rules.h"

void check_rule_frame(struct check_event *event)
{
	if (event->packet->outbound && event->bad)
		check_complain(event, "%s: %s",
			       check_kind_name(event->frame->kind), event->bad);
}

static bool is_handshake(const struct check_frame *frame)
{
	return frame->kind == BCL_FRAME_HELLO ||
	       frame->kind == BCL_FRAME_HELLO_ACK;
}

static const struct check_call *call_of(const struct check_life *life,
					const struct check_frame *frame)
{
	const struct check_call *call = life->calls;

	while (call && (call->card != frame->card ||
			call->conn >> 2 != frame->conn >> 2))
		call = call->next;
	return call;
}

static void inspect_hello(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	const struct check_life *life = event->life;
	const struct check_call *call;

	if (frame->hello.card != life->card)
		check_complain(event, "it says it is card %016llx",
			       (unsigned long long)frame->hello.card);
	if (life->incarnation && frame->hello.life != life->incarnation)
		check_complain(event, "it names another life than its own");
	if (event->link && (event->link->card != frame->card ||
			    event->link->first_out != frame->hello.first_msg))
		check_complain(event, "connection %08x began otherwise",
			       (unsigned)frame->hello.conn);
	if (frame->kind == BCL_FRAME_HELLO) {
		if (frame->conn)
			check_complain(event, "HELLO to a connection");
		return;
	}
	call = call_of(life, frame);
	if (!call)
		check_complain(event,
			       "HELLO_ACK, and no HELLO came from "
			       "connection %08x",
			       (unsigned)frame->conn);
	else if (frame->hello.peer_incarnation != call->life)
		check_complain(event, "HELLO_ACK to another life than that "
				      "which called");
}

void check_rule_handshake(struct check_event *event)
{
	const struct check_frame *frame = event->frame;

	if (!event->packet->outbound || event->bad)
		return;
	if (is_handshake(frame)) {
		inspect_hello(event);
		return;
	}
	if (frame->kind != BCL_FRAME_RESET && frame->kind != BCL_FRAME_REFUSE &&
	    !event->link)
		check_complain(event,
			       "%s for connection %08x of card %016llx, "
			       "which no handshake made",
			       check_kind_name(frame->kind),
			       (unsigned)frame->conn,
			       (unsigned long long)frame->card);
}

void check_rule_window(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	const struct check_lane *lane = event->lane;

	if (!event->packet->outbound || event->bad || !lane ||
	    !lane->went_known || is_handshake(frame))
		return;
	if (frame->kind != BCL_FRAME_DATA) {
		if (bcl_before(frame->seq, lane->next))
			check_complain(event,
				       "%s says that frame %u is the "
				       "next one; %u was sent",
				       check_kind_name(frame->kind),
				       (unsigned)frame->seq,
				       (unsigned)lane->next - 1);
	} else if (event->new_frame &&
		   frame->seq - lane->acked >= BCL_SACK_BITS) {
		check_complain(event,
			       "frame %u, and only those before %u are "
			       "acknowledged",
			       (unsigned)frame->seq, (unsigned)lane->acked);
	}
}

/* Checks the frames that a SACK or RAIL_DOWN marks as arrived. */
static void inspect_arrived(struct check_event *event,
			    const struct check_lane *lane,
			    const struct check_segment *segment, uint32_t ack)
{
	uint32_t i, seq;

	for (i = 0; i < segment->arg32; i++) {
		seq = ack + 1 + i;
		if (segment->payload[i / 8] >> i % 8 & 1 &&
		    !check_lane_arrived(lane, seq))
			check_complain(event,
				       "%s of frame %u, which has not "
				       "arrived",
				       check_op_name(segment->op),
				       (unsigned)seq);
	}
}

static void all_before(struct check_event *event, const struct check_lane *lane,
		       uint32_t ack)
{
	if (bcl_before(lane->expected, ack))
		check_complain(event,
			       "all frames before %u are acknowledged; "
			       "%u has not arrived",
			       (unsigned)ack, (unsigned)lane->expected);
}

/* RAIL_DOWN is about another rail than the one by which it is sent. */
static void rail_down(struct check_event *event,
		      const struct check_segment *segment)
{
	const struct check_lane *lane = event->link->lanes;
	const struct check_lane *end = lane + BCL_RAILS_MAX;
	uint32_t ack = (uint32_t)segment->targ64;

	while (lane < end && lane->to != segment->target)
		lane++;
	if (lane == end || !lane->came_known)
		return;
	all_before(event, lane, ack);
	inspect_arrived(event, lane, segment, ack);
}

void check_rule_ack(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	const struct check_lane *lane = event->lane;
	unsigned i;

	if (!event->packet->outbound || event->bad || !lane ||
	    !lane->came_known || is_handshake(frame))
		return;
	all_before(event, lane, frame->ack);
	if (lane->told_known && bcl_before(frame->ack, lane->told))
		check_complain(event,
			       "frame %u was acknowledged, and is not "
			       "any more",
			       (unsigned)lane->told - 1);
	for (i = 0; i < frame->nsegments; i++) {
		if (frame->segments[i].op == BCL_SEG_SACK)
			inspect_arrived(event, lane, &frame->segments[i],
					frame->ack);
		if (frame->segments[i].op == BCL_SEG_RAIL_DOWN)
			rail_down(event, &frame->segments[i]);
	}
}
