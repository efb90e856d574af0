/* SPDX-License-Identifier: MIT */
/* Prints a run as text, as CSV, and as JSON with every sample. */
#ifndef BCL_BENCH_PERF_REPORT_H
#define BCL_BENCH_PERF_REPORT_H

#include <stdio.h>

#include "bench/perf_run.h"

/* Prints the machine and how to read the tables. */
void perf_text_head(FILE *out, const struct perf_run *run);
/* Prints a section's heading and lines, which are judged already. */
void perf_text_section(FILE *out, const struct perf_run *run,
		       unsigned int first, unsigned int end);
/* Prints how many lines are unreliable or failed, and how many bars are met. */
void perf_text_end(FILE *out, const struct perf_run *run);

void perf_csv(FILE *out, const struct perf_run *run);
void perf_json(FILE *out, const struct perf_run *run);

#endif
