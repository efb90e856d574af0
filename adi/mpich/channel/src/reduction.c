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
	case MPI_MINLOC:
		return BCL_MINLOC;
	case MPI_MAXLOC:
		return BCL_MAXLOC;
	}
	return (enum bcl_op) - 1;
}

/* The library's name of a type of C, or NONE. */
#define NONE ((enum bcl_type) - 1)
#define TYPE_OF(type)                                               \
	_Generic((type)0, char                                      \
		 : (char)-1 < 0 ? BCL_INT8 : BCL_UINT8, signed char \
		 : BCL_INT8, unsigned char                          \
		 : BCL_UINT8, short                                 \
		 : BCL_INT16, unsigned short                        \
		 : BCL_UINT16, int                                  \
		 : BCL_INT32, unsigned                              \
		 : BCL_UINT32, long                                 \
		 : BCL_INT64, unsigned long                         \
		 : BCL_UINT64, long long                            \
		 : BCL_INT64, unsigned long long                    \
		 : BCL_UINT64, float                                \
		 : BCL_FLOAT, double                                \
		 : BCL_DOUBLE, long double                          \
		 : BCL_LONG_DOUBLE, _Bool                           \
		 : BCL_BOOL, default                                \
		 : NONE)
/* The complex type whose parts have this type. */
#define COMPLEX_OF(type)                            \
	_Generic((type)0, float                     \
		 : BCL_COMPLEX_FLOAT, double        \
		 : BCL_COMPLEX_DOUBLE, long double  \
		 : BCL_COMPLEX_LONG_DOUBLE, default \
		 : NONE)

_Static_assert(sizeof(long) == 8, "the library has 64 bits for a long");

#define NUMBER(name, type) \
	case name:         \
		return TYPE_OF(type);
#define COMPLEX(name, part) \
	case name:          \
		return COMPLEX_OF(part);

/* Numbers and truth values of C. */
static enum bcl_type c_type_of(MPI_Datatype type)
{
	switch (type) {
		NUMBER(MPI_CHAR, char)
		NUMBER(MPI_SIGNED_CHAR, signed char)
		NUMBER(MPI_UNSIGNED_CHAR, unsigned char)
		NUMBER(MPI_BYTE, unsigned char)
		NUMBER(MPI_SHORT, short)
		NUMBER(MPI_UNSIGNED_SHORT, unsigned short)
		NUMBER(MPI_INT, int)
		NUMBER(MPI_UNSIGNED, unsigned)
		NUMBER(MPI_LONG, long)
		NUMBER(MPI_UNSIGNED_LONG, unsigned long)
		NUMBER(MPI_LONG_LONG, long long)
		NUMBER(MPI_UNSIGNED_LONG_LONG, unsigned long long)
		NUMBER(MPI_INT8_T, int8_t)
		NUMBER(MPI_UINT8_T, uint8_t)
		NUMBER(MPI_INT16_T, int16_t)
		NUMBER(MPI_UINT16_T, uint16_t)
		NUMBER(MPI_INT32_T, int32_t)
		NUMBER(MPI_UINT32_T, uint32_t)
		NUMBER(MPI_INT64_T, int64_t)
		NUMBER(MPI_UINT64_T, uint64_t)
		NUMBER(MPI_AINT, MPI_Aint)
		NUMBER(MPI_OFFSET, MPI_Offset)
		NUMBER(MPI_COUNT, MPI_Count)
		NUMBER(MPI_FLOAT, float)
		NUMBER(MPI_DOUBLE, double)
		NUMBER(MPI_LONG_DOUBLE, long double)
		NUMBER(MPI_C_BOOL, _Bool)
	}
	return NONE;
}

static enum bcl_type complex_of(MPI_Datatype type)
{
	switch (type) {
		COMPLEX(MPI_C_FLOAT_COMPLEX, float)
		COMPLEX(MPI_C_DOUBLE_COMPLEX, double)
		COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, long double)
	}
	return NONE;
}

/* Types of Fortran and C++, if MPICH was built for these languages. MPICH
 * reduces Fortran's truth values, whose bits only MPICH knows. */
static enum bcl_type foreign_type_of(MPI_Datatype type)
{
	switch (type) {
#ifdef HAVE_FORTRAN_BINDING
		NUMBER(MPI_CHARACTER, char)
		NUMBER(MPI_INTEGER, MPI_Fint)
		NUMBER(MPI_REAL, MPIR_FC_REAL_CTYPE)
		NUMBER(MPI_DOUBLE_PRECISION, MPIR_FC_DOUBLE_CTYPE)
		COMPLEX(MPI_COMPLEX, MPIR_FC_REAL_CTYPE)
		COMPLEX(MPI_DOUBLE_COMPLEX, MPIR_FC_DOUBLE_CTYPE)
		COMPLEX(MPI_COMPLEX8, float)
		COMPLEX(MPI_COMPLEX16, double)
	case MPI_2INTEGER:
		return TYPE_OF(MPI_Fint) == BCL_INT32 ? BCL_INT_INT : NONE;
#endif
#ifdef MPIR_INTEGER1_CTYPE
		NUMBER(MPI_INTEGER1, MPIR_INTEGER1_CTYPE)
#endif
#ifdef MPIR_INTEGER2_CTYPE
		NUMBER(MPI_INTEGER2, MPIR_INTEGER2_CTYPE)
#endif
#ifdef MPIR_INTEGER4_CTYPE
		NUMBER(MPI_INTEGER4, MPIR_INTEGER4_CTYPE)
#endif
#ifdef MPIR_INTEGER8_CTYPE
		NUMBER(MPI_INTEGER8, MPIR_INTEGER8_CTYPE)
#endif
#ifdef MPIR_REAL4_CTYPE
		NUMBER(MPI_REAL4, MPIR_REAL4_CTYPE)
#endif
#ifdef MPIR_REAL8_CTYPE
		NUMBER(MPI_REAL8, MPIR_REAL8_CTYPE)
#endif
#ifdef HAVE_CXX_BINDING
		NUMBER(MPI_CXX_BOOL, MPIR_CXX_BOOL_CTYPE)
#endif
#ifdef HAVE_CXX_COMPLEX
		COMPLEX(MPI_CXX_FLOAT_COMPLEX, float)
		COMPLEX(MPI_CXX_DOUBLE_COMPLEX, double)
#endif
	}
	return NONE;
}

/* Values with an index. */
static enum bcl_type pair_of(MPI_Datatype type)
{
	switch (type) {
	case MPI_FLOAT_INT:
		return BCL_FLOAT_INT;
	case MPI_DOUBLE_INT:
		return BCL_DOUBLE_INT;
	case MPI_LONG_INT:
		return BCL_LONG_INT;
	case MPI_2INT:
		return BCL_INT_INT;
	case MPI_SHORT_INT:
		return BCL_SHORT_INT;
	case MPI_LONG_DOUBLE_INT:
		return BCL_LONG_DOUBLE_INT;
	}
	return NONE;
}

/* NULL: the library lacks the operator or the type. The library's product of
 * complex numbers is Fortran's; C's differs where a part is infinite. */
static const struct bcl_reduction *builtin(MPI_Op op, MPI_Datatype type)
{
	enum bcl_type known = c_type_of(type);

	if (known == NONE && op != MPI_PROD)
		known = complex_of(type);
	if (known == NONE)
		known = pair_of(type);
	if (known == NONE)
		known = foreign_type_of(type);
	return bcl_reduction(op_of(op), known);
}

int bcl_ch3_is_dense(MPI_Datatype type)
{
	MPI_Aint lb, extent, true_lb, true_extent;
	MPI_Aint size;

	MPIR_Datatype_get_size_macro(type, size);
	MPIR_Type_get_extent_impl(type, &lb, &extent);
	MPIR_Type_get_true_extent_impl(type, &true_lb, &true_extent);
	return pair_of(type) != NONE || (size > 0 && !lb && !true_lb &&
					 extent == size && true_extent == size);
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
	const struct bcl_reduction *known = builtin(op, type);
	size_t extent;

	if (known)
		return known;
	MPIR_Datatype_get_extent_macro(type, extent);
	room->op = op;
	room->type = type;
	room->reduction = (struct bcl_reduction){
		.element = extent,
		.commutative = MPIR_Op_is_commutative(op),
		.apply = apply,
		.arg = room,
	};
	return &room->reduction;
}
