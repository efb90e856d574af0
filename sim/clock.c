/* SPDX-License-Identifier: MIT */
#include "sim/clock.h"

#include <stdlib.h>

#include "sim/fail.h"

enum {
	CHILDREN = 4, /* beside one another, so that they come together */
	FEW = 64,
};

static bool before(const struct sim_moment *a, const struct sim_moment *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

/* From a place that is free, up to where it belongs. */
static void rise(struct sim_clock *clock, size_t place,
		 const struct sim_moment *moment)
{
	for (; place && before(moment, &clock->heap[(place - 1) / CHILDREN]);
	     place = (place - 1) / CHILDREN)
		clock->heap[place] = clock->heap[(place - 1) / CHILDREN];
	clock->heap[place] = *moment;
}

static void sink(struct sim_clock *clock, size_t place,
		 const struct sim_moment *moment)
{
	struct sim_moment *heap = clock->heap;
	size_t child, least, end;

	while ((child = place * CHILDREN + 1) < clock->n) {
		end = child + CHILDREN < clock->n ? child + CHILDREN : clock->n;
		for (least = child++; child < end; child++)
			if (before(&heap[child], &heap[least]))
				least = child;
		if (!before(&heap[least], moment))
			break;
		heap[place] = heap[least];
		place = least;
	}
	heap[place] = *moment;
}

/* ---- seats ---- */

static uint32_t take_seat(struct sim_clock *clock, struct sim_event *event)
{
	uint32_t seat = clock->spare;

	if (!seat) {
		seat = ++clock->nseats;
		if (seat >= clock->seats_room) {
			clock->seats_room =
				clock->seats_room ? 2 * clock->seats_room : FEW;
			clock->seats = sim_need(realloc(
				clock->seats,
				clock->seats_room * sizeof(*clock->seats)));
		}
	} else {
		clock->spare = clock->seats[seat].next;
	}
	clock->seats[seat].event = event;
	return seat;
}

static void give_seat(struct sim_clock *clock, uint32_t seat)
{
	clock->seats[seat].next = clock->spare;
	clock->spare = seat;
}

static struct sim_event *event_of(const struct sim_clock *clock,
				  const struct sim_moment *moment)
{
	return clock->seats[moment->seat].event;
}

/* ---- moments of events that were cleared ---- */

static void take_first(struct sim_clock *clock)
{
	give_seat(clock, clock->heap[0].seat);
	if (--clock->n)
		sink(clock, 0, &clock->heap[clock->n]);
}

/* The first is of an event that is set. */
static void settle(struct sim_clock *clock)
{
	for (; clock->n && !event_of(clock, clock->heap); clock->dead--)
		take_first(clock);
}

/* All of them at once, when they are most of the heap. */
static void sweep(struct sim_clock *clock)
{
	struct sim_moment moment;
	size_t n = 0, i;

	for (i = 0; i < clock->n; i++)
		if (event_of(clock, &clock->heap[i]))
			clock->heap[n++] = clock->heap[i];
		else
			give_seat(clock, clock->heap[i].seat);
	clock->n = n;
	clock->dead = 0;
	for (i = n / CHILDREN + 1; i-- > 0;) {
		if (i >= n)
			continue;
		moment = clock->heap[i];
		sink(clock, i, &moment);
	}
}

/* ---- the clock ---- */

void sim_clock_open(struct sim_clock *clock, uint64_t now)
{
	*clock = (struct sim_clock){ .now = now };
}

void sim_clock_close(struct sim_clock *clock)
{
	free(clock->heap);
	free(clock->seats);
}

void sim_clock_set(struct sim_clock *clock, struct sim_event *event,
		   uint64_t time)
{
	sim_clock_clear(clock, event);
	if (clock->n == clock->room) {
		clock->room = clock->room ? 2 * clock->room : FEW;
		clock->heap = sim_need(realloc(
			clock->heap, clock->room * sizeof(*clock->heap)));
	}
	event->time = time < clock->now ? clock->now : time;
	event->seat = take_seat(clock, event);
	rise(clock, clock->n++,
	     &(struct sim_moment){ event->time, clock->order++, event->seat });
}

void sim_clock_clear(struct sim_clock *clock, struct sim_event *event)
{
	if (!event->seat)
		return;
	clock->seats[event->seat].event = NULL;
	event->seat = 0;
	clock->dead++;
	settle(clock);
	if (clock->dead > FEW && clock->dead > clock->n / 2)
		sweep(clock);
}

uint64_t sim_clock_next(const struct sim_clock *clock)
{
	return clock->n ? clock->heap[0].time : UINT64_MAX;
}

void sim_clock_step(struct sim_clock *clock)
{
	struct sim_event *event = event_of(clock, clock->heap);

	event->seat = 0;
	take_first(clock);
	settle(clock);
	/* Of many ranks the next one's memory is in no cache. */
	if (clock->n)
		__builtin_prefetch(event_of(clock, clock->heap));
	clock->now = event->time;
	event->call(event);
}
