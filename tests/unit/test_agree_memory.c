/* SPDX-License-Identifier: MIT */
/*
 * A member has no memory amid bcl_team_agree() or bcl_team_shrink(): no member
 * waits for ever, all get the same result, and they may call again. The linker
 * lets this file's functions allocate.
 */
#include <pthread.h>
#include <stdlib.h>

#include "adi/internal.h"
#include "collectives/team.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

enum {
	RANKS = 3,
};

static const unsigned hosts[RANKS] = { 0, 1, 0 };

struct job {
	unsigned victim, at;
	bool failed; /* an allocation */
	pthread_barrier_t ready;
	enum bcl_status agreed[RANKS], shrunk[RANKS], again[RANKS];
	uint64_t flags[RANKS];
};

/* Allocations of this thread until one fails; 0: none fails. */
static _Thread_local unsigned fails_at;

static bool fails(void)
{
	return fails_at && !--fails_at;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

static void drop(struct bcl_team *team, enum bcl_status status)
{
	if (status != BCL_OK)
		return;
	bcl_team_cancel(team);
	bcl_team_free(team);
}

static void survive(struct bcl_adi *adi, void *arg)
{
	struct job *job = arg;
	unsigned rank = bcl_adi_rank(adi);
	struct bcl_team *world, *team = NULL;

	if (bcl_team_world(adi, &world) != BCL_OK)
		return;
	pthread_barrier_wait(&job->ready);
	if (rank == job->victim)
		fails_at = job->at;
	job->flags[rank] = ~(UINT64_C(1) << rank);
	job->agreed[rank] = bcl_team_agree(world, &job->flags[rank]);
	job->shrunk[rank] = bcl_team_shrink(world, &team);
	if (rank == job->victim)
		job->failed = !fails_at;
	fails_at = 0;
	drop(team, job->shrunk[rank]);
	job->again[rank] = bcl_team_shrink(world, &team);
	drop(team, job->again[rank]);
	bcl_team_free(world);
}

static void check(const struct job *job)
{
	unsigned rank;

	for (rank = 0; rank < RANKS; rank++) {
		ck_assert_int_eq(job->agreed[rank], BCL_OK);
		ck_assert_uint_eq(job->flags[rank], ~UINT64_C(7));
		ck_assert_int_eq(job->shrunk[rank], job->shrunk[0]);
		ck_assert(job->shrunk[rank] == BCL_OK ||
			  job->shrunk[rank] == BCL_ERR_NOMEM);
		ck_assert_int_eq(job->again[rank], BCL_OK);
	}
}

static void run(struct job *job)
{
	struct mock_options options = { .size = RANKS, .hosts = hosts };
	struct mock_world *world = mock_open(&options);

	pthread_barrier_init(&job->ready, NULL, RANKS);
	mock_run(world, survive, job);
	pthread_barrier_destroy(&job->ready);
	check(job);
	mock_close(world);
}

/* Each allocation of a member fails, one in each run. */
START_TEST(one_fails)
{
	struct job job;
	unsigned refused = 0, at = 0;

	do {
		job = (struct job){ .victim = (unsigned)_i, .at = ++at };
		run(&job);
		refused += job.shrunk[0] == BCL_ERR_NOMEM;
	} while (job.failed);
	ck_assert_int_eq(job.shrunk[0], BCL_OK);
	ck_assert_uint_gt(refused, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agree_memory");
	TCase *tests = tcase_create("failures");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, one_fails, 0, RANKS);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
