/* SPDX-License-Identifier: MIT */
#include "sim/clock.h"

#include <stdlib.h>

#include "sim/fail.h"

static bool before(const struct sim_moment *a, const struct sim_moment *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void put(struct sim_clock *clock, size_t place,
		const struct sim_moment *moment)
{
	clock->heap[place] = *moment;
	moment->event->place = place;
}

/* From a place that is free, up to where it belongs. */
static void rise(struct sim_clock *clock, size_t place,
		 const struct sim_moment *moment)
{
	for (; place > 1 && before(moment, &clock->heap[place / 2]); place /= 2)
		put(clock, place, &clock->heap[place / 2]);
	put(clock, place, moment);
}

static void sink(struct sim_clock *clock, size_t place,
		 const struct sim_moment *moment)
{
	size_t next;

	for (; (next = 2 * place) <= clock->n; place = next) {
		next += next < clock->n &&
			before(&clock->heap[next + 1], &clock->heap[next]);
		if (!before(&clock->heap[next], moment))
			break;
		put(clock, place, &clock->heap[next]);
	}
	put(clock, place, moment);
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
			clock->heap, clock->room * sizeof(*clock->heap)));
	}
	event->time = time < clock->now ? clock->now : time;
	rise(clock, ++clock->n,
	     &(struct sim_moment){ event->time, clock->order++, event });
}

void sim_clock_clear(struct sim_clock *clock, struct sim_event *event)
{
	size_t place = event->place;
	struct sim_moment last;

	if (!place)
		return;
	event->place = 0;
	last = clock->heap[clock->n--];
	if (last.event == event)
		return;
	if (place > 1 && before(&last, &clock->heap[place / 2]))
		rise(clock, place, &last);
	else
		sink(clock, place, &last);
}

uint64_t sim_clock_next(const struct sim_clock *clock)
{
	return clock->n ? clock->heap[1].time : UINT64_MAX;
}

void sim_clock_step(struct sim_clock *clock)
{
	struct sim_event *event = clock->heap[1].event;

	sim_clock_clear(clock, event);
	clock->now = event->time;
	event->call(event);
}
