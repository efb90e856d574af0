/* SPDX-License-Identifier: MIT */
/*
 * Scripts of what goes wrong in a simulated cluster, bcl-faults(5): one fault a
 * line. Whatever chance has chosen is such a script, too, so that it can be
 * repeated, read and shortened.
 */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "sim/cluster.h"

enum sim_fault_kind {
	/* of frames */
	SIM_FAULT_DROP,
	SIM_FAULT_DUPLICATE,
	SIM_FAULT_REORDER,
	SIM_FAULT_CORRUPT,
	SIM_FAULT_DELAY,
	/* of links */
	SIM_FAULT_CUT, /* one direction, and nobody is told */
	/* of nodes */
	SIM_FAULT_UNPLUG, /* a rail, both directions; its card is told */
	SIM_FAULT_CRASH,  /* and come back in a new incarnation */
	SIM_FAULT_ISOLATE,
	SIM_FAULT_SLOW,
	SIM_FAULT_STALL, /* its ranks, not its card: rings fill */
	SIM_FAULT_KINDS
};

struct sim_fault {
	enum sim_fault_kind kind;
	/* Frames: the nth of a class from a node to another, and more. */
	uint32_t frame;	   /* enum sim_frame_class */
	uint32_t from, to; /* SIM_ANY: whichever */
	uint32_t nth, count;
	uint32_t behind; /* REORDER: so many later ones */
	uint32_t bit;	 /* CORRUPT: which is turned, modulo the length */
	uint64_t by;	 /* DELAY: ns */
	/* Links and nodes: from a moment on, for some time. */
	uint32_t link, node, rail;
	uint32_t times; /* SLOW: so many times as slow */
	uint32_t sent;	/* when the node sends its so manieth frame; 0: `at` */
	uint64_t at;	/* ns since the start */
	uint64_t lasts; /* ns; 0: for ever */
};

struct sim_faults {
	struct sim_fault *fault;
	size_t n;
};

/* The word that a line begins with. */
const char *sim_fault_name(enum sim_fault_kind kind);

/* Of that cluster. False: *error says why; there is nothing to be freed. */
bool sim_faults_read(struct sim_faults *faults,
		     const struct sim_cluster *cluster, const char *name,
		     FILE *in, char error[SIM_ERROR_SIZE]);
/* What is read from that is the same. */
void sim_faults_print(const struct sim_faults *faults, FILE *to);
void sim_faults_free(struct sim_faults *faults);

/* What chance chooses from. */
struct sim_fault_mix {
	uint64_t seed;
	unsigned faults;   /* how many */
	unsigned kinds;	   /* a set: bit 1 << kind */
	uint32_t frames;   /* the greatest nth, and sent; not 0 */
	uint64_t duration; /* ns: what begins at a moment has ended by then */
};
void sim_faults_random(struct sim_faults *faults,
		       const struct sim_cluster *cluster,
		       const struct sim_fault_mix *mix);

#endif
