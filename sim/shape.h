/* SPDX-License-Identifier: MIT */
/*
 * The usual shapes of networks. Nodes are dealt to the switches they are
 * connected to in blocks. The functions are false after a complaint.
 */
#ifndef SIM_SHAPE_H
#define SIM_SHAPE_H

#include "sim/wiring.h"

struct sim_shape {
	struct sim_wiring *wiring;
	const char *name; /* of its switches, the beginning */
	const struct sim_crossbar *crossbar;
	const struct sim_cable *wire;
	uint32_t rail; /* of the nodes, or SIM_ANY: all */
};

/* One switch, NAME. */
bool sim_shape_star(const struct sim_shape *shape);

/* Switches NAME.0, NAME.1, ... in a ring, with so many cables from each to the
 * next. */
bool sim_shape_ring(const struct sim_shape *shape, uint32_t switches,
		    uint32_t cables);

/*
 * A fat tree of any number of levels: a switch of level i, from 1 on, has
 * down[i - 1] cables downwards and, but for the highest, up[i - 1] upwards,
 * each to another switch (an extended generalized fat tree: Oehring, Ibel, Das,
 * Kumar, 1995). down k,k,k and up k,k make a k-ary 3-tree. Switches are called
 * NAME.LEVEL.NUMBER.
 */
bool sim_shape_tree(const struct sim_shape *shape, const struct sim_list *down,
		    const struct sim_list *up);

#endif
