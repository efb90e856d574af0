/* SPDX-License-Identifier: MIT */
/*
 * Maximum flow by Dinitz's algorithm (E. Dinitz, 1970): while a route exists,
 * push as much as fits through the routes that are now the shortest.
 */
#include "sim/bounds/flow.h"

#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"

enum {
	NONE = 0xffffffff,
};

/* A direction of a link; the opposite direction has this number ^ 1. */
struct arc {
	uint32_t to, next; /* next arc from the same place */
	uint64_t room;
};

struct sim_flow {
	uint32_t places, narcs;
	struct arc *arcs;
	uint32_t *first; /* [place]: first arc */
	uint32_t *left;	 /* [place]: first arc that may still lead on */
	uint32_t *hops;	 /* [place], from the source */
	uint32_t *queue;
};

static uint32_t *for_each(uint32_t places)
{
	return sim_need(malloc(places * sizeof(uint32_t)));
}

struct sim_flow *sim_flow_open(uint32_t places)
{
	struct sim_flow *flow = sim_need(calloc(1, sizeof(*flow)));

	flow->places = places;
	flow->first = for_each(places);
	flow->left = for_each(places);
	flow->hops = for_each(places);
	flow->queue = for_each(places);
	memset(flow->first, 0xff, places * sizeof(*flow->first));
	return flow;
}

void sim_flow_close(struct sim_flow *flow)
{
	free(flow->arcs);
	free(flow->first);
	free(flow->left);
	free(flow->hops);
	free(flow->queue);
	free(flow);
}

static void add_arc(struct sim_flow *flow, uint32_t from, uint32_t to,
		    uint64_t room)
{
	flow->arcs = sim_grow(flow->arcs, flow->narcs, sizeof(*flow->arcs));
	flow->arcs[flow->narcs] = (struct arc){ to, flow->first[from], room };
	flow->first[from] = flow->narcs++;
}

void sim_flow_link(struct sim_flow *flow, uint32_t a, uint32_t b,
		   uint64_t capacity)
{
	add_arc(flow, a, b, capacity);
	add_arc(flow, b, a, capacity);
}

/* Computes distances breadth first, over arcs with room. Returns false if `to`
 * cannot be reached. */
static bool measure_hops(struct sim_flow *flow, uint32_t from, uint32_t to)
{
	uint32_t head = 0, tail = 0, i;

	memset(flow->hops, 0xff, flow->places * sizeof(*flow->hops));
	flow->hops[from] = 0;
	flow->queue[tail++] = from;
	while (head < tail) {
		uint32_t at = flow->queue[head++];

		for (i = flow->first[at]; i != NONE; i = flow->arcs[i].next) {
			const struct arc *arc = &flow->arcs[i];

			if (!arc->room || flow->hops[arc->to] != NONE)
				continue;
			flow->hops[arc->to] = flow->hops[at] + 1;
			flow->queue[tail++] = arc->to;
		}
	}
	return flow->hops[to] != NONE;
}

/* Pushes at most `most` from `at` to `to` by all shortest routes. Returns the
 * amount. */
static uint64_t push_flow(struct sim_flow *flow, uint32_t at, uint32_t to,
			  uint64_t most)
{
	uint64_t passed = 0;
	uint32_t *i = &flow->left[at];

	if (at == to)
		return most;
	for (; *i != NONE; *i = flow->arcs[*i].next) {
		struct arc *arc = &flow->arcs[*i], *back = &flow->arcs[*i ^ 1];
		uint64_t room = most - passed, some;

		if (flow->hops[arc->to] != flow->hops[at] + 1)
			continue;
		if (room > arc->room)
			room = arc->room;
		some = room ? push_flow(flow, arc->to, to, room) : 0;
		arc->room -= some;
		back->room += some;
		passed += some;
		if (passed == most)
			break; /* the arc may have room for more */
	}
	return passed;
}

uint64_t sim_flow_most(struct sim_flow *flow, uint32_t from, uint32_t to)
{
	uint64_t all = 0;

	while (measure_hops(flow, from, to)) {
		memcpy(flow->left, flow->first,
		       flow->places * sizeof(*flow->left));
		all += push_flow(flow, from, to, SIM_FLOW_ANY);
	}
	return all;
}
