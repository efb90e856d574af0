/* SPDX-License-Identifier: MIT */
/* An operator and a type of MPI as a reduction of the library: a builtin
 * reduction, or a call of MPICH, which calls the operator's function. See
 * collective.h. */
#include "collective.h"

/* -1: the library lacks the operator. */
static enum bcl_op op_of(MPI_Op op)
{
	switch (op) {
	case MPI_SUM:
		return BCL_SUM;
	case MPI_PROD:
		return BCL_PROD;
	case MPI_MIN:
		return BCL_MIN;
	case MPI_MAX:
		return BCL_MAX;
	case MPI_BAND:
		return BCL_BAND;
	case MPI_BOR:
		return BCL_BOR;
	case MPI_BXOR:
		return BCL_BXOR;
	case MPI_LAND:
		return BCL_LAND;
	case MPI_LOR:
		return BCL_LOR;
	case MPI_LXOR:
		return BCL_LXOR;
	}
	return (enum bcl_op)-1;
}

/* -1: the library lacks the type. */
static enum bcl_type type_of(MPI_Datatype type)
{
	switch (type) {
	case MPI_INT:
	case MPI_INT32_T:
		return BCL_INT32;
	case MPI_UNSIGNED:
	case MPI_UINT32_T:
		return BCL_UINT32;
	case MPI_LONG:
	case MPI_LONG_LONG:
	case MPI_INT64_T:
		return BCL_INT64;
	case MPI_UNSIGNED_LONG:
	case MPI_UNSIGNED_LONG_LONG:
	case MPI_UINT64_T:
		return BCL_UINT64;
	case MPI_FLOAT:
		return BCL_FLOAT;
	case MPI_DOUBLE:
		return BCL_DOUBLE;
	}
	return (enum bcl_type)-1;
}

_Static_assert(sizeof(long) == 8, "MPI_LONG has 64 bits");

int bcl_ch3_is_dense(MPI_Datatype type)
{
	MPI_Aint lb, extent, true_lb, true_extent;
	MPI_Aint size;

	MPIR_Datatype_get_size_macro(type, size);
	MPIR_Type_get_extent_impl(type, &lb, &extent);
	MPIR_Type_get_true_extent_impl(type, &true_lb, &true_extent);
	return size > 0 && !lb && !true_lb && extent == size &&
	       true_extent == size;
}

/* The caller cannot hear of an error. MPI has checked that the operator suits
 * the type. */
static void apply(const void *in, void *inout, size_t count, void *arg)
{
	const struct bcl_ch3_reduction *room = arg;

	MPIR_Reduce_local(in, inout, (MPI_Aint)count, room->type, room->op);
}

const struct bcl_reduction *bcl_ch3_reduction(struct bcl_ch3_reduction *room,
					      MPI_Op op, MPI_Datatype type)
{
	const struct bcl_reduction *known =
		bcl_reduction(op_of(op), type_of(type));
	size_t size;

	if (known)
		return known;
	MPIR_Datatype_get_size_macro(type, size);
	room->op = op;
	room->type = type;
	room->reduction = (struct bcl_reduction){
		.element = size,
		.commutative = MPIR_Op_is_commutative(op),
		.apply = apply,
		.arg = room,
	};
	return &room->reduction;
}
