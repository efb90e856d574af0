/* SPDX-License-Identifier: MIT */
#include "sim/clock.h"

#include <stdlib.h>

#include "sim/fail.h"

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void put(struct sim_clock *clock, size_t place, struct sim_event *event)
{
	clock->heap[place] = event;
	event->place = place;
}

static void rise(struct sim_clock *clock, struct sim_event *event)
{
	size_t place = event->place;

	for (; place > 1 && before(event, clock->heap[place / 2]); place /= 2)
		put(clock, place, clock->heap[place / 2]);
	put(clock, place, event);
}

static void sink(struct sim_clock *clock, struct sim_event *event)
{
	size_t place = event->place, next;

	for (; (next = 2 * place) <= clock->n; place = next) {
		next += next < clock->n &&
			before(clock->heap[next + 1], clock->heap[next]);
		if (!before(clock->heap[next], event))
			break;
		put(clock, place, clock->heap[next]);
	}
	put(clock, place, event);
}

void sim_clock_open(struct sim_clock *clock, uint64_t now)
{
	*clock = (struct sim_clock){ .now = now };
}

void sim_clock_close(struct sim_clock *clock)
{
	free(clock->heap);
}

void sim_clock_set(struct sim_clock *clock, struct sim_event *event,
		   uint64_t time)
{
	sim_clock_clear(clock, event);
	if (clock->n + 1 >= clock->room) {
		clock->room = clock->room ? 2 * clock->room : 64;
		clock->heap = sim_need(realloc(
			clock->heap, clock->room * sizeof(struct sim_event *)));
	}
	event->time = time < clock->now ? clock->now : time;
	event->order = clock->order++;
	event->place = ++clock->n;
	rise(clock, event);
}

void sim_clock_clear(struct sim_clock *clock, struct sim_event *event)
{
	struct sim_event *last;

	if (!event->place)
		return;
	last = clock->heap[clock->n--];
	if (last != event) {
		put(clock, event->place, last);
		rise(clock, last);
		sink(clock, last);
	}
	event->place = 0;
}

uint64_t sim_clock_next(const struct sim_clock *clock)
{
	return clock->n ? clock->heap[1]->time : UINT64_MAX;
}

void sim_clock_step(struct sim_clock *clock)
{
	struct sim_event *event = clock->heap[1];

	sim_clock_clear(clock, event);
	clock->now = event->time;
	event->call(event);
}
