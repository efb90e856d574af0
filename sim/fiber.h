/* SPDX-License-Identifier: MIT */
/* A flow of control with a stack of its own, on the thread that resumes it. */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stdbool.h>
#include <stddef.h>

struct sim_fiber;

/* Begins with the first sim_fiber_resume(). `stack` in bytes; running over its
 * end is a fault. */
struct sim_fiber *sim_fiber_new(size_t stack, void (*run)(void *arg),
				void *arg);
/* Wherever it is: what it has on its stack is gone. */
void sim_fiber_free(struct sim_fiber *fiber);

/* Runs until it pauses or returns. Not from a fiber. False: it has returned. */
bool sim_fiber_resume(struct sim_fiber *fiber);
/* From the fiber itself: back to who resumed it. */
void sim_fiber_pause(struct sim_fiber *fiber);

#endif
