/* SPDX-License-Identifier: MIT */
/* Moves frames through the links and switches of a network by shortest routes;
 * see fabric.h. */
#include "sim/fabric.h"

#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"

enum {
	PS = 1000,		  /* per ns */
	NO_WAY = SIM_WAY_MAX + 1, /* longer than any route */
	NONE = 0xffffffff,
};

struct link {
	struct sim_link_info info;
	struct sim_cable cable;
	uint64_t free; /* ps: when all frames given to the link have left */
	uint64_t busy; /* ps spent busy, up to `free` */
	uint32_t next; /* next link that begins at the same vertex */
	bool up;
};

/* A link from a vertex to a switch. */
struct way {
	uint32_t link;
	uint32_t number; /* of the switch */
};

struct vertex {
	uint32_t first; /* first link that begins here */
	uint32_t ways;	/* index of the first entry in fabric->ways */
	uint32_t nways;
	uint32_t number; /* among the ports, or among the switches */
	/* of a switch */
	bool is_switch;
	struct sim_switch config;
	/* of a port */
	void (*arrived)(void *arg, struct sim_frame *frame);
	void *arg;
};

struct sim_fabric {
	struct sim_clock *clock;
	struct vertex *vertex;
	struct link *link;
	uint32_t nvertices, nlinks, nports, nswitches;
	struct way *ways; /* entries of a vertex are adjacent */
	uint8_t *hops;	  /* [switch][switch]: distance */
	struct sim_frame *frames;
	bool (*watch)(void *arg, struct sim_frame *frame);
	void *watch_arg;
};

/* ---- wiring ---- */

struct sim_fabric *sim_fabric_open(struct sim_clock *clock)
{
	struct sim_fabric *fabric = sim_need(calloc(1, sizeof(*fabric)));

	fabric->clock = clock;
	return fabric;
}

void sim_fabric_close(struct sim_fabric *fabric)
{
	while (fabric->frames) {
		sim_clock_clear(fabric->clock, &fabric->frames->event);
		sim_frame_free(fabric->frames);
	}
	free(fabric->vertex);
	free(fabric->link);
	free(fabric->ways);
	free(fabric->hops);
	free(fabric);
}

static struct vertex *add_vertex(struct sim_fabric *fabric)
{
	struct vertex *vertex;

	fabric->vertex = sim_grow(fabric->vertex, fabric->nvertices,
				  sizeof(*fabric->vertex));
	vertex = &fabric->vertex[fabric->nvertices++];
	*vertex = (struct vertex){ .first = NONE };
	return vertex;
}

uint32_t sim_fabric_port(struct sim_fabric *fabric,
			 void (*arrived)(void *arg, struct sim_frame *frame),
			 void *arg)
{
	struct vertex *port = add_vertex(fabric);

	port->number = fabric->nports++;
	port->arrived = arrived;
	port->arg = arg;
	return fabric->nvertices - 1;
}

uint32_t sim_fabric_switch(struct sim_fabric *fabric,
			   const struct sim_switch *config)
{
	struct vertex *vertex = add_vertex(fabric);

	vertex->number = fabric->nswitches++;
	vertex->is_switch = true;
	vertex->config = *config;
	return fabric->nvertices - 1;
}

static void add_link(struct sim_fabric *fabric, uint32_t from, uint32_t to,
		     const struct sim_cable *cable)
{
	struct vertex *vertex = &fabric->vertex[from];
	uint32_t number = fabric->nlinks++, *last = &vertex->first;

	fabric->link = sim_grow(fabric->link, number, sizeof(*fabric->link));
	sim_check(vertex->is_switch || *last == NONE,
		  "a second cable at a card's port");
	while (*last != NONE)
		last = &fabric->link[*last].next;
	*last = number;
	fabric->link[number] = (struct link){
		.info = { .from = from, .to = to },
		.cable = *cable,
		.next = NONE,
		.up = true,
	};
}

uint32_t sim_fabric_wire(struct sim_fabric *fabric, uint32_t a, uint32_t b,
			 const struct sim_cable *cable)
{
	add_link(fabric, a, b, cable);
	add_link(fabric, b, a, cable);
	return fabric->nlinks - 2;
}

static const struct vertex *end_of(const struct sim_fabric *fabric,
				   const struct link *link)
{
	return &fabric->vertex[link->info.to];
}

static uint8_t *hops_to(const struct sim_fabric *fabric,
			const struct vertex *to)
{
	return fabric->hops + (size_t)to->number * fabric->nswitches;
}

/* Computes the distances of all switches to `to`, breadth first. Returns false
 * if a switch is too far away. */
static bool measure_hops(struct sim_fabric *fabric, uint32_t to,
			 uint32_t *queue)
{
	const struct vertex *vertex = &fabric->vertex[to];
	uint8_t *hops = hops_to(fabric, vertex);
	uint32_t head = 0, tail = 0, i;

	hops[vertex->number] = 0;
	queue[tail++] = to;
	while (head < tail) {
		vertex = &fabric->vertex[queue[head++]];
		for (i = vertex->first; i != NONE; i = fabric->link[i].next) {
			const struct vertex *other =
				end_of(fabric, &fabric->link[i]);

			if (!other->is_switch || hops[other->number] != NO_WAY)
				continue;
			if (hops[vertex->number] + 1 == SIM_WAY_MAX)
				return false;
			hops[other->number] = hops[vertex->number] + 1;
			queue[tail++] = fabric->link[i].info.to;
		}
	}
	return true;
}

static void list_ways(struct sim_fabric *fabric)
{
	struct vertex *vertex;
	uint32_t n = 0, i;

	fabric->ways = sim_need(realloc(
		fabric->ways, (fabric->nlinks + 1) * sizeof(*fabric->ways)));
	for (vertex = fabric->vertex;
	     vertex < fabric->vertex + fabric->nvertices; vertex++) {
		vertex->ways = n;
		for (i = vertex->first; i != NONE; i = fabric->link[i].next) {
			const struct vertex *end =
				end_of(fabric, &fabric->link[i]);

			if (end->is_switch)
				fabric->ways[n++] =
					(struct way){ i, end->number };
		}
		vertex->nways = n - vertex->ways;
	}
}

/* Only distances to switches with ports are needed. */
bool sim_fabric_route(struct sim_fabric *fabric)
{
	size_t size = (size_t)fabric->nswitches * fabric->nswitches;
	bool good = true;
	uint32_t *queue, i;

	if (!fabric->nswitches)
		return true;
	list_ways(fabric);
	queue = sim_need(malloc(fabric->nswitches * sizeof(*queue)));
	fabric->hops = sim_need(realloc(fabric->hops, size));
	memset(fabric->hops, NO_WAY, size);
	for (i = 0; good && i < fabric->nlinks; i++) {
		const struct link *link = &fabric->link[i];
		const struct vertex *end = end_of(fabric, link);

		if (!fabric->vertex[link->info.from].is_switch &&
		    end->is_switch && hops_to(fabric, end)[end->number])
			good = measure_hops(fabric, link->info.to, queue);
	}
	free(queue);
	return good;
}

/* ---- frames ---- */

struct sim_frame *sim_frame_new(struct sim_fabric *fabric, uint32_t from,
				uint32_t to, uint32_t length)
{
	struct sim_frame *frame = sim_need(malloc(sizeof(*frame) + length));

	*frame = (struct sim_frame){
		.fabric = fabric,
		.next = fabric->frames,
		.place = &fabric->frames,
		.from = from,
		.to = to,
		.spread = fabric->vertex[to].number,
		.length = length,
	};
	if (frame->next)
		frame->next->place = &frame->next;
	fabric->frames = frame;
	return frame;
}

struct sim_frame *sim_frame_copy(const struct sim_frame *frame)
{
	struct sim_frame *copy = sim_frame_new(frame->fabric, frame->from,
					       frame->to, frame->length);
	struct sim_frame *next = copy->next, **place = copy->place;

	memcpy(copy, frame, sizeof(*frame) + frame->length);
	copy->event = (struct sim_event){ 0 };
	copy->next = next;
	copy->place = place;
	return copy;
}

void sim_frame_free(struct sim_frame *frame)
{
	*frame->place = frame->next;
	if (frame->next)
		frame->next->place = frame->place;
	free(frame);
}

/* Picks a link of a shortest route to frame->to. Returns NULL if there is no
 * route. */
static struct link *choose_link(struct sim_fabric *fabric,
				struct sim_frame *frame)
{
	const struct vertex *vertex = &fabric->vertex[frame->at], *home;
	uint32_t last = fabric->vertex[frame->to].first;
	const struct way *way, *end;
	unsigned least = NO_WAY, same = 0, turn;
	const uint8_t *hops;

	if (last == NONE)
		return NULL;
	/* last hop: a port has a single link */
	if (fabric->link[last].info.to == frame->at)
		return &fabric->link[last ^ 1];
	home = end_of(fabric, &fabric->link[last]);
	if (!home->is_switch)
		return NULL;
	hops = hops_to(fabric, home);
	end = fabric->ways + vertex->ways + vertex->nways;
	for (way = end - vertex->nways; way < end; way++) {
		if (hops[way->number] < least) {
			least = hops[way->number];
			same = 0;
		}
		same += hops[way->number] == least;
	}
	if (least == NO_WAY)
		return NULL;
	turn = frame->spread % same;
	frame->spread /= same;
	for (way = end - vertex->nways;; way++)
		if (hops[way->number] == least && turn-- == 0)
			return &fabric->link[way->link];
}

void sim_fabric_follow(struct sim_fabric *fabric, uint32_t from, uint32_t to,
		       uint32_t *counts)
{
	struct sim_frame frame = {
		.at = from,
		.to = to,
		.spread = fabric->vertex[to].number,
	};
	const struct link *link;

	while (frame.at != to && (link = choose_link(fabric, &frame))) {
		counts[link - fabric->link]++;
		frame.at = link->info.to;
	}
}

/* The head of the frame is at a vertex: sends the frame on by the next link. */
static void pass_on(struct sim_frame *frame)
{
	struct sim_fabric *fabric = frame->fabric;
	const struct vertex *vertex = &fabric->vertex[frame->at], *end;
	uint64_t now = fabric->clock->now * PS, start, head, takes, queue;
	struct link *link = choose_link(fabric, frame);

	if (!link) {
		fabric->link[vertex->first].info.lost++;
		sim_frame_free(frame);
		return;
	}
	start = link->free > now ? link->free : now;
	queue = (start - now) / link->cable.ps_per_byte;
	if (!link->up || (vertex->is_switch && queue > vertex->config.queue)) {
		link->info.lost++;
		sim_frame_free(frame);
		return;
	}
	if (link->info.queue < queue)
		link->info.queue = queue;
	takes = frame->length * link->cable.ps_per_byte;
	/* The last byte cannot leave before it has arrived. */
	if (start + takes < frame->tail)
		start = frame->tail - takes;
	link->free = start + takes;
	link->info.frames++;
	link->info.bytes += frame->length;
	link->busy += takes;

	frame->at = link->info.to;
	end = &fabric->vertex[frame->at];
	head = start + (link->cable.latency + end->config.latency) * PS;
	frame->tail = head + takes;
	if (!end->config.cut_through)
		head = frame->tail;
	sim_clock_set(fabric->clock, &frame->event, (head + PS - 1) / PS);
}

static void frame_comes(struct sim_event *event)
{
	struct sim_frame *frame = (struct sim_frame *)event;
	const struct sim_fabric *fabric = frame->fabric;
	const struct vertex *vertex = &fabric->vertex[frame->at];

	if (vertex->is_switch) {
		pass_on(frame);
		return;
	}
	vertex->arrived(vertex->arg, frame);
}

void sim_fabric_watch(struct sim_fabric *fabric,
		      bool (*watch)(void *arg, struct sim_frame *frame),
		      void *arg)
{
	fabric->watch = watch;
	fabric->watch_arg = arg;
}

void sim_fabric_send(struct sim_frame *frame)
{
	const struct sim_fabric *fabric = frame->fabric;

	if (!fabric->watch || fabric->watch(fabric->watch_arg, frame))
		sim_fabric_enter(frame);
}

void sim_fabric_enter(struct sim_frame *frame)
{
	frame->event.call = frame_comes;
	frame->at = frame->from;
	frame->tail = 0;
	pass_on(frame);
}

uint64_t sim_fabric_free_at(const struct sim_fabric *fabric, uint32_t port)
{
	uint64_t free = fabric->link[fabric->vertex[port].first].free;

	return (free + PS - 1) / PS;
}

void sim_fabric_link(struct sim_fabric *fabric, uint32_t link, bool up)
{
	fabric->link[link].up = up;
}

uint32_t sim_fabric_port_link(const struct sim_fabric *fabric, uint32_t port)
{
	return fabric->vertex[port].first;
}

uint32_t sim_fabric_links(const struct sim_fabric *fabric)
{
	return fabric->nlinks;
}

void sim_fabric_link_info(const struct sim_fabric *fabric, uint32_t link,
			  struct sim_link_info *info)
{
	const struct link *of = &fabric->link[link];
	uint64_t now = fabric->clock->now * PS;
	uint64_t ahead = of->free > now ? of->free - now : 0;

	*info = of->info;
	info->busy = of->busy > ahead ? (of->busy - ahead) / PS : 0;
}
