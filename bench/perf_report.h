/* SPDX-License-Identifier: MIT */
/* A run as text for people, CSV, and JSON with every sample. */
#ifndef BCL_BENCH_PERF_REPORT_H
#define BCL_BENCH_PERF_REPORT_H

#include <stdio.h>

#include "bench/perf_run.h"

/* The machine and how to read the tables. */
void perf_text_head(FILE *out, const struct perf_run *run);
/* A section's heading and its judged lines. */
void perf_text_section(FILE *out, const struct perf_run *run,
		       unsigned int first, unsigned int end);
/* How many lines are unreliable or failed, and how many bars were met. */
void perf_text_end(FILE *out, const struct perf_run *run);

void perf_csv(FILE *out, const struct perf_run *run);
void perf_json(FILE *out, const struct perf_run *run);

#endif
