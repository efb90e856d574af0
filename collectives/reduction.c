/* SPDX-License-Identifier: MIT */
/*
 * The builtin reductions: one loop for each operator and type. The compiler
 * makes it a vector loop (-fopenmp-simd).
 *
 * Signed integers are added and multiplied as unsigned integers of the same
 * size: the bits are equal, and overflow is defined. 16-bit operands of a
 * product would be promoted to int, where overflow is undefined; the factor 1U
 * makes them unsigned int.
 *
 * No formula depends on the order of the operands, except for the choice
 * between two NaN or two zeros. So the compiler must not fuse a product with a
 * sum (-ffp-contract=off), which would round one product of two.
 */
#include <bcl/coll.h>

#define SUM(a, b)  (a + b)
#define PROD(a, b) (1U * a * b)
#define MIN(a, b)  (a < b ? a : b)
#define MAX(a, b)  (a > b ? a : b)
#define BAND(a, b) (a & b)
#define BOR(a, b)  (a | b)
#define BXOR(a, b) (a ^ b)
#define LAND(a, b) ((a != 0) & (b != 0))
#define LOR(a, b)  ((a != 0) | (b != 0))
#define LXOR(a, b) ((a != 0) ^ (b != 0))

/* The same for 64 bits: SSE2 cannot compare 64-bit integers, but the highest
 * bit of NONZERO(a) is set if a is not 0. */
#define NONZERO(a)   (a | (0 - a))
#define LAND64(a, b) ((NONZERO(a) & NONZERO(b)) >> 63)
#define LOR64(a, b)  (NONZERO((a | b)) >> 63)
#define LXOR64(a, b) ((NONZERO(a) ^ NONZERO(b)) >> 63)

/* Of real numbers: only a NaN is not equal to itself. A comparison with a NaN
 * is false, so a NaN in `b` needs no test. */
#define FPROD(a, b) (a * b)
#define FMIN(a, b)  (a != a ? a : MIN(a, b))
#define FMAX(a, b)  (a != a ? a : MAX(a, b))

/* X(operator, formula, type's name, type) */
#define ORDER(X, NAME, type)    \
	X(MIN, MIN, NAME, type) \
	X(MAX, MAX, NAME, type)
#define BITS(X, NAME, type)       \
	X(SUM, SUM, NAME, type)   \
	X(PROD, PROD, NAME, type) \
	X(BAND, BAND, NAME, type) \
	X(BOR, BOR, NAME, type)   \
	X(BXOR, BXOR, NAME, type)
#define TRUTH(X, NAME, type)      \
	X(LAND, LAND, NAME, type) \
	X(LOR, LOR, NAME, type)   \
	X(LXOR, LXOR, NAME, type)
#define TRUTH64(X, NAME, type)      \
	X(LAND, LAND64, NAME, type) \
	X(LOR, LOR64, NAME, type)   \
	X(LXOR, LXOR64, NAME, type)
#define REAL(X, NAME, type)        \
	X(SUM, SUM, NAME, type)    \
	X(PROD, FPROD, NAME, type) \
	X(MIN, FMIN, NAME, type)   \
	X(MAX, FMAX, NAME, type)
#define ALL(X)                            \
	ORDER(X, INT8, int8_t)            \
	BITS(X, INT8, uint8_t)            \
	TRUTH(X, INT8, uint8_t)           \
	ORDER(X, UINT8, uint8_t)          \
	BITS(X, UINT8, uint8_t)           \
	TRUTH(X, UINT8, uint8_t)          \
	ORDER(X, INT16, int16_t)          \
	BITS(X, INT16, uint16_t)          \
	TRUTH(X, INT16, uint16_t)         \
	ORDER(X, UINT16, uint16_t)        \
	BITS(X, UINT16, uint16_t)         \
	TRUTH(X, UINT16, uint16_t)        \
	ORDER(X, INT32, int32_t)          \
	BITS(X, INT32, uint32_t)          \
	TRUTH(X, INT32, uint32_t)         \
	ORDER(X, UINT32, uint32_t)        \
	BITS(X, UINT32, uint32_t)         \
	TRUTH(X, UINT32, uint32_t)        \
	ORDER(X, INT64, int64_t)          \
	BITS(X, INT64, uint64_t)          \
	TRUTH64(X, INT64, uint64_t)       \
	ORDER(X, UINT64, uint64_t)        \
	BITS(X, UINT64, uint64_t)         \
	TRUTH64(X, UINT64, uint64_t)      \
	REAL(X, FLOAT, float)             \
	REAL(X, DOUBLE, double)           \
	REAL(X, LONG_DOUBLE, long double) \
	TRUTH(X, BOOL, bool)

/* X(type's name, type of a part) */
#define COMPLEX(X)                \
	X(COMPLEX_FLOAT, float)   \
	X(COMPLEX_DOUBLE, double) \
	X(COMPLEX_LONG_DOUBLE, long double)

/* X(operator, before, type's name, type) */
#define LOCATION(X, NAME, type)     \
	X(MINLOC, LESS, NAME, type) \
	X(MAXLOC, GREATER, NAME, type)
#define LOCATIONS(X)                                   \
	LOCATION(X, FLOAT_INT, struct bcl_float_int)   \
	LOCATION(X, DOUBLE_INT, struct bcl_double_int) \
	LOCATION(X, LONG_INT, struct bcl_long_int)     \
	LOCATION(X, INT_INT, struct bcl_int_int)       \
	LOCATION(X, SHORT_INT, struct bcl_short_int)   \
	LOCATION(X, LONG_DOUBLE_INT, struct bcl_long_double_int)

#define APPLY(OP, NAME)                                                    \
	static void OP##_##NAME(const void *in, void *inout, size_t count, \
				void *arg)

#define FUNCTION(OP, formula, NAME, type)                                     \
	APPLY(OP, NAME)                                                       \
	{                                                                     \
		const type *restrict x = in;                                  \
		type *restrict y = inout;                                     \
                                                                              \
		(void)arg;                                                    \
		_Pragma("omp simd") for (size_t i = 0; i < count; i++) y[i] = \
			(type)formula(x[i], y[i]);                            \
	}
ALL(FUNCTION)

/* The parts of a complex number lie one after the other. */
#define COMPLEX_FUNCTIONS(NAME, type)                                         \
	APPLY(SUM, NAME)                                                      \
	{                                                                     \
		const type *restrict x = in;                                  \
		type *restrict y = inout;                                     \
                                                                              \
		(void)arg;                                                    \
		_Pragma("omp simd") for (size_t i = 0; i < 2 * count; i++)    \
			y[i] += x[i];                                         \
	}                                                                     \
	APPLY(PROD, NAME)                                                     \
	{                                                                     \
		const type *restrict x = in;                                  \
		type *restrict y = inout;                                     \
                                                                              \
		(void)arg;                                                    \
		_Pragma("omp simd") for (size_t i = 0; i < 2 * count; i += 2) \
		{                                                             \
			type real = x[i] * y[i] - x[i + 1] * y[i + 1];        \
                                                                              \
			y[i + 1] = x[i] * y[i + 1] + x[i + 1] * y[i];         \
			y[i] = real;                                          \
		}                                                             \
	}
COMPLEX(COMPLEX_FUNCTIONS)

/* True if value `a` is taken whatever the indices are. A NaN comes before all
 * numbers: a comparison with a NaN is false. */
#define LESS(a, b)    (!(a >= b) && b == b)
#define GREATER(a, b) (!(a <= b) && b == b)

#define LOCATION_FUNCTION(OP, before, NAME, type)               \
	APPLY(OP, NAME)                                         \
	{                                                       \
		const type *restrict x = in;                    \
		type *restrict y = inout;                       \
                                                                \
		(void)arg;                                      \
		for (size_t i = 0; i < count; i++)              \
			if (before(x[i].value, y[i].value) ||   \
			    (!before(y[i].value, x[i].value) && \
			     x[i].index < y[i].index))          \
				y[i] = x[i];                    \
	}
LOCATIONS(LOCATION_FUNCTION)

#define ENTRY(OP, formula, NAME, type)   \
	[BCL_##OP][BCL_##NAME] = {       \
		.element = sizeof(type), \
		.commutative = true,     \
		.apply = OP##_##NAME,    \
	},
#define COMPLEX_ENTRIES(NAME, type) \
	ENTRY(SUM, , NAME, type[2]) \
	ENTRY(PROD, , NAME, type[2])
static const struct bcl_reduction
	reductions[BCL_MAXLOC + 1][BCL_LONG_DOUBLE_INT + 1] = { ALL(
		ENTRY) COMPLEX(COMPLEX_ENTRIES) LOCATIONS(ENTRY) };

const struct bcl_reduction *bcl_reduction(enum bcl_op op, enum bcl_type type)
{
	const struct bcl_reduction *reduction;

	if ((unsigned)op > BCL_MAXLOC || (unsigned)type > BCL_LONG_DOUBLE_INT)
		return NULL;
	reduction = &reductions[op][type];
	return reduction->apply ? reduction : NULL;
}
