/* SPDX-License-Identifier: MIT */
/* The lines of a run: each has a figure, a reference and the results. */
#ifndef BCL_BENCH_PERF_RUN_H
#define BCL_BENCH_PERF_RUN_H

#include "bench/perf_launch.h"
#include "bench/perf_plan.h"
#include "bench/perf_source.h"
#include "bench/perf_stat.h"

struct perf_line {
	const struct perf_row *row;
	const struct perf_bar *bar; /* or NULL */
	char figure[PERF_FIGURE];
	char size[PERF_NAME]; /* a word of row->sizes, or "" */
	char unit[PERF_NAME];
	char reference[PERF_NAME]; /* name in the reference's answer, or "" */
	struct perf_series ours, theirs;
	char failure[PERF_TEXT]; /* of ours; "" on success */
	bool skipped;		 /* `failure` is only a lack of rights */
	char no_reference[PERF_TEXT];

	/* From here on set by perf_judge(). */
	struct perf_summary summary, reference_summary;
	double ratio; /* ours / theirs; 0 without reference */
	bool has_bar, met;
	bool unreliable; /* the reference drifted by more than 10 % */
};

struct perf_run {
	unsigned int rounds;
	const char *only;     /* part of the name of a section or figure */
	bool bars;	      /* print whether bars are met */
	const char *programs; /* directory of the references */
	const char *self;     /* file of this program */
	struct perf_places places;
	struct perf_given *given; /* ranks of a launcher, or NULL */
	struct perf_line *line;
	unsigned int lines;
};

/* Adds the lines that the plan, `only` and the given ranks allow. */
void perf_run_plan(struct perf_run *run);

/*
 * Measures the lines [first, end) of a section: round by round, in each round
 * line by line, and the reference just before ours.
 */
void perf_run_section(struct perf_run *run, unsigned int first,
		      unsigned int end);

/* Computes the summary and the verdict of a line. */
void perf_judge(struct perf_line *line);

void perf_run_free(struct perf_run *run);

#endif
