/* SPDX-License-Identifier: MIT */
/* Checks of the results of collective operations, on a team over any transport.
 * All members call the same function, and each member checks its own part. */
#ifndef BCL_TESTS_COLL_CASES_H
#define BCL_TESTS_COLL_CASES_H

#include <bcl/coll.h>

#include "collectives/select.h"

/*
 * Runs an operation with vectors or blocks of about `length` bytes: with
 * several roots, in place and not in place, blocking and nonblocking, with all
 * kinds of reductions. Returns the number of failures, and prints the first
 * failures to standard error.
 */
unsigned cases_run(struct bcl_team *team, enum bcl_operation operation,
		   size_t length);

/* The same with each algorithm of the operation. */
unsigned cases_run_all(struct bcl_team *team, enum bcl_operation operation,
		       size_t length);

/* Runs n operations that are drawn by the seed, the same at all members. */
unsigned cases_mixed(struct bcl_team *team, unsigned seed, unsigned n);

/* Runs operations of two teams at the same time. */
unsigned cases_overlap(struct bcl_team *one, struct bcl_team *other);

#endif
