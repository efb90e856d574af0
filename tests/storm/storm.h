/* SPDX-License-Identifier: MIT */
/*
 * A storm is traffic under faults of many kinds; a seed decides everything. At
 * the end of a storm the faults stop, and then every request must end. crew.c
 * has main() for all kinds of storms.
 */
#ifndef BCL_TESTS_STORM_H
#define BCL_TESTS_STORM_H

#include <stdbool.h>
#include <stdint.h>

enum {
	STORM_COUNTS = 16,
};

/* The names of the counters of this kind of storm. crew.c fails if a counter
 * stays 0 in many storms: a lull is no storm. */
extern const char *const storm_counts[];
extern const unsigned storm_ncounts;
/* The number of seeds without an option; the long tier runs several times as
 * many. */
extern const unsigned storm_seeds;

struct storm_log {
	unsigned long count[STORM_COUNTS];
};

/* Option --quick: after a failure do not look for the fewest faults. */
extern bool storm_quick;
/* Option --faults: a file with the script of faults. NULL: chance draws the
 * faults. */
extern const char *storm_script;
/* The absolute path of the program. */
extern const char *storm_program;

/* Runs the storm of a seed and adds to *log. If the storm breaks a rule, prints
 * the reason and ends the process with status 1. */
void storm(uint64_t seed, struct storm_log *log);

#endif
