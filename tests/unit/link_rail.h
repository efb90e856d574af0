/* SPDX-License-Identifier: MIT */
/*
 * A rail inside a simulated world: every rail of the world reaches every
 * other. Frames take a microsecond of virtual time and do not overtake.
 */
#ifndef BCL_LINK_RAIL_H
#define BCL_LINK_RAIL_H

#include "sim/world.h"
#include "wire/rail.h"

/* For sim_world_open(). */
extern const struct bcl_rail_kind *const link_rails[];

/* Which world new rails belong to; forgets those of the last one. */
void link_world(struct sim_world *world);

/* Pull the plug of the n-th rail of the world: what it sends or should
 * receive is lost. */
void link_cut(unsigned n, bool cut);

#endif
