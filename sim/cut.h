/* SPDX-License-Identifier: MIT */
/*
 * What the links between two parts of a cluster's nodes can carry, and so how
 * fast collective operations can be at best, whatever cards can do. Formulas
 * and proofs are in doc/bounds.md.
 */
#ifndef SIM_CUT_H
#define SIM_CUT_H

#include "sim/bound.h"
#include "sim/cluster.h"

enum {
	SIM_CUTS = 64, /* at most that are looked at */
};

/* Nodes on the side of the first one, and on the other. */
struct sim_cut {
	unsigned near, far;
	unsigned shifted; /* nodes of either side that send to the other */
	double rate;	  /* bytes per us, headers included, either way */
};

struct sim_cuts {
	struct sim_cut cut[SIM_CUTS];
	unsigned n;
};

/*
 * Of the first so many nodes. Of all ways to part them, those that leave nodes
 * of a switch together, and switches that follow one another: halves of them,
 * quarters and so on. In a shift each node sends to that so many behind it.
 */
void sim_cuts_find(const struct sim_cluster *cluster, unsigned nodes,
		   unsigned distance, struct sim_cuts *cuts);

/*
 * us that no algorithm can do without, since it has to send bytes over one of
 * them: *cut. 0, and *cut is NULL: nothing has to. In a shift all ranks of a
 * node send.
 */
double sim_cuts_bound(const struct sim_cuts *cuts,
		      const struct sim_machine *machine,
		      enum sim_operation operation, size_t length,
		      const struct sim_cut **cut);

#endif
