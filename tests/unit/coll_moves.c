/* SPDX-License-Identifier: MIT */
/* Tests of the operations that move blocks, one function each. */
#include <stdlib.h>

#include "tests/unit/coll_case.h"

static void test_barrier(struct test *test)
{
	CASE_CALL(test, barrier);
}

static void test_broadcast(struct test *test)
{
	unsigned char *buffer = case_buffer(test, test->length);

	if (test->rank == test->root)
		case_fill(buffer, test->root, 0, test->length);
	CASE_CALL(test, broadcast, buffer, test->length, test->root);
	case_check(test, buffer, test->root, 0, test->length);
	case_buffer_free(test, buffer, test->length);
}

static void test_gather(struct test *test)
{
	size_t length = test->length, all = test->size * length;
	unsigned char *mine = case_buffer(test, length),
		      *receive = case_buffer(test, all);
	bool in_place = test->in_place && test->rank == test->root;
	const void *send = in_place ? BCL_IN_PLACE : mine;
	unsigned i;

	case_fill(in_place ? receive + test->rank * length : mine, test->rank,
		  0, length);
	CASE_CALL(test, gather, send, length, receive, test->root);
	for (i = 0; test->rank == test->root && i < test->size; i++)
		case_check(test, receive + i * length, i, 0, length);
	case_buffer_free(test, mine, length);
	case_buffer_free(test, receive, all);
}

static void test_scatter(struct test *test)
{
	size_t length = test->length, all = test->size * length;
	unsigned char *mine = case_buffer(test, length),
		      *send = case_buffer(test, all);
	bool in_place = test->in_place && test->rank == test->root;
	void *receive = in_place ? BCL_IN_PLACE : mine;
	unsigned i;

	for (i = 0; test->rank == test->root && i < test->size; i++)
		case_fill(send + i * length, test->root, i, length);
	CASE_CALL(test, scatter, send, receive, length, test->root);
	case_check(test, in_place ? send + test->rank * length : mine,
		   test->root, test->rank, length);
	case_buffer_free(test, mine, length);
	case_buffer_free(test, send, all);
}

static void test_allgather(struct test *test)
{
	size_t length = test->length, all = test->size * length;
	unsigned char *mine = case_buffer(test, length),
		      *receive = case_buffer(test, all);
	const void *send = test->in_place ? BCL_IN_PLACE : mine;
	unsigned i;

	case_fill(test->in_place ? receive + test->rank * length : mine,
		  test->rank, 0, length);
	CASE_CALL(test, allgather, send, length, receive);
	for (i = 0; i < test->size; i++)
		case_check(test, receive + i * length, i, 0, length);
	case_buffer_free(test, mine, length);
	case_buffer_free(test, receive, all);
}

static void test_alltoall(struct test *test)
{
	size_t length = test->length, all = test->size * length;
	unsigned char *out = case_buffer(test, all),
		      *receive = case_buffer(test, all);
	const void *send = test->in_place ? BCL_IN_PLACE : out;
	unsigned i;

	for (i = 0; i < test->size; i++)
		case_fill((test->in_place ? receive : out) + i * length,
			  test->rank, i, length);
	CASE_CALL(test, alltoall, send, receive, length);
	for (i = 0; i < test->size; i++)
		case_check(test, receive + i * length, i, test->rank, length);
	case_buffer_free(test, out, all);
	case_buffer_free(test, receive, all);
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
	const void *from;

	for (i = 0; i < n; i++) {
		send_lengths[i] = length_between(test, test->rank, i);
		send_offsets[i] = out;
		out += send_lengths[i] + i;
		receive_lengths[i] = length_between(test, i, test->rank);
		receive_offsets[i] = in;
		in += receive_lengths[i] + i;
	}
	send = case_buffer(test, out);
	receive = case_buffer(test, in);
	for (i = 0; i < n; i++)
		case_fill((test->in_place ? receive : send) + send_offsets[i],
			  test->rank, i, send_lengths[i]);
	from = test->in_place ? BCL_IN_PLACE : send;
	CASE_CALL(test, alltoallv, from, send_lengths, send_offsets, receive,
		  receive_lengths, receive_offsets);
	for (i = 0; i < n; i++)
		case_check(test, receive + receive_offsets[i], i, test->rank,
			   receive_lengths[i]);
	case_buffer_free(test, send, out);
	case_buffer_free(test, receive, in);
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
	unsigned char *mine = case_buffer(test, own),
		      *receive = case_buffer(test, all);
	const void *send = in_place ? BCL_IN_PLACE : mine;
	unsigned i;

	case_fill(in_place ? receive + offsets[test->rank] : mine, test->rank,
		  0, own);
	if (to_all)
		CASE_CALL(test, allgatherv, send, own, receive, lengths,
			  offsets);
	else
		CASE_CALL(test, gatherv, send, own, receive, lengths, offsets,
			  test->root);
	for (i = 0; gets && i < test->size; i++)
		case_check(test, receive + offsets[i], i, 0, lengths[i]);
	case_buffer_free(test, mine, own);
	case_buffer_free(test, receive, all);
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

static void test_shift(struct test *test)
{
	/* up, around several times, down */
	static const int distances[] = { 1, 7, -2 };
	unsigned n = test->size, i;

	for (i = 0; i < 3; i++) {
		unsigned source =
			(unsigned)((int)(test->rank + 9 * n) - distances[i]) %
			n;
		unsigned char *mine = case_buffer(test, test->length);
		unsigned char *receive = case_buffer(test, test->length);
		const void *send = test->in_place ? BCL_IN_PLACE : mine;

		case_fill(test->in_place ? receive : mine, test->rank, 1,
			  test->length);
		CASE_CALL(test, shift, send, receive, test->length,
			  distances[i]);
		case_check(test, receive, source, 1, test->length);
		case_buffer_free(test, mine, test->length);
		case_buffer_free(test, receive, test->length);
	}
}

/*
 * The graph: each rank sends to the ranks up to three places on, itself among
 * them, and two blocks to the next rank; a receiver names its sources in the
 * reverse order. Some blocks are empty.
 */
enum {
	REACH = 4,
	EDGES = REACH + 1,
};

struct side {
	unsigned ranks[EDGES];
	size_t lengths[EDGES], offsets[EDGES], all;
};

/* The edge i that leaves a rank goes so many places on. */
static unsigned places_of(unsigned i)
{
	return i < REACH ? i : 1;
}

static size_t length_of_edge(const struct test *test, unsigned from, unsigned i)
{
	return (from + i) % 3 * test->length / 2;
}

/* Adds edge i, which leaves rank `from`. */
static void add_edge(const struct test *test, struct side *side, unsigned at,
		     unsigned rank, unsigned from, unsigned i)
{
	side->ranks[at] = rank;
	side->lengths[at] = length_of_edge(test, from, i);
	side->offsets[at] = side->all;
	side->all += side->lengths[at] + at;
}

static struct bcl_blocks blocks_of(const struct side *side)
{
	return (struct bcl_blocks){
		.n = EDGES,
		.ranks = side->ranks,
		.lengths = side->lengths,
		.offsets = side->offsets,
	};
}

static void test_exchange(struct test *test)
{
	unsigned n = test->size, me = test->rank, i;
	struct side out = { .all = 0 }, in = { .all = 0 };
	struct bcl_blocks to = blocks_of(&out), from = blocks_of(&in);
	unsigned char *send, *receive;

	for (i = 0; i < EDGES; i++) {
		/* two edges between the same ranks keep their order */
		unsigned k = n <= REACH || i == EDGES - 1 ? i : REACH - 1 - i;
		unsigned source = (me + REACH * n - places_of(k)) % n;

		add_edge(test, &out, i, (me + places_of(i)) % n, me, i);
		add_edge(test, &in, i, source, source, k);
	}
	send = case_buffer(test, out.all);
	receive = case_buffer(test, in.all);
	for (i = 0; i < EDGES; i++)
		case_fill(send + out.offsets[i], me, i, out.lengths[i]);
	CASE_CALL(test, exchange, send, &to, receive, &from);
	for (i = 0; i < EDGES; i++) {
		unsigned k = n <= REACH || i == EDGES - 1 ? i : REACH - 1 - i;

		case_check(test, receive + in.offsets[i], in.ranks[i], k,
			   in.lengths[i]);
	}
	case_buffer_free(test, send, out.all);
	case_buffer_free(test, receive, in.all);
}

static void test_scatterv(struct test *test)
{
	bool gives = test->rank == test->root;
	bool in_place = test->in_place && gives;
	size_t own = length_between(test, test->rank, 0), all;
	size_t *lengths = various(test, gives, &all);
	size_t *offsets = lengths ? lengths + test->size : NULL;
	unsigned char *mine = case_buffer(test, own),
		      *send = case_buffer(test, all);
	void *receive = in_place ? BCL_IN_PLACE : mine;
	unsigned i;

	for (i = 0; gives && i < test->size; i++)
		case_fill(send + offsets[i], test->root, i, lengths[i]);
	CASE_CALL(test, scatterv, send, lengths, offsets, receive, own,
		  test->root);
	case_check(test, in_place ? send + offsets[test->rank] : mine,
		   test->root, test->rank, own);
	case_buffer_free(test, mine, own);
	case_buffer_free(test, send, all);
	free(lengths);
}

void (*const case_moves[BCL_OPERATIONS])(struct test *test) = {
	[BCL_OPERATION_BARRIER] = test_barrier,
	[BCL_OPERATION_BROADCAST] = test_broadcast,
	[BCL_OPERATION_GATHER] = test_gather,
	[BCL_OPERATION_SCATTER] = test_scatter,
	[BCL_OPERATION_ALLGATHER] = test_allgather,
	[BCL_OPERATION_ALLTOALL] = test_alltoall,
	[BCL_OPERATION_ALLTOALLV] = test_alltoallv,
	[BCL_OPERATION_GATHERV] = test_gatherv,
	[BCL_OPERATION_SCATTERV] = test_scatterv,
	[BCL_OPERATION_ALLGATHERV] = test_allgatherv,
	[BCL_OPERATION_SHIFT] = test_shift,
	[BCL_OPERATION_EXCHANGE] = test_exchange,
};
