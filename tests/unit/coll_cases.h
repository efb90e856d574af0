/* SPDX-License-Identifier: MIT */
/*
 * What collective operations must give, checked on a team over whatever it
 * runs on: called by all members alike, each checks its own part.
 */
#ifndef BCL_TESTS_COLL_CASES_H
#define BCL_TESTS_COLL_CASES_H

#include <bcl/coll.h>

#include "collectives/select.h"

/*
 * One operation with vectors or blocks of about `length` bytes: from some
 * roots, in place and not, blocking and not, all kinds of reductions. Returns
 * the number of failures, each of which is described on stderr.
 */
unsigned cases_run(struct bcl_team *team, enum bcl_operation operation,
		   size_t length);

/* The same with each algorithm that the operation has. */
unsigned cases_run_all(struct bcl_team *team, enum bcl_operation operation,
		       size_t length);

/* So many operations drawn by a seed, the same at all members. */
unsigned cases_mixed(struct bcl_team *team, unsigned seed, unsigned n);

/* Operations of two teams that are under way at the same time. */
unsigned cases_overlap(struct bcl_team *one, struct bcl_team *other);

#endif
