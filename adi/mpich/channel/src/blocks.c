/* SPDX-License-Identifier: MIT */
/* A list of blocks of different lengths, anywhere in a buffer, as bytes. See
 * collective.h. */
#include "collective.h"

/* The blocks lie in the buffer as they are. The buffer may be MPI_BOTTOM: only
 * the offsets, which count from the buffer so far, tell where blocks are. */
static void lie_in_buffer(struct bcl_ch3_blocks *blocks)
{
	MPI_Aint least = 0, at;
	int any = FALSE, i;

	for (i = 0; i < blocks->n; i++) {
		at = (MPI_Aint)blocks->offsets[i];
		if (blocks->lengths[i] && (!any || at < least)) {
			least = at;
			any = TRUE;
		}
	}
	for (i = 0; i < blocks->n; i++)
		blocks->offsets[i] -=
			blocks->lengths[i] ? (size_t)least : blocks->offsets[i];
	blocks->bytes = blocks->buffer + least;
}

/* The blocks will lie in the copy one after another. */
static int lie_in_copy(struct bcl_ch3_blocks *blocks)
{
	size_t total = 0;
	int i;

	for (i = 0; i < blocks->n; i++) {
		blocks->offsets[i] = total;
		total += blocks->lengths[i];
	}
	blocks->bytes = blocks->packed = MPL_malloc(total + 1, MPL_MEM_BUFFER);
	return blocks->packed ? MPI_SUCCESS : bcl_ch3_error(BCL_ERR_NOMEM);
}

/* Describes a block. Returns true if the block is contiguous. */
static int describe(struct bcl_ch3_blocks *blocks, int i,
		    const struct bcl_ch3_list *list)
{
	MPI_Datatype type = list->types ? list->types[i] : list->type;
	MPI_Aint extent = 1, true_lb;
	MPIR_Datatype *described;
	int contiguous;

	if (!list->types)
		MPIR_Datatype_get_extent_macro(type, extent);
	MPIDI_Datatype_get_info(list->counts[i], type, contiguous,
				blocks->lengths[i], described, true_lb);
	(void)described;
	blocks->types[i] = type;
	blocks->counts[i] = list->counts[i];
	blocks->displacements[i] = list->displacements[i] * extent;
	blocks->offsets[i] = (size_t)(blocks->displacements[i] + true_lb);
	return contiguous || !blocks->lengths[i];
}

_Static_assert(sizeof(MPI_Aint) == sizeof(size_t), "the arrays are one piece");

int bcl_ch3_blocks(struct bcl_ch3_blocks *blocks,
		   const struct bcl_ch3_list *list)
{
	size_t n = (size_t)list->n, element;
	int contiguous = TRUE, i;

	element = 4 * sizeof(*blocks->lengths) + sizeof(*blocks->types);
	blocks->lengths = MPL_malloc(n * element + 1, MPL_MEM_BUFFER);
	if (!blocks->lengths)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	blocks->offsets = blocks->lengths + n;
	blocks->counts = (MPI_Aint *)(blocks->offsets + n);
	blocks->displacements = blocks->counts + n;
	blocks->types = (MPI_Datatype *)(blocks->displacements + n);
	blocks->buffer = (char *)list->buffer;
	blocks->n = list->n;
	for (i = 0; i < list->n; i++)
		contiguous &= describe(blocks, i, list);
	if (!contiguous)
		return lie_in_copy(blocks);
	lie_in_buffer(blocks);
	return MPI_SUCCESS;
}

void bcl_ch3_blocks_hold(struct bcl_ch3_blocks *blocks)
{
	int i;

	for (i = 0; i < blocks->n; i++)
		MPIR_Datatype_add_ref_if_not_builtin(blocks->types[i]);
	blocks->held = TRUE;
}

int bcl_ch3_blocks_pack(struct bcl_ch3_blocks *blocks)
{
	int i, mpi_errno = MPI_SUCCESS;
	MPI_Aint packed;

	for (i = 0; blocks->packed && !mpi_errno && i < blocks->n; i++)
		mpi_errno = MPIR_Typerep_pack(
			blocks->buffer + blocks->displacements[i],
			blocks->counts[i], blocks->types[i], 0,
			blocks->packed + blocks->offsets[i],
			(MPI_Aint)blocks->lengths[i], &packed);
	return mpi_errno;
}

int bcl_ch3_blocks_unpack(const struct bcl_ch3_blocks *blocks)
{
	int i, mpi_errno = MPI_SUCCESS;
	MPI_Aint unpacked;

	for (i = 0; blocks->packed && !mpi_errno && i < blocks->n; i++)
		mpi_errno = MPIR_Typerep_unpack(
			blocks->packed + blocks->offsets[i],
			(MPI_Aint)blocks->lengths[i],
			blocks->buffer + blocks->displacements[i],
			blocks->counts[i], blocks->types[i], 0, &unpacked);
	return mpi_errno;
}

void bcl_ch3_blocks_free(struct bcl_ch3_blocks *blocks)
{
	int i;

	for (i = 0; blocks->held && i < blocks->n; i++)
		MPIR_Datatype_release_if_not_builtin(blocks->types[i]);
	MPL_free(blocks->lengths);
	MPL_free(blocks->packed);
}
