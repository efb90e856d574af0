/* SPDX-License-Identifier: MIT */
/*
 * Measures the algorithms of a collective operation in a job. The algorithms
 * take turns, so that a machine that is slow for a while is slow for all of
 * them.
 */
#ifndef BCL_TOOLS_MEASURE_H
#define BCL_TOOLS_MEASURE_H

#include "collectives/calls.h"

enum {
	MEASURE_ALGORITHMS_MAX = 64, /* of an operation */
};

/* True if the operation can be measured. */
bool measure_can(enum bcl_operation operation);

/*
 * Collective: all ranks of the team call the function, and it blocks for a
 * fraction of a second per algorithm, unless calls are very slow. us[i]: the
 * time of one call by algorithm i, at rank 0 from barrier to barrier; NAN: the
 * algorithm does not fit the team. UNSUPPORTED: the operation cannot be
 * measured.
 */
enum bcl_status measure_algorithms(struct bcl_team *team,
				   enum bcl_operation operation, size_t length,
				   double us[MEASURE_ALGORITHMS_MAX]);

#endif
