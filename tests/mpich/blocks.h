/* SPDX-License-Identifier: MIT */
/* Blocks of ints, of which an odd rank has the ints in every second place. */
#ifndef BCL_TESTS_MPICH_BLOCKS_H
#define BCL_TESTS_MPICH_BLOCKS_H

#include <stdlib.h>
#include <string.h>

#include "check.h"

struct blocks {
	int *data;
	int step;
};

/* Room for n blocks of so many ints, each -1. The caller frees the data. */
static inline struct blocks blocks_of(int n, int ints)
{
	int step = rank % 2 ? 2 : 1;
	size_t length = (size_t)n * (size_t)ints * (size_t)step * sizeof(int);
	struct blocks b = { malloc(length), step };

	memset(b.data, 0xff, length);
	return b;
}

/* Bytes of a block. */
static inline int block_length(int ints)
{
	return ints * (rank % 2 ? 2 : 1) * (int)sizeof(int);
}

/* The type of a block, which the caller frees. */
static inline MPI_Datatype block_type(int ints)
{
	MPI_Datatype vector, type;

	MPI_Type_vector(ints, 1, rank % 2 ? 2 : 1, MPI_INT, &vector);
	MPI_Type_create_resized(vector, 0, block_length(ints), &type);
	MPI_Type_commit(&type);
	MPI_Type_free(&vector);
	return type;
}

#endif
