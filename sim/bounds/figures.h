/* SPDX-License-Identifier: MIT */
/*
 * The LogGP figures of a described cluster, for bounds (bound.h). Where the
 * time of a message varies, the figures are of the shortest, so that the bounds
 * are lower bounds.
 */
#ifndef SIM_FIGURES_H
#define SIM_FIGURES_H

#include "sim/bounds/bound.h"
#include "sim/cluster.h"

/* The figures for `nodes` nodes of the cluster with `ranks` ranks each. */
void sim_figures(const struct sim_cluster *cluster, unsigned nodes,
		 unsigned ranks, struct sim_machine *machine);

/* The same, from the measurements in the description. Returns false if the
 * description has no measurements. */
bool sim_figures_measured(const struct sim_cluster *cluster, unsigned nodes,
			  unsigned ranks, struct sim_machine *machine);

#endif
