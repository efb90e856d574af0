/* SPDX-License-Identifier: MIT */
/* Functions between the parts of the checker: explore.c, access.c, trace.c. */
#ifndef WEAK_EXPLORE_H
#define WEAK_EXPLORE_H

#include "tests/weak/graph.h"

/* ---- explore.c, for access.c ---- */

/* The thread that runs; -1 in set_up() and check(), which are outside the
 * model. */
int explore_thread(void);
/* Carries out the next event of the thread. Returns the value read. */
uint64_t explore_step(const struct graph_request *request);
/* The thread has come back to the checker, so the plain writes that the thread
 * announced are done. Takes the written values into the graph. */
void explore_settle(void);
/* The events that happen before the thread's next event; the index of the next
 * event. */
const struct graph_clock *explore_clock(void);
unsigned explore_next(void);
/* The number of the run. */
uint64_t explore_run(void);
/* An atomic access found a word in memory that counted as plain until then: the
 * exploration begins again. */
void explore_again(void);
/* A data race of the thread that runs, at `where` in the code, with the thread
 * `thread`, at `other`. */
void explore_race(const void *where, const void *other, unsigned thread);

/* ---- access.c ---- */

/* Forgets all memory, before the next test. */
void explore_forget(void);

/* ---- trace.c ---- */

/* Prints the events that were done, in the order of `when`. */
void explore_trace(const struct weak_test *test, const struct graph *graph,
		   const bool *done, const uint16_t *when);
void explore_print_place(const void *where);

#endif
