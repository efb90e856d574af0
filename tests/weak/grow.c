/* SPDX-License-Identifier: MIT */
#include "tests/weak/grow.h"

#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"

/* The graphs that were left aside, the newest first. */
static struct entry {
	struct entry *next;
	unsigned n;
	struct graph_event events[];
} * stack;

static void push(const struct graph *graph)
{
	size_t size = graph->n * sizeof(struct graph_event);
	struct entry *entry;

	if (!graph_sequential(graph))
		return;
	entry = sim_need(malloc(sizeof(*entry) + size));
	entry->n = graph->n;
	memcpy(entry->events, graph->events, size);
	entry->next = stack;
	stack = entry;
}

bool grow_next(struct graph *graph)
{
	struct entry *entry = stack;

	if (!entry)
		return false;
	graph->n = entry->n;
	memcpy(graph->events, entry->events,
	       entry->n * sizeof(struct graph_event));
	stack = entry->next;
	free(entry);
	return true;
}

/* True if the event took the choice that is tried first: the newest among the
 * earlier events and the events on which `write` depends. */
static bool is_newest(const struct graph *graph, unsigned number,
		      const struct graph_event *write)
{
	const struct graph_event *event = &graph->events[number];
	unsigned position = event->reads ? graph_place_of(graph, event->from)
					 : event->place;

	if (!event->reads && !event->writes)
		return true;
	if (event->reads && event->from > (int)number &&
	    !graph_includes(&write->causes, &graph->events[event->from]))
		return false;
	for (unsigned i = 0; i < graph->n; i++) {
		const struct graph_event *other = &graph->events[i];

		if (other == write || other == event ||
		    (i > number && !graph_includes(&write->causes, other)) ||
		    !graph_is_on(other, event->request.word))
			continue;
		if (other->reads && event->writes && other->from == (int)number)
			return false;
		if (other->writes && other->place > position)
			return false;
	}
	return true;
}

static bool may_write_at(const struct graph *graph,
			 const struct graph_event *event, unsigned place)
{
	for (unsigned i = 0; i < graph->n; i++) {
		const struct graph_event *other = &graph->events[i];

		/* not between a read-modify-write and the write read */
		if (other != event && other->reads && other->writes &&
		    other->place == place &&
		    graph_is_on(other, event->request.word))
			return false;
	}
	return place > graph_newest(graph, event->thread, event->index,
				    event->request.word);
}

/* The last event of the graph is a write. Let the read take its value from the
 * write, in each consistent way, and leave these graphs aside. */
static void push_redirected(struct graph *graph, unsigned read)
{
	const struct graph_event *reader = &graph->events[read];
	unsigned writer = graph->n - 1;
	const struct graph_event *write = &graph->events[writer];
	unsigned word = write->request.word, place, first, last;

	first = 1;
	last = graph_last(graph, word) + 1;
	if (write->reads) {
		if (graph_updater(graph, word, write->from, write))
			return;
		first = last = write->place;
	}
	for (place = first; place <= last; place++) {
		static struct graph copy;

		if (!write->reads && !may_write_at(graph, write, place))
			continue;
		copy.n = graph->n;
		memcpy(copy.events, graph->events,
		       graph->n * sizeof(struct graph_event));
		if (!write->reads)
			graph_place(&copy, &copy.events[writer], place);
		if (place <
		    graph_newest(&copy, reader->thread, reader->index, word))
			continue;
		graph_redirect(&copy, &copy.events[read], (int)writer);
		if (copy.events[read].writes)
			graph_place(&copy, &copy.events[read], place + 1);
		push(&copy);
	}
}

/* The last event is a write, from which earlier reads may take their values. */
static void redirect_reads(const struct graph *graph)
{
	static struct graph copy;
	const struct graph_event *write = &graph->events[graph->n - 1];
	bool keep[GRAPH_EVENTS];
	unsigned read, i;

	for (read = 0; read < graph->n - 1; read++) {
		const struct graph_event *reader = &graph->events[read];
		bool newest = true;

		if (!reader->reads || reader->request.plain ||
		    !graph_is_on(reader, write->request.word) ||
		    graph_includes(&write->causes, reader))
			continue;
		for (i = 0; i < graph->n; i++) {
			keep[i] =
				i <= read || graph_includes(&write->causes,
							    &graph->events[i]);
			if (i == read || !keep[i])
				newest = newest && is_newest(graph, i, write);
		}
		if (!newest)
			continue;
		copy.n = graph->n;
		memcpy(copy.events, graph->events,
		       graph->n * sizeof(struct graph_event));
		/* a read-modify-write has no place before the value is known */
		graph_unplace(&copy, &copy.events[read]);
		copy.events[read].writes = false;
		graph_restrict(&copy, keep);
		push_redirected(&copy, read);
	}
}

static void add_write(struct graph *graph, unsigned thread,
		      const struct graph_request *request)
{
	unsigned word = request->word, place, last;
	struct graph_event *event =
		graph_add(graph, thread, request, GRAPH_START);

	last = graph_last(graph, word) + 1;
	if (!request->plain) {
		redirect_reads(graph);
		for (place = 1; place < last; place++) {
			if (!may_write_at(graph, event, place))
				continue;
			graph_place(graph, event, place);
			push(graph);
			graph_unplace(graph, event);
		}
	}
	graph_place(graph, event, last);
}

/* Add a read from the write `from`. Returns true if consistent. */
static bool add_read_from(struct graph *graph, unsigned thread,
			  const struct graph_request *request, int from)
{
	struct graph_event *event = graph_add(graph, thread, request, from);
	bool taken;

	if (!event->writes)
		return true;
	taken = graph_updater(graph, event->request.word, from, event);
	graph_place(graph, event, graph_place_of(graph, from) + 1);
	redirect_reads(graph);
	return !taken;
}

static void drop_last(struct graph *graph)
{
	graph_unplace(graph, &graph->events[graph->n - 1]);
	graph->n--;
}

static void add_read(struct graph *graph, unsigned thread, unsigned index,
		     const struct graph_request *request)
{
	unsigned word = request->word, last = graph_last(graph, word);
	unsigned newest = graph_newest(graph, thread, index, word);
	int write, n = (int)graph->n, final = GRAPH_START;

	for (write = GRAPH_START; write < n; write++) {
		unsigned place;

		if (write != GRAPH_START &&
		    (!graph->events[write].writes ||
		     !graph_is_on(&graph->events[write], word)))
			continue;
		place = graph_place_of(graph, write);
		if (place == last)
			final = write;
		if (place == last || place < newest || request->plain)
			continue;
		if (add_read_from(graph, thread, request, write))
			push(graph);
		drop_last(graph);
	}
	add_read_from(graph, thread, request, final);
}

bool grow_graph(struct graph *graph, unsigned thread, unsigned index,
		const struct graph_request *request)
{
	if (request->operation == GRAPH_WRITE)
		add_write(graph, thread, request);
	else if (request->operation < GRAPH_FENCE)
		add_read(graph, thread, index, request);
	else
		graph_add(graph, thread, request, GRAPH_START);
	return graph_sequential(graph);
}
