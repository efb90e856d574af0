/* SPDX-License-Identifier: MIT */
/* Derived teams that borrow an area of the node's segment: when a team gets an
 * area, and that the members agree, whatever each member has done before. The
 * tests use the mock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "adi/internal.h"
#include "collectives/loan.h"
#include "collectives/segment.h"
#include "collectives/team.h"
#include "tests/unit/coll_cases.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

enum {
	SIZE = 4,
	MANY = 2 * BCL_LOAN_AFTER, /* operations, enough for a loan */
	COUNT = 700,		   /* numbers; several chunks */
};

static const unsigned all[SIZE] = { 0, 1, 2, 3 };

struct job {
	void (*run)(struct job *job, struct bcl_team *world);
	bool frees;	/* run() frees the team */
	bool in_vain;	/* no area can be had */
	unsigned teams; /* that share memory, as rank 0 sees it */
	unsigned first; /* operations before the loss */
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
	if (!job->frees)
		bcl_team_free(world);
}

static void run_job(struct job *job, const struct mock_options *options)
{
	struct mock_world *world = mock_open(options);

	pthread_barrier_init(&job->others, NULL, SIZE);
	mock_run(world, enter, job);
	pthread_barrier_destroy(&job->others);
	ck_assert_uint_eq(job->failures, 0);
	mock_close(world);
}

static void run_on_one_node(struct job *job)
{
	run_job(job, &(struct mock_options){ .size = SIZE });
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

/* Sums that are started one after another, then waited for. */
static void sum_many(struct job *job, struct bcl_team *team, unsigned n)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT32);
	unsigned size = bcl_team_size(team), i, k;
	struct bcl_adi_request *requests[MANY];
	uint32_t numbers[MANY][COUNT];

	for (i = 0; i < n; i++) {
		for (k = 0; k < COUNT; k++)
			numbers[i][k] = bcl_team_rank(team) + i + k;
		expect(job,
		       bcl_iallreduce(team, BCL_IN_PLACE, numbers[i],
				      i % 3 ? COUNT : 1, sum,
				      &requests[i]) == BCL_OK,
		       "start", team);
	}
	for (i = 0; i < n; i++) {
		expect(job,
		       bcl_adi_wait(team->adi, &requests[i], NULL) == BCL_OK,
		       "wait", team);
		for (k = 0; k < (i % 3 ? COUNT : 1u); k++)
			if (numbers[i][k] !=
			    size * (i + k) + size * (size - 1) / 2)
				break;
		expect(job, k == (i % 3 ? COUNT : 1u), "sum", team);
	}
}

/* Messages that the rank has sent to the others. */
static unsigned sent(const struct bcl_team *team)
{
	unsigned me = bcl_team_rank(team), n = 0, i;

	for (i = 0; i < SIZE; i++)
		if (i != me)
			n += mock_sent(team->adi, me, i);
	return n;
}

/* Each operation, after the loan: without a message if its data is short. */
static void use_area(struct job *job, struct bcl_team *world)
{
	static const size_t lengths[] = { 5, 3000, 40000 };
	struct bcl_team *team = derive(job, world, all, SIZE, 9);
	unsigned before, operation, i;

	expect(job, !team->shares, "memory before the first operation", team);
	sum_many(job, team, MANY);
	expect(job, team->shares == !job->in_vain, "memory", team);
	bcl_barrier(world);
	before = sent(team);
	sum_many(job, team, MANY);
	for (i = 0; i < 3; i++)
		expect(job, bcl_barrier(team) == BCL_OK, "barrier", team);
	expect(job, (sent(team) == before) == !job->in_vain,
	       "messages beside the memory", team);
	for (operation = 0; operation < BCL_OPERATIONS; operation++)
		for (i = 0; i < 3; i++)
			job->failures += cases_run_all(
				team, (enum bcl_operation)operation,
				lengths[i]);
	bcl_team_free(team);
}

START_TEST(without_messages)
{
	struct job job = { .run = use_area };

	run_on_one_node(&job);
}
END_TEST

/* Without memory for the node there is no loan, nor for members of two nodes.
 */
START_TEST(nothing_to_lend)
{
	static const unsigned hosts[SIZE] = { 0, 1, 0, 1 };
	struct job job = { .run = use_area, .in_vain = true };

	run_job(&job, &(struct mock_options){ .size = SIZE, .private = true });
	run_job(&job, &(struct mock_options){ .size = SIZE, .hosts = hosts });
}
END_TEST

/* The last rank starts broadcasts before any other rank derives the team. */
static void begin_early(struct job *job, struct bcl_team *world)
{
	bool first = bcl_team_rank(world) == SIZE - 1;
	struct bcl_adi_request *requests[MANY];
	uint32_t words[MANY];
	struct bcl_team *team;
	unsigned i;

	if (!first)
		pthread_barrier_wait(&job->others);
	team = derive(job, world, all, SIZE, 3);
	for (i = 0; i < MANY; i++) {
		words[i] = first ? 7 * i : 0;
		expect(job,
		       bcl_ibroadcast(team, &words[i], 4, SIZE - 1,
				      &requests[i]) == BCL_OK,
		       "start", team);
	}
	if (first)
		pthread_barrier_wait(&job->others);
	for (i = 0; i < MANY; i++)
		expect(job,
		       bcl_adi_wait(team->adi, &requests[i], NULL) == BCL_OK &&
			       words[i] == 7 * i,
		       "word", team);
	sum_many(job, team, 3);
	expect(job, team->shares, "memory", team);
	bcl_team_free(team);
}

START_TEST(nobody_waits_to_start)
{
	struct job job = { .run = begin_early };

	run_on_one_node(&job);
}
END_TEST

/* Some ranks make a persistent operation before the first operation, others
 * after the loan. All run the operation three times: before the team asks,
 * perhaps while the team waits for the answer, and with memory. */
static void keep_operation(struct job *job, struct bcl_team *world)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT32);
	bool early = bcl_team_rank(world) < 2;
	struct bcl_team *team = derive(job, world, all, SIZE, 1);
	struct bcl_persistent *kept = NULL;
	uint32_t in[COUNT], out[COUNT];
	unsigned round, i;

	for (i = 0; i < COUNT; i++)
		in[i] = i + bcl_team_rank(team);
	for (round = 0; round < 4; round++) {
		if (!kept && (early || round == 3))
			expect(job,
			       bcl_allreduce_init(team, in, out, COUNT, sum,
						  &kept) == BCL_OK,
			       "init", team);
		memset(out, 0, sizeof(out));
		expect(job,
		       (kept ? bcl_persistent_run(kept)
			     : bcl_allreduce(team, in, out, COUNT, sum)) ==
			       BCL_OK,
		       "run", team);
		for (i = 0; i < COUNT && out[i] == SIZE * i + 6; i++)
			;
		expect(job, i == COUNT, "sum", team);
		sum_many(job, team, round ? MANY / 2 : BCL_LOAN_AFTER - 2);
	}
	expect(job, team->shares, "memory", team);
	bcl_persistent_free(kept);
	bcl_team_free(team);
}

START_TEST(persistent)
{
	struct job job = { .run = keep_operation };

	run_on_one_node(&job);
}
END_TEST

enum {
	TEAMS = BCL_SEGMENT_AREAS + 2,
};

/* Returns how many teams share memory; all ranks count the same teams. */
static unsigned count_shares(struct job *job, struct bcl_team *world,
			     struct bcl_team *const *teams, unsigned n)
{
	uint32_t shares[TEAMS];
	unsigned sum = 0, i;

	for (i = 0; i < n; i++)
		shares[i] = teams[i]->shares;
	bcl_allreduce(world, BCL_IN_PLACE, shares, n,
		      bcl_reduction(BCL_SUM, BCL_UINT32));
	for (i = 0; i < n; i++) {
		expect(job, shares[i] == (teams[i]->shares ? SIZE : 0),
		       "ranks differ", teams[i]);
		sum += teams[i]->shares;
	}
	return sum;
}

/* The ranks use the teams in orders of their own. */
static void take_all(struct job *job, struct bcl_team *world)
{
	struct bcl_adi_request *requests[TEAMS][MANY];
	unsigned rank = bcl_team_rank(world), i, k;
	struct bcl_team *teams[TEAMS];

	for (i = 0; i < TEAMS; i++)
		teams[i] = derive(job, world, all, SIZE, i);
	for (k = 0; k < MANY; k++)
		for (i = 0; i < TEAMS; i++) {
			unsigned t = (i * 3 + rank * 5 + k) % TEAMS;

			expect(job,
			       bcl_ibarrier(teams[t], &requests[t][k]) ==
				       BCL_OK,
			       "start", teams[t]);
		}
	for (i = 0; i < TEAMS; i++)
		for (k = 0; k < MANY; k++)
			expect(job,
			       bcl_adi_wait(world->adi, &requests[i][k],
					    NULL) == BCL_OK,
			       "barrier", teams[i]);
	for (i = 0; i < TEAMS; i++)
		sum_many(job, teams[i], 6);
	expect(job, count_shares(job, world, teams, TEAMS) == BCL_SEGMENT_AREAS,
	       "number of areas", world);
	for (i = 0; i < TEAMS; i++)
		bcl_team_free(teams[i]);
	bcl_barrier(world);
	teams[0] = derive(job, world, all, SIZE, 5);
	sum_many(job, teams[0], MANY);
	expect(job, count_shares(job, world, teams, 1) == 1,
	       "the areas are free again", world);
	bcl_team_free(teams[0]);
}

START_TEST(no_more_than_there_are)
{
	struct job job = { .run = take_all };

	run_on_one_node(&job);
}
END_TEST

/* Rank 0 frees its side while rank 1 has not read the last broadcasts, and
 * makes other teams, none of which may get the same area. */
static void free_early(struct job *job, struct bcl_team *world)
{
	static const unsigned two[2] = { 0, 1 }, three[3] = { 0, 2, 3 };
	unsigned rank = bcl_team_rank(world), i;
	struct bcl_team *team = NULL, *teams[TEAMS];
	struct bcl_adi_request *requests[10];
	uint32_t words[10];

	if (rank < 2) {
		team = derive(job, world, two, 2, 0);
		sum_many(job, team, MANY);
		expect(job, team->shares, "memory", team);
	}
	if (rank == 1)
		pthread_barrier_wait(&job->others);
	for (i = 0; team && i < 10; i++) {
		words[i] = rank ? 0 : 100 + i;
		expect(job,
		       bcl_ibroadcast(team, &words[i], 4, 0, &requests[i]) ==
				       BCL_OK &&
			       bcl_adi_wait(team->adi, &requests[i], NULL) ==
				       BCL_OK &&
			       words[i] == 100 + i,
		       "word", team);
	}
	if (team)
		bcl_team_free(team);
	if (rank != 1) {
		for (i = 0; i < TEAMS; i++) {
			teams[i] = derive(job, world, three, 3, 1 + i);
			sum_many(job, teams[i], MANY);
			if (rank == 0)
				job->teams += teams[i]->shares;
		}
		for (i = 0; i < TEAMS; i++)
			bcl_team_free(teams[i]);
		pthread_barrier_wait(&job->others);
	}
}

START_TEST(an_area_in_use)
{
	struct job job = { .run = free_early };

	run_on_one_node(&job);
	ck_assert_uint_eq(job.teams, BCL_SEGMENT_AREAS - 1);
}
END_TEST

/* The parent is freed first. */
static void outlive(struct job *job, struct bcl_team *world)
{
	struct bcl_team *part = NULL, *team;

	expect(job, bcl_team_dup(world, &part) == BCL_OK, "part", world);
	team = derive(job, part, all, SIZE, 2);
	bcl_team_free(part);
	sum_many(job, team, MANY / 2);
	bcl_team_free(world);
	sum_many(job, team, MANY);
	sum_many(job, team, MANY);
	expect(job, team->shares, "memory", team);
	bcl_team_free(team);
}

START_TEST(parent_freed_first)
{
	struct job job = { .run = outlive, .frees = true };

	run_on_one_node(&job);
}
END_TEST

/* A rank dies before the team asks, while the team asks, or with memory. */
static void lose(struct job *job, struct bcl_team *world)
{
	struct bcl_team *team = derive(job, world, all, SIZE, 2);
	struct bcl_adi_request *request;
	enum bcl_status status;

	for (unsigned i = 0; i < job->first; i++)
		expect(job, bcl_barrier(team) == BCL_OK, "barrier", team);
	pthread_barrier_wait(&job->others);
	if (bcl_team_rank(world) == 2) {
		mock_die(world->adi);
		bcl_team_free(team);
		bcl_team_free(world);
		return;
	}
	status = bcl_ibarrier(team, &request);
	if (status == BCL_OK)
		status = bcl_adi_wait(team->adi, &request, NULL);
	expect(job, bcl_status_loss(status) == BCL_LOSS_PEER, "loss", team);
	expect(job, bcl_status_loss(bcl_barrier(team)) == BCL_LOSS_PEER, "loss",
	       team);
	bcl_team_free(team);
	bcl_team_free(world);
}

START_TEST(a_member_dies)
{
	static const unsigned first[] = { 3, BCL_LOAN_AFTER, MANY };
	struct job job = { .run = lose, .frees = true, .first = first[_i] };

	run_on_one_node(&job);
}
END_TEST

/* A rank cancels while another one waits for the answer. */
static void cancel(struct job *job, struct bcl_team *world)
{
	bool first = bcl_team_rank(world) == 1;
	struct bcl_team *team = derive(job, world, all, SIZE, 2), *next;
	struct bcl_adi_request *request = NULL;
	enum bcl_status status;

	for (unsigned i = 0; i < BCL_LOAN_AFTER; i++)
		expect(job, bcl_barrier(team) == BCL_OK, "barrier", team);
	if (first)
		expect(job, bcl_ibarrier(team, &request) == BCL_OK, "start",
		       team);
	pthread_barrier_wait(&job->others);
	if (!first)
		bcl_team_cancel(team);
	else
		expect(job,
		       bcl_adi_wait(team->adi, &request, NULL) ==
			       BCL_ERR_CANCELLED,
		       "not cancelled", team);
	status = bcl_barrier(team);
	expect(job, status == BCL_ERR_CANCELLED, "not cancelled", team);
	bcl_team_free(team);
	next = derive(job, world, all, SIZE, 3);
	sum_many(job, next, MANY);
	expect(job, next->shares, "memory", next);
	bcl_team_free(next);
}

START_TEST(cancelled)
{
	struct job job = { .run = cancel };

	run_on_one_node(&job);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("loans");
	TCase *tests = tcase_create("areas of a segment");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, without_messages);
	tcase_add_test(tests, nothing_to_lend);
	tcase_add_test(tests, nobody_waits_to_start);
	tcase_add_test(tests, persistent);
	tcase_add_test(tests, no_more_than_there_are);
	tcase_add_test(tests, an_area_in_use);
	tcase_add_test(tests, parent_freed_first);
	tcase_add_loop_test(tests, a_member_dies, 0, 3);
	tcase_add_test(tests, cancelled);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
