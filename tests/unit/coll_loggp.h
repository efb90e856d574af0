/* SPDX-License-Identifier: MIT */
/*
 * Collective operations in virtual time. The library's own schedules run on a
 * machine in the LogGP model (sim/bounds/bound.h), over a replacement of the
 * ADI with the functions that the collectives call. A single thread, without
 * fibers, starts the operation at all ranks and then follows the clock. So tens
 * of thousands of ranks are no trouble, and the result is exact.
 *
 * Time passes in three places. A rank's processor sends and receives. The card
 * of a node, which the node's ranks share, sends and receives at the same time.
 * For messages inside a node and for the node's segment, the processors copy
 * the bytes. A message beyond the eager limit is announced and fetched, as by
 * the real ADI. Copies of vectors and combining take no time, because LogGP has
 * no cost for local work.
 */
#ifndef BCL_TESTS_COLL_LOGGP_H
#define BCL_TESTS_COLL_LOGGP_H

#include "collectives/select.h"
#include "sim/bounds/bound.h"

struct loggp_world;

struct loggp_world *loggp_open(const struct sim_machine *machine);
void loggp_close(struct loggp_world *world);

/* Returns the time in us from the call of all ranks until the last rank is
 * done. */
double loggp_time(struct loggp_world *world, enum sim_operation operation,
		  size_t length);

/* Returns the algorithm that loggp_time() uses for the operation. */
const char *loggp_algorithm(const struct loggp_world *world,
			    enum sim_operation operation, size_t length);
/* Forces an algorithm where possible. false: the algorithm cannot run. */
bool loggp_force(struct loggp_world *world, enum sim_operation operation,
		 const char *name);

#endif
