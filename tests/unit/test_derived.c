/* SPDX-License-Identifier: MIT */
/* Derived teams: members make them without a message, each when it likes, and
 * several derived teams of the same members run operations in different orders.
 * The tests use the mock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "adi/internal.h"
#include "collectives/team.h"
#include "tests/unit/coll_cases.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

enum {
	SIZE = 5,
	TEAMS = 4, /* of the same members */
};

static const unsigned all[SIZE] = { 0, 1, 2, 3, 4 };
static const unsigned hosts[SIZE] = { 0, 1, 0, 1, 1 };

struct job {
	void (*run)(struct job *job, struct bcl_team *world);
	atomic_uint failures;
	pthread_barrier_t others; /* of all ranks */
};

static void enter(struct bcl_adi *adi, void *arg)
{
	struct job *job = arg;
	struct bcl_team *world;

	if (bcl_team_world(adi, &world) != BCL_OK) {
		job->failures++;
		return;
	}
	job->run(job, world);
	bcl_team_free(world);
}

/* Runs the job on one node, and on two. */
static void run_job(void (*run)(struct job *job, struct bcl_team *world))
{
	struct job job = { .run = run };
	unsigned nodes;

	for (nodes = 1; nodes <= 2; nodes++) {
		struct mock_world *world = mock_open(&(struct mock_options){
			.size = SIZE, .hosts = nodes == 1 ? NULL : hosts });

		pthread_barrier_init(&job.others, NULL, SIZE);
		mock_run(world, enter, &job);
		pthread_barrier_destroy(&job.others);
		ck_assert_uint_eq(job.failures, 0);
		mock_close(world);
	}
}

static void expect(struct job *job, bool holds, const char *what,
		   const struct bcl_team *team)
{
	if (holds)
		return;
	job->failures++;
	fprintf(stderr, "rank %u of %u: %s\n", bcl_team_rank(team),
		bcl_team_size(team), what);
}

static struct bcl_team *derive(struct job *job, struct bcl_team *parent,
			       const unsigned *ranks, unsigned n, unsigned id)
{
	struct bcl_team *team = NULL;

	expect(job, bcl_team_derive(parent, ranks, n, id, &team) == BCL_OK,
	       "no team", parent);
	return team;
}

/* Rank 0 has derived the team and started an operation before any other rank
 * derives the team. Rank 0 frees its side first. */
static void come_late(struct job *job, struct bcl_team *world)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT32);
	bool first = bcl_team_rank(world) == 0;
	struct bcl_adi_request *request;
	uint32_t word = bcl_team_rank(world) + 1;
	struct bcl_team *team;

	if (!first)
		pthread_barrier_wait(&job->others);
	team = derive(job, world, all, SIZE, 9);
	expect(job,
	       bcl_iallreduce(team, BCL_IN_PLACE, &word, 1, sum, &request) ==
		       BCL_OK,
	       "start", world);
	if (first)
		pthread_barrier_wait(&job->others);
	expect(job,
	       bcl_adi_wait(world->adi, &request, NULL) == BCL_OK && word == 15,
	       "sum", world);
	if (!first)
		pthread_barrier_wait(&job->others);
	bcl_team_free(team);
	if (first)
		pthread_barrier_wait(&job->others);
	/* nothing is left of the first team: the id is free */
	team = derive(job, world, all, SIZE, 9);
	job->failures += cases_mixed(team, 3, 20);
	bcl_team_free(team);
}

START_TEST(nobody_waits)
{
	run_job(come_late);
}
END_TEST

/* Rank r starts the operations of team r first, and each broadcast brings
 * another word. */
static void begin_elsewhere(struct job *job, struct bcl_team *world)
{
	struct bcl_adi_request *requests[2 * TEAMS];
	uint32_t words[TEAMS], sums[TEAMS];
	struct bcl_team *teams[TEAMS];
	unsigned i, rank = bcl_team_rank(world);

	for (i = 0; i < TEAMS; i++)
		teams[i] = derive(job, world, all, SIZE, 2046 - i);
	for (i = 0; i < TEAMS; i++) {
		unsigned k = (rank + i) % TEAMS;

		words[k] = rank == k ? 100 + k : 0;
		sums[k] = (k + 1) * (rank + 1);
		expect(job,
		       !bcl_ibroadcast(teams[k], &words[k], 4, k,
				       &requests[2 * k]) &&
			       !bcl_iallreduce(
				       teams[k], BCL_IN_PLACE, &sums[k], 1,
				       bcl_reduction(BCL_SUM, BCL_UINT32),
				       &requests[2 * k + 1]),
		       "start", world);
	}
	for (i = 0; i < 2 * TEAMS; i++)
		expect(job, !bcl_adi_wait(world->adi, &requests[i], NULL),
		       "wait", world);
	for (i = 0; i < TEAMS; i++)
		expect(job, words[i] == 100 + i && sums[i] == 15 * (i + 1),
		       "result", world);
	expect(job, !bcl_barrier(world), "the parent's barrier", world);
	for (i = 0; i < TEAMS; i++)
		bcl_team_free(teams[i]);
}

START_TEST(in_any_order)
{
	run_job(begin_elsewhere);
}
END_TEST

/* Disjoint teams have one id; a rank is also in a team of another id. */
static void overlap(struct job *job, struct bcl_team *world)
{
	static const unsigned odd[] = { 3, 1 }, even[] = { 4, 0, 2 };
	static const unsigned turned[] = { 4, 3, 2, 1, 0 };
	bool is_odd = bcl_team_rank(world) % 2;
	struct bcl_team *part =
		derive(job, world, is_odd ? odd : even, is_odd ? 2 : 3, 0);
	struct bcl_team *back = derive(job, world, turned, SIZE, 1);

	expect(job, bcl_team_rank(back) == SIZE - 1 - bcl_team_rank(world),
	       "rank", world);
	job->failures += cases_overlap(part, back);
	job->failures += cases_overlap(back, world);
	job->failures += cases_mixed(part, 5, 20);
	bcl_team_free(back);
	bcl_team_free(part);
}

START_TEST(parts)
{
	run_job(overlap);
}
END_TEST

/* A member cancels before the others have derived the team. */
static void cancel_early(struct job *job, struct bcl_team *world)
{
	bool first = bcl_team_rank(world) == 0;
	struct bcl_adi_request *request;
	struct bcl_team *team, *other;

	if (!first)
		pthread_barrier_wait(&job->others);
	team = derive(job, world, all, SIZE, 7);
	other = derive(job, world, all, SIZE, 8);
	if (first) {
		bcl_team_cancel(team);
		pthread_barrier_wait(&job->others);
	}
	if (bcl_ibarrier(team, &request) == BCL_OK)
		expect(job,
		       bcl_adi_wait(world->adi, &request, NULL) ==
			       BCL_ERR_CANCELLED,
		       "not cancelled", world);
	expect(job, bcl_barrier(other) == BCL_OK, "the other team", world);
	expect(job, bcl_barrier(world) == BCL_OK, "the parent", world);
	bcl_team_free(team);
	bcl_team_free(other);
}

START_TEST(cancelled)
{
	run_job(cancel_early);
}
END_TEST

/* The first member's BCL_COLL counts in derived teams, too. */
static struct bcl_choices choices[SIZE];

static void keep_choices(struct job *job, struct bcl_team *world)
{
	struct bcl_team *team = derive(job, world, all, SIZE, 0);

	choices[bcl_team_rank(world)] = team->choices;
	expect(job, !memcmp(&team->choices, &world->choices, sizeof(*choices)),
	       "other choices than the parent's", world);
	bcl_team_free(team);
}

START_TEST(chosen_alike)
{
	static const unsigned apart[SIZE] = { 0, 1, 2, 3, 4 };
	struct job job = { .run = keep_choices };
	struct mock_world *world = mock_open(&(struct mock_options){
		.size = SIZE, .hosts = apart, .coll = "allreduce:ring" });
	unsigned i;

	mock_run(world, enter, &job);
	ck_assert_uint_eq(job.failures, 0);
	mock_close(world);
	for (i = 1; i < SIZE; i++)
		ck_assert_mem_eq(&choices[i], &choices[0], sizeof(*choices));
	ck_assert_str_eq(
		bcl_choice(&choices[0], BCL_OPERATION_ALLREDUCE, false, 8)
			->name,
		"ring");
}
END_TEST

static void misname(struct job *job, struct bcl_team *world)
{
	unsigned rank = bcl_team_rank(world);
	const unsigned others[] = { (rank + 1) % SIZE },
		       twice[] = { rank, rank };
	struct bcl_team *team;

	expect(job, bcl_team_derive(world, others, 1, 0, &team) == BCL_ERR_ARG,
	       "not a member", world);
	expect(job, bcl_team_derive(world, twice, 2, 0, &team) == BCL_ERR_ARG,
	       "a member twice", world);
	expect(job,
	       bcl_team_derive(world, &rank, 1, BCL_TEAM_DERIVED_IDS, &team) ==
		       BCL_ERR_ARG,
	       "id", world);
	expect(job, bcl_barrier(world) == BCL_OK, "barrier", world);
}

START_TEST(wrong_members)
{
	run_job(misname);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("derived");
	TCase *tests = tcase_create("derived teams");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, nobody_waits);
	tcase_add_test(tests, in_any_order);
	tcase_add_test(tests, parts);
	tcase_add_test(tests, cancelled);
	tcase_add_test(tests, chosen_alike);
	tcase_add_test(tests, wrong_members);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
