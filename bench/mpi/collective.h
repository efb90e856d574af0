/* SPDX-License-Identifier: MIT */
/* MPI's collective operations as tests of the loop (loop.h). */
#ifndef BCL_BENCH_MPI_COLLECTIVE_H
#define BCL_BENCH_MPI_COLLECTIVE_H

#include "loop.h"

enum {
	MOST_RANKS = 64,
};

/* Ends with a test without a name. */
extern const struct test collective_tests[];

/* Gives the memory from which, and to which, the operations move data: LONGEST
 * bytes each, numbers in `from`. */
void collective_set_up(int ranks, void *from, void *to);

#endif
