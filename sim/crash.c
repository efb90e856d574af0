/* SPDX-License-Identifier: MIT */
/* Signal handlers that report where a simulation crashed; see crash.h. */
#include "sim/crash.h"

#include <stdlib.h>
#include <unistd.h>

#include "sim/fail.h"

enum {
	STACK = 64 << 10,
	LINE = 160,
};

static const int signals[SIM_CRASH_SIGNALS] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE,
						SIGABRT };

static struct sim_crash *current;

static void handle_signal(int number)
{
	struct sim_crash *crash = current;
	char line[LINE];
	size_t length = crash->where(crash->arg, line, sizeof(line));
	ssize_t said = write(STDERR_FILENO, line, length);
	unsigned i;

	(void)said;
	for (i = 0; i < SIM_CRASH_SIGNALS; i++)
		sigaction(signals[i], &crash->before[i], NULL);
	raise(number);
}

void sim_crash_begin(struct sim_crash *crash,
		     size_t (*where)(void *arg, char *line, size_t size),
		     void *arg)
{
	const struct sigaction action = {
		.sa_handler = handle_signal,
		.sa_flags = SA_ONSTACK,
	};
	unsigned i;

	crash->where = where;
	crash->arg = arg;
	crash->outer = current;
	crash->stack = sim_need(malloc(STACK));
	current = crash;
	sigaltstack(&(stack_t){ .ss_sp = crash->stack, .ss_size = STACK },
		    &crash->stack_before);
	for (i = 0; i < SIM_CRASH_SIGNALS; i++)
		sigaction(signals[i], &action, &crash->before[i]);
}

void sim_crash_end(struct sim_crash *crash)
{
	unsigned i;

	for (i = 0; i < SIM_CRASH_SIGNALS; i++)
		sigaction(signals[i], &crash->before[i], NULL);
	sigaltstack(&crash->stack_before, NULL);
	free(crash->stack);
	current = crash->outer;
}
