/* SPDX-License-Identifier: MIT */
/*
 * A rank that crashes takes the process with it, which is what a test or a
 * debugger wants; but first it is said where in the simulation that was, so
 * that it can be repeated. On a stack of its own: that of a rank may be the
 * reason.
 */
#ifndef SIM_CRASH_H
#define SIM_CRASH_H

#include <signal.h>
#include <stddef.h>

enum {
	SIM_CRASH_SIGNALS = 5,
};

struct sim_crash {
	/* In a handler's way: fills in one line, returns its length. */
	size_t (*where)(void *arg, char *line, size_t size);
	void *arg;
	struct sim_crash *outer;
	struct sigaction before[SIM_CRASH_SIGNALS];
	stack_t stack_before;
	void *stack;
};

/* From here on, until sim_crash_end(), which comes in reverse order. */
void sim_crash_begin(struct sim_crash *crash,
		     size_t (*where)(void *arg, char *line, size_t size),
		     void *arg);
void sim_crash_end(struct sim_crash *crash);

#endif
