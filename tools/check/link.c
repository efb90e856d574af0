/* SPDX-License-Identifier: MIT */
/* Connections, as the handshakes of a trace make them. */
#include <stdlib.h>

#include "tools/check/world.h"

enum {
	RAIL = 3, /* the bits of a connection id that are a rail */
};

static bool shakes(const struct check_frame *frame)
{
	return frame->kind == BCL_FRAME_HELLO ||
	       frame->kind == BCL_FRAME_HELLO_ACK;
}

/* A link of this life or, what the card must not listen to, the former one. */
static struct check_link *own(const struct check_life *life, uint32_t id)
{
	struct check_link *link = life->links;

	while (link && link->id != (id & ~(uint32_t)RAIL))
		link = link->next;
	return link || !life->former ? link : own(life->former, id);
}

struct check_link *check_link_to(const struct check_life *life, uint64_t card)
{
	struct check_link *link = life->links;

	while (link && (link->card != card || !link->peer))
		link = link->next;
	return link;
}

static struct check_link *make(struct check_life *life, uint64_t card,
			       uint32_t id)
{
	struct check_link *link = calloc(1, sizeof(*link));

	if (!link)
		abort();
	link->life = life;
	link->card = card;
	link->id = id & ~(uint32_t)RAIL;
	link->next = life->links;
	life->links = link;
	return link;
}

static void link_free(struct check_link *link)
{
	struct check_chain *chain;
	unsigned i;

	while ((chain = link->chains)) {
		link->chains = chain->next;
		free(chain);
	}
	for (i = 0; i < BCL_RAILS_MAX; i++)
		free(link->lanes[i].sent);
	free(link->in);
	free(link->out);
	free(link);
}

void check_links_free(struct check_life *life)
{
	struct check_link *link;

	while ((link = life->links)) {
		life->links = link->next;
		link_free(link);
	}
}

/* A link to the peer's connection: one that is, or that a HELLO_ACK offers. */
static struct check_link *towards(const struct check_life *life, uint64_t card,
				  uint32_t peer)
{
	struct check_link *link;

	peer &= ~(uint32_t)RAIL;
	for (link = life->links; link; link = link->next)
		if (link->card == card &&
		    (link->peer == peer || (link->answer == peer && peer)))
			return link;
	return NULL;
}

static struct check_call *call_of(const struct check_life *life, uint64_t card,
				  uint32_t conn)
{
	struct check_call *call;

	for (call = life->calls; call; call = call->next)
		if (call->card == card &&
		    call->conn == (conn & ~(uint32_t)RAIL))
			return call;
	return NULL;
}

/* The link is with this connection of the peer. */
static void pair(struct check_link *link, uint32_t peer, uint64_t life,
		 uint32_t first_msg)
{
	struct check_link **at = &link->life->links;
	struct check_lane *lane;

	peer &= ~(uint32_t)RAIL;
	if (link->peer == peer && link->peer_life == life)
		return;
	for (lane = link->lanes; lane < link->lanes + BCL_RAILS_MAX; lane++) {
		lane->came_known = lane->told_known = false;
		if (peer == link->answer && lane->offered)
			check_inbound_skip(lane, lane->settled);
	}
	link->peer = peer;
	link->peer_life = life;
	check_inbound_start(link, first_msg);
	/* The youngest of all that are paired. */
	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	link->next = link->life->links;
	link->life->links = link;
}

/* By sending by it we take the connection that the peer has offered. */
static void believe(struct check_link *link, uint32_t conn)
{
	if (link->answer && link->answer == (conn & ~(uint32_t)RAIL))
		pair(link, link->answer, link->answer_life, link->answer_msg);
}

void check_link_find(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	const struct check_life *life = event->life;
	struct check_lane *lane;

	switch (frame->kind) {
	case BCL_FRAME_HELLO:
	case BCL_FRAME_HELLO_ACK:
		if (event->packet->outbound)
			event->link = own(life, frame->hello.conn);
		else if (frame->kind == BCL_FRAME_HELLO_ACK)
			event->link = own(life, frame->conn);
		else
			event->link = towards(life, frame->hello.card,
					      frame->hello.conn);
		break;
	case BCL_FRAME_RESET:
	case BCL_FRAME_REFUSE:
		return;
	default:
		event->link = event->packet->outbound
				      ? towards(life, frame->card, frame->conn)
				      : own(life, frame->conn);
	}
	if (!event->link)
		return;
	if (event->packet->outbound && !shakes(frame))
		believe(event->link, frame->conn);
	lane = &event->link->lanes[event->packet->rail];
	event->lane = lane;
	if (frame->kind != BCL_FRAME_DATA)
		return;
	if (event->packet->outbound)
		event->new_frame = !lane->went_known ||
				   !bcl_before(frame->seq, lane->next);
	else
		event->new_frame =
			!frame->torn && lane->came_known && !lane->down &&
			!bcl_before(frame->seq, lane->expected) &&
			frame->seq - lane->expected < BCL_SACK_BITS &&
			!check_lane_arrived(lane, frame->seq);
}

/* RAIL_DOWN names a rail by the id that frames to it carry: the peer's if we
 * give it up, and ours if the peer does. */
static void give_up(struct check_link *link, const struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	struct check_lane *lane;
	unsigned i, rail;

	for (i = 0; i < frame->nsegments; i++)
		for (rail = 0; rail < BCL_RAILS_MAX; rail++) {
			uint32_t target = frame->segments[i].target;

			lane = &link->lanes[rail];
			if (frame->segments[i].op != BCL_SEG_RAIL_DOWN)
				continue;
			if (!event->packet->outbound) {
				lane->deaf |= target == (link->id | rail);
			} else if (target == lane->to) {
				lane->down = true;
				check_outbound_deaf(link, rail);
			}
		}
}

static void went(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	const struct check_hello *hello = &frame->hello;
	struct check_life *life = event->life;
	struct check_link *link = event->link;
	const struct check_call *call;

	if (!shakes(frame)) {
		if (!link)
			return;
		link->live = true;
		event->lane->said++;
		event->lane->to = frame->conn;
		event->lane->down = false;
		if (frame->kind == BCL_FRAME_DATA)
			event->lane->deaf = false;
		give_up(link, event);
		return;
	}
	if (!life->incarnation)
		life->incarnation = hello->life;
	if (!link) {
		link = make(life, frame->card, hello->conn);
		link->first_out = hello->first_msg;
		link->next_out = hello->first_msg;
		link->out_base = hello->first_msg;
		link->peer_done = hello->first_msg;
		event->link = link;
		event->lane = &link->lanes[event->packet->rail];
	}
	if (!event->lane->went_known) {
		event->lane->went_known = true;
		event->lane->next = frame->seq;
		event->lane->acked = hello->first_seq;
	}
	event->lane->deaf = true;
	check_outbound_deaf(link, event->packet->rail);
	if (bcl_before(event->lane->acked, hello->first_seq))
		event->lane->acked = hello->first_seq;
	if (frame->kind == BCL_FRAME_HELLO_ACK) {
		call = call_of(life, frame->card, frame->conn);
		if (!call)
			return;
		pair(link, call->conn, call->life, call->first_msg);
		event->lane->down = false;
		check_inbound_skip(event->lane,
				   call->first_seq[event->packet->rail]);
	}
}

/* HELLO_ACK: the peer offers a connection; it holds once we send by it. */
static void offer(struct check_link *link, struct check_lane *lane,
		  const struct check_hello *hello)
{
	uint32_t conn = hello->conn & ~(uint32_t)RAIL;
	unsigned i;

	for (i = 0; link->answer != conn && i < BCL_RAILS_MAX; i++)
		link->lanes[i].offered = false;
	link->answer = conn;
	link->answer_life = hello->life;
	link->answer_msg = hello->first_msg;
	lane->offered = true;
	lane->settled = hello->first_seq;
}

static void note_call(struct check_life *life, const struct check_hello *hello,
		      int rail)
{
	struct check_call *call = call_of(life, hello->card, hello->conn);

	if (!call) {
		call = calloc(1, sizeof(*call));
		if (!call)
			abort();
		call->card = hello->card;
		call->conn = hello->conn & ~(uint32_t)RAIL;
		call->next = life->calls;
		life->calls = call;
	}
	call->life = hello->life;
	call->first_msg = hello->first_msg;
	call->first_seq[rail] = hello->first_seq;
}

static void came(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	const struct check_hello *hello = &frame->hello;
	struct check_link *link = event->link;

	if (link) {
		link->heard = event->packet->time;
		give_up(link, event);
	}
	if (frame->kind == BCL_FRAME_HELLO)
		note_call(event->life, hello, event->packet->rail);
	if (frame->kind == BCL_FRAME_HELLO_ACK && link &&
	    hello->peer_life == event->life->incarnation &&
	    hello->card == link->card)
		offer(link, event->lane, hello);
	if (link && shakes(frame) &&
	    link->peer == (hello->conn & ~(uint32_t)RAIL))
		check_inbound_skip(event->lane, hello->first_seq);
}

void check_link_frame(struct check_event *event)
{
	if (event->packet->outbound)
		went(event);
	else
		came(event);
}
