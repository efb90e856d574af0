/* SPDX-License-Identifier: MIT */
/*
 * Virtual time: events, each at a moment. Events of the same moment happen in
 * the order in which they were set, so that a run can be repeated exactly.
 */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event, embedded in the object that it is about. All zeroes: not set. */
struct sim_event {
	void (*call)(struct sim_event *event);
	uint64_t time;
	uint32_t seat; /* in the clock's table; 0: not set */
};

/*
 * An entry of the heap, with the values to compare beside each other. The entry
 * knows the event by a seat. The event knows the seat, not the place in the
 * heap. Moving entries therefore touches only the heap and the seats, which are
 * small. An event that is cleared leaves an empty seat, and the clock drops the
 * entry later.
 *
 * If there are very many events, the heap holds only events that are due soon,
 * so that the heap stays in a cache. All later events wait in `far`, in no
 * order, until the heap is empty or rearranged.
 */
struct sim_moment {
	uint64_t time, order;
	uint32_t seat;
};

union sim_seat {
	struct sim_event *event; /* NULL: the event was cleared */
	uint32_t next;		 /* next free seat */
};

struct sim_clock {
	uint64_t now; /* ns */
	uint64_t order;
	struct sim_moment *heap, *far;
	size_t n, nfar, room, far_room;
	size_t dead;	       /* entries in heap and far whose event was
				* cleared */
	size_t most;	       /* size of the heap above which it is
				* rearranged */
	uint64_t horizon;      /* events due later are in `far` */
	union sim_seat *seats; /* from 1 on */
	uint32_t nseats, seats_room, spare;
};

void sim_clock_open(struct sim_clock *clock, uint64_t now);
/* Frees the clock. Events that are still set belong to their owners. */
void sim_clock_close(struct sim_clock *clock);

/* Calls event->call() at `time`, or now if `time` has passed. An event that is
 * set already moves to the new time. */
void sim_clock_set(struct sim_clock *clock, struct sim_event *event,
		   uint64_t time);
void sim_clock_clear(struct sim_clock *clock, struct sim_event *event);

static inline bool sim_clock_is_set(const struct sim_event *event)
{
	return event->seat != 0;
}

/* The time of the next event. UINT64_MAX: there is none. */
uint64_t sim_clock_next(const struct sim_clock *clock);
/* Advances to the next event and calls it. */
void sim_clock_step(struct sim_clock *clock);

#endif
