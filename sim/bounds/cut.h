/* SPDX-License-Identifier: MIT */
/*
 * Lower bounds on collective operations by the links between two parts of a
 * cluster's nodes, whatever the cards can do. Formulas and proofs are in
 * doc/bounds.md.
 */
#ifndef SIM_CUT_H
#define SIM_CUT_H

#include "sim/bounds/bound.h"
#include "sim/cluster.h"

enum {
	SIM_CUTS = 64, /* most cuts that are considered */
};

/* Nodes on the side of the first node, and on the far side. */
struct sim_cut {
	unsigned near, far;
	unsigned shifted; /* nodes of either side that send to the far side in a
			   * shift */
	double rate;	  /* bytes per us in either direction, headers
			   * included */
};

struct sim_cuts {
	struct sim_cut cut[SIM_CUTS];
	unsigned n;
};

/*
 * Finds cuts of the first `nodes` nodes. Only some partitions are considered:
 * nodes of a switch stay together, and a part consists of consecutive switches:
 * a half of them, a quarter and so on. In a shift, node i sends to node i +
 * distance.
 */
void sim_cuts_find(const struct sim_cluster *cluster, unsigned nodes,
		   unsigned distance, struct sim_cuts *cuts);

/*
 * us that every algorithm needs at least to move the bytes across a cut; *cut
 * is the cut with the greatest time. Returns 0, and NULL in *cut, if no bytes
 * have to cross. In a shift all ranks of a node send.
 */
double sim_cuts_bound(const struct sim_cuts *cuts,
		      const struct sim_machine *machine,
		      enum sim_operation operation, size_t length,
		      const struct sim_cut **cut);

#endif
