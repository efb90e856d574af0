/* SPDX-License-Identifier: MIT */
/* A list of blocks of different lengths, anywhere in a buffer, as bytes. See
 * collective.h. */
#include "collective.h"

/* Blocks with gaps, as the program describes them, and packed. */
struct bcl_ch3_copy {
	char *buffer, *packed;
	int held; /* the types cannot be freed */
	MPI_Datatype *types;
	MPI_Aint *counts;	  /* of elements */
	MPI_Aint displacements[]; /* bytes in the buffer */
};

/* How the elements of a type lie in memory. */
struct elements {
	MPI_Aint size, extent, true_lb;
	int contiguous;
};

static inline struct elements elements_of(MPI_Datatype type)
{
	struct elements elements;
	MPIR_Datatype *described;

	MPIDI_Datatype_get_info(1, type, elements.contiguous, elements.size,
				described, elements.true_lb);
	(void)described;
	MPIR_Datatype_get_extent_macro(type, elements.extent);
	return elements;
}

/* Sets the lengths of the blocks, and their offsets from the buffer. Returns
 * true if all blocks are contiguous. *before is less than 0 if a block may lie
 * before the buffer. In a list of types a block of no elements may have the
 * type MPI_DATATYPE_NULL. */
static int describe(struct bcl_ch3_blocks *blocks,
		    const struct bcl_ch3_list *list, MPI_Aint *before)
{
	struct elements elements = { 0 };
	int contiguous = TRUE, i;
	MPI_Aint length, offset;

	if (!list->types && list->n)
		elements = elements_of(list->type);
	for (i = 0; i < list->n; i++) {
		if (list->types && list->counts[i]) {
			elements = elements_of(list->types[i]);
			elements.extent = 1;
		}
		length = list->counts[i] * elements.size;
		offset = list->displacements[i] * elements.extent +
			 elements.true_lb;
		contiguous &= elements.contiguous || !length;
		*before |= offset;
		blocks->lengths[i] = (size_t)length;
		blocks->offsets[i] = (size_t)offset;
	}
	return contiguous;
}

/* Offsets count from the first block from now on. */
static void count_from_first(struct bcl_ch3_blocks *blocks)
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
		blocks->offsets[i] -= (size_t)least;
	blocks->bytes += least;
}

static int make_copy(struct bcl_ch3_blocks *blocks,
		     const struct bcl_ch3_list *list)
{
	size_t n = (size_t)list->n, total = 0;
	struct bcl_ch3_copy *copy;
	MPI_Aint extent = 1;
	int i;

	copy = MPL_malloc(sizeof(*copy) + n * (2 * sizeof(*copy->counts) +
					       sizeof(*copy->types)),
			  MPL_MEM_BUFFER);
	if (!copy)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	if (!list->types)
		MPIR_Datatype_get_extent_macro(list->type, extent);
	copy->buffer = (char *)list->buffer;
	copy->held = FALSE;
	copy->counts = copy->displacements + n;
	copy->types = (MPI_Datatype *)(copy->counts + n);
	for (i = 0; i < list->n; i++) {
		copy->types[i] = list->types ? list->types[i] : list->type;
		if (!list->counts[i]) /* perhaps no type */
			copy->types[i] = MPI_BYTE;
		copy->counts[i] = list->counts[i];
		copy->displacements[i] = list->displacements[i] * extent;
		blocks->offsets[i] = total;
		total += blocks->lengths[i];
	}
	copy->packed = MPL_malloc(total + 1, MPL_MEM_BUFFER);
	blocks->copy = copy;
	blocks->bytes = copy->packed;
	return copy->packed ? MPI_SUCCESS : bcl_ch3_error(BCL_ERR_NOMEM);
}

_Static_assert(sizeof(MPI_Aint) == sizeof(size_t), "lengths are not cut off");

int bcl_ch3_blocks(struct bcl_ch3_blocks *blocks,
		   const struct bcl_ch3_list *list)
{
	size_t n = (size_t)list->n;
	MPI_Aint before = 0;

	bcl_ch3_blocks_clear(blocks, (char *)list->buffer);
	if (n > BCL_CH3_FEW)
		blocks->lengths = MPL_malloc(2 * n * sizeof(*blocks->lengths),
					     MPL_MEM_BUFFER);
	if (!blocks->lengths)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	blocks->offsets = blocks->lengths + n;
	blocks->n = list->n;
	if (!describe(blocks, list, &before))
		return make_copy(blocks, list);
	/* MPI_BOTTOM is no place to count from: the library refuses NULL */
	if (before < 0 || !list->buffer)
		count_from_first(blocks);
	return MPI_SUCCESS;
}

void bcl_ch3_blocks_hold(struct bcl_ch3_blocks *blocks)
{
	int i;

	for (i = 0; i < blocks->n; i++)
		MPIR_Datatype_add_ref_if_not_builtin(blocks->copy->types[i]);
	blocks->copy->held = TRUE;
}

int bcl_ch3_blocks_pack(struct bcl_ch3_blocks *blocks)
{
	const struct bcl_ch3_copy *copy = blocks->copy;
	int i, mpi_errno = MPI_SUCCESS;
	MPI_Aint packed;

	for (i = 0; copy && !mpi_errno && i < blocks->n; i++)
		mpi_errno = MPIR_Typerep_pack(
			copy->buffer + copy->displacements[i], copy->counts[i],
			copy->types[i], 0, copy->packed + blocks->offsets[i],
			(MPI_Aint)blocks->lengths[i], &packed);
	return mpi_errno;
}

int bcl_ch3_blocks_unpack(const struct bcl_ch3_blocks *blocks)
{
	const struct bcl_ch3_copy *copy = blocks->copy;
	int i, mpi_errno = MPI_SUCCESS;
	MPI_Aint unpacked;

	for (i = 0; copy && !mpi_errno && i < blocks->n; i++)
		mpi_errno = MPIR_Typerep_unpack(
			copy->packed + blocks->offsets[i],
			(MPI_Aint)blocks->lengths[i],
			copy->buffer + copy->displacements[i], copy->counts[i],
			copy->types[i], 0, &unpacked);
	return mpi_errno;
}

static void free_copy(struct bcl_ch3_copy *copy, int n)
{
	int i;

	for (i = 0; copy->held && i < n; i++)
		MPIR_Datatype_release_if_not_builtin(copy->types[i]);
	MPL_free(copy->packed);
	MPL_free(copy);
}

void bcl_ch3_blocks_free(struct bcl_ch3_blocks *blocks)
{
	if (blocks->copy)
		free_copy(blocks->copy, blocks->n);
	if (blocks->lengths != blocks->few)
		MPL_free(blocks->lengths);
}

int bcl_ch3_blocks_finish(struct bcl_ch3_blocks *blocks, int mpi_errno)
{
	if (!mpi_errno && blocks->copy)
		mpi_errno = bcl_ch3_blocks_unpack(blocks);
	bcl_ch3_blocks_free(blocks);
	return mpi_errno;
}
