/* SPDX-License-Identifier: MIT */
/*
 * Collective operations in virtual time: the library's own schedules, run on
 * a machine in the LogGP model (sim/bounds/bound.h). It has just the functions
 * of the ADI that they use. One thread does it all, without fibers: operations
 * are started at all ranks, then the clock says what happens next, so tens of
 * thousands of ranks are no trouble, and the result is exact.
 *
 * What takes time: sending and receiving, on the rank's processor; the card of
 * a node, which its ranks share and which sends and receives at once; messages
 * inside a node and its segment, whose bytes are the processors' work.
 * Messages beyond the eager limit are announced and fetched as by the real
 * ADI. Copying and combining take no time: LogGP has no cost for them.
 */
#ifndef BCL_TESTS_COLL_LOGGP_H
#define BCL_TESTS_COLL_LOGGP_H

#include "collectives/select.h"
#include "sim/bounds/bound.h"

struct loggp_world;

struct loggp_world *loggp_open(const struct sim_machine *machine);
void loggp_close(struct loggp_world *world);

/* us from when all ranks call it until the last one is done. */
double loggp_time(struct loggp_world *world, enum sim_operation operation,
		  size_t length);

/* The algorithm that loggp_time() uses for it. */
const char *loggp_algorithm(const struct loggp_world *world,
			    enum sim_operation operation, size_t length);
/* Use one wherever it can be. False: it cannot. */
bool loggp_force(struct loggp_world *world, enum sim_operation operation,
		 const char *name);

#endif
