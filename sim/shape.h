/* SPDX-License-Identifier: MIT */
/*
 * The usual shapes of networks. Nodes are dealt out in blocks to the switches
 * to which they connect. The functions return false after a complaint.
 */
#ifndef SIM_SHAPE_H
#define SIM_SHAPE_H

#include "sim/wiring.h"

struct sim_shape {
	struct sim_wiring *wiring;
	const char *name; /* first part of the names of the switches */
	const struct sim_crossbar *crossbar;
	const struct sim_cable *wire;
	uint32_t rail; /* of the nodes; SIM_ANY: all rails */
};

/* One switch, NAME. */
bool sim_shape_star(const struct sim_shape *shape);

/* Switches NAME.0, NAME.1, ... in a ring, with `cables` cables between
 * neighbours. */
bool sim_shape_ring(const struct sim_shape *shape, uint32_t switches,
		    uint32_t cables);

/*
 * A fat tree with any number of levels. A switch of level i, from 1 on, has
 * down[i - 1] cables downwards and, except in the highest level, up[i - 1]
 * upwards, each to a different switch (an extended generalized fat tree:
 * Oehring, Ibel, Das, Kumar, 1995). down k,k,k and up k,k make a k-ary 3-tree.
 * Switches are called NAME.LEVEL.NUMBER.
 */
bool sim_shape_tree(const struct sim_shape *shape, const struct sim_list *down,
		    const struct sim_list *up);

#endif
