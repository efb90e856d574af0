/* SPDX-License-Identifier: MIT */
/*
 * The load of the links of a cluster's network, as a table and over time. Links
 * with the same role, such as all links from nodes to switches, form a group.
 */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include "sim/cluster.h"

enum {
	SIM_LOAD_SAMPLES = 512, /* at most; an even number */
	SIM_LOAD_NAME = 2 * SIM_NAME_SIZE + 8,
};

struct sim_load_group {
	char name[SIM_LOAD_NAME]; /* for example "node* > switch.*" */
	uint32_t links;
	uint64_t before;		 /* ns busy before the current sample */
	uint64_t busy[SIM_LOAD_SAMPLES]; /* ns in each sample, summed over the
					  * links */
};

struct sim_load {
	const struct sim_cluster *cluster;
	struct sim_fabric *fabric;
	struct sim_clock *clock;
	struct sim_event sample;
	uint64_t start, lasted; /* ns */
	uint64_t interval;	/* ns of a sample; doubles when the samples are
				 * full */
	uint32_t nsamples, ngroups;
	struct sim_load_group *groups;
	uint32_t *group;	    /* [link] */
	struct sim_link_info *link; /* [link]: values at the start; after the
				     * stop, the difference */
};

/* Measures from now until sim_load_stop(). Meanwhile the clock always has a
 * next event. */
void sim_load_open(struct sim_load *load, const struct sim_cluster *cluster,
		   struct sim_fabric *fabric, struct sim_clock *clock);
void sim_load_stop(struct sim_load *load);
void sim_load_close(struct sim_load *load);

/*
 * The group of links between switches that was busiest on average, after
 * sim_load_stop(). Values are percent of the time, which is the share of the
 * bandwidth: the mean over the links of the group, the least and the most busy
 * link. name NULL: the network has no links between switches.
 */
struct sim_load_thin {
	const char *name;
	double busy, least, most; /* percent */
};
void sim_load_thin(const struct sim_load *load, struct sim_load_thin *thin);

/* Prints the groups, then the `busiest` busiest links, after sim_load_stop().
 * The queue is the longest since the network was made. */
void sim_load_print(const struct sim_load *load, unsigned busiest, FILE *to);

#endif
