/* SPDX-License-Identifier: MIT */
/* Connections, as the handshakes in a trace create them. */
#include <stdlib.h>
#include <string.h>

#include "tools/check/world.h"

enum {
	RAIL = 3, /* bits of a connection id that hold the rail */
};

static bool is_handshake(const struct check_frame *frame)
{
	return frame->kind == BCL_FRAME_HELLO ||
	       frame->kind == BCL_FRAME_HELLO_ACK;
}

/* A link of this life, or else of the former life, to which the card must not
 * listen. */
static struct check_link *own_link(const struct check_life *life, uint32_t id)
{
	struct check_link *link = life->links;

	while (link && link->id != (id & ~(uint32_t)RAIL))
		link = link->next;
	return link || !life->former ? link : own_link(life->former, id);
}

struct check_link *check_link_to(const struct check_life *life, uint64_t card)
{
	struct check_link *link = life->links;

	while (link && (link->card != card || !link->peer))
		link = link->next;
	return link;
}

static struct check_link *make_link(struct check_life *life, uint64_t card,
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

/* The peer's offer of the connection. Returns NULL if no HELLO_ACK has offered
 * it. */
static struct check_offer *offer_of(struct check_link *link, uint32_t conn)
{
	unsigned i;

	conn &= ~(uint32_t)RAIL;
	for (i = 0; i < CHECK_OFFERS; i++)
		if (conn && link->offers[i].conn == conn)
			return &link->offers[i];
	return NULL;
}

/* A link to the connection `peer` of a card: paired already, or with
 * an offer. */
static struct check_link *link_towards(const struct check_life *life,
				       uint64_t card, uint32_t peer)
{
	struct check_link *link;

	for (link = life->links; link; link = link->next)
		if (link->card == card &&
		    (link->peer == (peer & ~(uint32_t)RAIL) ||
		     offer_of(link, peer)))
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

/* Pairs the link with connection `peer` of the other card. */
static void pair_link(struct check_link *link, uint32_t peer, uint64_t life,
		      uint32_t first_msg)
{
	const struct check_offer *offer = offer_of(link, peer);
	struct check_link **at = &link->life->links;
	unsigned i;

	peer &= ~(uint32_t)RAIL;
	if (link->peer == peer && link->peer_incarnation == life)
		return;
	for (i = 0; i < BCL_RAILS_MAX; i++) {
		struct check_lane *lane = &link->lanes[i];

		lane->came_known = lane->told_known = false;
		if (offer && offer->by[i])
			check_inbound_skip(lane, offer->first_seq[i]);
	}
	link->peer = peer;
	link->peer_incarnation = life;
	check_inbound_start(link, first_msg);
	/* The youngest paired link goes to the front of the list. */
	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	link->next = link->life->links;
	link->life->links = link;
}

/* Our card accepts an offered connection by sending on it. */
static void accept_offer(struct check_link *link, uint32_t conn)
{
	const struct check_offer *offer = offer_of(link, conn);

	if (offer)
		pair_link(link, conn, offer->life, offer->first_msg);
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
			event->link = own_link(life, frame->hello.conn);
		else if (frame->kind == BCL_FRAME_HELLO_ACK)
			event->link = own_link(life, frame->conn);
		else
			event->link = link_towards(life, frame->hello.card,
						   frame->hello.conn);
		break;
	case BCL_FRAME_RESET:
	case BCL_FRAME_REFUSE:
		return;
	default:
		event->link =
			event->packet->outbound
				? link_towards(life, frame->card, frame->conn)
				: own_link(life, frame->conn);
	}
	if (!event->link)
		return;
	if (event->packet->outbound && !is_handshake(frame))
		accept_offer(event->link, frame->conn);
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

/* RAIL_DOWN names a rail by the id in frames to the rail: by the id of the peer
 * if we give the rail up, by ours if the peer does. */
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

static void frame_went(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	const struct check_hello *hello = &frame->hello;
	struct check_life *life = event->life;
	struct check_link *link = event->link;
	const struct check_call *call;

	if (!is_handshake(frame)) {
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
		link = make_link(life, frame->card, hello->conn);
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
		pair_link(link, call->conn, call->life, call->first_msg);
		event->lane->down = false;
		check_inbound_skip(event->lane,
				   call->first_seq[event->packet->rail]);
	}
}

/* HELLO_ACK: the peer offers a connection. The offer holds once we send on the
 * connection. */
static void note_offer(struct check_link *link, const struct check_hello *hello,
		       int rail)
{
	struct check_offer *offer = offer_of(link, hello->conn);

	if (!offer) {
		offer = link->offers;
		memmove(offer + 1, offer, (CHECK_OFFERS - 1) * sizeof(*offer));
		memset(offer, 0, sizeof(*offer));
		offer->conn = hello->conn & ~(uint32_t)RAIL;
	}
	offer->life = hello->life;
	offer->first_msg = hello->first_msg;
	offer->by[rail] = true;
	offer->first_seq[rail] = hello->first_seq;
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

static void frame_came(struct check_event *event)
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
	    hello->peer_incarnation == event->life->incarnation &&
	    hello->card == link->card)
		note_offer(link, hello, event->packet->rail);
	if (link && frame->greets &&
	    link->peer == (hello->conn & ~(uint32_t)RAIL))
		check_inbound_skip(event->lane, hello->first_seq);
}

void check_link_frame(struct check_event *event)
{
	if (event->packet->outbound)
		frame_went(event);
	else
		frame_came(event);
}
