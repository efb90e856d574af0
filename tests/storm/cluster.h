/* SPDX-License-Identifier: MIT */
/*
 * Storms over simulated clusters. Each storm draws a cluster and a script of
 * faults. Each kind of storm is a program of its own, which defines the work of
 * the ranks (cluster_play). The rules of the protocol (bcl-check) are applied
 * to the trace. If a storm breaks a rule, the fewest faults with which the
 * storm fails are printed, and the trace stays in a file.
 */
#ifndef BCL_TESTS_STORM_CLUSTER_H
#define BCL_TESTS_STORM_CLUSTER_H

#include "sim/job.h"
#include "storm.h"

enum {
	CLUSTER_RANKS = 6, /* at most */
	CLUSTER_MS = 1000000,
	CLUSTER_RAGE = 20 * CLUSTER_MS, /* ns: timed faults end by then */
};

/* The set of faults by which no rank is lost: bits 1 << kind. */
enum {
	CLUSTER_SURVIVED = 1 << SIM_FAULT_DROP | 1 << SIM_FAULT_DUPLICATE |
			   1 << SIM_FAULT_REORDER | 1 << SIM_FAULT_CORRUPT |
			   1 << SIM_FAULT_DELAY | 1 << SIM_FAULT_CUT |
			   1 << SIM_FAULT_SLOW | 1 << SIM_FAULT_STALL,
	/* ms: a timeout so long that no rank is lost, however many frames are
	 * lost in a row. */
	CLUSTER_PATIENCE = 10000,
};

/* Indices of storm_counts. A program with fewer kinds of faults uses only the
 * first counters. */
enum cluster_count {
	CLUSTER_RAN,	 /* ranks */
	CLUSTER_CHECKED, /* frames */
	CLUSTER_HARMED,	 /* frames */
	CLUSTER_CUT,
	CLUSTER_SLOWED,
	CLUSTER_STALLED,
	CLUSTER_UNPLUGGED,
	CLUSTER_CRASHED,
	CLUSTER_ISOLATED,
};

/* The part of a storm that each program defines. */
extern const struct cluster_play {
	unsigned kinds; /* the set of faults: bits 1 << kind */
	/* ms after which a silent peer is lost; a job may take ten times as
	 * long */
	unsigned timeout;
	void (*begin)(struct sim_job *job, unsigned ranks, uint64_t seed);
	void (*rank)(struct sim_rank *rank);
	/* The ranks of a node have just gone (begins), or are about to start
	 * anew. May be NULL if no node crashes. */
	void (*crash)(unsigned first, unsigned ranks, bool begins);
	void (*end)(void); /* all ranks have returned; may be NULL */
} cluster_play;

#endif
