/* SPDX-License-Identifier: MIT */
/*
 * Virtual time: events, each at a moment. Those of one moment happen in the
 * order in which they were set, so that a run can be repeated exactly.
 */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of what it is about; all zeroes: not set. */
struct sim_event {
	void (*call)(struct sim_event *event);
	uint64_t time;
	uint32_t seat; /* of the clock; 0: not set */
};

/*
 * An entry of the heap: what it is compared by is beside it. It knows its event
 * by a seat, and the event knows its seat, not its place in the heap: so heap
 * and seats, which are small, are all that is touched when others move. An
 * event that is cleared leaves its seat empty, and its entry is dropped later.
 *
 * Where there are very many, only what is due soon is in the heap, so that it
 * stays in a cache; the others wait in no order until all of that is over.
 */
struct sim_moment {
	uint64_t time, order;
	uint32_t seat;
};

union sim_seat {
	struct sim_event *event; /* NULL: it was cleared */
	uint32_t next;		 /* that nobody has */
};

struct sim_clock {
	uint64_t now; /* ns */
	uint64_t order;
	struct sim_moment *heap, *far;
	size_t n, nfar, room, far_room;
	size_t dead;	       /* of both, whose event was cleared */
	size_t most;	       /* in the heap, before it is arranged anew */
	uint64_t horizon;      /* what is due later is far */
	union sim_seat *seats; /* from 1 on */
	uint32_t nseats, seats_room, spare;
};

void sim_clock_open(struct sim_clock *clock, uint64_t now);
/* Events that are still set belong to their owners. */
void sim_clock_close(struct sim_clock *clock);

/* Have event->call() at `time`, or now if that is over; set again: then
 * instead. */
void sim_clock_set(struct sim_clock *clock, struct sim_event *event,
		   uint64_t time);
void sim_clock_clear(struct sim_clock *clock, struct sim_event *event);

static inline bool sim_clock_is_set(const struct sim_event *event)
{
	return event->seat != 0;
}

/* The moment of the next event; UINT64_MAX: there is none. */
uint64_t sim_clock_next(const struct sim_clock *clock);
/* Go there and do it. */
void sim_clock_step(struct sim_clock *clock);

#endif
