/* SPDX-License-Identifier: MIT */
/*
 * A rank that crashes ends the process, as a test or a debugger expects. Before
 * that, the signal handler prints where in the simulation the crash happened,
 * so that the run can be repeated. The handler has a stack of its own, because
 * the stack of a rank may be the cause.
 */
#ifndef SIM_CRASH_H
#define SIM_CRASH_H

#include <signal.h>
#include <stddef.h>

enum {
	SIM_CRASH_SIGNALS = 5,
};

struct sim_crash {
	/* Called in the signal handler: writes a line, returns the length. */
	size_t (*where)(void *arg, char *line, size_t size);
	void *arg;
	struct sim_crash *outer;
	struct sigaction before[SIM_CRASH_SIGNALS];
	stack_t stack_before;
	void *stack;
};

/* Installs the handler until sim_crash_end(). Calls may nest; they end in
 * reverse order. */
void sim_crash_begin(struct sim_crash *crash,
		     size_t (*where)(void *arg, char *line, size_t size),
		     void *arg);
void sim_crash_end(struct sim_crash *crash);

#endif
