/* SPDX-License-Identifier: MIT */
/*
 * What a described cluster takes for a message, in the figures of the LogGP
 * model, for bounds (bound.h). Where a message may take longer or shorter they
 * are those of the shorter, so that what they bound is a bound.
 */
#ifndef SIM_FIGURES_H
#define SIM_FIGURES_H

#include "sim/bound.h"
#include "sim/cluster.h"

/* So many nodes of it, and so many ranks on each. */
void sim_figures(const struct sim_cluster *cluster, unsigned nodes,
		 unsigned ranks, struct sim_machine *machine);

/* The same by what its description says was measured. False: it does not. */
bool sim_figures_measured(const struct sim_cluster *cluster, unsigned nodes,
			  unsigned ranks, struct sim_machine *machine);

#endif
