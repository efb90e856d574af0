/* SPDX-License-Identifier: MIT */
#ifndef BCL_TESTS_MPICH_CHECK_H
#define BCL_TESTS_MPICH_CHECK_H

#include <mpi.h>
#include <stdio.h>

static int rank, size; /* of the program, which sets both */

static inline void check(int holds, const char *what)
{
	if (holds)
		return;
	printf("rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

#endif
