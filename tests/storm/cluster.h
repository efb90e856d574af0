/* SPDX-License-Identifier: MIT */
/*
 * Storms over simulated clusters: a random cluster, a random script of faults,
 * ranks that do something meanwhile, what is another program's for each kind of
 * storm. The trace is held against the rules of the protocol (bcl-check). What
 * breaks one is told with the fewest faults that suffice, and leaves its trace.
 */
#ifndef BCL_TESTS_STORM_CLUSTER_H
#define BCL_TESTS_STORM_CLUSTER_H

#include "sim/job.h"
#include "storm.h"

enum {
	CLUSTER_RANKS = 6, /* at most */
	CLUSTER_MS = 1000000,
	CLUSTER_RAGE = 20 * CLUSTER_MS, /* faults begin until then */
};

/* Faults that no rank is lost by: a set, 1 << kind. */
enum {
	CLUSTER_SURVIVED = 1 << SIM_FAULT_DROP | 1 << SIM_FAULT_DUPLICATE |
			   1 << SIM_FAULT_REORDER | 1 << SIM_FAULT_CORRUPT |
			   1 << SIM_FAULT_DELAY | 1 << SIM_FAULT_CUT |
			   1 << SIM_FAULT_SLOW | 1 << SIM_FAULT_STALL,
	/* ms: however many frames are lost in a row, nobody shall be. */
	CLUSTER_PATIENCE = 10000,
};

/* storm_counts; a program whose faults are fewer counts the first of them. */
enum cluster_count {
	CLUSTER_RAN,	 /* ranks */
	CLUSTER_CHECKED, /* frames */
	CLUSTER_HARMED,	 /* likewise */
	CLUSTER_CUT,
	CLUSTER_SLOWED,
	CLUSTER_STALLED,
	CLUSTER_UNPLUGGED,
	CLUSTER_CRASHED,
	CLUSTER_ISOLATED,
};

/* What the program has to say. */
extern const struct cluster_play {
	unsigned kinds; /* of faults, a set */
	/* ms after which a silent peer is lost; a job may take ten times that
	 */
	unsigned timeout;
	void (*begin)(struct sim_job *job, unsigned ranks, uint64_t seed);
	void (*rank)(struct sim_rank *rank);
	/* A node's ranks have just gone, or will begin anew. */
	void (*crash)(unsigned first, unsigned ranks, bool begins);
	void (*end)(void); /* all have returned; or NULL */
} cluster_play;

#endif
