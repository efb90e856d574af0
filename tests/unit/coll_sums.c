/* SPDX-License-Identifier: MIT */
/* Tests of the operations that combine vectors, one function each. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/coll_case.h"

/* 2 x 2 matrices modulo 2^32: associative, not commutative. */
static void multiply(const void *in, void *inout, size_t count, void *arg)
{
	const uint32_t *a = in;
	uint32_t *b = inout;

	(void)arg;
	for (; count; count--, a += 4, b += 4) {
		const uint32_t c[4] = {
			a[0] * b[0] + a[1] * b[2],
			a[0] * b[1] + a[1] * b[3],
			a[2] * b[0] + a[3] * b[2],
			a[2] * b[1] + a[3] * b[3],
		};

		memcpy(b, c, sizeof(c));
	}
}

static const struct bcl_reduction matrices = {
	.element = 4 * sizeof(uint32_t),
	.apply = multiply,
};

enum {
	LONG_ELEMENT = 20000, /* longer than a chunk of a node's segment */
};

static void add_long(const void *in, void *inout, size_t count, void *arg)
{
	const unsigned char *a = in;
	unsigned char *b = inout;
	size_t i;

	(void)arg;
	for (i = 0; i < count * LONG_ELEMENT; i++)
		b[i] = (unsigned char)(a[i] + b[i]);
}

static const struct bcl_reduction long_elements = {
	.element = LONG_ELEMENT,
	.commutative = true,
	.apply = add_long,
};

static void contribution(unsigned char *vector, unsigned rank, size_t length)
{
	case_fill(vector, rank, 1, length);
}

/* The part must be `count` elements, from the first on, of a vector of `all`
 * elements, combined from the first `ranks` ranks. */
static void check_part(struct test *test, const unsigned char *part,
		       size_t first, size_t count, size_t all,
		       const struct bcl_reduction *reduction, unsigned ranks)
{
	size_t element = reduction->element, length = all * element, i;
	unsigned char *expected = malloc(length + 1);
	unsigned char *next = malloc(length + 1);
	unsigned rank = ranks - 1;

	contribution(expected, rank, length);
	while (rank-- > 0) {
		contribution(next, rank, length);
		reduction->apply(next, expected, all, reduction->arg);
	}
	for (i = 0; i < count * element; i++)
		if (part[i] != expected[first * element + i]) {
			case_fail(test, "wrong result", i);
			break;
		}
	free(expected);
	free(next);
}

static void check_reduced(struct test *test, const unsigned char *vector,
			  size_t count, const struct bcl_reduction *reduction)
{
	check_part(test, vector, 0, count, count, reduction, test->size);
}

static size_t count_of(const struct test *test,
		       const struct bcl_reduction *reduction)
{
	return (test->length + reduction->element - 1) / reduction->element;
}

static void reduce_with(struct test *test,
			const struct bcl_reduction *reduction, bool to_all)
{
	size_t count = count_of(test, reduction);
	size_t length = count * reduction->element;
	unsigned char *mine = case_buffer(test, length),
		      *receive = case_buffer(test, length);
	bool gets = to_all || test->rank == test->root;
	bool in_place = test->in_place && gets;
	const void *send = in_place ? BCL_IN_PLACE : mine;

	contribution(in_place ? receive : mine, test->rank, length);
	if (to_all)
		CASE_CALL(test, allreduce, send, receive, count, reduction);
	else
		CASE_CALL(test, reduce, send, receive, count, reduction,
			  test->root);
	if (gets)
		check_reduced(test, receive, count, reduction);
	case_buffer_free(test, mine, length);
	case_buffer_free(test, receive, length);
}

static void test_reductions(struct test *test, bool to_all)
{
	reduce_with(test, bcl_reduction(BCL_SUM, BCL_UINT64), to_all);
	reduce_with(test, bcl_reduction(BCL_MAX, BCL_INT8), to_all);
	reduce_with(test, &matrices, to_all);
	if (test->length == 1)
		reduce_with(test, &long_elements, to_all);
}

/*
 * Takes the element with the larger absolute value, or `in` if the absolute
 * values are equal. So the result depends on the order of the operands, but a
 * commutative operation may run in any order of the ranks.
 */
static void take_larger(const void *in, void *inout, size_t count, void *arg)
{
	const int8_t *a = in;
	int8_t *b = inout;

	(void)arg;
	for (; count; count--, a++, b++)
		*b = abs(*a) >= abs(*b) ? *a : *b;
}

static const struct bcl_reduction larger = {
	.element = 1,
	.commutative = true,
	.apply = take_larger,
};

static void contribute_signs(const struct test *test, unsigned char *vector,
			     size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		vector[i] = case_byte(test->rank, 2, i) & 64 ? 1 : 0xff;
}

/* Comparisons define no order of NaN, 0 and -0. */
static void contribute_odd_numbers(const struct test *test,
				   unsigned char *vector, size_t count)
{
	static const double odd[] = { NAN, 0., -0., 1 };
	size_t i;

	for (i = 0; i < count; i++)
		memcpy(vector + i * sizeof(*odd),
		       &odd[case_byte(test->rank, 3, i) >> 5 & 3],
		       sizeof(*odd));
}

/* All members must have the same bits as the first member. The result itself is
 * not checked. */
static void expect_same(struct test *test,
			const struct bcl_reduction *reduction,
			void (*contribute)(const struct test *test,
					   unsigned char *vector, size_t count))
{
	size_t count = test->length / reduction->element;
	size_t length = count * reduction->element;
	unsigned char *receive = case_buffer(test, length),
		      *first = case_buffer(test, length);

	contribute(test, test->in_place ? receive : first, count);
	case_expect_ok(test,
		       bcl_allreduce(test->team,
				     test->in_place ? BCL_IN_PLACE : first,
				     receive, count, reduction));
	memcpy(first, receive, length);
	case_expect_ok(test, bcl_broadcast(test->team, first, length, 0));
	if (memcmp(first, receive, length))
		case_fail(test, "not as at the first rank", reduction->element);
	case_buffer_free(test, receive, length);
	case_buffer_free(test, first, length);
}

static void test_reduce(struct test *test)
{
	test_reductions(test, false);
}

static void test_allreduce(struct test *test)
{
	test_reductions(test, true);
}

static void reduce_blocks_with(struct test *test,
			       const struct bcl_reduction *reduction)
{
	size_t count = count_of(test, reduction), all = count * test->size;
	size_t block = count * reduction->element;
	size_t length = all * reduction->element;
	size_t gets = test->in_place ? length : block;
	unsigned char *mine = case_buffer(test, length),
		      *receive = case_buffer(test, gets);
	const void *send = test->in_place ? BCL_IN_PLACE : mine;

	contribution(test->in_place ? receive : mine, test->rank, length);
	CASE_CALL(test, reduce_scatter, send, receive, count, reduction);
	check_part(test, receive, count * test->rank, count, all, reduction,
		   test->size);
	case_buffer_free(test, mine, length);
	case_buffer_free(test, receive, gets);
}

/* The counts differ; that of rank 1 is 0. */
static void reduce_various_with(struct test *test,
				const struct bcl_reduction *reduction)
{
	size_t usual = count_of(test, reduction), before = 0, all = 0;
	size_t *counts = calloc(test->size, sizeof(*counts)), length, gets;
	unsigned char *mine, *receive;
	const void *send;
	unsigned i;

	for (i = 0; i < test->size; i++) {
		counts[i] = i == 1 ? 0 : usual + (usual ? i % 3 : 0);
		before += i < test->rank ? counts[i] : 0;
		all += counts[i];
	}
	length = all * reduction->element;
	gets = test->in_place ? length
			      : counts[test->rank] * reduction->element;
	mine = case_buffer(test, length);
	receive = case_buffer(test, gets);
	send = test->in_place ? BCL_IN_PLACE : mine;
	contribution(test->in_place ? receive : mine, test->rank, length);
	CASE_CALL(test, reduce_scatterv, send, receive, counts, reduction);
	check_part(test, receive, before, counts[test->rank], all, reduction,
		   test->size);
	case_buffer_free(test, mine, length);
	case_buffer_free(test, receive, gets);
	free(counts);
}

static void test_reduce_scatterv(struct test *test)
{
	reduce_various_with(test, bcl_reduction(BCL_SUM, BCL_UINT64));
	reduce_various_with(test, bcl_reduction(BCL_MAX, BCL_INT8));
	reduce_various_with(test, &matrices);
	if (test->length == 1)
		reduce_various_with(test, &long_elements);
}

static void test_reduce_scatter(struct test *test)
{
	reduce_blocks_with(test, bcl_reduction(BCL_SUM, BCL_UINT64));
	reduce_blocks_with(test, bcl_reduction(BCL_MAX, BCL_INT8));
	reduce_blocks_with(test, &matrices);
	if (test->length == 1)
		reduce_blocks_with(test, &long_elements);
}

static void scan_with(struct test *test, const struct bcl_reduction *reduction,
		      bool exclusive)
{
	size_t count = count_of(test, reduction), i;
	size_t length = count * reduction->element;
	unsigned char *mine = case_buffer(test, length),
		      *receive = case_buffer(test, length);
	const void *send = test->in_place ? BCL_IN_PLACE : mine;
	unsigned ranks = exclusive ? test->rank : test->rank + 1;

	contribution(test->in_place ? receive : mine, test->rank, length);
	if (exclusive)
		CASE_CALL(test, exscan, send, receive, count, reduction);
	else
		CASE_CALL(test, scan, send, receive, count, reduction);
	if (ranks)
		check_part(test, receive, 0, count, count, reduction, ranks);
	for (i = 0; !ranks && !test->in_place && i < length; i++)
		if (receive[i] != CASE_GUARD_BYTE)
			case_fail(test, "wrote at the first rank", i);
	case_buffer_free(test, mine, length);
	case_buffer_free(test, receive, length);
}

static void test_scans(struct test *test, bool exclusive)
{
	scan_with(test, bcl_reduction(BCL_SUM, BCL_UINT64), exclusive);
	scan_with(test, bcl_reduction(BCL_MAX, BCL_INT8), exclusive);
	scan_with(test, &matrices, exclusive);
	if (test->length == 1)
		scan_with(test, &long_elements, exclusive);
}

static void test_scan(struct test *test)
{
	test_scans(test, false);
}

static void test_exscan(struct test *test)
{
	test_scans(test, true);
}

void case_same_everywhere(struct test *test)
{
	expect_same(test, &larger, contribute_signs);
	expect_same(test, bcl_reduction(BCL_MAX, BCL_DOUBLE),
		    contribute_odd_numbers);
}

void (*const case_sums[BCL_OPERATIONS])(struct test *test) = {
	[BCL_OPERATION_REDUCE] = test_reduce,
	[BCL_OPERATION_ALLREDUCE] = test_allreduce,
	[BCL_OPERATION_REDUCE_SCATTER] = test_reduce_scatter,
	[BCL_OPERATION_SCAN] = test_scan,
	[BCL_OPERATION_EXSCAN] = test_exscan,
	[BCL_OPERATION_REDUCE_SCATTERV] = test_reduce_scatterv,
};
