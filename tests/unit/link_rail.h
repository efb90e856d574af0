/* SPDX-License-Identifier: MIT */
/*
 * A kind of rail inside a simulated world. Each rail reaches all rails of the
 * world. A frame takes a microsecond of virtual time, and frames keep their
 * order.
 */
#ifndef BCL_LINK_RAIL_H
#define BCL_LINK_RAIL_H

#include "sim/world.h"
#include "wire/rail.h"

/* For sim_world_open(). */
extern const struct bcl_rail_kind *const link_rails[];

/* Rails that are opened from now on belong to the world. Forgets the rails of
 * the previous world. */
void link_world(struct sim_world *world);

/* Unplugs the n-th rail of the world, or plugs the rail in again. An unplugged
 * rail loses all frames, in both directions. */
void link_cut(unsigned n, bool cut);

#endif
