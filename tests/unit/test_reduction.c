/* SPDX-License-Identifier: MIT */
/* The builtin reductions of integers, float and double, against one element at
 * a time; test_reduction_reals.c has the other types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcl/coll.h>

#include "tests/unit/unit.h"

enum {
	MOST = 70, /* elements: some vectors and a rest */
	GUARD = 0x5a,
};

/* x op y of integers in 64 bits; the result is cut to the type's size. */
static uint64_t of_integers(enum bcl_op op, bool is_signed, uint64_t x,
			    uint64_t y)
{
	bool less = is_signed ? (int64_t)x < (int64_t)y : x < y;

	switch (op) {
	case BCL_SUM:
		return x + y;
	case BCL_PROD:
		return x * y;
	case BCL_MIN:
		return less ? x : y;
	case BCL_MAX:
		return less ? y : x;
	case BCL_BAND:
		return x & y;
	case BCL_BOR:
		return x | y;
	case BCL_BXOR:
		return x ^ y;
	case BCL_LAND:
		return x && y;
	case BCL_LOR:
		return x || y;
	default:
		return !x != !y;
	}
}

static double of_numbers(enum bcl_op op, double x, double y)
{
	switch (op) {
	case BCL_SUM:
		return x + y;
	case BCL_PROD:
		return x * y;
	case BCL_MIN:
		return x < y ? x : y;
	default:
		return x < y ? y : x;
	}
}

static const struct {
	enum bcl_type type;
	size_t size;
	bool is_signed, is_real;
} types[] = {
	{ BCL_INT8, 1, true, false },  { BCL_UINT8, 1, false, false },
	{ BCL_INT16, 2, true, false }, { BCL_UINT16, 2, false, false },
	{ BCL_INT32, 4, true, false }, { BCL_UINT32, 4, false, false },
	{ BCL_INT64, 8, true, false }, { BCL_UINT64, 8, false, false },
	{ BCL_FLOAT, 4, false, true }, { BCL_DOUBLE, 8, false, true },
};

/* An integer of `size` bytes, widened. */
static uint64_t get(const unsigned char *at, size_t size, bool is_signed)
{
	unsigned shift = 64 - 8 * (unsigned)size;
	uint64_t value = 0;

	memcpy(&value, at, size); /* little end first */
	value <<= shift;
	return is_signed ? (uint64_t)((int64_t)value >> shift) : value >> shift;
}

static bool is_right(unsigned i, enum bcl_op op, const unsigned char *in,
		     const unsigned char *before, const unsigned char *after)
{
	size_t size = types[i].size;
	uint64_t expected;
	float x, y, z;
	double u, v, w;

	if (types[i].type == BCL_FLOAT) {
		memcpy(&x, in, 4);
		memcpy(&y, before, 4);
		memcpy(&z, after, 4);
		return z == (float)of_numbers(op, x, y);
	}
	if (types[i].type == BCL_DOUBLE) {
		memcpy(&u, in, 8);
		memcpy(&v, before, 8);
		memcpy(&w, after, 8);
		return w == of_numbers(op, u, v);
	}
	expected = of_integers(op, types[i].is_signed,
			       get(in, size, types[i].is_signed),
			       get(before, size, types[i].is_signed));
	return !memcmp(&expected, after, size);
}

/* Zeros now and then, the ends of the range, and anything. */
static void fill(unsigned i, unsigned char *to, unsigned count)
{
	unsigned k;

	for (k = 0; k < count; k++, to += types[i].size) {
		uint64_t bits = (uint64_t)rand() << 42 ^
				(uint64_t)rand() << 21 ^ (uint64_t)rand();
		float real = (float)(rand() % 2001 - 1000) / 8;
		double number = (double)(rand() % 2000001 - 1000000) / 64;

		if (k % 5 == 0)
			bits = 0;
		else if (k % 5 == 1)
			bits = ~0ull >> k % 2;
		if (types[i].type == BCL_FLOAT)
			memcpy(to, &real, 4);
		else if (types[i].type == BCL_DOUBLE)
			memcpy(to, &number, 8);
		else
			memcpy(to, &bits, types[i].size);
	}
}

/* Vectors of all lengths that begin at any element, but not at any byte. */
static void compare(unsigned i, enum bcl_op op,
		    const struct bcl_reduction *reduction)
{
	static _Alignas(64) unsigned char in[(MOST + 8) * 8],
		inout[(MOST + 8) * 8], before[(MOST + 8) * 8];
	size_t size = types[i].size;
	unsigned count, k;

	for (count = 0; count <= MOST; count++) {
		unsigned char *x = in + (count % 5) * size;
		unsigned char *y = inout + (count % 7) * size;

		fill(i, x, count);
		memset(inout, GUARD, sizeof(inout));
		fill(i, y, count);
		memcpy(before, inout, sizeof(inout));
		reduction->apply(x, y, count, reduction->arg);
		for (k = 0; k < count; k++)
			ck_assert_msg(is_right(i, op, x + k * size,
					       before + (y - inout) + k * size,
					       y + k * size),
				      "type %u, operator %u: element %u of %u",
				      types[i].type, op, k, count);
		ck_assert_int_eq(y[count * size], GUARD);
		ck_assert(y == inout || y[-1] == GUARD);
	}
}

START_TEST(all_of_a_type)
{
	unsigned op;

	srand(1);
	for (op = BCL_SUM; op <= BCL_LXOR; op++) {
		const struct bcl_reduction *reduction =
			bcl_reduction((enum bcl_op)op, types[_i].type);

		/* Real numbers have no bits and are not true or false. */
		if (types[_i].is_real && op >= BCL_BAND) {
			ck_assert_ptr_null(reduction);
			continue;
		}
		ck_assert_ptr_nonnull(reduction);
		ck_assert_uint_eq(reduction->element, types[_i].size);
		ck_assert(reduction->commutative);
		compare((unsigned)_i, (enum bcl_op)op, reduction);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reduction");
	TCase *tests = tcase_create("builtin");

	tcase_add_loop_test(tests, all_of_a_type, 0,
			    sizeof(types) / sizeof(types[0]));
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
