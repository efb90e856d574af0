/* SPDX-License-Identifier: MIT */
/*
 * How loaded the links of a cluster's network are: as a table, and over time.
 * Links that play the same part, such as all from nodes to switches, are one
 * group.
 */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include "sim/cluster.h"

enum {
	SIM_LOAD_SAMPLES = 512, /* at most; an even number */
	SIM_LOAD_NAME = 2 * SIM_NAME_SIZE + 8,
};

struct sim_load_group {
	char name[SIM_LOAD_NAME]; /* "node* > switch.*" */
	uint32_t links;
	uint64_t before; /* ns that they had been busy until this sample */
	uint64_t busy[SIM_LOAD_SAMPLES]; /* ns, in each sample, all links */
};

struct sim_load {
	const struct sim_cluster *cluster;
	struct sim_fabric *fabric;
	struct sim_clock *clock;
	struct sim_event sample;
	uint64_t start, lasted; /* ns */
	uint64_t interval;	/* ns; as many as there is room for */
	uint32_t nsamples, ngroups;
	struct sim_load_group *groups;
	uint32_t *group;	    /* [link] */
	struct sim_link_info *link; /* at the start; then what came since */
};

/* From now on, until it is stopped. Meanwhile the clock always has a next
 * event. */
void sim_load_open(struct sim_load *load, const struct sim_cluster *cluster,
		   struct sim_fabric *fabric, struct sim_clock *clock);
void sim_load_stop(struct sim_load *load);
void sim_load_close(struct sim_load *load);

/* Once it is stopped: of the links between switches that were busiest on
 * average, for how much of the time they were: all, the least and the most busy
 * of them. That is the share of the bandwidth reached there. Name NULL: there
 * are none. */
struct sim_load_thin {
	const char *name;
	double busy, least, most; /* percent */
};
void sim_load_thin(const struct sim_load *load, struct sim_load_thin *thin);

/* Likewise: the groups, and of all links so many of the busiest. The
 * queue is the longest since the network was made. */
void sim_load_print(const struct sim_load *load, unsigned busiest, FILE *to);

#endif
