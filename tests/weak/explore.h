/* SPDX-License-Identifier: MIT */
/* What the parts of the checker share: explore.c, access.c, trace.c. */
#ifndef WEAK_EXPLORE_H
#define WEAK_EXPLORE_H

#include "tests/weak/graph.h"

/* ---- explore.c, for access.c ---- */

/* The thread that runs, or -1: set_up() or check(), outside the model. */
int explore_thread(void);
/* What it does next; the value that it reads. */
uint64_t explore_step(const struct graph_request *request);
/* The thread is here again: plain writes that it had announced are done. */
void explore_settle(void);
/* What happens before the thread's next event, and its index. */
const struct graph_clock *explore_clock(void);
unsigned explore_next(void);
/* Number of the run. */
uint64_t explore_run(void);
/* A word was found to be atomic that had been taken for plain memory. */
void explore_again(void);
/* Of the thread that runs at one place with another at another. */
void explore_race(const void *where, const void *other, unsigned thread);

/* ---- access.c ---- */

/* All that is known of memory; for the next test. */
void explore_forget(void);

/* ---- trace.c ---- */

/* The events that were done, in that order. */
void explore_trace(const struct weak_test *test, const struct graph *graph,
		   const bool *done, const uint16_t *when);
void explore_print_place(const void *where);

#endif
