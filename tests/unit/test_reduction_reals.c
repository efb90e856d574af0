/* SPDX-License-Identifier: MIT */
/*
 * The builtin reductions of real and complex numbers, of truth values, and of
 * values with an index, against scalar code: every value of a list with special
 * numbers is combined with every other value.
 */
#include <complex.h>
#include <math.h>
#include <string.h>

#include <bcl/coll.h>

#include "tests/unit/unit.h"

enum {
	NUMBERS = 9,
	PAIRS = NUMBERS * NUMBERS,
	INDICES = 3,
	PLACES = NUMBERS * INDICES, /* values with an index */
	PLACE_PAIRS = PLACES * PLACES,
};

static const double numbers[NUMBERS] = { -INFINITY, -1.5, -0.0,	    0.0, 0.25,
					 3,	    1e30, INFINITY, NAN };
static const int indices[INDICES] = { 0, 7, -2 };

static const struct bcl_reduction *need(enum bcl_op op, enum bcl_type type,
					size_t element)
{
	const struct bcl_reduction *reduction = bcl_reduction(op, type);

	ck_assert_ptr_nonnull(reduction);
	ck_assert_uint_eq(reduction->element, element);
	ck_assert(reduction->commutative);
	return reduction;
}

static long double of_reals(enum bcl_op op, long double a, long double b)
{
	switch (op) {
	case BCL_SUM:
		return a + b;
	case BCL_PROD:
		return a * b;
	case BCL_MIN:
		return isnan(a) || isnan(b) ? (long double)NAN : fminl(a, b);
	default:
		return isnan(a) || isnan(b) ? (long double)NAN : fmaxl(a, b);
	}
}

/* Zeros of both signs are equal, and so are all NaN. */
static void expect(unsigned op, unsigned type, long double value,
		   long double expected, unsigned i)
{
	ck_assert_msg(value == expected || (isnan(value) && isnan(expected)),
		      "operator %u, type %u, pair %u: %Lg, not %Lg", op, type,
		      i, value, expected);
}

/* in: a b c ... a b c ...; inout: a a a ... b b b ... */
#define REALS(NAME, type)                                                     \
	static void reals_##NAME(enum bcl_op op)                              \
	{                                                                     \
		type in[PAIRS], inout[PAIRS];                                 \
		unsigned i;                                                   \
                                                                              \
		for (i = 0; i < PAIRS; i++) {                                 \
			in[i] = (type)numbers[i % NUMBERS];                   \
			inout[i] = (type)numbers[i / NUMBERS];                \
		}                                                             \
		need(op, BCL_##NAME, sizeof(type))                            \
			->apply(in, inout, PAIRS, NULL);                      \
		for (i = 0; i < PAIRS; i++)                                   \
			expect(op, BCL_##NAME, inout[i],                      \
			       (type)of_reals(op, (type)numbers[i % NUMBERS], \
					      (type)numbers[i / NUMBERS]),    \
			       i);                                            \
	}
REALS(FLOAT, float)
REALS(DOUBLE, double)
REALS(LONG_DOUBLE, long double)

START_TEST(real_numbers)
{
	reals_FLOAT((enum bcl_op)_i);
	reals_DOUBLE((enum bcl_op)_i);
	reals_LONG_DOUBLE((enum bcl_op)_i);
}
END_TEST

/* Small integers, so that no result is rounded. */
#define COMPLEX_NUMBERS(NAME, type)                                            \
	static void complex_##NAME(void)                                       \
	{                                                                      \
		complex type in[PAIRS], sum[PAIRS], product[PAIRS];            \
		int i;                                                         \
                                                                               \
		for (i = 0; i < PAIRS; i++) {                                  \
			in[i] = i - 40 + (i % 7 - 3) * (complex type)I;        \
			sum[i] = i % 5 - 2 + (i % 11) * (complex type)I;       \
			product[i] = sum[i];                                   \
		}                                                              \
		need(BCL_SUM, BCL_##NAME, sizeof(*in))                         \
			->apply(in, sum, PAIRS, NULL);                         \
		need(BCL_PROD, BCL_##NAME, sizeof(*in))                        \
			->apply(in, product, PAIRS, NULL);                     \
		for (i = 0; i < PAIRS; i++) {                                  \
			complex type old =                                     \
				i % 5 - 2 + (i % 11) * (complex type)I;        \
                                                                               \
			ck_assert_msg(sum[i] == in[i] + old, "sum %d", i);     \
			ck_assert_msg(product[i] == in[i] * old, "product %d", \
				      i);                                      \
		}                                                              \
	}
COMPLEX_NUMBERS(COMPLEX_FLOAT, float)
COMPLEX_NUMBERS(COMPLEX_DOUBLE, double)
COMPLEX_NUMBERS(COMPLEX_LONG_DOUBLE, long double)

START_TEST(complex_numbers)
{
	complex_COMPLEX_FLOAT();
	complex_COMPLEX_DOUBLE();
	complex_COMPLEX_LONG_DOUBLE();
}
END_TEST

START_TEST(truth)
{
	const bool in[4] = { false, false, true, true };
	const bool inout[4] = { false, true, false, true };
	bool both[4], any[4], one[4];
	unsigned i;

	memcpy(both, inout, sizeof(both));
	memcpy(any, inout, sizeof(any));
	memcpy(one, inout, sizeof(one));
	need(BCL_LAND, BCL_BOOL, sizeof(bool))->apply(in, both, 4, NULL);
	need(BCL_LOR, BCL_BOOL, sizeof(bool))->apply(in, any, 4, NULL);
	need(BCL_LXOR, BCL_BOOL, sizeof(bool))->apply(in, one, 4, NULL);
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(both[i], in[i] && inout[i]);
		ck_assert_int_eq(any[i], in[i] || inout[i]);
		ck_assert_int_eq(one[i], in[i] != inout[i]);
	}
}
END_TEST

/* True if the place of value a and index i is taken, not that of b and j. */
static bool is_taken(enum bcl_op op, long double a, int i, long double b, int j)
{
	if (isnan(a) && isnan(b))
		return i < j;
	if (isnan(a) || isnan(b))
		return isnan(a);
	if (a == b)
		return i < j;
	return op == BCL_MINLOC ? a < b : a > b;
}

#define PLACES_OF(NAME, type)                                                \
	static struct type NAME##_place(unsigned i)                          \
	{                                                                    \
		struct type place = { .index = indices[i % INDICES] };       \
		double number = numbers[i / INDICES];                        \
                                                                             \
		/* An integer type has no infinity and no NaN. */            \
		if (BCL_##NAME != BCL_FLOAT_INT &&                           \
		    BCL_##NAME != BCL_DOUBLE_INT &&                          \
		    BCL_##NAME != BCL_LONG_DOUBLE_INT)                       \
			number = (int)(i / INDICES) * 1000 - 4000;           \
		place.value = (__typeof__(place.value))number;               \
		return place;                                                \
	}                                                                    \
	static void places_##NAME(enum bcl_op op)                            \
	{                                                                    \
		static struct type in[PLACE_PAIRS], inout[PLACE_PAIRS];      \
		unsigned i;                                                  \
                                                                             \
		for (i = 0; i < PLACE_PAIRS; i++) {                          \
			in[i] = NAME##_place(i % PLACES);                    \
			inout[i] = NAME##_place(i / PLACES);                 \
		}                                                            \
		need(op, BCL_##NAME, sizeof(*in))                            \
			->apply(in, inout, PLACE_PAIRS, NULL);               \
		for (i = 0; i < PLACE_PAIRS; i++) {                          \
			struct type a = NAME##_place(i % PLACES);            \
			struct type b = NAME##_place(i / PLACES);            \
			bool taken = is_taken(op, a.value, a.index, b.value, \
					      b.index);                      \
                                                                             \
			expect(op, BCL_##NAME, inout[i].value,               \
			       taken ? a.value : b.value, i);                \
			ck_assert_int_eq(inout[i].index,                     \
					 taken ? a.index : b.index);         \
		}                                                            \
	}
PLACES_OF(FLOAT_INT, bcl_float_int)
PLACES_OF(DOUBLE_INT, bcl_double_int)
PLACES_OF(LONG_INT, bcl_long_int)
PLACES_OF(INT_INT, bcl_int_int)
PLACES_OF(SHORT_INT, bcl_short_int)
PLACES_OF(LONG_DOUBLE_INT, bcl_long_double_int)

START_TEST(places)
{
	places_FLOAT_INT((enum bcl_op)_i);
	places_DOUBLE_INT((enum bcl_op)_i);
	places_LONG_INT((enum bcl_op)_i);
	places_INT_INT((enum bcl_op)_i);
	places_SHORT_INT((enum bcl_op)_i);
	places_LONG_DOUBLE_INT((enum bcl_op)_i);
}
END_TEST

static bool has(enum bcl_op op, enum bcl_type type)
{
	if (op >= BCL_MINLOC)
		return type >= BCL_FLOAT_INT;
	if (type >= BCL_FLOAT_INT)
		return false;
	if (type >= BCL_COMPLEX_FLOAT)
		return op <= BCL_PROD;
	if (type == BCL_BOOL)
		return op >= BCL_LAND;
	return type < BCL_FLOAT || op < BCL_BAND;
}

/* Each type has its operators, and no other. */
START_TEST(operators)
{
	unsigned op, type;

	for (op = 0; op <= BCL_MAXLOC + 1; op++)
		for (type = 0; type <= BCL_LONG_DOUBLE_INT + 1; type++)
			ck_assert_msg(!bcl_reduction((enum bcl_op)op,
						     (enum bcl_type)type) ==
					      !(op <= BCL_MAXLOC &&
						type <= BCL_LONG_DOUBLE_INT &&
						has((enum bcl_op)op,
						    (enum bcl_type)type)),
				      "operator %u, type %u", op, type);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reduction_reals");
	TCase *tests = tcase_create("builtin");

	tcase_add_loop_test(tests, real_numbers, BCL_SUM, BCL_MAX + 1);
	tcase_add_test(tests, complex_numbers);
	tcase_add_test(tests, truth);
	tcase_add_loop_test(tests, places, BCL_MINLOC, BCL_MAXLOC + 1);
	tcase_add_test(tests, operators);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
