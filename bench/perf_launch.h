/* SPDX-License-Identifier: MIT */
/*
 * bcl-perf under a launcher: the given ranks are the ones that are measured.
 * Rank 0 forks the process that asks and prints.
 */
#ifndef BCL_BENCH_PERF_LAUNCH_H
#define BCL_BENCH_PERF_LAUNCH_H

#include <stdbool.h>

#include "bench/perf_place.h"
#include "bench/perf_source.h"

struct perf_given {
	unsigned int ranks[PERF_NODES]; /* on the first node, on others */
	struct perf_source source;
};

/*
 * False in the process that asks; with a launcher, *given is filled in, else
 * its ranks are 0. True, when it has ended, in a process that was a rank.
 */
bool perf_launched(struct perf_given *given, int *status);

#endif
