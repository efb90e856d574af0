/* SPDX-License-Identifier: MIT */
/*
 * The plan of bcl-perf in three tables: processes that can be asked (groups),
 * questions (rows), and targets (bars). No other part of bcl-perf knows a
 * figure by name.
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
	 * Started anew for each round. Two ranks share few cache lines, and the
	 * speed of those depends on the pages in which they happen to lie
	 * (ref/line.c).
	 */
	bool fresh;
	bool any; /* stands for any ranks that a launcher has started */
	const char *program; /* of a reference */
	bool between;	     /* the sides of a reference are on two nodes */
	const char *argument[PERF_ARGUMENTS];
	const char *variable[PERF_VARIABLES]; /* "NAME=VALUE" */
};

/*
 * A figure, or with `sizes` a figure per word of `sizes`. The word replaces the
 * %s in the questions, and in the name of the figure (where "8" is written "8
 * B" and "1K" is written "1 KB"). A row without `ask` shows the reference only.
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

/* A target. It is printed as met or missed, and has no further effect. */
struct perf_bar {
	const char *figure;
	enum perf_judge judge;
	bool at_least; /* else at most */
	double value;
	const char *reference; /* the bar applies only to a reference of this
				* name; NULL: to any */
};

extern const struct perf_row perf_rows[]; /* ends at a NULL section */
extern const struct perf_bar perf_bars[]; /* ends at a NULL figure */

#endif
