/* SPDX-License-Identifier: MIT */
/* Quantiles, errors, drift and ratios of samples; see perf_stat.h. */
#include "bench/perf_stat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *resize_values(void *memory, size_t n)
{
	memory = realloc(memory, n * sizeof(double));
	if (!memory && n) {
		perror("bcl-perf");
		exit(1);
	}
	return memory;
}

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double *sorted_copy(const double *value, unsigned int n)
{
	double *copy = resize_values(NULL, n);

	memcpy(copy, value, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), compare_values);
	return copy;
}

/* Linear between the two nearest ranks. */
static double quantile(const double *sorted, unsigned int n, double q)
{
	double at = q * (n - 1);
	unsigned int i = (unsigned int)at;

	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]);
}

static double median(const double *value, unsigned int n)
{
	double *copy = sorted_copy(value, n), middle = quantile(copy, n, 0.5);

	free(copy);
	return middle;
}

void perf_series_add(struct perf_series *series, const double *sample,
		     unsigned int n)
{
	series->sample = resize_values(series->sample, series->samples + n);
	memcpy(series->sample + series->samples, sample, n * sizeof(*sample));
	series->samples += n;
	series->round = resize_values(series->round, series->rounds + 1);
	series->round[series->rounds++] = median(sample, n);
}

void perf_series_free(struct perf_series *series)
{
	free(series->sample);
	free(series->round);
	memset(series, 0, sizeof(*series));
}

static double drift(const struct perf_series *series)
{
	unsigned int third = series->rounds / 3, i;
	double m[3], least, greatest;

	if (!third)
		return 0;
	/* Rounds beyond a multiple of three belong to the middle third. */
	m[0] = median(series->round, third);
	m[1] = median(series->round + third, series->rounds - 2 * third);
	m[2] = median(series->round + series->rounds - third, third);
	least = greatest = m[0];
	for (i = 1; i < 3; i++) {
		least = m[i] < least ? m[i] : least;
		greatest = m[i] > greatest ? m[i] : greatest;
	}
	return (greatest - least) / median(series->round, series->rounds);
}

void perf_summarise(const struct perf_series *series,
		    struct perf_summary *summary)
{
	unsigned int n = series->samples, i;
	double sum = 0, squares = 0, *v;

	memset(summary, 0, sizeof(*summary));
	if (!n)
		return;
	v = sorted_copy(series->sample, n);
	for (i = 0; i < n; i++)
		sum += v[i];
	summary->mean = sum / n;
	for (i = 0; i < n; i++)
		squares += (v[i] - summary->mean) * (v[i] - summary->mean);
	if (n > 1)
		summary->error = sqrt(squares / n / (n - 1));
	summary->p1 = quantile(v, n, 0.01);
	summary->p50 = quantile(v, n, 0.5);
	summary->p99 = quantile(v, n, 0.99);
	summary->drift = drift(series);
	free(v);
}

double perf_ratio(const struct perf_series *ours,
		  const struct perf_series *reference)
{
	unsigned int n = ours->rounds, i;
	double *ratio, middle;

	if (n > reference->rounds)
		n = reference->rounds;
	if (!n)
		return 0;
	ratio = resize_values(NULL, n);
	for (i = 0; i < n; i++)
		ratio[i] = ours->round[i] / reference->round[i];
	middle = median(ratio, n);
	free(ratio);
	return middle;
}
