/* SPDX-License-Identifier: MIT */
#include "tests/unit/coll_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/team.h"

enum {
	GUARD = 32, /* bytes around a buffer that no operation may change */
	GUARD_BYTE = 0xa5,
};

struct test {
	struct bcl_team *team;
	struct bcl_adi *adi;
	unsigned rank, size, root;
	size_t length;
	bool in_place, in_background;
	const char *what;
	unsigned failures;
};

/* A buffer between two guards. */
static unsigned char *buffer_new(size_t length)
{
	unsigned char *memory = malloc(length + 2 * GUARD);

	memset(memory, GUARD_BYTE, length + 2 * GUARD);
	return memory + GUARD;
}

static void fail(struct test *test, const char *why, size_t at)
{
	if (test->failures++ < 3)
		fprintf(stderr,
			"%s: rank %u of %u, root %u, %zu bytes, in place %d, "
			"background %d: %s at %zu\n",
			test->what, test->rank, test->size, test->root,
			test->length, test->in_place, test->in_background, why,
			at);
}

static void buffer_free(struct test *test, unsigned char *buffer, size_t length)
{
	size_t i;

	for (i = 0; i < GUARD; i++)
		if (buffer[length + i] != GUARD_BYTE ||
		    (buffer - GUARD)[i] != GUARD_BYTE) {
			fail(test, "wrote beyond the buffer", i);
			break;
		}
	free(buffer - GUARD);
}

/* The byte at offset `at` of the block that rank `from` has for rank `to`. */
static unsigned char byte_of(unsigned from, unsigned to, size_t at)
{
	uint32_t i = (uint32_t)at;

	return (unsigned char)(from * 101 + to * 29 + i * 7 + (i >> 8) * 13);
}

static void fill(unsigned char *block, unsigned from, unsigned to,
		 size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		block[i] = byte_of(from, to, i);
}

static void check(struct test *test, const unsigned char *block, unsigned from,
		  unsigned to, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (block[i] != byte_of(from, to, i)) {
			fail(test, "wrong byte", i);
			return;
		}
}

static void end(struct test *test, enum bcl_status status,
		struct bcl_adi_request **request)
{
	if (status == BCL_OK && test->in_background)
		status = bcl_adi_wait(test->adi, request, NULL);
	if (status != BCL_OK)
		fail(test, bcl_strstatus(status), 0);
}

/* ---- one function per operation -------------------------------------------
 */

static void test_barrier(struct test *test)
{
	struct bcl_adi_request *request;

	end(test,
	    test->in_background ? bcl_ibarrier(test->team, &request)
				: bcl_barrier(test->team),
	    &request);
}

static void test_broadcast(struct test *test)
{
	unsigned char *buffer = buffer_new(test->length);
	struct bcl_adi_request *request;

	if (test->rank == test->root)
		fill(buffer, test->root, 0, test->length);
	end(test,
	    test->in_background
		    ? bcl_ibroadcast(test->team, buffer, test->length,
				     test->root, &request)
		    : bcl_broadcast(test->team, buffer, test->length,
				    test->root),
	    &request);
	check(test, buffer, test->root, 0, test->length);
	buffer_free(test, buffer, test->length);
}

static void test_gather(struct test *test)
{
	size_t length = test->length, all = test->size * length;
	unsigned char *mine = buffer_new(length), *receive = buffer_new(all);
	bool in_place = test->in_place && test->rank == test->root;
	struct bcl_adi_request *request;
	const void *send = in_place ? BCL_IN_PLACE : mine;
	unsigned i;

	fill(in_place ? receive + test->rank * length : mine, test->rank, 0,
	     length);
	end(test,
	    test->in_background
		    ? bcl_igather(test->team, send, length, receive, test->root,
				  &request)
		    : bcl_gather(test->team, send, length, receive, test->root),
	    &request);
	for (i = 0; test->rank == test->root && i < test->size; i++)
		check(test, receive + i * length, i, 0, length);
	buffer_free(test, mine, length);
	buffer_free(test, receive, all);
}

static void test_scatter(struct test *test)
{
	size_t length = test->length, all = test->size * length;
	unsigned char *mine = buffer_new(length), *send = buffer_new(all);
	bool in_place = test->in_place && test->rank == test->root;
	struct bcl_adi_request *request;
	void *receive = in_place ? BCL_IN_PLACE : mine;
	unsigned i;

	for (i = 0; test->rank == test->root && i < test->size; i++)
		fill(send + i * length, test->root, i, length);
	end(test,
	    test->in_background ? bcl_iscatter(test->team, send, receive,
					       length, test->root, &request)
				: bcl_scatter(test->team, send, receive, length,
					      test->root),
	    &request);
	check(test, in_place ? send + test->rank * length : mine, test->root,
	      test->rank, length);
	buffer_free(test, mine, length);
	buffer_free(test, send, all);
}

static void test_allgather(struct test *test)
{
	size_t length = test->length, all = test->size * length;
	unsigned char *mine = buffer_new(length), *receive = buffer_new(all);
	const void *send = test->in_place ? BCL_IN_PLACE : mine;
	struct bcl_adi_request *request;
	unsigned i;

	fill(test->in_place ? receive + test->rank * length : mine, test->rank,
	     0, length);
	end(test,
	    test->in_background
		    ? bcl_iallgather(test->team, send, length, receive,
				     &request)
		    : bcl_allgather(test->team, send, length, receive),
	    &request);
	for (i = 0; i < test->size; i++)
		check(test, receive + i * length, i, 0, length);
	buffer_free(test, mine, length);
	buffer_free(test, receive, all);
}

static void test_alltoall(struct test *test)
{
	size_t length = test->length, all = test->size * length;
	unsigned char *out = buffer_new(all), *receive = buffer_new(all);
	const void *send = test->in_place ? BCL_IN_PLACE : out;
	struct bcl_adi_request *request;
	unsigned i;

	for (i = 0; i < test->size; i++)
		fill((test->in_place ? receive : out) + i * length, test->rank,
		     i, length);
	end(test,
	    test->in_background
		    ? bcl_ialltoall(test->team, send, receive, length, &request)
		    : bcl_alltoall(test->team, send, receive, length),
	    &request);
	for (i = 0; i < test->size; i++)
		check(test, receive + i * length, i, test->rank, length);
	buffer_free(test, out, all);
	buffer_free(test, receive, all);
}

/* Some pairs exchange nothing. In place both blocks of a pair have the same
 * length. */
static size_t length_between(const struct test *test, unsigned from,
			     unsigned to)
{
	if (test->in_place)
		return (from + to) % 3 * test->length;
	return (from * 7 + to * 3) % 4 * test->length / 2;
}

static void test_alltoallv(struct test *test)
{
	unsigned n = test->size, i;
	size_t *lengths = calloc(4 * n, sizeof(*lengths));
	size_t *send_lengths = lengths, *send_offsets = lengths + n;
	size_t *receive_lengths = lengths + 2 * n;
	size_t *receive_offsets = lengths + 3 * n;
	size_t out = 0, in = 0;
	unsigned char *send, *receive;
	struct bcl_adi_request *request;
	const void *from;

	for (i = 0; i < n; i++) {
		send_lengths[i] = length_between(test, test->rank, i);
		send_offsets[i] = out;
		out += send_lengths[i] + i;
		receive_lengths[i] = length_between(test, i, test->rank);
		receive_offsets[i] = in;
		in += receive_lengths[i] + i;
	}
	send = buffer_new(out);
	receive = buffer_new(in);
	for (i = 0; i < n; i++)
		fill((test->in_place ? receive : send) + send_offsets[i],
		     test->rank, i, send_lengths[i]);
	from = test->in_place ? BCL_IN_PLACE : send;
	end(test,
	    test->in_background
		    ? bcl_ialltoallv(test->team, from, send_lengths,
				     send_offsets, receive, receive_lengths,
				     receive_offsets, &request)
		    : bcl_alltoallv(test->team, from, send_lengths,
				    send_offsets, receive, receive_lengths,
				    receive_offsets),
	    &request);
	for (i = 0; i < n; i++)
		check(test, receive + receive_offsets[i], i, test->rank,
		      receive_lengths[i]);
	buffer_free(test, send, out);
	buffer_free(test, receive, in);
	free(lengths);
}

/* The blocks of a rank's array, and the bytes of the array. Some are empty, and
 * there are gaps between them. Returns NULL at ranks that need no array. */
static size_t *various(const struct test *test, bool needed, size_t *all)
{
	unsigned n = test->size, i;
	size_t *lengths = calloc(2 * n, sizeof(*lengths));

	*all = 0;
	for (i = 0; i < n; i++) {
		lengths[i] = length_between(test, i, 0);
		lengths[n + i] = *all;
		*all += lengths[i] + i;
	}
	if (needed)
		return lengths;
	*all = 0;
	free(lengths);
	return NULL;
}

static void gather_various(struct test *test, bool to_all)
{
	bool gets = to_all || test->rank == test->root;
	bool in_place = test->in_place && gets;
	size_t own = length_between(test, test->rank, 0), all;
	size_t *lengths = various(test, gets, &all);
	size_t *offsets = lengths ? lengths + test->size : NULL;
	unsigned char *mine = buffer_new(own), *receive = buffer_new(all);
	const void *send = in_place ? BCL_IN_PLACE : mine;
	struct bcl_adi_request *request;
	enum bcl_status status;
	unsigned i;

	fill(in_place ? receive + offsets[test->rank] : mine, test->rank, 0,
	     own);
	if (to_all)
		status = test->in_background
				 ? bcl_iallgatherv(test->team, send, own,
						   receive, lengths, offsets,
						   &request)
				 : bcl_allgatherv(test->team, send, own,
						  receive, lengths, offsets);
	else
		status = test->in_background
				 ? bcl_igatherv(test->team, send, own, receive,
						lengths, offsets, test->root,
						&request)
				 : bcl_gatherv(test->team, send, own, receive,
					       lengths, offsets, test->root);
	end(test, status, &request);
	for (i = 0; gets && i < test->size; i++)
		check(test, receive + offsets[i], i, 0, lengths[i]);
	buffer_free(test, mine, own);
	buffer_free(test, receive, all);
	free(lengths);
}

static void test_gatherv(struct test *test)
{
	gather_various(test, false);
}

static void test_allgatherv(struct test *test)
{
	gather_various(test, true);
}

static void test_scatterv(struct test *test)
{
	bool gives = test->rank == test->root;
	bool in_place = test->in_place && gives;
	size_t own = length_between(test, test->rank, 0), all;
	size_t *lengths = various(test, gives, &all);
	size_t *offsets = lengths ? lengths + test->size : NULL;
	unsigned char *mine = buffer_new(own), *send = buffer_new(all);
	void *receive = in_place ? BCL_IN_PLACE : mine;
	struct bcl_adi_request *request;
	unsigned i;

	for (i = 0; gives && i < test->size; i++)
		fill(send + offsets[i], test->root, i, lengths[i]);
	end(test,
	    test->in_background
		    ? bcl_iscatterv(test->team, send, lengths, offsets, receive,
				    own, test->root, &request)
		    : bcl_scatterv(test->team, send, lengths, offsets, receive,
				   own, test->root),
	    &request);
	check(test, in_place ? send + offsets[test->rank] : mine, test->root,
	      test->rank, own);
	buffer_free(test, mine, own);
	buffer_free(test, send, all);
	free(lengths);
}

/* ---- reductions ------------------------------------------------------------
 */

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
	fill(vector, rank, 1, length);
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
			fail(test, "wrong result", i);
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
	unsigned char *mine = buffer_new(length), *receive = buffer_new(length);
	bool gets = to_all || test->rank == test->root;
	bool in_place = test->in_place && gets;
	const void *send = in_place ? BCL_IN_PLACE : mine;
	struct bcl_adi_request *request;
	enum bcl_status status;

	contribution(in_place ? receive : mine, test->rank, length);
	if (to_all)
		status = test->in_background
				 ? bcl_iallreduce(test->team, send, receive,
						  count, reduction, &request)
				 : bcl_allreduce(test->team, send, receive,
						 count, reduction);
	else
		status = test->in_background
				 ? bcl_ireduce(test->team, send, receive, count,
					       reduction, test->root, &request)
				 : bcl_reduce(test->team, send, receive, count,
					      reduction, test->root);
	end(test, status, &request);
	if (gets)
		check_reduced(test, receive, count, reduction);
	buffer_free(test, mine, length);
	buffer_free(test, receive, length);
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
		vector[i] = byte_of(test->rank, 2, i) & 64 ? 1 : 0xff;
}

/* Comparisons define no order of NaN, 0 and -0. */
static void contribute_odd_numbers(const struct test *test,
				   unsigned char *vector, size_t count)
{
	static const double odd[] = { NAN, 0., -0., 1 };
	size_t i;

	for (i = 0; i < count; i++)
		memcpy(vector + i * sizeof(*odd),
		       &odd[byte_of(test->rank, 3, i) >> 5 & 3], sizeof(*odd));
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
	unsigned char *receive = buffer_new(length),
		      *first = buffer_new(length);

	contribute(test, test->in_place ? receive : first, count);
	end(test,
	    bcl_allreduce(test->team, test->in_place ? BCL_IN_PLACE : first,
			  receive, count, reduction),
	    NULL);
	memcpy(first, receive, length);
	end(test, bcl_broadcast(test->team, first, length, 0), NULL);
	if (memcmp(first, receive, length))
		fail(test, "not as at the first rank", reduction->element);
	buffer_free(test, receive, length);
	buffer_free(test, first, length);
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
	unsigned char *mine = buffer_new(length), *receive = buffer_new(gets);
	const void *send = test->in_place ? BCL_IN_PLACE : mine;
	struct bcl_adi_request *request;

	contribution(test->in_place ? receive : mine, test->rank, length);
	end(test,
	    test->in_background
		    ? bcl_ireduce_scatter(test->team, send, receive, count,
					  reduction, &request)
		    : bcl_reduce_scatter(test->team, send, receive, count,
					 reduction),
	    &request);
	check_part(test, receive, count * test->rank, count, all, reduction,
		   test->size);
	buffer_free(test, mine, length);
	buffer_free(test, receive, gets);
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
	unsigned char *mine = buffer_new(length), *receive = buffer_new(length);
	const void *send = test->in_place ? BCL_IN_PLACE : mine;
	unsigned ranks = exclusive ? test->rank : test->rank + 1;
	struct bcl_adi_request *request;
	enum bcl_status status;

	contribution(test->in_place ? receive : mine, test->rank, length);
	if (exclusive)
		status = test->in_background
				 ? bcl_iexscan(test->team, send, receive, count,
					       reduction, &request)
				 : bcl_exscan(test->team, send, receive, count,
					      reduction);
	else
		status = test->in_background
				 ? bcl_iscan(test->team, send, receive, count,
					     reduction, &request)
				 : bcl_scan(test->team, send, receive, count,
					    reduction);
	end(test, status, &request);
	if (ranks)
		check_part(test, receive, 0, count, count, reduction, ranks);
	for (i = 0; !ranks && !test->in_place && i < length; i++)
		if (receive[i] != GUARD_BYTE)
			fail(test, "wrote at the first rank", i);
	buffer_free(test, mine, length);
	buffer_free(test, receive, length);
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

static void test_same_everywhere(struct test *test)
{
	expect_same(test, &larger, contribute_signs);
	expect_same(test, bcl_reduction(BCL_MAX, BCL_DOUBLE),
		    contribute_odd_numbers);
}

/* ---- all of it --------------------------------------------------------------
 */

static void (*const tests[BCL_OPERATIONS])(struct test *test) = {
	[BCL_OPERATION_BARRIER] = test_barrier,
	[BCL_OPERATION_BROADCAST] = test_broadcast,
	[BCL_OPERATION_REDUCE] = test_reduce,
	[BCL_OPERATION_ALLREDUCE] = test_allreduce,
	[BCL_OPERATION_GATHER] = test_gather,
	[BCL_OPERATION_SCATTER] = test_scatter,
	[BCL_OPERATION_ALLGATHER] = test_allgather,
	[BCL_OPERATION_ALLTOALL] = test_alltoall,
	[BCL_OPERATION_ALLTOALLV] = test_alltoallv,
	[BCL_OPERATION_REDUCE_SCATTER] = test_reduce_scatter,
	[BCL_OPERATION_SCAN] = test_scan,
	[BCL_OPERATION_EXSCAN] = test_exscan,
	[BCL_OPERATION_GATHERV] = test_gatherv,
	[BCL_OPERATION_SCATTERV] = test_scatterv,
	[BCL_OPERATION_ALLGATHERV] = test_allgatherv,
};

static struct test test_of(struct bcl_team *team, const char *what)
{
	return (struct test){
		.team = team,
		.adi = team->adi,
		.rank = bcl_team_rank(team),
		.size = bcl_team_size(team),
		.what = what,
	};
}

static bool has_root(enum bcl_operation operation)
{
	return operation == BCL_OPERATION_BROADCAST ||
	       operation == BCL_OPERATION_REDUCE ||
	       operation == BCL_OPERATION_GATHER ||
	       operation == BCL_OPERATION_SCATTER ||
	       operation == BCL_OPERATION_GATHERV ||
	       operation == BCL_OPERATION_SCATTERV;
}

static unsigned run(struct bcl_team *team, enum bcl_operation operation,
		    size_t length, const char *what)
{
	struct test test = test_of(team, what);
	unsigned roots[] = { 0, test.size / 2, test.size - 1 };
	unsigned i, variant;

	test.length = length;
	for (variant = 0; variant < 4; variant++) {
		test.in_place = variant & 1;
		test.in_background = variant & 2;
		for (i = 0; i < (has_root(operation) ? 3 : 1); i++) {
			test.root = roots[i];
			tests[operation](&test);
		}
		if (operation == BCL_OPERATION_ALLREDUCE && !test.in_background)
			test_same_everywhere(&test);
	}
	return test.failures;
}

unsigned cases_run(struct bcl_team *team, enum bcl_operation operation,
		   size_t length)
{
	return run(team, operation, length, bcl_operation_names[operation]);
}

unsigned cases_run_all(struct bcl_team *team, enum bcl_operation operation,
		       size_t length)
{
	const struct bcl_algorithm *algorithm = bcl_algorithms[operation];
	const struct bcl_choices choices = team->choices;
	unsigned failures = 0;
	char what[64];

	for (; algorithm->name; algorithm++) {
		if (bcl_team_force(team, operation, algorithm->name) != BCL_OK)
			continue;
		snprintf(what, sizeof(what), "%s by %s",
			 bcl_operation_names[operation], algorithm->name);
		failures += run(team, operation, length, what);
		team->choices = choices;
	}
	return failures;
}

unsigned cases_overlap(struct bcl_team *one, struct bcl_team *other)
{
	enum {
		ROUNDS = 8,
		COUNT = 500,
	};
	struct test test = test_of(one, "overlap");
	struct bcl_team *teams[2] = { one, other };
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT32);
	struct bcl_adi_request *requests[2][2 * ROUNDS + 1];
	uint32_t in[2][ROUNDS][COUNT], out[2][ROUNDS][COUNT];
	uint32_t words[2][ROUNDS];
	unsigned round, t, i;

	for (round = 0; round < ROUNDS; round++)
		for (t = 0; t < 2; t++) {
			struct bcl_team *team = teams[t];
			unsigned rank = bcl_team_rank(team);

			for (i = 0; i < COUNT; i++)
				in[t][round][i] = rank + i * round;
			words[t][round] = rank ? 0 : 1000 * t + round;
			end(&test,
			    bcl_iallreduce(team, in[t][round], out[t][round],
					   COUNT, sum, &requests[t][2 * round]),
			    NULL);
			end(&test,
			    bcl_ibroadcast(team, &words[t][round], 4, 0,
					   &requests[t][2 * round + 1]),
			    NULL);
		}
	for (t = 0; t < 2; t++)
		end(&test, bcl_ibarrier(teams[t], &requests[t][2 * ROUNDS]),
		    NULL);
	/*
	 * Blocking operations run while the nonblocking operations are pending.
	 * Then the test waits for the nonblocking operations, the last first.
	 */
	for (t = 0; t < 2; t++) {
		unsigned n = bcl_team_size(teams[t]);
		uint32_t one_each = 1, count = 0;

		end(&test, bcl_allreduce(teams[t], &one_each, &count, 1, sum),
		    NULL);
		if (count != n)
			fail(&test, "wrong count", count);
	}
	test.in_background = true;
	for (t = 2; t-- > 0;)
		for (i = 2 * ROUNDS + 1; i-- > 0;)
			end(&test, BCL_OK, &requests[t][i]);
	for (t = 0; t < 2; t++)
		for (round = 0; round < ROUNDS; round++) {
			unsigned n = bcl_team_size(teams[t]);

			if (words[t][round] != 1000 * t + round)
				fail(&test, "wrong word", round);
			for (i = 0; i < COUNT; i++)
				if (out[t][round][i] !=
				    n * (n - 1) / 2 + n * i * round)
					fail(&test, "wrong sum", i);
		}
	return test.failures;
}

unsigned cases_mixed(struct bcl_team *team, unsigned seed, unsigned n)
{
	static const size_t lengths[] = { 0, 1, 8, 16, 40, 700, 17000, 100000 };
	struct test test = test_of(team, "mixed");
	uint64_t random = seed, own = seed + 1 + test.rank;

	while (n--) {
		enum bcl_operation operation;

		random = random * 6364136223846793005u + 1442695040888963407u;
		own = own * 6364136223846793005u + 1442695040888963407u;
		operation = (enum bcl_operation)(random >> 33) % BCL_OPERATIONS;
		test.what = bcl_operation_names[operation];
		test.length = lengths[(random >> 40) % 8];
		test.root = (unsigned)(random >> 45) % test.size;
		test.in_place = random >> 60 & 1;
		/*
		 * Each member draws alone: a member that calls the blocking
		 * form must work together with a member that calls the
		 * nonblocking form.
		 */
		test.in_background = own >> 60 & 1;
		tests[operation](&test);
	}
	return test.failures;
}
