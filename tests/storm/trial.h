/* SPDX-License-Identifier: MIT */
/*
 * A storm and what befalls in it, a list of faults. If it fails the fewest of
 * them that suffice are looked for, told and left as a script, with which it
 * can be run again: PROGRAM --seed SEED --faults storm-SEED.faults
 */
#ifndef BCL_TESTS_TRIAL_H
#define BCL_TESTS_TRIAL_H

#include <stdio.h>

#include "storm.h"

struct trial {
	uint64_t seed;
	struct storm_log *log; /* shared with the processes of runs */
	void *faults;
	size_t n, size;
	void *arg;
	/* In a process of its own: ends it if a rule is broken. */
	void (*run)(const struct trial *trial, const void *faults, size_t n);
	/* Such a process has ended, as waitpid() says; NULL: who cares. */
	void (*failed)(const struct trial *trial, int status);
	void (*print)(const void *faults, size_t n, FILE *to);
	bool traces; /* it leaves storm-SEED.pcapng ... */
	bool last;   /* ... in this run */
	bool silent;
};

/* Ends this process if it fails. */
void trial(struct trial *trial);

#endif
