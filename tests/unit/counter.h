/* SPDX-License-Identifier: MIT */
/* Reads a counter by name. */
#ifndef BCL_TESTS_COUNTER_H
#define BCL_TESTS_COUNTER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcl/bcl.h>

/* Returns a counter of the context or of the context's card. Ends the program
 * if no counter has the name. */
static inline uint64_t counter_of(struct bcl_context *context, const char *name)
{
	enum {
		MOST = 512
	};
	struct bcl_counter counters[MOST];
	size_t n = MOST;

	bcl_counters(context, counters, &n);
	for (size_t i = 0; n <= MOST && i < n; i++)
		if (!strcmp(counters[i].name, name))
			return counters[i].value;
	fprintf(stderr, "no counter %s\n", name);
	abort();
}

#endif
