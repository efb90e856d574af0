/* SPDX-License-Identifier: MIT */
/* Joining a job, and jobs of unusual size. */
#include "adi_world.h"

#include "adi/internal.h"

static struct bcl_boot *boot;
static struct bcl_adi_options options;

static void prepare(unsigned port, unsigned rank, unsigned size)
{
	boot = mock_boot(world.mock, port, 1);
	boot->rank = rank;
	boot->size = size;
	options = (struct bcl_adi_options){
		.struct_size = sizeof(options),
		.context = mock_context(world.mock, port),
		.boot = boot,
	};
}

/* ---- */

static void bad_boots(void *arg)
{
	static const unsigned bad[][2] = {
		{ 0, 0 },     { 1, 1 }, { 7, 3 }, { 0, BCL_ADI_RANKS_MAX + 1 },
		{ 3, 70000 },
	};
	struct bcl_adi *adi = NULL;
	unsigned i;

	(void)arg;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		prepare(0, bad[i][0], bad[i][1]);
		ck_assert_int_eq(bcl_adi_open(&options, &adi), BCL_ERR_BOOT);
		ck_assert_ptr_null(adi);
	}
}

START_TEST(a_launcher_that_makes_no_sense)
{
	world_spawn(&world_weather[0], 1, bad_boots);
}
END_TEST

/* Each allocation fails in turn. A rank that fails to join must free all
 * memory. */
static void no_memory(void *arg)
{
	struct bcl_adi *adi;
	unsigned failed = 0;
	enum bcl_status status;

	(void)arg;
	do {
		prepare(0, 0, 1);
		world.fail_at = world.allocations + ++failed;
		status = bcl_adi_open(&options, &adi);
		ck_assert(status == BCL_OK || status == BCL_ERR_NOMEM);
	} while (status);
	world.fail_at = 0;
	ck_assert_uint_gt(failed, 2);
	bcl_adi_close(adi);
}

START_TEST(no_memory_to_join)
{
	world_spawn(&world_weather[0], 1, no_memory);
}
END_TEST

/* A rank that has joined runs out of memory. New requests fail with a status,
 * and later messages must arrive all the same. */
static void no_memory_later(struct bcl_adi *adi, unsigned rank)
{
	static unsigned char data[2][100000];
	struct bcl_adi_request *requests[200], *request;
	unsigned i, n = 0, refused = 0;
	enum bcl_status status;

	world.no_memory = true;
	for (i = 0; i < 200; i++) {
		status = bcl_adi_irecv(adi, data[rank], 8, (int)rank, 1, 1,
				       &request);
		if (status == BCL_OK)
			requests[n++] = request;
		else
			refused += status == BCL_ERR_NOMEM;
	}
	ck_assert_uint_eq(n + refused, 200);
	ck_assert_uint_gt(refused, 0);
	world.no_memory = false;
	for (i = 0; i < n; i++) {
		bcl_adi_cancel(adi, requests[i]);
		status = bcl_adi_wait(adi, &requests[i], NULL);
		/* NOMEM: the first receive failed to make the peer */
		ck_assert(status == BCL_ERR_CANCELLED ||
			  status == BCL_ERR_NOMEM);
	}
	ck_assert_int_eq(bcl_adi_isend(adi, data[rank], 100000, (int)rank, 1, 1,
				       &request),
			 BCL_OK);
	ck_assert_int_eq(
		bcl_adi_recv(adi, data[rank], 100000, (int)rank, 1, 1, NULL),
		BCL_OK);
	ck_assert_int_eq(bcl_adi_wait(adi, &request, NULL), BCL_OK);
}

START_TEST(no_memory_for_requests)
{
	world_run(&world_weather[_i], 1, no_memory_later);
}
END_TEST

enum {
	LARGE = 16384,
};

/* Only two ranks of a large job were started. The two ranks can talk. A send to
 * a missing rank, and a receive from a missing rank, must fail. */
static void large(void *arg)
{
	unsigned port = (unsigned)(uintptr_t)arg, value = 77, before;
	struct bcl_adi *adi;

	prepare(port, port, LARGE);
	before = world.allocations;
	ck_assert_int_eq(bcl_adi_open(&options, &adi), BCL_OK);
	/* must not allocate for each rank; the count includes allocations of
	 * the second rank */
	ck_assert_uint_lt(world.allocations - before, 100);
	if (port == 0)
		ck_assert_int_eq(bcl_adi_send(adi, &value, 4, 1, 0, 0), BCL_OK);
	else
		ck_assert_int_eq(bcl_adi_recv(adi, &value, 4, BCL_ANY_SOURCE, 0,
					      0, NULL),
				 BCL_OK);
	ck_assert_uint_eq(value, 77);
	ck_assert_int_eq(bcl_adi_send(adi, &value, 4, LARGE - 1, 0, 0),
			 BCL_ERR_BOOT);
	ck_assert_int_eq(bcl_adi_recv(adi, &value, 4, 5000, 0, 0, NULL),
			 BCL_ERR_BOOT);
	ck_assert_int_eq(bcl_adi_rank_status(adi, 5000), BCL_ERR_BOOT);
	bcl_adi_close(adi);
}

START_TEST(many_ranks)
{
	struct mock_options two = world_weather[_i];

	two.ports = 2;
	world_spawn(&two, 2, large);
}
END_TEST

enum {
	TALKERS = 8,
};

/* A rank that leaves must wait until all its messages have arrived, even
 * messages that waited for a connection when the remaining ranks were done. */
static void leave(void *arg)
{
	unsigned rank = (unsigned)(uintptr_t)arg;
	struct bcl_adi *adi;

	prepare(rank, rank, TALKERS);
	ck_assert_int_eq(bcl_adi_open(&options, &adi), BCL_OK);
	bcl_adi_close(adi);
	ck_assert_uint_eq(mock_cut(world.mock, rank), 0);
}

START_TEST(last_words)
{
	const struct mock_options slow = {
		.seed = 1 + (uint64_t)_i,
		.connect = 1000000,
		.latency = 200000,
	};

	world_spawn(&slow, TALKERS, leave);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("adi_world");
	TCase *tcase = tcase_create("world");

	tcase_add_test(tcase, a_launcher_that_makes_no_sense);
	tcase_add_test(tcase, no_memory_to_join);
	tcase_add_loop_test(tcase, no_memory_for_requests, 0, WORLD_WEATHERS);
	tcase_add_loop_test(tcase, many_ranks, 0, WORLD_WEATHERS);
	tcase_add_loop_test(tcase, last_words, 0, 40);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
