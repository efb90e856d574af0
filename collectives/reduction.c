/* SPDX-License-Identifier: MIT */
/*
 * The builtin reductions: one loop for each operator and type. The compiler
 * makes it a vector loop (-fopenmp-simd).
 *
 * Signed integers are added and multiplied as unsigned integers of the same
 * size: the bits are equal, and overflow is defined. 16-bit operands of a
 * product would be promoted to int, where overflow is undefined; the factor 1U
 * makes them unsigned int.
 */
#include <bcl/coll.h>

#define SUM(a, b)   (a + b)
#define PROD(a, b)  (1U * a * b)
#define FPROD(a, b) (a * b)
#define MIN(a, b)   (a < b ? a : b)
#define MAX(a, b)   (a > b ? a : b)
#define BAND(a, b)  (a & b)
#define BOR(a, b)   (a | b)
#define BXOR(a, b)  (a ^ b)
#define LAND(a, b)  ((a != 0) & (b != 0))
#define LOR(a, b)   ((a != 0) | (b != 0))
#define LXOR(a, b)  ((a != 0) ^ (b != 0))

/* X(operator, formula, type's name, type) */
#define ORDER(X, NAME, type)    \
	X(MIN, MIN, NAME, type) \
	X(MAX, MAX, NAME, type)
#define BITS(X, NAME, type)       \
	X(SUM, SUM, NAME, type)   \
	X(PROD, PROD, NAME, type) \
	X(BAND, BAND, NAME, type) \
	X(BOR, BOR, NAME, type)   \
	X(BXOR, BXOR, NAME, type) \
	X(LAND, LAND, NAME, type) \
	X(LOR, LOR, NAME, type)   \
	X(LXOR, LXOR, NAME, type)
#define REAL(X, NAME, type)     \
	X(SUM, SUM, NAME, type) \
	X(PROD, FPROD, NAME, type)
#define ALL(X)                     \
	ORDER(X, INT8, int8_t)     \
	BITS(X, INT8, uint8_t)     \
	ORDER(X, UINT8, uint8_t)   \
	BITS(X, UINT8, uint8_t)    \
	ORDER(X, INT16, int16_t)   \
	BITS(X, INT16, uint16_t)   \
	ORDER(X, UINT16, uint16_t) \
	BITS(X, UINT16, uint16_t)  \
	ORDER(X, INT32, int32_t)   \
	BITS(X, INT32, uint32_t)   \
	ORDER(X, UINT32, uint32_t) \
	BITS(X, UINT32, uint32_t)  \
	ORDER(X, INT64, int64_t)   \
	BITS(X, INT64, uint64_t)   \
	ORDER(X, UINT64, uint64_t) \
	BITS(X, UINT64, uint64_t)  \
	ORDER(X, FLOAT, float)     \
	REAL(X, FLOAT, float)      \
	ORDER(X, DOUBLE, double)   \
	REAL(X, DOUBLE, double)

#define FUNCTION(OP, formula, NAME, type)                                     \
	static void OP##_##NAME(const void *in, void *inout, size_t count,    \
				void *arg)                                    \
	{                                                                     \
		const type *restrict x = in;                                  \
		type *restrict y = inout;                                     \
                                                                              \
		(void)arg;                                                    \
		_Pragma("omp simd") for (size_t i = 0; i < count; i++) y[i] = \
			(type)formula(x[i], y[i]);                            \
	}
ALL(FUNCTION)

#define ENTRY(OP, formula, NAME, type)   \
	[BCL_##OP][BCL_##NAME] = {       \
		.element = sizeof(type), \
		.commutative = true,     \
		.apply = OP##_##NAME,    \
	},
static const struct bcl_reduction reductions[BCL_LXOR + 1][BCL_DOUBLE + 1] = {
	ALL(ENTRY)
};

const struct bcl_reduction *bcl_reduction(enum bcl_op op, enum bcl_type type)
{
	const struct bcl_reduction *reduction;

	if ((unsigned)op > BCL_LXOR || (unsigned)type > BCL_DOUBLE)
		return NULL;
	reduction = &reductions[op][type];
	return reduction->apply ? reduction : NULL;
}
