/* SPDX-License-Identifier: MIT */
/*
 * What bcl-perf measures, as three tables: who can be asked (groups), what is
 * asked (rows), and what is to be reached (bars). Nothing else in bcl-perf
 * knows a figure by its name.
 */
#ifndef BCL_BENCH_PERF_PLAN_H
#define BCL_BENCH_PERF_PLAN_H

#include <stdbool.h>

#include "bench/perf_place.h"

enum {
	PERF_VARIABLES = 4,
	PERF_ARGUMENTS = 4,
	PERF_FIGURE = 64, /* bytes of a figure's name */
};

/* Processes that answer questions (perf_source.h). */
struct perf_group {
	/* Processes of a job on each node; 0, 0: a reference. */
	unsigned int ranks[PERF_NODES];
	bool twin; /* the first process is two ranks, 0 and 1 */
	/*
	 * Started anew for each round: what two ranks share in memory is a
	 * few lines, and how fast these move depends on the pages that they
	 * happen to lie in (ref/line.c).
	 */
	bool fresh;
	bool any; /* stands for whatever ranks a launcher has started */
	const char *program; /* of a reference */
	bool between;	     /* a reference's sides are on two nodes */
	const char *argument[PERF_ARGUMENTS];
	const char *variable[PERF_VARIABLES]; /* "NAME=VALUE" */
};

/*
 * One figure, or with `sizes` one for each of its words, which replaces the
 * %s in the questions, and in the figure's name (where "8" stands as "8 B" and
 * "1K" as "1 KB"). A row without `ask` shows the reference only.
 */
struct perf_row {
	const char *section;
	const char *figure;
	const char *sizes;
	const struct perf_group *ours;
	const char *ask;
	const struct perf_group *reference;
	const char *ask_reference;
};

enum perf_judge {
	PERF_RATIO,	 /* perf_ratio() */
	PERF_MEAN_RATIO, /* mean of ours / mean of the reference */
	PERF_MEDIAN,	 /* the median of ours, in its unit */
};

/* Printed as met or missed, never more than that. */
struct perf_bar {
	const char *figure;
	enum perf_judge judge;
	bool at_least; /* else at most */
	double value;
	const char *reference; /* only if it answers under this name; or NULL */
};

extern const struct perf_row perf_rows[]; /* ends at a NULL section */
extern const struct perf_bar perf_bars[]; /* ends at a NULL figure */

#endif
