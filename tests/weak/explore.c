/* SPDX-License-Identifier: MIT */
/*
 * All consistent executions of a test, each once: the algorithm TruSt
 * (Kokologiannakis et al., "Truly stateless, optimal dynamic partial order
 * reduction", 2022). Threads are fibers. A graph on the stack is run again
 * from the start, each read getting the value that the graph says, and then
 * grows by what the threads do next:
 *
 *  a read   takes its value from each write that is consistent
 *  a write  takes each place in modification order that is consistent; and
 *	     each read that it does not depend on may take its value from it.
 *	     What was added after that read, and the write does not depend on,
 *	     is dropped and done again; only if it is what would be done first
 *	     anyway, so that no graph is made twice.
 *
 * Plain memory needs no choices: without a data race there is one value to be
 * read, and a data race ends the search.
 */
#include "tests/weak/explore.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"
#include "sim/fiber.h"

enum {
	STACK = 256 << 10, /* bytes, of a fiber */
	NOT_YET = -1,
};

enum state {
	READY,	 /* to be resumed */
	WAITING, /* for the write that it reads to be done in this run */
	ASKING,	 /* to do what the graph does not have yet */
	BLOCKED, /* weak_block() */
	ENDED,
};

struct thread {
	struct sim_fiber *fiber;
	unsigned number;
	enum state state;
	bool inside, abandoned;
	jmp_buf start;
	int awaited;
	struct graph_request request;
	unsigned next;	  /* index of its next event */
	unsigned reads;	  /* so far, atomic; and of these */
	unsigned tried;	  /* in vain, when it is BLOCKED */
	unsigned unknown; /* plain writes whose value is not known yet */
	int16_t unknowns[GRAPH_WORDS];
};

struct entry {
	struct entry *next;
	unsigned n;
	struct graph_event events[];
};

static struct {
	const struct weak_test *test;
	struct weak_result result;
	unsigned nthreads;
	struct thread threads[WEAK_THREADS];
	struct thread *current; /* NULL: not in a thread */
	struct graph graph;
	bool done[GRAPH_EVENTS];	   /* in this run */
	uint16_t when[GRAPH_EVENTS], time; /* and in which order */
	bool again; /* another word is atomic: all from the beginning */
	struct entry *stack;
	uint64_t run;
} world;

/* ---- the stack of graphs to be explored ---- */

static void push(const struct graph *graph)
{
	size_t size = graph->n * sizeof(struct graph_event);
	struct entry *entry;

	if (!graph_sequential(graph))
		return;
	entry = sim_need(malloc(sizeof(*entry) + size));
	entry->n = graph->n;
	memcpy(entry->events, graph->events, size);
	entry->next = world.stack;
	world.stack = entry;
}

static bool pop(struct graph *graph)
{
	struct entry *entry = world.stack;

	if (!entry)
		return false;
	graph->n = entry->n;
	memcpy(graph->events, entry->events,
	       entry->n * sizeof(struct graph_event));
	world.stack = entry->next;
	free(entry);
	return true;
}

/* ---- inside a thread ---- */

static void leave(struct thread *thread, enum state state)
{
	thread->state = state;
	sim_fiber_pause(thread->fiber);
	if (thread->abandoned)
		longjmp(thread->start, 1);
}

static void live(void *arg)
{
	struct thread *thread = arg;

	for (;;) {
		thread->inside = true;
		if (!setjmp(thread->start)) {
			world.test->thread[thread->number]();
			explore_settle();
		}
		thread->state = ENDED;
		thread->inside = false;
		sim_fiber_pause(thread->fiber);
	}
}

void explore_settle(void)
{
	struct thread *thread = world.current;

	while (thread && thread->unknown) {
		struct graph_event *event =
			&world.graph
				 .events[thread->unknowns[--thread->unknown]];

		event->written = graph_load(&graph_words[event->request.word]);
	}
}

/* Two accesses to a word, one of them plain, must not be at the same time. */
static void check_race(const struct graph_event *event)
{
	unsigned word = event->request.word;

	for (unsigned i = 0; i < world.graph.n; i++) {
		const struct graph_event *other = &world.graph.events[i];

		if (world.done[i] && other->thread != event->thread &&
		    graph_is_on(other, word) &&
		    (other->request.plain || event->request.plain) &&
		    (other->writes || event->writes) &&
		    !graph_includes(&event->happens, other))
			explore_race(event->request.where, other->request.where,
				     other->thread);
	}
}

uint64_t explore_step(const struct graph_request *request)
{
	struct thread *thread = world.current;
	struct graph *graph = &world.graph;
	int number = graph_find(graph, thread->number, thread->next);
	struct graph_event *event;

	if (number < 0) {
		thread->request = *request;
		leave(thread, ASKING);
		number = graph_find(graph, thread->number, thread->next);
	}
	event = &graph->events[number];
	sim_check(event->request.operation == request->operation &&
			  event->request.word == request->word &&
			  event->request.where == request->where,
		  "a thread does not do the same again");
	while (event->from != GRAPH_START && !world.done[event->from]) {
		thread->awaited = event->from;
		leave(thread, WAITING);
	}
	thread->next++;
	thread->reads += event->reads && !request->plain;
	world.done[number] = true;
	world.when[number] = world.time++;
	if (event->reads || event->writes)
		check_race(event);
	if (request->plain && event->writes)
		thread->unknowns[thread->unknown++] = (int16_t)number;
	return event->read;
}

void weak_block(unsigned reads)
{
	world.current->tried = reads;
	explore_settle();
	leave(world.current, BLOCKED);
	abort();
}

unsigned weak_reads(void)
{
	return world.current->reads;
}

int explore_thread(void)
{
	return world.current ? (int)world.current->number : -1;
}

const struct graph_clock *explore_clock(void)
{
	static const struct graph_clock start;
	const struct thread *thread = world.current;

	if (!thread->next)
		return &start;
	return &world.graph
			.events[graph_find(&world.graph, thread->number,
					   thread->next - 1)]
			.happens;
}

unsigned explore_next(void)
{
	return world.current->next;
}

uint64_t explore_run(void)
{
	return world.run;
}

void explore_again(void)
{
	world.again = true;
	if (world.current)
		leave(world.current, BLOCKED);
}

/* ---- failures ---- */

static void failed(void)
{
	world.result.failed = true;
	explore_trace(world.test, &world.graph, world.done, world.when);
	if (world.current)
		leave(world.current, BLOCKED);
}

void weak_fail(const char *file, int line, const char *what)
{
	if (world.result.failed)
		return;
	printf("%s: %s:%d: not so: %s\n", world.test->name, file, line, what);
	failed();
}

void explore_race(const void *where, const void *other, unsigned thread)
{
	if (world.result.failed)
		return;
	printf("%s: data race of threads %d and %u:\n", world.test->name,
	       explore_thread(), thread);
	explore_print_place(where);
	explore_print_place(other);
	failed();
}

/* ---- growth of a graph ---- */

/* Is what was added first anyway: the newest of what was there before, or
 * what `write` depends on? */
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

		/* between a read-modify-write and what it read */
		if (other != event && other->reads && other->writes &&
		    other->place == place &&
		    graph_is_on(other, event->request.word))
			return false;
	}
	return place > graph_newest(graph, event->thread, event->index,
				    event->request.word);
}

/* The read, which takes its value from the write, in each consistent way. */
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

/* The last event writes: who was there already may read it. */
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
		/* it is no write until it is known what it reads */
		graph_unplace(&copy, &copy.events[read]);
		copy.events[read].writes = false;
		graph_restrict(&copy, keep);
		push_redirected(&copy, read);
	}
}

/* True: goes on with this graph, which is the one that is tried first. */
static bool try_last(void)
{
	return graph_sequential(&world.graph);
}

static bool add_write(struct thread *thread)
{
	struct graph *graph = &world.graph;
	unsigned word = thread->request.word, place, last;
	struct graph_event *event =
		graph_add(graph, thread->number, &thread->request, GRAPH_START);

	last = graph_last(graph, word) + 1;
	if (!thread->request.plain) {
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
	return try_last();
}

/* Read from this write. True: consistent. */
static bool add_read_from(struct thread *thread, int from)
{
	struct graph *graph = &world.graph;
	struct graph_event *event =
		graph_add(graph, thread->number, &thread->request, from);
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

static bool add_read(struct thread *thread)
{
	struct graph *graph = &world.graph;
	unsigned word = thread->request.word;
	unsigned index = thread->next, last = graph_last(graph, word);
	unsigned newest = graph_newest(graph, thread->number, index, word);
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
		if (place == last || place < newest || thread->request.plain)
			continue;
		if (add_read_from(thread, write))
			push(graph);
		drop_last(graph);
	}
	add_read_from(thread, final);
	return try_last();
}

static bool grow(struct thread *thread)
{
	if (world.graph.n == GRAPH_EVENTS) {
		printf("%s: an execution does not end\n", world.test->name);
		failed();
		return false;
	}
	if (thread->request.operation == GRAPH_WRITE)
		return add_write(thread);
	if (thread->request.operation < GRAPH_FENCE)
		return add_read(thread);
	graph_add(&world.graph, thread->number, &thread->request, GRAPH_START);
	return try_last();
}

/* ---- a run ---- */

static void resume(struct thread *thread)
{
	world.current = thread;
	sim_fiber_resume(thread->fiber);
	world.current = NULL;
}

static void start(void)
{
	world.run++;
	world.time = 0;
	memset(world.done, 0, sizeof(world.done));
	world.test->set_up();
	for (unsigned i = 0; i < graph_nwords; i++)
		graph_words[i].start = graph_load(&graph_words[i]);
	for (unsigned i = 0; i < world.nthreads; i++) {
		struct thread *thread = &world.threads[i];

		thread->state = READY;
		thread->abandoned = false;
		thread->next = thread->reads = thread->unknown = 0;
	}
}

static void abandon(void)
{
	for (unsigned i = 0; i < world.nthreads; i++) {
		struct thread *thread = &world.threads[i];

		if (!thread->inside)
			continue;
		thread->abandoned = true;
		resume(thread);
	}
}

static bool stopped(void)
{
	return world.result.failed || world.again;
}

/* As far as the graph goes. The thread that goes on; NULL: none. */
static struct thread *replay(void)
{
	bool progress = true;
	unsigned i;

	while (progress) {
		progress = false;
		for (i = 0; i < world.nthreads; i++) {
			struct thread *thread = &world.threads[i];

			if (thread->state == WAITING &&
			    world.done[thread->awaited])
				thread->state = READY;
			if (thread->state != READY)
				continue;
			resume(thread);
			if (stopped())
				return NULL;
			progress = true;
		}
	}
	for (i = 0; i < world.nthreads; i++)
		if (world.threads[i].state == ASKING)
			return &world.threads[i];
	return NULL;
}

/* Another thread has written what this one has not read. */
static bool is_stale(const struct graph_event *read)
{
	const struct graph *graph = &world.graph;

	for (unsigned i = 0; i < graph->n; i++) {
		const struct graph_event *write = &graph->events[i];

		if (write->writes && write->thread != read->thread &&
		    graph_is_on(write, read->request.word) &&
		    write->place > graph_position(graph, read))
			return true;
	}
	return false;
}

/* It waits although all that it looks at is as new as it will ever be. */
static bool waits_for_ever(const struct thread *thread)
{
	const struct graph *graph = &world.graph;
	unsigned left = thread->tried;

	for (unsigned index = thread->next; left && index-- > 0;) {
		const struct graph_event *event = &graph->events[graph_find(
			graph, thread->number, index)];

		if (!event->reads || event->request.plain)
			continue;
		left--;
		if (is_stale(event))
			return false;
	}
	return true;
}

static void end(void)
{
	unsigned i, waiting = 0, for_ever = 0;

	for (i = 0; i < world.nthreads; i++) {
		const struct thread *thread = &world.threads[i];

		sim_check(thread->state != WAITING, "a cycle of reads");
		if (thread->state != BLOCKED)
			continue;
		waiting++;
		for_ever += waits_for_ever(thread);
	}
	world.result.blocked += waiting != 0;
	world.result.executions += !waiting;
	if (waiting && waiting == for_ever) {
		printf("%s: %u threads wait for ever\n", world.test->name,
		       waiting);
		failed();
	}
	if (waiting || !world.test->check)
		return;
	for (i = 0; i < world.graph.n; i++) {
		const struct graph_event *event = &world.graph.events[i];
		unsigned word = event->request.word;

		if (event->writes &&
		    event->place == graph_last(&world.graph, word))
			graph_store(&graph_words[word], event->written);
	}
	world.test->check();
}

static void run(void)
{
	struct thread *thread;

	start();
	while ((thread = replay())) {
		if (!grow(thread)) {
			abandon();
			return;
		}
		thread->state = READY;
	}
	if (!stopped())
		end();
	abandon();
}

/* ---- an exploration ---- */

static void explore_all(void)
{
	world.graph.n = 0;
	world.result = (struct weak_result){ .executions = 0 };
	world.again = false;
	do
		run();
	while (!stopped() && pop(&world.graph));
	while (pop(&world.graph))
		;
}

struct weak_result weak_explore(const struct weak_test *test)
{
	unsigned i;

	world.test = test;
	explore_forget();
	for (i = 0; i < WEAK_THREADS && test->thread[i]; i++) {
		struct thread *thread = &world.threads[i];

		thread->number = i;
		thread->fiber = sim_fiber_new(STACK, live, thread);
	}
	world.nthreads = i;
	do
		explore_all();
	while (world.again);
	for (i = 0; i < world.nthreads; i++)
		sim_fiber_free(world.threads[i].fiber);
	return world.result;
}

int weak_main(const struct weak_test *tests)
{
	for (; tests->name; tests++) {
		struct weak_result result = weak_explore(tests);

		if (result.failed)
			return EXIT_FAILURE;
		sim_check(result.executions, "nobody came to the end");
		printf("%s: %llu executions, %llu blocked\n", tests->name,
		       (unsigned long long)result.executions,
		       (unsigned long long)result.blocked);
	}
	return EXIT_SUCCESS;
}
