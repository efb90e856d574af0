/* SPDX-License-Identifier: MIT */
/* An event queue: a heap of the events due soon, and an unordered rest; see
 * clock.h. */
#include "sim/clock.h"

#include <stdlib.h>

#include "sim/fail.h"

enum {
	CHILDREN = 4, /* adjacent in memory, so that a cache line holds them */
	FEW = 64,
	MANY = 4096,  /* entries in the heap, unless far more are due soon */
	SAMPLES = 32, /* of all entries, to find the soonest */
	SOON = 4,     /* index of the sample that is the horizon */
};

static bool is_before(const struct sim_moment *a, const struct sim_moment *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

/* Moves an entry from a free place up to its place in the order. */
static void move_up(struct sim_clock *clock, size_t place,
		    const struct sim_moment *moment)
{
	for (; place && is_before(moment, &clock->heap[(place - 1) / CHILDREN]);
	     place = (place - 1) / CHILDREN)
		clock->heap[place] = clock->heap[(place - 1) / CHILDREN];
	clock->heap[place] = *moment;
}

static void move_down(struct sim_clock *clock, size_t place,
		      const struct sim_moment *moment)
{
	struct sim_moment *heap = clock->heap;
	size_t child, least, end;

	while ((child = place * CHILDREN + 1) < clock->n) {
		end = child + CHILDREN < clock->n ? child + CHILDREN : clock->n;
		for (least = child++; child < end; child++)
			if (is_before(&heap[child], &heap[least]))
				least = child;
		if (!is_before(&heap[least], moment))
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

/* ---- events due soon, and later events ---- */

static struct sim_moment *make_room(struct sim_moment *moments, size_t *room,
				    size_t n)
{
	if (n <= *room)
		return moments;
	*room = n > 2 * *room ? n : 2 * *room;
	return sim_need(realloc(moments, *room * sizeof(*moments)));
}

/* Appends n entries to the heap array, without entries whose event
 * was cleared. */
static void keep_set(struct sim_clock *clock, const struct sim_moment *from,
		     size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (event_of(clock, &from[i]))
			clock->heap[clock->n++] = from[i];
		else
			give_seat(clock, from[i].seat);
}

static int compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* About an eighth of all entries is due until then. */
static uint64_t find_horizon(const struct sim_clock *clock)
{
	uint64_t samples[SAMPLES];
	unsigned i;

	for (i = 0; i < SAMPLES; i++)
		samples[i] = clock->heap[clock->n / SAMPLES * i].time;
	qsort(samples, SAMPLES, sizeof(*samples), compare_times);
	return samples[SOON];
}

/* Chooses anew which entries are in the heap. */
static void rebuild_heap(struct sim_clock *clock)
{
	size_t n = clock->n, i;
	struct sim_moment moment;

	clock->n = 0;
	keep_set(clock, clock->heap, n);
	clock->heap = make_room(clock->heap, &clock->room,
				clock->n + clock->nfar + 1);
	keep_set(clock, clock->far, clock->nfar);
	clock->nfar = clock->dead = 0;
	clock->horizon = UINT64_MAX;
	if (clock->n > MANY) {
		clock->horizon = find_horizon(clock);
		clock->far = make_room(clock->far, &clock->far_room, clock->n);
		for (n = clock->n, clock->n = 0, i = 0; i < n; i++)
			if (clock->heap[i].time <= clock->horizon)
				clock->heap[clock->n++] = clock->heap[i];
			else
				clock->far[clock->nfar++] = clock->heap[i];
	}
	clock->most = 2 * (clock->n > MANY ? clock->n : MANY);
	/* all entries that have children */
	for (i = (clock->n + CHILDREN - 2) / CHILDREN; i-- > 0;) {
		moment = clock->heap[i];
		move_down(clock, i, &moment);
	}
}

static void take_first(struct sim_clock *clock)
{
	give_seat(clock, clock->heap[0].seat);
	if (--clock->n)
		move_down(clock, 0, &clock->heap[clock->n]);
}

/* Afterwards the first entry of the heap has an event that is set, if any event
 * is set. */
static void drop_cleared(struct sim_clock *clock)
{
	for (; clock->n && !event_of(clock, clock->heap); clock->dead--)
		take_first(clock);
	if (!clock->n && clock->nfar)
		rebuild_heap(clock);
}

/* ---- the clock ---- */

void sim_clock_open(struct sim_clock *clock, uint64_t now)
{
	*clock = (struct sim_clock){
		.now = now,
		.horizon = UINT64_MAX,
		.most = 2 * MANY,
	};
}

void sim_clock_close(struct sim_clock *clock)
{
	free(clock->heap);
	free(clock->far);
	free(clock->seats);
}

void sim_clock_set(struct sim_clock *clock, struct sim_event *event,
		   uint64_t time)
{
	struct sim_moment moment;

	sim_clock_clear(clock, event);
	event->time = time < clock->now ? clock->now : time;
	event->seat = take_seat(clock, event);
	moment =
		(struct sim_moment){ event->time, clock->order++, event->seat };
	if (event->time > clock->horizon) {
		clock->far = make_room(clock->far, &clock->far_room,
				       clock->nfar + 1);
		clock->far[clock->nfar++] = moment;
		drop_cleared(clock);
		return;
	}
	clock->heap = make_room(clock->heap, &clock->room, clock->n + 1);
	move_up(clock, clock->n++, &moment);
	if (clock->n > clock->most)
		rebuild_heap(clock);
}

void sim_clock_clear(struct sim_clock *clock, struct sim_event *event)
{
	if (!event->seat)
		return;
	clock->seats[event->seat].event = NULL;
	event->seat = 0;
	clock->dead++;
	drop_cleared(clock);
	if (clock->dead > FEW && clock->dead > (clock->n + clock->nfar) / 2)
		rebuild_heap(clock);
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
	drop_cleared(clock);
	/* With many ranks, the memory of the next rank is in no cache. */
	if (clock->n)
		__builtin_prefetch(event_of(clock, clock->heap));
	clock->now = event->time;
	event->call(event);
}
