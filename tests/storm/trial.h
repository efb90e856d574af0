/* SPDX-License-Identifier: MIT */
/*
 * A trial runs a storm with a list of faults, in a process of its own. If the
 * storm fails, the trial looks for the fewest faults with which the storm still
 * fails, prints these faults and writes a script of them. The script repeats
 * the storm: PROGRAM --seed SEED --faults storm-SEED.faults
 */
#ifndef BCL_TESTS_TRIAL_H
#define BCL_TESTS_TRIAL_H

#include <stdio.h>

#include "storm.h"

struct trial {
	uint64_t seed;
	struct storm_log *log; /* in memory shared with the child processes */
	void *faults;	       /* an array of n items of `size` bytes */
	size_t n, size;
	void *arg;
	/* Runs the storm. Called in a child process, and ends the process if a
	 * rule is broken. */
	void (*run)(const struct trial *trial, const void *faults, size_t n);
	/* A child process has failed, with this status of waitpid(). May be
	 * NULL. */
	void (*failed)(const struct trial *trial, int status);
	void (*print)(const void *faults, size_t n, FILE *to);
	bool traces; /* the last run leaves storm-SEED.pcapng */
	bool last;   /* this is the last run */
	bool silent;
};

/* Ends the calling process with status 1 if the storm fails. */
void trial(struct trial *trial);

#endif
