/* SPDX-License-Identifier: MIT */
/*
 * Scripts of faults in a simulated cluster, bcl-faults(5): a fault per line.
 * Random faults are drawn as a script too, so that they can be repeated, read
 * and shortened.
 */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "sim/cluster.h"

enum sim_fault_kind {
	/* faults of frames */
	SIM_FAULT_DROP,
	SIM_FAULT_DUPLICATE,
	SIM_FAULT_REORDER,
	SIM_FAULT_CORRUPT,
	SIM_FAULT_DELAY,
	/* faults of links */
	SIM_FAULT_CUT, /* one direction; nobody is told */
	/* faults of nodes */
	SIM_FAULT_UNPLUG, /* a rail, both directions; the card is told */
	SIM_FAULT_CRASH,  /* and come back in a new incarnation */
	SIM_FAULT_ISOLATE,
	SIM_FAULT_SLOW,
	SIM_FAULT_STALL, /* the ranks, not the card: rings fill */
	SIM_FAULT_KINDS
};

struct sim_fault {
	enum sim_fault_kind kind;
	/* Frames: the nth of a class between two nodes, and `count` in all. */
	uint32_t frame;	   /* enum sim_frame_class */
	uint32_t from, to; /* nodes; SIM_ANY: any */
	uint32_t nth, count;
	uint32_t behind; /* REORDER: number of frames that overtake */
	uint32_t bit;	 /* CORRUPT: the bit that flips, modulo the length */
	uint64_t by;	 /* DELAY: ns */
	/* Links and nodes: when the fault begins, and how long it lasts. */
	uint32_t link, node, rail;
	uint32_t times; /* SLOW: factor */
	uint32_t sent;	/* begins when the node sends this frame, from 1; 0: see
			 * `at` */
	uint64_t at;	/* ns since the start */
	uint64_t lasts; /* ns; 0: forever */
};

struct sim_faults {
	struct sim_fault *fault;
	size_t n;
};

/* The first word of a line. */
const char *sim_fault_name(enum sim_fault_kind kind);

/* Reads a script for the cluster. Returns false on an error: *error holds the
 * reason, and there is nothing to free. */
bool sim_faults_read(struct sim_faults *faults,
		     const struct sim_cluster *cluster, const char *name,
		     FILE *in, char error[SIM_ERROR_SIZE]);
/* Prints a script from which sim_faults_read() reads the same faults. */
void sim_faults_print(const struct sim_faults *faults, FILE *to);
void sim_faults_free(struct sim_faults *faults);

/* Parameters of random faults. */
struct sim_fault_mix {
	uint64_t seed;
	unsigned faults;   /* number of faults */
	unsigned kinds;	   /* set of kinds: bit 1 << kind */
	uint32_t frames;   /* greatest `nth` and `sent`; not 0 */
	uint64_t duration; /* ns: a fault with a time in `at` ends by then */
};
void sim_faults_random(struct sim_faults *faults,
		       const struct sim_cluster *cluster,
		       const struct sim_fault_mix *mix);

#endif
