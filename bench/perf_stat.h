/* SPDX-License-Identifier: MIT */
/* Samples of a figure, in rounds, and statistics on them. */
#ifndef BCL_BENCH_PERF_STAT_H
#define BCL_BENCH_PERF_STAT_H

struct perf_series {
	double *sample; /* all samples, in order of time */
	unsigned int samples;
	double *round; /* the median of each round */
	unsigned int rounds;
};

struct perf_summary {
	double mean;
	double error; /* standard error of the mean:
		       * sqrt(sum((mean - v)^2) / (N (N - 1))) */
	double p1, p50, p99;
	/*
	 * How much the figure wandered within the run. The rounds are cut into
	 * thirds; drift is the greatest minus the least of the medians of the
	 * thirds (medians over the medians of rounds), relative to the median
	 * of all rounds. 0 with fewer than three rounds.
	 */
	double drift;
};

/* Appends the samples of a round; n is not 0. */
void perf_series_add(struct perf_series *series, const double *sample,
		     unsigned int n);
void perf_series_free(struct perf_series *series);

/* All members are 0 if there are no samples. */
void perf_summarise(const struct perf_series *series,
		    struct perf_summary *summary);

/*
 * Ours as a multiple of the reference: the median over the rounds of the ratio
 * of the two medians. Only changes within a round therefore count. 0 if the
 * reference has no samples.
 */
double perf_ratio(const struct perf_series *ours,
		  const struct perf_series *reference);

#endif
