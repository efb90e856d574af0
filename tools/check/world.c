/* SPDX-License-Identifier: MIT */
/* Lives of cards with their ports and nodes, and how records change them. */
#include "tools/check/world.h"

#include <stdlib.h>

#include "tools/check/flow.h"

enum {
	REQUESTS_MAX = 65536,
};

static void *allocate_zeroed(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		abort();
	return memory;
}

static struct check_life **life_bucket(struct check_world *world, uint64_t card)
{
	return &world->lives[(card ^ card >> 32) % CHECK_LIVES];
}

struct check_life *check_life_find(const struct check_world *world,
				   uint64_t card)
{
	struct check_life *life =
		world->lives[(card ^ card >> 32) % CHECK_LIVES];

	while (life && life->card != card)
		life = life->next;
	return life;
}

static void port_free(struct check_port *port)
{
	free(port->requests);
	free(port);
}

static void life_free(struct check_life *life)
{
	struct check_port *port;
	struct check_node *node;
	struct check_call *call;

	check_links_free(life);
	while ((port = life->ports)) {
		life->ports = port->next;
		port_free(port);
	}
	while ((node = life->nodes)) {
		life->nodes = node->next;
		free(node);
	}
	while ((call = life->calls)) {
		life->calls = call->next;
		free(call);
	}
	if (life->former)
		life_free(life->former);
	free(life);
}

/* Begins a new life of the card. Of the former lives only the last one
 * is kept. */
static struct check_life *begin_life(struct check_world *world, uint64_t card)
{
	struct check_life *life = allocate_zeroed(sizeof(*life)), **at;

	life->card = card;
	at = life_bucket(world, card);
	while (*at && (*at)->card != card)
		at = &(*at)->next;
	life->former = *at;
	if (*at) {
		life->next = (*at)->next;
		(*at)->next = NULL;
		if ((*at)->former)
			life_free((*at)->former);
		(*at)->former = NULL;
	}
	*at = life;
	return life;
}

void check_world_open(struct check_world *world)
{
	world->flows = check_flows_open();
	world->seals = check_seals_open();
}

void check_world_close(struct check_world *world)
{
	struct check_life *life;
	unsigned i;

	for (i = 0; i < CHECK_LIVES; i++)
		while ((life = world->lives[i])) {
			world->lives[i] = life->next;
			life_free(life);
		}
	check_flows_close(world->flows);
	check_seals_close(world->seals);
}

struct check_port *check_port_find(const struct check_life *life,
				   unsigned number)
{
	struct check_port *port = life->ports;

	while (port && port->number != number)
		port = port->next;
	return port;
}

struct check_node *check_node(struct check_life *life, uint64_t card)
{
	struct check_node *node = life->nodes;

	while (node && node->card != card)
		node = node->next;
	if (node)
		return node;
	node = allocate_zeroed(sizeof(*node));
	node->card = card;
	node->next = life->nodes;
	life->nodes = node;
	return node;
}

/* ---- the objects that a packet concerns ---- */

static void find_record(struct check_event *event)
{
	const struct bcl_record *record = &event->record;
	struct check_port *port;

	if (!record->port)
		return;
	port = check_port_find(event->life, record->port);
	event->port = port;
	if (!port)
		return;
	if (record->kind == BCL_RECORD_COMPLETED &&
	    record->number < port->nrequests &&
	    port->requests[record->number].used)
		event->request = &port->requests[record->number];
	if (record->kind == BCL_RECORD_DELIVERED)
		check_inbound_match(event);
}

static const char *decode_frame(struct check_world *world,
				const struct check_packet *packet)
{
	struct check_frame *frame = &world->frame;
	const char *bad =
		check_frame_decode(packet->bytes, packet->length, frame);

	if (bad && !frame->torn)
		return bad;
	if (!packet->outbound && check_is_sealed(frame->kind) &&
	    frame->card != packet->card)
		bad = "it is for another card";
	else if (!check_seals_right(world->seals, frame))
		bad = "its header's checksum is wrong";
	else
		return bad;
	frame->torn = false;
	return bad;
}

void check_world_find(struct check_world *world,
		      const struct check_packet *packet,
		      struct check_event *event)
{
	struct check_life *life = check_life_find(world, packet->card);

	*event = (struct check_event){
		.world = world,
		.packet = packet,
		.host = packet->rail == CHECK_HOST,
	};
	world->packets++;
	if (!life)
		life = begin_life(world, packet->card);
	if (event->host) {
		world->records++;
		if (!bcl_record_decode(packet->bytes, packet->length,
				       &event->record))
			event->bad = "not a record of this version";
		else if (event->record.kind == BCL_RECORD_OPENED &&
			 (life->over || life->incarnation))
			life = begin_life(world, packet->card);
	} else {
		world->frames++;
		event->frame = &world->frame;
		event->bad = decode_frame(world, packet);
		world->damaged += event->bad && !packet->outbound;
		/* A card trusts the header of a DATA frame whose payload alone
		 * is damaged. */
		if (event->frame->torn && !packet->outbound &&
		    event->frame->kind == BCL_FRAME_DATA)
			event->bad = NULL;
	}
	life->last = packet->time;
	event->life = life;
	if (event->bad)
		return;
	if (event->host)
		find_record(event);
	else
		check_link_find(event);
}

/* ---- records ---- */

static void open_port(struct check_life *life, const struct bcl_record *record)
{
	struct check_port *port = allocate_zeroed(sizeof(*port));

	port->number = record->port;
	port->nrequests =
		record->number < REQUESTS_MAX ? record->number : REQUESTS_MAX;
	port->blocks.n = record->length;
	port->longs.n = record->arg32;
	port->requests = allocate_zeroed((port->nrequests + !port->nrequests) *
					 sizeof(*port->requests));
	port->next = life->ports;
	life->ports = port;
}

/* The flows of the port end as well. */
static void close_port(struct check_life *life, struct check_port *port)
{
	struct check_port **at = &life->ports;
	struct check_chain *chain;
	struct check_link *link;
	unsigned i;

	for (link = life->links; link; link = link->next) {
		for (chain = link->chains; chain; chain = chain->next)
			if (chain->src_port == port->number)
				chain->last = 0;
		for (i = 0; link->out && i < CHECK_MEMORY; i++)
			if (link->out[i].port == port)
				link->out[i].port = NULL;
	}
	while (*at != port)
		at = &(*at)->next;
	*at = port->next;
	port_free(port);
}

static void note_request(struct check_event *event)
{
	const struct bcl_record *record = &event->record;
	struct check_life *life = event->life;
	struct check_request *request;
	struct check_lane *lane;
	unsigned i;

	if (!event->port || record->number >= event->port->nrequests)
		return;
	request = &event->port->requests[record->number];
	*request = (struct check_request){
		.used = true,
		.asked = *record,
		.order = ++life->orders,
		.time = event->packet->time,
		.alone = true,
		.place = { event->packet->file, event->packet->number },
		.link = check_link_to(life, record->card),
	};
	for (i = 0; i < event->port->nrequests; i++) {
		const struct check_request *other = &event->port->requests[i];

		if (other->used && other != request &&
		    other->asked.card == record->card)
			request->alone = false;
	}
	for (i = 0; request->link && i < BCL_RAILS_MAX; i++) {
		lane = &request->link->lanes[i];
		request->fresh[i] = lane->fresh;
	}
	event->port->outstanding++;
}

static void node_changed(struct check_life *life,
			 const struct bcl_record *record)
{
	struct check_node *node = check_node(life, record->card);

	if (record->number == BCL_NODE_LOST ||
	    record->number == BCL_NODE_ISOLATED) {
		node->lost = record->status;
		node->owed.number = 0;
	}
}

void check_life_over(struct check_life *life)
{
	life->over = true;
	while (life->ports)
		close_port(life, life->ports);
}

static void note_delivery(struct check_event *event)
{
	struct check_ring *ring;

	if (event->arrival && event->match != CHECK_AGAIN) {
		event->arrival->delivered = true;
		check_arrival_pass(event->carrier, event->arrival);
	}
	if (!event->port)
		return;
	if (event->record.op == BCL_CQ_SYSTEM ||
	    event->record.op == BCL_CQ_NOTIFY) {
		ring = check_ring(event->port,
				  event->record.op == BCL_CQ_SYSTEM,
				  event->record.length);
		ring->taken++;
		ring->freed = event->record.freed;
	}
}

void check_world_record(struct check_event *event)
{
	const struct bcl_record *record = &event->record;
	struct check_life *life = event->life;

	life->records = true;
	switch ((enum bcl_record_kind)record->kind) {
	case BCL_RECORD_OPENED:
		life->incarnation = record->value;
		life->memory = record->length;
		life->timeout = (uint64_t)record->target * 1000000;
		break;
	case BCL_RECORD_CLOSED:
	case BCL_RECORD_CRASHED:
		check_life_over(life);
		break;
	case BCL_RECORD_PORT_OPENED:
		open_port(life, record);
		break;
	case BCL_RECORD_PORT_CLOSED:
		if (event->port)
			close_port(life, event->port);
		break;
	case BCL_RECORD_REQUEST:
		note_request(event);
		break;
	case BCL_RECORD_COMPLETED:
		if (event->request) {
			event->request->used = false;
			event->port->outstanding--;
		}
		break;
	case BCL_RECORD_DELIVERED:
		note_delivery(event);
		break;
	case BCL_RECORD_RING:
		if (event->port)
			event->port->blocks.freed = record->freed;
		break;
	case BCL_RECORD_NODE:
		node_changed(life, record);
		break;
	case BCL_RECORD_MEMORY:
		break;
	case BCL_RECORD_UNSEEN:
		if (event->port)
			event->port->gap = true;
		break;
	}
}
