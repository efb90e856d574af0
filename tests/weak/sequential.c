/* SPDX-License-Identifier: MIT */
/*
 * The order of seq_cst events: RC11's relation psc, which must have no cycle.
 *
 * `key` numbers the accesses to a word: a < b means that a comes before b by
 * modification order, reads and overwriting (extended coherence order). The
 * write at place p has number 2p, and a read from this write has 2p + 1.
 */
#include <limits.h>
#include <string.h>

#include "sim/fail.h"
#include "tests/weak/graph.h"

enum {
	NODES = 64,
};

struct nodes {
	unsigned n;
	const struct graph_event *event[NODES];
	uint64_t before[NODES]; /* bits: the nodes that come later */
};

static unsigned key(const struct graph *graph, const struct graph_event *event)
{
	return 2 * graph_position(graph, event) + !event->writes;
}

static bool is_fence(const struct graph_event *event)
{
	return event->request.operation >= GRAPH_FENCE;
}

static bool is_light(const struct graph_event *event)
{
	return event->request.operation == GRAPH_LIGHT;
}

static bool is_node(const struct graph_event *event)
{
	const struct graph_request *request = &event->request;
	unsigned order = request->order;

	if (request->operation == GRAPH_COMPARE && !event->writes)
		order = request->order_failed;
	return order == __ATOMIC_SEQ_CST && !request->plain;
}

static bool happens_before(const struct graph_event *a,
			   const struct graph_event *b)
{
	return a != b && graph_includes(&b->happens, a);
}

/* ---- between fences: happens-before, with or without coherence ---- */

static bool fences_ordered(const struct graph *graph,
			   const struct graph_event *a,
			   const struct graph_event *b)
{
	unsigned first[GRAPH_WORDS], i;

	if (happens_before(a, b))
		return true;
	for (i = 0; i < graph_nwords; i++)
		first[i] = UINT_MAX;
	for (i = 0; i < graph->n; i++) {
		const struct graph_event *e = &graph->events[i];

		if (!is_fence(e) && happens_before(a, e) &&
		    key(graph, e) < first[e->request.word])
			first[e->request.word] = key(graph, e);
	}
	for (i = 0; i < graph->n; i++) {
		const struct graph_event *e = &graph->events[i];

		if (!is_fence(e) && happens_before(e, b) &&
		    first[e->request.word] < key(graph, e))
			return true;
	}
	return false;
}

/* ---- with an access: fewer relations count ---- */

static bool program_order(const struct graph_event *a,
			  const struct graph_event *b)
{
	return a->thread == b->thread && a->index < b->index;
}

static bool same_word(const struct graph_event *a, const struct graph_event *b)
{
	return !is_fence(a) && !is_fence(b) &&
	       a->request.word == b->request.word;
}

/* sb to another word; hb; sb from another word */
static bool by_others(const struct graph *graph, const struct graph_event *a,
		      const struct graph_event *b)
{
	for (unsigned i = 0; i < graph->n; i++) {
		const struct graph_event *from = &graph->events[i];

		if (!program_order(a, from) || same_word(a, from))
			continue;
		for (unsigned j = 0; j < graph->n; j++) {
			const struct graph_event *to = &graph->events[j];

			if (program_order(to, b) && !same_word(to, b) &&
			    happens_before(from, to))
				return true;
		}
	}
	return false;
}

/* RC11's relation scb. */
static bool directly(const struct graph *graph, const struct graph_event *a,
		     const struct graph_event *b)
{
	if (program_order(a, b))
		return true;
	if (same_word(a, b) && (happens_before(a, b) ||
				(b->writes && key(graph, a) < key(graph, b))))
		return true;
	return by_others(graph, a, b);
}

/* A fence stands for the events that happen before or after the fence. */
static bool accesses_ordered(const struct graph *graph,
			     const struct graph_event *a,
			     const struct graph_event *b)
{
	for (unsigned i = 0; i < graph->n; i++) {
		const struct graph_event *from = &graph->events[i];

		if (from != a && !(is_fence(a) && happens_before(a, from)))
			continue;
		for (unsigned j = 0; j < graph->n; j++) {
			const struct graph_event *to = &graph->events[j];

			if (to != b && !(is_fence(b) && happens_before(to, b)))
				continue;
			if (from != to && directly(graph, from, to))
				return true;
		}
	}
	return false;
}

/* ---- all together ---- */

static bool ordered(const struct graph *graph, const struct graph_event *a,
		    const struct graph_event *b)
{
	if (!is_fence(a) || !is_fence(b))
		return accesses_ordered(graph, a, b);
	/* a light fence is a partner of heavy ones only */
	if ((is_light(a) && b->request.operation != GRAPH_HEAVY) ||
	    (is_light(b) && a->request.operation != GRAPH_HEAVY))
		return false;
	return fences_ordered(graph, a, b);
}

static bool has_cycle(struct nodes *nodes)
{
	unsigned i, k;

	for (k = 0; k < nodes->n; k++)
		for (i = 0; i < nodes->n; i++)
			if (nodes->before[i] >> k & 1)
				nodes->before[i] |= nodes->before[k];
	for (i = 0; i < nodes->n; i++)
		if (nodes->before[i] >> i & 1)
			return true;
	return false;
}

bool graph_sequential(const struct graph *graph)
{
	struct nodes nodes;
	unsigned i, j;

	nodes.n = 0;
	for (i = 0; i < graph->n; i++) {
		if (!is_node(&graph->events[i]))
			continue;
		sim_check(nodes.n < NODES, "too many events are seq_cst");
		nodes.event[nodes.n++] = &graph->events[i];
	}
	for (i = 0; i < nodes.n; i++) {
		nodes.before[i] = 0;
		for (j = 0; j < nodes.n; j++)
			if (i != j &&
			    ordered(graph, nodes.event[i], nodes.event[j]))
				nodes.before[i] |= UINT64_C(1) << j;
	}
	return nodes.n < 2 || !has_cycle(&nodes);
}
