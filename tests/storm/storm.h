/* SPDX-License-Identifier: MIT */
/*
 * A storm: traffic, and whatever can befall it; a seed decides all of it. When
 * it is over the weather is fine again, and all that was asked must end.
 * crew.c is the program for every kind of storm.
 */
#ifndef BCL_TESTS_STORM_H
#define BCL_TESTS_STORM_H

#include <stdbool.h>
#include <stdint.h>

enum {
	STORM_COUNTS = 16,
};

/* What storms of this kind count, so that nobody takes a lull for a storm. */
extern const char *const storm_counts[];
extern const unsigned storm_ncounts;
/* How many there are, unless told: some times as many in the long tier. */
extern const unsigned storm_seeds;

struct storm_log {
	unsigned long count[STORM_COUNTS];
};

/* Told: what breaks a rule is not looked into. */
extern bool storm_quick;
/* What befalls, instead of what chance writes: a file. NULL: chance does. */
extern const char *storm_script;
/* The program, by its whole path. */
extern const char *storm_program;

/* Adds to *log. Ends the process with 1, saying why, if a rule was broken. */
void storm(uint64_t seed, struct storm_log *log);

#endif
