/* SPDX-License-Identifier: MIT */
/* A flow of control with a stack of its own. It runs on the thread that resumes
 * it. */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stdbool.h>
#include <stddef.h>

struct sim_fiber;

/* The fiber begins at the first sim_fiber_resume(). `stack` is in bytes; an
 * overflow is a fault. */
struct sim_fiber *sim_fiber_new(size_t stack, void (*run)(void *arg),
				void *arg);
/* Frees the fiber at any point of its run; objects on the stack are gone. */
void sim_fiber_free(struct sim_fiber *fiber);

/* Runs the fiber until it pauses or returns. Must not be called from a fiber.
 * Returns false if the fiber has returned. */
bool sim_fiber_resume(struct sim_fiber *fiber);
/* Called by the fiber: back to the caller of sim_fiber_resume(). */
void sim_fiber_pause(struct sim_fiber *fiber);

#endif
