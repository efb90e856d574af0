/* SPDX-License-Identifier: MIT */
/*
 * All executions of a test. Threads are fibers. A run replays a graph from the
 * start: each read gets the value that the graph says. Then the graph grows
 * (grow.h) by the next events of the threads, until all threads have ended or
 * wait. The next run takes a graph that was left aside.
 *
 * Plain memory needs no choices: without a data race a plain read has only one
 * possible value, and a data race ends the search.
 */
#include "tests/weak/explore.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"
#include "sim/fiber.h"
#include "tests/weak/grow.h"

enum {
	STACK = 256 << 10, /* bytes, of a fiber */
};

enum state {
	READY,	 /* to be resumed */
	WAITING, /* until this run does the write that the thread reads */
	ASKING,	 /* for an event that the graph does not have yet */
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
	unsigned next;	  /* index of the next event */
	unsigned reads;	  /* atomic reads so far */
	unsigned tried;	  /* reads of the attempt in vain, if BLOCKED */
	unsigned unknown; /* plain writes whose value is not known yet */
	int16_t unknowns[GRAPH_WORDS];
};

static struct {
	const struct weak_test *test;
	struct weak_result result;
	unsigned nthreads;
	struct thread threads[WEAK_THREADS];
	struct thread *current; /* NULL: not in a thread */
	struct graph graph;
	bool done[GRAPH_EVENTS];	   /* events done in this run */
	uint16_t when[GRAPH_EVENTS], time; /* the order of these events */
	bool again;			   /* a new atomic word: begin again */
	uint64_t run;
} world;

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

/* Two accesses to a word, a plain access among them, must not be concurrent. */
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

/* Run the threads as far as the graph goes. Returns a thread that goes on with
 * a new event, or NULL. */
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

/* Another thread has written a newer value than the read has taken. */
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

/* True if the thread waits although no thread will write newer values than the
 * thread has read. */
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

static bool grow(const struct thread *thread)
{
	if (world.graph.n < GRAPH_EVENTS)
		return grow_graph(&world.graph, thread->number, thread->next,
				  &thread->request);
	printf("%s: an execution does not end\n", world.test->name);
	failed();
	return false;
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
	while (!stopped() && grow_next(&world.graph));
	while (grow_next(&world.graph))
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
