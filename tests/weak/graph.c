/* SPDX-License-Identifier: MIT */
#include "tests/weak/graph.h"

#include <string.h>

struct graph_word graph_words[GRAPH_WORDS];
unsigned graph_nwords;

/* ---- values ---- */

uint64_t graph_load(const struct graph_word *word)
{
	uint64_t value = 0;

	memcpy(&value, word->address, word->size);
	return value;
}

void graph_store(const struct graph_word *word, uint64_t value)
{
	memcpy(word->address, &value, word->size);
}

bool graph_apply(const struct graph_request *request, unsigned size,
		 uint64_t value, uint64_t *result)
{
	uint64_t operand = request->operand;

	switch ((enum graph_operation)request->operation) {
	case GRAPH_WRITE:
	case GRAPH_SWAP:
		value = operand;
		break;
	case GRAPH_ADD:
		value += operand;
		break;
	case GRAPH_SUB:
		value -= operand;
		break;
	case GRAPH_AND:
		value &= operand;
		break;
	case GRAPH_OR:
		value |= operand;
		break;
	case GRAPH_XOR:
		value ^= operand;
		break;
	case GRAPH_COMPARE:
		if (value != request->expected)
			return false;
		value = operand;
		break;
	default:
		return false;
	}
	*result = size < 8 ? value & ((UINT64_C(1) << 8 * size) - 1) : value;
	return true;
}

/* ---- clocks ---- */

static void join(struct graph_clock *clock, const struct graph_clock *other)
{
	for (unsigned t = 0; t < WEAK_THREADS; t++)
		if (clock->of[t] < other->of[t])
			clock->of[t] = other->of[t];
}

static bool acquires(unsigned order)
{
	return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

static bool releases(unsigned order)
{
	return order == __ATOMIC_RELEASE || order >= __ATOMIC_ACQ_REL;
}

/* Derive the clocks from the previous event of the thread and from the write
 * that is read. */
static void set_clocks(const struct graph *graph, struct graph_event *event)
{
	static const struct graph_event first;
	const struct graph_request *request = &event->request;
	const struct graph_event *before = &first, *write = &first;
	bool fence = request->operation == GRAPH_FENCE;
	unsigned order = request->order;

	if (event->index)
		before = &graph->events[graph_find(graph, event->thread,
						   event->index - 1u)];
	if (event->reads && event->from != GRAPH_START)
		write = &graph->events[event->from];
	if (request->operation == GRAPH_COMPARE && !event->writes)
		order = request->order_failed;
	if (request->plain)
		order = __ATOMIC_RELAXED;

	event->causes = before->causes;
	event->happens = before->happens;
	event->relaxed = before->relaxed;
	event->fenced = before->fenced;
	event->causes.of[event->thread] = event->index + 1;
	event->happens.of[event->thread] = event->index + 1;
	join(&event->causes, &write->causes);
	if (event->reads && !request->plain) {
		join(&event->relaxed, &write->sync);
		if (acquires(order))
			join(&event->happens, &write->sync);
	}
	if (fence && acquires(order))
		join(&event->happens, &event->relaxed);
	if (fence && releases(order))
		event->fenced = event->happens;
	memset(&event->sync, 0, sizeof(event->sync));
	if (!event->writes || request->plain)
		return;
	event->sync = releases(order) ? event->happens : event->fenced;
	if (event->reads) /* the release sequence goes on */
		join(&event->sync, &write->sync);
}

/* ---- events ---- */

int graph_find(const struct graph *graph, unsigned thread, unsigned index)
{
	for (unsigned i = 0; i < graph->n; i++)
		if (graph->events[i].thread == thread &&
		    graph->events[i].index == index)
			return (int)i;
	return -1;
}

static uint64_t value_of(const struct graph *graph, unsigned word, int write)
{
	return write == GRAPH_START ? graph_words[word].start
				    : graph->events[write].written;
}

void graph_redirect(struct graph *graph, struct graph_event *event, int from)
{
	const struct graph_request *request = &event->request;
	enum graph_operation operation = request->operation;
	unsigned word = request->word;

	event->from = (int16_t)from;
	event->place = 0;
	event->reads = operation <= GRAPH_COMPARE && operation != GRAPH_WRITE;
	event->read = event->reads ? value_of(graph, word, from) : 0;
	event->written = 0;
	event->writes = graph_apply(request, graph_words[word].size,
				    event->read, &event->written);
	set_clocks(graph, event);
}

struct graph_event *graph_add(struct graph *graph, unsigned thread,
			      const struct graph_request *request, int from)
{
	struct graph_event *event = &graph->events[graph->n];
	unsigned index = 0, i;

	for (i = 0; i < graph->n; i++)
		index += graph->events[i].thread == thread;
	*event = (struct graph_event){
		.request = *request,
		.thread = (uint8_t)thread,
		.index = (uint8_t)index,
	};
	graph_redirect(graph, event, from);
	graph->n++;
	return event;
}

void graph_place(struct graph *graph, struct graph_event *event, unsigned place)
{
	for (unsigned i = 0; i < graph->n; i++) {
		struct graph_event *other = &graph->events[i];

		if (other->writes && graph_is_on(other, event->request.word) &&
		    other->place >= place)
			other->place++;
	}
	event->place = (uint16_t)place;
}

void graph_unplace(struct graph *graph, struct graph_event *event)
{
	if (!event->place)
		return;
	for (unsigned i = 0; i < graph->n; i++) {
		struct graph_event *other = &graph->events[i];

		if (other->writes && graph_is_on(other, event->request.word) &&
		    other->place > event->place)
			other->place--;
	}
	event->place = 0;
}

void graph_restrict(struct graph *graph, const bool *keep)
{
	int16_t number[GRAPH_EVENTS];
	unsigned i, n = 0;

	for (i = 0; i < graph->n; i++)
		if (keep[i])
			number[i] = (int16_t)n++;
		else
			graph_unplace(graph, &graph->events[i]);
	for (i = 0, n = 0; i < graph->n; i++)
		if (keep[i])
			graph->events[n++] = graph->events[i];
	graph->n = n;
	for (i = 0; i < n; i++)
		if (graph->events[i].from != GRAPH_START)
			graph->events[i].from = number[graph->events[i].from];
}

/* ---- places ---- */

unsigned graph_place_of(const struct graph *graph, int write)
{
	return write == GRAPH_START ? 0 : graph->events[write].place;
}

unsigned graph_position(const struct graph *graph,
			const struct graph_event *event)
{
	return event->writes ? event->place
			     : graph_place_of(graph, event->from);
}

unsigned graph_last(const struct graph *graph, unsigned word)
{
	unsigned last = 0, i;

	for (i = 0; i < graph->n; i++)
		if (graph->events[i].writes &&
		    graph_is_on(&graph->events[i], word) &&
		    graph->events[i].place > last)
			last = graph->events[i].place;
	return last;
}

unsigned graph_newest(const struct graph *graph, unsigned thread,
		      unsigned index, unsigned word)
{
	const struct graph_clock *known;
	unsigned newest = 0, i;

	if (!index)
		return 0;
	known = &graph->events[graph_find(graph, thread, index - 1)].happens;
	for (i = 0; i < graph->n; i++) {
		const struct graph_event *event = &graph->events[i];

		if (graph_is_on(event, word) && graph_includes(known, event) &&
		    graph_position(graph, event) > newest)
			newest = graph_position(graph, event);
	}
	return newest;
}

const struct graph_event *graph_updater(const struct graph *graph,
					unsigned word, int write,
					const struct graph_event * not )
{
	for (unsigned i = 0; i < graph->n; i++) {
		const struct graph_event *event = &graph->events[i];

		if (event != not &&event->reads && event->writes &&
		    graph_is_on(event, word) && event->from == write)
			return event;
	}
	return NULL;
}
