/* SPDX-License-Identifier: MIT */
/* The parts of bcl-sim. */
#ifndef TOOLS_SIM_H
#define TOOLS_SIM_H

#include "sim/job.h"
#include "sim/load.h"

/* ---- sim-pattern.c: what the ranks do ---- */

struct sim_pattern;

/* NULL: there is none of that name. */
const struct sim_pattern *sim_pattern_find(const char *name);
void sim_pattern_list(FILE *to);

enum {
	SIM_SIZES = 32,
	SIM_REPEAT_MAX = 10000,
};

/* A pattern with several sizes, each some rounds one after the other. */
struct sim_series {
	const struct sim_pattern *pattern;
	const struct sim_cluster *cluster;
	size_t size[SIM_SIZES];
	unsigned nsizes, repeat;
	/* Of each size: the first rank, and the last; ns. */
	uint64_t begun[SIM_SIZES], ended[SIM_SIZES];
	struct sim_load load; /* meanwhile; all zeroes: has not begun */
	unsigned done;	      /* rounds, with those to warm up */
	/* All ranks share these: what they exchange is not looked at. */
	char *send, *receive;
	uint32_t *to, *from;	/* [rank]: a random permutation, and back */
	unsigned failed;	/* ranks that had to give up */
	enum bcl_status status; /* why the first did */
	uint64_t again;		/* frames sent again */
};

/* The pattern, the cluster, sizes and repeat are set. */
void sim_series_open(struct sim_series *series, uint64_t seed);
void sim_series_close(struct sim_series *series);
/* A rank's part: for sim_job_run() with the series. */
void sim_series_run(struct sim_rank *rank);
unsigned sim_series_total(const struct sim_series *series);

/* us of a round. */
double sim_series_time(const struct sim_series *series, unsigned size);
void sim_series_print(const struct sim_series *series, FILE *to);

/* ---- sim-plot.c ---- */

/* Draws time and load of links. False: gnuplot does not. */
bool sim_plot(const char *path, const char *title,
	      const struct sim_series *series);

#endif
