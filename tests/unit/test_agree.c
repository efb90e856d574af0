/* SPDX-License-Identifier: MIT */
/*
 * Living members agree, and make a team, while other members die at any step.
 * The tests use the mock: a rank dies when the rank begins to send message n.
 */
#include <pthread.h>
#include <stdio.h>

#include "adi/internal.h"
#include "collectives/team.h"
#include "env/counters.h"
#include "tests/tier.h"
#include "tests/unit/agreements.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

enum {
	RANKS_MAX = 17,
};

static const unsigned hosts[RANKS_MAX] = { 0, 1, 0, 1, 1, 0, 0, 2, 2,
					   0, 1, 2, 0, 1, 2, 3, 3 };

/* The end of a rank. */
struct end {
	bool dead;
	bool got_flags, got_team; /* before the rank died */
	enum bcl_status agreed, shrunk, used, again;
	uint64_t flags, later; /* results of the agreements */
	uint64_t name;	       /* of the new team */
	unsigned size;
	uint32_t sum;
};

struct job {
	unsigned size;
	unsigned dies_at[RANKS_MAX]; /* messages of the rank; 0: never */
	pthread_barrier_t ready;
	struct end end[RANKS_MAX];
};

/* All ranks but the own, a bit each. */
static uint64_t others(unsigned rank)
{
	return ~(UINT64_C(1) << rank);
}

static void use(struct bcl_team *team, struct end *end, unsigned rank)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT32);
	uint32_t one = 1;

	end->name = team->name;
	end->size = bcl_team_size(team);
	end->used = bcl_allreduce(team, &one, &end->sum, 1, sum);
	end->later = others(rank);
	end->again = bcl_team_agree(team, &end->later);
}

static void survive(struct bcl_adi *adi, void *arg)
{
	struct job *job = arg;
	unsigned rank = bcl_adi_rank(adi);
	struct end *end = &job->end[rank];
	struct bcl_team *world, *team;

	if (bcl_team_world(adi, &world) != BCL_OK)
		return;
	pthread_barrier_wait(&job->ready);
	mock_die_at(adi, job->dies_at[rank]);
	end->flags = others(rank);
	end->agreed = bcl_team_agree(world, &end->flags);
	end->got_flags = !mock_is_dead(adi);
	end->shrunk = bcl_team_shrink(world, &team);
	end->got_team = !mock_is_dead(adi);
	if (end->shrunk == BCL_OK) {
		use(team, end, rank);
		bcl_team_free(team);
	}
	end->dead = mock_is_dead(adi);
	/* the dead have no part in freeing the world */
	bcl_team_cancel(world);
	bcl_team_free(world);
	finish_agreements(adi);
}

/* The first rank that lives. */
static unsigned first_of(const struct job *job)
{
	unsigned rank = 0;

	while (rank < job->size && job->end[rank].dead)
		rank++;
	return rank;
}

/* All that a rank has got is that of a rank that lives, also if the rank died
 * later. */
static void check_like(const struct job *job, unsigned rank)
{
	const struct end *end = &job->end[rank];
	const struct end *like = &job->end[first_of(job)];

	if (end->got_flags) {
		ck_assert_int_eq(end->agreed, BCL_OK);
		ck_assert_uint_eq(end->flags, like->flags);
		ck_assert_uint_eq(end->flags & ~others(rank), 0);
	}
	if (end->got_team) {
		ck_assert_int_eq(end->shrunk, BCL_OK);
		ck_assert_uint_eq(end->name, like->name);
		ck_assert_uint_eq(end->size, like->size);
	}
}

static void check_living(const struct job *job, unsigned rank, bool all_live)
{
	const struct end *end = &job->end[rank];
	const struct end *like = &job->end[first_of(job)];

	ck_assert_int_eq(end->again, BCL_OK);
	ck_assert_uint_eq(end->later, like->later);
	ck_assert_uint_eq(end->later & ~others(rank), 0);
	if (!all_live)
		return;
	ck_assert_int_eq(end->used, BCL_OK);
	ck_assert_uint_eq(end->sum, end->size);
}

/* Returns the number of ranks that have died. */
static unsigned run_job(struct job *job, bool synchronous)
{
	struct mock_options options = {
		.size = job->size,
		.hosts = hosts,
		.synchronous = synchronous,
	};
	struct mock_world *world = mock_open(&options);
	unsigned dead = 0, living, rank;

	pthread_barrier_init(&job->ready, NULL, job->size);
	mock_run(world, survive, job);
	pthread_barrier_destroy(&job->ready);
	for (rank = 0; rank < job->size; rank++)
		dead += job->end[rank].dead;
	living = job->size - dead;
	for (rank = 0; rank < job->size; rank++) {
		check_like(job, rank);
		if (!job->end[rank].dead)
			check_living(job, rank, job->end[rank].size == living);
	}
	mock_close(world);
	return dead;
}

START_TEST(all_live)
{
	static const unsigned sizes[] = { 1, 2, 3, 5, 8, RANKS_MAX };
	struct job job = { .size = sizes[_i] };

	ck_assert_uint_eq(run_job(&job, false), 0);
	ck_assert_uint_eq(run_job(&job, true), 0);
	ck_assert_uint_eq(job.end[0].size, job.size);
	ck_assert_uint_eq(job.end[0].flags, ~((UINT64_C(1) << job.size) - 1));
}
END_TEST

struct shape {
	unsigned size, step; /* messages between two deaths in the short tier */
};

static const struct shape shapes[] = {
	{ 2, 1 },
	{ 3, 1 },
	{ 5, 4 },
	{ 8, 17 },
};

static unsigned step_of(const struct shape *shape)
{
	return tier_long() ? 1 : shape->step;
}

/* How many deaths of one rank are tried at least: in each of three agreements
 * the rank tells the decision to `told` ranks. */
static unsigned least(const struct shape *shape, unsigned told)
{
	return (3 * told - 1) / step_of(shape) + 1;
}

/* One rank dies, at any message of the rank. */
START_TEST(one_dies)
{
	const struct shape *shape = &shapes[_i];
	unsigned victim, at, died = 0;

	for (victim = 0; victim < shape->size; victim++)
		for (at = 1;; at += step_of(shape)) {
			struct job job = { .size = shape->size };

			job.dies_at[victim] = at;
			if (!run_job(&job, at % 2))
				break;
			died++;
		}
	ck_assert_uint_ge(died, shape->size * least(shape, shape->size - 1));
}
END_TEST

static const struct shape pairs[] = { { 3, 2 }, { 5, 8 } };

/* Two coordinators die, one after the other. */
START_TEST(coordinators_die)
{
	const struct shape *shape = &pairs[_i];
	unsigned first = 1, second, dead, before, died = 0;

	do {
		before = died;
		for (second = 1, dead = 2; dead == 2;
		     second += step_of(shape)) {
			struct job job = { .size = shape->size };

			job.dies_at[0] = first;
			job.dies_at[1] = second;
			dead = run_job(&job, second % 2);
			died += dead == 2;
		}
		first += step_of(shape);
	} while (died > before);
	dead = least(shape, shape->size - 2);
	ck_assert_uint_ge(died, dead * dead);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agree");
	TCase *tests = tcase_create("deaths");

	tcase_set_timeout(tests, tier_long() ? 1000 : 100);
	tcase_add_loop_test(tests, all_live, 0, 6);
	tcase_add_loop_test(tests, one_dies, 0, 4);
	tcase_add_loop_test(tests, coordinators_die, 0, 2);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
