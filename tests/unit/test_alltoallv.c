/* SPDX-License-Identifier: MIT */
/* Where the blocks of an alltoallv may lie: anywhere, if there are any. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collectives/builders.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

enum {
	SIZE = 3,
	LONGEST = 3000, /* bytes of a block */
	PAGE = 4096,
	NOWHERE = 1 << 20, /* an offset of which nobody may make use */
};

/* Bytes of a block. Short blocks go along with offers (attached.h). */
static const size_t all_lengths[] = { 100, LONGEST };

static size_t length;
static atomic_uint failures;

static void expect(bool holds)
{
	failures += !holds;
}

/* The byte that one rank sends another. */
static unsigned char byte_of(unsigned from, unsigned to)
{
	return (unsigned char)(1 + from * SIZE + to);
}

static void fill(unsigned char *block, unsigned from, unsigned to)
{
	memset(block, byte_of(from, to), length);
}

static void check_block(const unsigned char *block, unsigned from, unsigned to)
{
	size_t i;

	for (i = 0; i < length; i++)
		expect(block[i] == byte_of(from, to));
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

static void run_by(const char *algorithm, unsigned size,
		   void (*run)(struct bcl_team *world))
{
	char coll[64];
	const struct mock_options options = { .size = size, .coll = coll };
	struct mock_world *world;

	snprintf(coll, sizeof(coll), "alltoallv:%s", algorithm);
	world = mock_open(&options);
	mock_run(world, enter, &run);
	ck_assert_uint_eq(failures, 0);
	ck_assert_uint_eq(mock_left_over(world), 0);
	mock_close(world);
}

static void run_world(unsigned size, void (*run)(struct bcl_team *world))
{
	const struct bcl_algorithm *algorithm;
	unsigned i;

	for (i = 0; i < sizeof(all_lengths) / sizeof(*all_lengths); i++) {
		length = all_lengths[i];
		for (algorithm = bcl_alltoallv_algorithms; algorithm->name;
		     algorithm++)
			run_by(algorithm->name, size, run);
	}
}

/* Each rank sends from behind where it receives. */
static void use_one_array(struct bcl_team *world)
{
	unsigned char array[2 * SIZE * LONGEST];
	size_t lengths[SIZE], out[SIZE], in[SIZE];
	unsigned me = bcl_team_rank(world), i;

	for (i = 0; i < SIZE; i++) {
		lengths[i] = length;
		in[i] = i * length;
		out[i] = in[i] + sizeof(array) / 2;
		fill(array + out[i], me, i);
	}
	expect(bcl_alltoallv(world, array, lengths, out, array, lengths, in) ==
	       BCL_OK);
	for (i = 0; i < SIZE; i++) {
		check_block(array + in[i], i, me);
		check_block(array + out[i], me, i);
	}
}

START_TEST(one_array)
{
	run_world(SIZE, use_one_array);
}
END_TEST

/* Between blocks there is memory that must not be touched. */
static void leave_gaps(struct bcl_team *world)
{
	unsigned char *array =
		mmap(NULL, 2ul * SIZE * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned me = bcl_team_rank(world), i;
	size_t lengths[SIZE], offsets[SIZE];

	for (i = 0; i < SIZE; i++) {
		lengths[i] = length;
		offsets[i] = 2ul * i * PAGE;
		fill(array + offsets[i], me, i);
		mprotect(array + offsets[i] + PAGE, PAGE, PROT_NONE);
	}
	expect(bcl_alltoallv(world, BCL_IN_PLACE, NULL, NULL, array, lengths,
			     offsets) == BCL_OK);
	for (i = 0; i < SIZE; i++)
		check_block(array + offsets[i], i, me);
	munmap(array, 2ul * SIZE * PAGE);
}

START_TEST(gaps)
{
	run_world(SIZE, leave_gaps);
}
END_TEST

/* Blocks of no bytes have no place, and need no memory. */
static void send_nothing(struct bcl_team *world)
{
	size_t lengths[SIZE] = { 0 }, offsets[SIZE];
	unsigned i;

	for (i = 0; i < SIZE; i++)
		offsets[i] = NOWHERE + i;
	expect(bcl_alltoallv(world, NULL, lengths, offsets, NULL, lengths,
			     offsets) == BCL_OK);
	expect(bcl_alltoallv(world, BCL_IN_PLACE, NULL, NULL, NULL, lengths,
			     offsets) == BCL_OK);
}

START_TEST(nothing)
{
	run_world(SIZE, send_nothing);
}
END_TEST

/* The same with bytes is refused. */
static void have_no_memory(struct bcl_team *world)
{
	size_t lengths[SIZE], offsets[SIZE] = { 0 };
	unsigned char bytes[SIZE * LONGEST] = { 0 };
	unsigned i;

	for (i = 0; i < SIZE; i++)
		lengths[i] = length;
	expect(bcl_alltoallv(world, NULL, lengths, offsets, bytes, lengths,
			     offsets) == BCL_ERR_ARG);
	expect(bcl_alltoallv(world, bytes, lengths, offsets, NULL, lengths,
			     offsets) == BCL_ERR_ARG);
	expect(bcl_alltoallv(world, BCL_IN_PLACE, NULL, NULL, NULL, lengths,
			     offsets) == BCL_ERR_ARG);
}

START_TEST(no_memory)
{
	run_world(1, have_no_memory);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("alltoallv");
	TCase *tests = tcase_create("blocks");

	tcase_add_test(tests, one_array);
	tcase_add_test(tests, gaps);
	tcase_add_test(tests, nothing);
	tcase_add_test(tests, no_memory);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
