/* SPDX-License-Identifier: MIT */
/* One block per rank, of different lengths and anywhere in a buffer, as bytes.
 * See collective.h. */
#include "collective.h"

/* Returns the least displacement of a block that is not empty. The buffer may
 * be MPI_BOTTOM: only displacements tell where blocks are. */
static MPI_Aint least_of(const MPI_Aint *counts, const MPI_Aint *displacements,
			 int n)
{
	MPI_Aint least = 0;
	int any = FALSE, i;

	for (i = 0; i < n; i++)
		if (counts[i] && (!any || displacements[i] < least)) {
			least = displacements[i];
			any = TRUE;
		}
	return least;
}

/* The blocks lie in the buffer as they are. */
static void lie_in_buffer(struct bcl_ch3_blocks *blocks, const MPI_Aint *counts,
			  const MPI_Aint *displacements, size_t element,
			  MPI_Aint true_lb, int n)
{
	MPI_Aint least = least_of(counts, displacements, n);
	int i;

	for (i = 0; i < n; i++) {
		blocks->lengths[i] = (size_t)counts[i] * element;
		blocks->offsets[i] =
			counts[i] ? (size_t)((displacements[i] - least) *
					     blocks->extent)
				  : 0;
	}
	blocks->bytes = blocks->buffer + true_lb + least * blocks->extent;
}

/* The blocks will lie in the copy one after another. */
static int lie_in_copy(struct bcl_ch3_blocks *blocks, const MPI_Aint *counts,
		       const MPI_Aint *displacements, size_t element, int n)
{
	size_t total = 0;
	int i;

	blocks->counts = (MPI_Aint *)(blocks->offsets + n);
	blocks->displacements = blocks->counts + n;
	for (i = 0; i < n; i++) {
		blocks->counts[i] = counts[i];
		blocks->displacements[i] = displacements[i];
		blocks->lengths[i] = (size_t)counts[i] * element;
		blocks->offsets[i] = total;
		total += blocks->lengths[i];
	}
	blocks->bytes = blocks->packed = MPL_malloc(total + 1, MPL_MEM_BUFFER);
	return blocks->packed ? MPI_SUCCESS : bcl_ch3_error(BCL_ERR_NOMEM);
}

_Static_assert(sizeof(MPI_Aint) == sizeof(size_t), "the arrays are one piece");

int bcl_ch3_blocks(struct bcl_ch3_blocks *blocks, const void *buffer,
		   const MPI_Aint *counts, const MPI_Aint *displacements,
		   MPI_Datatype type, int n)
{
	MPIR_Datatype *described;
	size_t element, arrays;
	MPI_Aint true_lb;
	int contiguous;

	MPIDI_Datatype_get_info(1, type, contiguous, element, described,
				true_lb);
	(void)described;
	blocks->type = type;
	blocks->buffer = (char *)buffer;
	MPIR_Datatype_get_extent_macro(type, blocks->extent);
	arrays = contiguous ? 2 : 4;
	blocks->lengths = MPL_malloc(
		arrays * (size_t)n * sizeof(*blocks->lengths), MPL_MEM_BUFFER);
	if (!blocks->lengths)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	blocks->offsets = blocks->lengths + n;
	if (!contiguous)
		return lie_in_copy(blocks, counts, displacements, element, n);
	lie_in_buffer(blocks, counts, displacements, element, true_lb, n);
	return MPI_SUCCESS;
}

static void *block_of(const struct bcl_ch3_blocks *blocks, int rank)
{
	return blocks->buffer + blocks->displacements[rank] * blocks->extent;
}

int bcl_ch3_blocks_pack(struct bcl_ch3_blocks *blocks, int n)
{
	int i, mpi_errno = MPI_SUCCESS;
	MPI_Aint packed;

	for (i = 0; blocks->packed && !mpi_errno && i < n; i++)
		mpi_errno = MPIR_Typerep_pack(
			block_of(blocks, i), blocks->counts[i], blocks->type, 0,
			blocks->packed + blocks->offsets[i],
			(MPI_Aint)blocks->lengths[i], &packed);
	return mpi_errno;
}

int bcl_ch3_blocks_unpack(const struct bcl_ch3_blocks *blocks, int n)
{
	int i, mpi_errno = MPI_SUCCESS;
	MPI_Aint unpacked;

	for (i = 0; blocks->packed && !mpi_errno && i < n; i++)
		mpi_errno = MPIR_Typerep_unpack(
			blocks->packed + blocks->offsets[i],
			(MPI_Aint)blocks->lengths[i], block_of(blocks, i),
			blocks->counts[i], blocks->type, 0, &unpacked);
	return mpi_errno;
}

void bcl_ch3_blocks_free(struct bcl_ch3_blocks *blocks)
{
	MPL_free(blocks->lengths);
	MPL_free(blocks->packed);
}
