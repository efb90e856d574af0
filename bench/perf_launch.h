/* SPDX-License-Identifier: MIT */
/*
 * bcl-perf under a launcher: the ranks of the launcher are measured. Rank 0
 * forks the process that asks the ranks and prints the results.
 */
#ifndef BCL_BENCH_PERF_LAUNCH_H
#define BCL_BENCH_PERF_LAUNCH_H

#include <stdbool.h>

#include "bench/perf_place.h"
#include "bench/perf_source.h"

struct perf_given {
	unsigned int ranks[PERF_NODES]; /* on the first node, on the second */
	struct perf_source source;
};

/*
 * Returns false in the process that asks. With a launcher *given is filled in;
 * without a launcher its ranks are 0. Returns true in a process that was a
 * rank, after the rank has ended; *status is the exit status.
 */
bool perf_launched(struct perf_given *given, int *status);

#endif
