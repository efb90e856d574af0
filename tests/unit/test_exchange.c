/* SPDX-License-Identifier: MIT */
/*
 * The operations with lists and with counts of each member: empty lists and
 * blocks, blocks that overlap, and wrong arguments. tests/unit/coll_cases.c has
 * the usual cases.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "collectives/team.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

enum {
	SIZE = 3,
	NOWHERE = 1 << 30, /* an offset that nobody may use */
};

static atomic_uint failures;

static void expect(bool holds)
{
	failures += !holds;
}

static void enter(struct bcl_adi *adi, void *arg)
{
	void (**run)(struct bcl_team * world) = arg;
	struct bcl_team *world;

	if (bcl_team_world(adi, &world) != BCL_OK) {
		failures++;
		return;
	}
	(*run)(world);
	bcl_team_free(world);
}

static void run_world(unsigned size, void (*run)(struct bcl_team *world))
{
	struct mock_world *world =
		mock_open(&(struct mock_options){ .size = size });

	failures = 0;
	mock_run(world, enter, &run);
	ck_assert_uint_eq(failures, 0);
	ck_assert_uint_eq(mock_left_over(world), 0);
	mock_close(world);
}

static const struct bcl_blocks nothing = { 0 };

/* Only rank 0 sends, and sends the same bytes to all: the blocks overlap. Its
 * empty block has an offset of no meaning. Rank 2 has two empty lists. */
static void send_from_one(struct bcl_team *world)
{
	static const unsigned receivers[] = { 1, 0, 1, 2 }, sender[] = { 0, 0 };
	static const size_t lengths[] = { 8, 4, 6, 0 };
	static const size_t offsets[] = { 0, 2, 2, NOWHERE };
	static const size_t to_1[] = { 8, 6 }, at_1[] = { 8, 0 };
	const struct bcl_blocks to = { 4, receivers, lengths, offsets };
	const struct bcl_blocks own = { 1, sender, lengths + 1, at_1 + 1 };
	const struct bcl_blocks both = { 2, sender, to_1, at_1 };
	char in[17] = "................";

	switch (bcl_team_rank(world)) {
	case 0:
		expect(!bcl_exchange(world, "abcdefgh", &to, in, &own));
		expect(!strcmp(in, "cdef............"));
		break;
	case 1:
		expect(!bcl_exchange(world, NULL, &nothing, in, &both));
		expect(!strcmp(in, "cdefgh..abcdefgh"));
		break;
	default:
		expect(!bcl_exchange(world, NULL, &nothing, NULL, &nothing));
	}
	expect(!bcl_barrier(world));
}

START_TEST(lists)
{
	run_world(SIZE, send_from_one);
}
END_TEST

/* The operation has the arrays only during the call: here they change while
 * the operation runs. */
static void forget_the_arrays(struct bcl_team *world)
{
	unsigned me = bcl_team_rank(world), next = (me + 1) % SIZE;
	unsigned before = (me + SIZE - 1) % SIZE;
	size_t length = 4, offset = 0, counts[SIZE] = { 1, 1, 1 };
	const struct bcl_blocks to = { 1, &next, &length, &offset };
	const struct bcl_blocks from = { 1, &before, &length, &offset };
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT32);
	uint32_t out = 10 + me, in = 0, ones[SIZE] = { 1, 1, 1 }, all = 0;
	struct bcl_adi_request *requests[2];

	expect(!bcl_iexchange(world, &out, &to, &in, &from, &requests[0]));
	expect(!bcl_ireduce_scatterv(world, ones, &all, counts, sum,
				     &requests[1]));
	next = before = 77;
	length = offset = NOWHERE;
	memset(counts, 0xff, sizeof(counts));
	expect(!bcl_adi_wait(world->adi, &requests[0], NULL));
	expect(!bcl_adi_wait(world->adi, &requests[1], NULL));
	expect(in == 10 + (me + SIZE - 1) % SIZE && all == SIZE);
}

START_TEST(arrays_are_the_callers_again)
{
	run_world(SIZE, forget_the_arrays);
}
END_TEST

static enum bcl_status exchange_with_itself(struct bcl_team *world, size_t sent,
					    size_t received, unsigned n)
{
	static const unsigned self[] = { 0, 0 };
	const size_t out[] = { sent, 0 }, in[] = { received, 0 };
	static const size_t offsets[] = { 0, 0 };
	const struct bcl_blocks to = { 1, self, out, offsets };
	const struct bcl_blocks from = { n, self, in, offsets };
	char a[8] = "1234567", b[8];

	return bcl_exchange(world, a, &to, b, &from);
}

/* A wrong call ends a team of several members, so the team has one. */
static void misuse_lists(struct bcl_team *world)
{
	static const unsigned self[] = { 0 }, stranger[] = { 1 };
	static const size_t length[] = { 8 }, offset[] = { 0 };
	const struct bcl_blocks right = { 1, self, length, offset };
	const struct bcl_blocks far = { 1, stranger, length, offset };
	const struct bcl_blocks no_ranks = { 1, NULL, length, offset };
	const struct bcl_blocks no_lengths = { 1, self, NULL, offset };
	const struct bcl_blocks no_offsets = { 1, self, length, NULL };
	const struct bcl_blocks *wrong[] = { &far, &no_ranks, &no_lengths,
					     &no_offsets };
	char a[8] = "1234567", b[8];
	unsigned i;

	expect(exchange_with_itself(world, 8, 8, 1) == BCL_OK);
	expect(exchange_with_itself(world, 8, 8, 2) == BCL_ERR_ARG);
	expect(exchange_with_itself(world, 8, 8, 0) == BCL_ERR_ARG);
	expect(exchange_with_itself(world, 8, 4, 1) == BCL_ERR_ARG);
	for (i = 0; i < 4; i++) {
		expect(bcl_exchange(world, a, wrong[i], b, &right) ==
		       BCL_ERR_ARG);
		expect(bcl_exchange(world, a, &right, b, wrong[i]) ==
		       BCL_ERR_ARG);
	}
	expect(bcl_exchange(world, a, &far, b, &far) == BCL_ERR_ARG);
	expect(bcl_exchange(world, BCL_IN_PLACE, &right, b, &right) ==
	       BCL_ERR_ARG);
	expect(bcl_exchange(world, a, &right, BCL_IN_PLACE, &right) ==
	       BCL_ERR_ARG);
}

static void misuse_counts(struct bcl_team *world)
{
	static const struct bcl_reduction empty = { 0 };
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT32);
	static const size_t one[] = { 1 }, none[] = { 0 };
	static const size_t many[] = { SIZE_MAX / 2 };
	uint32_t a = 7, b = 0;

	expect(bcl_reduce_scatterv(world, &a, &b, one, &empty) == BCL_ERR_ARG);
	expect(bcl_reduce_scatterv(world, &a, &b, many, sum) == BCL_ERR_ARG);
	expect(bcl_reduce_scatterv(world, NULL, NULL, none, sum) == BCL_OK);
	expect(bcl_reduce_scatterv(world, BCL_IN_PLACE, &a, one, sum) ==
		       BCL_OK &&
	       a == 7);
	expect(bcl_reduce_scatterv(world, &a, &b, one, sum) == BCL_OK &&
	       b == 7);
}

START_TEST(wrong_arguments)
{
	run_world(1, misuse_lists);
	run_world(1, misuse_counts);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exchange");
	TCase *tests = tcase_create("blocks");

	tcase_add_test(tests, lists);
	tcase_add_test(tests, arrays_are_the_callers_again);
	tcase_add_test(tests, wrong_arguments);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
