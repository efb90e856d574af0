/* SPDX-License-Identifier: MIT */
/*
 * Teams that all members of a parent make together: by colours, by the levels
 * of the hierarchy, and duplicates. The tests use the mock.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "collectives/team.h"
#include "tests/unit/coll_cases.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

static const unsigned hosts[] = { 0, 1, 0, 1, 1, 0, 0 };
/* by rank: its place on its node */
static const unsigned places[] = { 0, 0, 1, 1, 2, 2, 3 };

struct job {
	void (*run)(struct job *job, struct bcl_team *world);
	atomic_uint failures;
	unsigned victim;
	pthread_barrier_t ready;
};

static void expect(struct job *job, bool holds, const char *what,
		   const struct bcl_team *team)
{
	if (holds)
		return;
	job->failures++;
	fprintf(stderr, "rank %u of %u: %s\n", team->rank, team->size, what);
}

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

static void run_job(void (*run)(struct job *job, struct bcl_team *world),
		    unsigned size, unsigned victim)
{
	struct job job = { .run = run, .victim = victim };
	struct mock_world *world = mock_open(
		&(struct mock_options){ .size = size, .hosts = hosts });

	pthread_barrier_init(&job.ready, NULL, size);
	mock_run(world, enter, &job);
	pthread_barrier_destroy(&job.ready);
	ck_assert_uint_eq(job.failures, 0);
	ck_assert_uint_eq(mock_left_over(world), 0);
	mock_close(world);
}

/* In the order of nodes, and of ranks on a node. */
static const unsigned by_node[] = { 0, 2, 5, 6, 1, 3, 4 };

/* The members are the ranks of the world for which is_in() is true; in the
 * order of ranks, or of nodes. */
static void check_members(struct job *job, struct bcl_team *world,
			  struct bcl_team *team, bool nodes,
			  bool (*is_in)(unsigned rank, unsigned me))
{
	unsigned n = 0, i, k;

	for (k = 0; k < 7; k++) {
		i = nodes ? by_node[k] : k;
		if (i >= world->size || !is_in(i, world->rank))
			continue;
		expect(job, n < team->size && bcl_team_job_rank(team, n) == i,
		       "member", world);
		n++;
	}
	expect(job, team->size == n, "size", world);
	job->failures += cases_mixed(team, 3, 10);
}

static bool is_anybody(unsigned rank, unsigned me)
{
	(void)rank;
	(void)me;
	return true;
}

static bool is_on_node(unsigned rank, unsigned me)
{
	return hosts[rank] == hosts[me];
}

static bool has_place(unsigned rank, unsigned me)
{
	return places[rank] == places[me];
}

static void make_levels(struct job *job, struct bcl_team *world)
{
	struct bcl_team *team[3];
	unsigned round, i;

	for (round = 0; round < 3; round++) {
		expect(job, !bcl_team_dup(world, &team[0]), "dup", world);
		expect(job, !bcl_team_split_node(world, &team[1]), "node",
		       world);
		expect(job, !bcl_team_split_place(world, &team[2]), "place",
		       world);
		check_members(job, world, team[0], false, is_anybody);
		check_members(job, world, team[1], false, is_on_node);
		check_members(job, world, team[2], true, has_place);
		job->failures += cases_overlap(team[0], team[round ? 1 : 2]);
		for (i = 0; i < 3; i++)
			bcl_team_free(team[i]);
	}
}

START_TEST(levels)
{
	run_job(make_levels, (unsigned)_i, 0);
}
END_TEST

/* Colour 0, 1 or none; the order of keys is that of falling ranks, but ranks 4
 * and 6 have the same key. */
static void make_colours(struct job *job, struct bcl_team *world)
{
	static const unsigned zero[] = { 4, 6, 2, 0 }, one[] = { 5, 1 };
	unsigned rank = world->rank, n = rank % 2 ? 2 : 4, i;
	const unsigned *members = rank % 2 ? one : zero;
	int colour = rank == 3 ? -7 : (int)rank % 2;
	int key = rank == 6 ? -4 : -(int)rank;
	struct bcl_team *team, *other;

	/* a team of the caller's with the smallest and the largest id */
	expect(job,
	       !bcl_team_create(world, &rank, 1, rank % 2 ? 0 : 1023, &other),
	       "own id", world);
	expect(job, !bcl_team_split(world, colour, key, &team), "split", world);
	expect(job, !team == (rank == 3), "a team", world);
	if (team) {
		expect(job, team->size == n, "size", team);
		for (i = 0; i < team->size && i < n; i++)
			expect(job, bcl_team_job_rank(team, i) == members[i],
			       "order", team);
		job->failures += cases_mixed(team, 5, 10);
	}
	bcl_team_free(team);
	bcl_team_free(other);
}

START_TEST(colours)
{
	run_job(make_colours, 7, 0);
}
END_TEST

/* More teams than there are ids. */
static void make_many(struct job *job, struct bcl_team *world)
{
	unsigned n = BCL_TEAM_IDS_ALL, i;
	struct bcl_team *team;

	for (i = 0; i < n && !job->failures; i++) {
		expect(job, !bcl_team_dup(world, &team), "dup", world);
		if (!job->failures)
			bcl_team_free(team);
	}
}

START_TEST(many)
{
	run_job(make_many, 2, 0);
}
END_TEST

/*
 * The victim does not make the team, but cancels the parent. The members that
 * wait for it in the creation must hear of that.
 */
static void lose_parent(struct job *job, struct bcl_team *world)
{
	struct bcl_team *team = NULL;
	enum bcl_status status = BCL_ERR_CANCELLED;

	pthread_barrier_wait(&job->ready);
	if (world->rank == job->victim)
		bcl_team_cancel(world);
	else
		status = bcl_team_dup(world, &team);
	expect(job, status == BCL_ERR_CANCELLED, bcl_strstatus(status), world);
	expect(job, bcl_team_split(world, 0, 0, &team) == BCL_ERR_CANCELLED,
	       "split", world);
	expect(job, bcl_team_split_node(world, &team) == BCL_ERR_CANCELLED,
	       "node", world);
	pthread_barrier_wait(&job->ready);
}

START_TEST(parent_is_lost)
{
	struct job job = { .run = lose_parent, .victim = (unsigned)_i };
	struct mock_world *world =
		mock_open(&(struct mock_options){ .size = 5, .hosts = hosts });

	pthread_barrier_init(&job.ready, NULL, 5);
	mock_run(world, enter, &job);
	pthread_barrier_destroy(&job.ready);
	ck_assert_uint_eq(job.failures, 0);
	mock_close(world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("split");
	TCase *tests = tcase_create("teams");

	tcase_set_timeout(tests, 100);
	tcase_add_loop_test(tests, levels, 1, 8);
	tcase_add_test(tests, colours);
	tcase_add_test(tests, many);
	tcase_add_loop_test(tests, parent_is_lost, 0, 5);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
