/* SPDX-License-Identifier: MIT */
/*
 * The life of persistent operations: what is refused while one is pending, and
 * what becomes of one when its team is lost or freed. tests/unit/coll_cases.c
 * checks the results of each operation.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "collectives/persistent.h"
#include "env/counters.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

enum {
	SIZE = 4,
	VICTIM = 2,
	LONG = 5000, /* numbers: too many for the flags of a node */
};

static const unsigned two_nodes[SIZE] = { 0, 0, 1, 1 };

struct job {
	void (*run)(struct job *job, struct bcl_team *world);
	bool frees; /* the job frees the team */
	pthread_barrier_t together;
	atomic_uint failures;
};

static void expect(struct job *job, bool holds, const char *what, unsigned rank)
{
	if (holds)
		return;
	fprintf(stderr, "rank %u: not so: %s\n", rank, what);
	job->failures++;
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
	if (!job->frees)
		bcl_team_free(world);
}

static void run_job(struct job *job, const unsigned *hosts)
{
	struct mock_options options = { .size = SIZE, .hosts = hosts };
	struct mock_world *world = mock_open(&options);

	pthread_barrier_init(&job->together, NULL, SIZE);
	mock_run(world, enter, job);
	ck_assert_uint_eq(job->failures, 0);
	mock_close(world);
	pthread_barrier_destroy(&job->together);
}

/* Inside a node by flags, and between nodes by messages. */
static void run_everywhere(void (*run)(struct job *job, struct bcl_team *world),
			   bool frees)
{
	struct job inside = { .run = run, .frees = frees };
	struct job between = { .run = run, .frees = frees };

	run_job(&inside, NULL);
	run_job(&between, two_nodes);
}

struct sum {
	uint32_t in[LONG], out[LONG];
	unsigned count;
	struct bcl_persistent *operation;
};

static struct sum *sum_new(struct job *job, struct bcl_team *world,
			   unsigned count)
{
	struct sum *sum = calloc(1, sizeof(*sum));

	sum->count = count;
	expect(job,
	       bcl_allreduce_init(world, sum->in, sum->out, count,
				  bcl_reduction(BCL_SUM, BCL_UINT32),
				  &sum->operation) == BCL_OK,
	       "init", world->rank);
	return sum;
}

static void sum_free(struct sum *sum)
{
	bcl_persistent_free(sum->operation);
	free(sum);
}

static void sum_fill(struct sum *sum, uint32_t value)
{
	for (unsigned i = 0; i < sum->count; i++)
		sum->in[i] = value + i;
}

static bool sum_is_right(const struct sum *sum, uint32_t value)
{
	for (unsigned i = 0; i < sum->count; i++)
		if (sum->out[i] != SIZE * (value + i))
			return false;
	return true;
}

/* ---- pending ------------------------------------------------------------- */

/* Rank 0 starts alone: until the other ranks come, the operation is pending. */
static void start_early(struct job *job, struct bcl_team *world)
{
	static const unsigned counts[] = { 1, LONG };
	struct bcl_adi_request *request, *other = NULL;
	unsigned k, round;

	for (k = 0; k < 2; k++) {
		struct sum *sum = sum_new(job, world, counts[k]);

		for (round = 1; round < 4; round++) {
			sum_fill(sum, round);
			if (world->rank)
				pthread_barrier_wait(&job->together);
			expect(job,
			       bcl_persistent_start(sum->operation, &request) ==
				       BCL_OK,
			       "start", world->rank);
			if (world->rank == 0) {
				expect(job,
				       bcl_persistent_start(sum->operation,
							    &other) ==
						       BCL_ERR_AGAIN &&
					       !other,
				       "no second start", 0);
				expect(job,
				       bcl_persistent_run(sum->operation) ==
					       BCL_ERR_AGAIN,
				       "no run", 0);
				pthread_barrier_wait(&job->together);
			}
			expect(job,
			       bcl_adi_wait(world->adi, &request, NULL) ==
					       BCL_OK &&
				       sum_is_right(sum, round),
			       "the sum", world->rank);
		}
		sum_free(sum);
	}
}

START_TEST(pending_is_refused)
{
	run_everywhere(start_early, false);
}
END_TEST

/* Ranks start one after another. The last rank finds the words of all others,
 * and needs neither request nor schedule; the others leave theirs to the
 * engine. */
static void start_last(struct job *job, struct bcl_team *world)
{
	struct bcl_counter_page *counters = bcl_adi_counters(world->adi);
	struct sum *sum = sum_new(job, world, 1);
	struct bcl_adi_request *request;
	unsigned round, turn;
	bool last;

	for (round = 0; round < 2 * SIZE; round++) {
		sum_fill(sum, round);
		for (turn = 0; turn < SIZE; turn++) {
			pthread_barrier_wait(&job->together);
			if ((turn + round) % SIZE != world->rank)
				continue;
			last = turn == SIZE - 1;
			expect(job,
			       bcl_persistent_start(sum->operation, &request) ==
					       BCL_OK &&
				       (request == NULL) == last,
			       "a request unless last", world->rank);
		}
		expect(job,
		       bcl_adi_wait(world->adi, &request, NULL) == BCL_OK &&
			       sum_is_right(sum, round),
		       "the sum", world->rank);
		pthread_barrier_wait(&job->together);
	}
	expect(job,
	       bcl_counter_get(counters, BCL_COUNT_coll_allreduce) ==
			       2 * SIZE &&
		       bcl_counter_get(counters, BCL_COUNT_coll_scheduled) ==
			       2 * SIZE - 2,
	       "all are counted, twice without a schedule", world->rank);
	sum_free(sum);
}

START_TEST(last_is_done_at_once)
{
	struct job inside = { .run = start_last };

	run_job(&inside, NULL);
}
END_TEST

/* Two operations with the same arguments are pending at a time, and members
 * call different forms. */
static void run_two(struct job *job, struct bcl_team *world)
{
	const struct bcl_reduction *add = bcl_reduction(BCL_SUM, BCL_UINT32);
	struct sum *one = sum_new(job, world, LONG);
	struct sum *other = sum_new(job, world, LONG);
	struct bcl_adi_request *requests[2];
	enum bcl_status status;

	for (unsigned round = 0; round < 6; round++) {
		sum_fill(one, round);
		sum_fill(other, 100 + round);
		if (round % SIZE == world->rank)
			status = bcl_iallreduce(world, one->in, one->out, LONG,
						add, &requests[0]);
		else
			status = bcl_persistent_start(one->operation,
						      &requests[0]);
		expect(job, status == BCL_OK, "one", world->rank);
		expect(job,
		       bcl_persistent_start(other->operation, &requests[1]) ==
			       BCL_OK,
		       "other", world->rank);
		expect(job, bcl_barrier(world) == BCL_OK, "barrier",
		       world->rank);
		for (unsigned i = 2; i-- > 0;)
			bcl_adi_wait(world->adi, &requests[i], NULL);
		expect(job,
		       sum_is_right(one, round) &&
			       sum_is_right(other, 100 + round),
		       "sums", world->rank);
	}
	sum_free(one);
	sum_free(other);
}

START_TEST(two_at_a_time)
{
	run_everywhere(run_two, false);
}
END_TEST

/* Each member frees the operation before it waits for the end. */
static void free_early(struct job *job, struct bcl_team *world)
{
	struct sum *sum = sum_new(job, world, LONG);
	struct bcl_adi_request *request;

	sum_fill(sum, 7);
	expect(job, bcl_persistent_start(sum->operation, &request) == BCL_OK,
	       "start", world->rank);
	bcl_persistent_free(sum->operation);
	expect(job,
	       bcl_adi_wait(world->adi, &request, NULL) == BCL_OK &&
		       sum_is_right(sum, 7),
	       "the sum", world->rank);
	/* the schedule is the team's now, and not built any more */
	for (unsigned i = 0; i < 3; i++)
		expect(job, bcl_barrier(world) == BCL_OK, "barrier",
		       world->rank);
	free(sum);
}

START_TEST(freed_while_pending)
{
	run_everywhere(free_early, false);
}
END_TEST

/* Members make different numbers of operations, in different orders. */
static void make_alone(struct job *job, struct bcl_team *world)
{
	struct sum *sums[SIZE];

	for (unsigned i = 0; i <= world->rank; i++)
		sums[i] = sum_new(job, world, i % 2 ? LONG : 1);
	sum_fill(sums[0], 3);
	expect(job,
	       bcl_persistent_run(sums[0]->operation) == BCL_OK &&
		       sum_is_right(sums[0], 3),
	       "the common one", world->rank);
	for (unsigned i = 0; i <= world->rank; i++)
		sum_free(sums[i]);
}

START_TEST(made_by_some_members)
{
	run_everywhere(make_alone, false);
}
END_TEST

/* ---- the end of the team ------------------------------------------------- */

static void expect_both(struct job *job, struct sum *sum,
			enum bcl_status status, unsigned rank)
{
	struct bcl_adi_request *request = NULL;

	expect(job, bcl_persistent_run(sum->operation) == status, "run", rank);
	expect(job,
	       bcl_persistent_start(sum->operation, &request) == status &&
		       !request,
	       "start", rank);
}

static void outlive_team(struct job *job, struct bcl_team *world)
{
	struct sum *sums[2] = { sum_new(job, world, 1),
				sum_new(job, world, LONG) };
	unsigned rank = world->rank;

	for (unsigned i = 0; i < 2; i++)
		expect(job, bcl_persistent_run(sums[i]->operation) == BCL_OK,
		       "run", rank);
	bcl_team_free(world);
	for (unsigned i = 0; i < 2; i++) {
		expect_both(job, sums[i], BCL_ERR_ARG, rank);
		sum_free(sums[i]);
	}
}

START_TEST(team_is_freed_first)
{
	run_everywhere(outlive_team, true);
}
END_TEST

static void lose_member(struct job *job, struct bcl_team *world)
{
	struct sum *sums[2] = { sum_new(job, world, 1),
				sum_new(job, world, LONG) };
	struct bcl_adi_request *request;
	unsigned rank = world->rank;

	for (unsigned i = 0; i < 2; i++)
		expect(job, bcl_persistent_run(sums[i]->operation) == BCL_OK,
		       "all were alive", rank);
	pthread_barrier_wait(&job->together);
	if (rank == VICTIM) {
		mock_die(world->adi);
		pthread_barrier_wait(&job->together);
		while (world->lost == BCL_OK)
			bcl_adi_turn(world->adi);
	} else {
		enum bcl_status status =
			bcl_persistent_start(sums[1]->operation, &request);

		if (status == BCL_OK)
			status = bcl_adi_wait(world->adi, &request, NULL);
		expect(job, status == BCL_ERR_DEAD, "one was dead", rank);
		pthread_barrier_wait(&job->together);
		expect_both(job, sums[0], BCL_ERR_DEAD, rank);
		expect_both(job, sums[1], BCL_ERR_DEAD, rank);
	}
	sum_free(sums[0]);
	sum_free(sums[1]);
}

START_TEST(death_of_a_member)
{
	run_everywhere(lose_member, false);
}
END_TEST

/* A refused init loses the team: the other members would wait for ever. */
static void be_refused(struct job *job, struct bcl_team *world)
{
	struct bcl_persistent *operation = NULL;
	struct sum *sum = sum_new(job, world, 1);

	pthread_barrier_wait(&job->together);
	if (world->rank == VICTIM)
		expect(job,
		       bcl_broadcast_init(world, NULL, 8, 0, &operation) ==
				       BCL_ERR_ARG &&
			       !operation,
		       "refused", world->rank);
	expect_both(job, sum, BCL_ERR_ARG, world->rank);
	sum_free(sum);
}

START_TEST(one_is_refused)
{
	run_everywhere(be_refused, false);
}
END_TEST

/* ---- the number of operations -------------------------------------------- */

/* An operation needs room among the pending ones of its team. */
static void fill_team(struct job *job, struct bcl_team *world)
{
	static struct bcl_adi_request *requests[BCL_TEAM_RUNNING_MAX];
	struct bcl_adi_request *request = NULL;
	struct sum *sum = sum_new(job, world, LONG);
	uint32_t *words = calloc(BCL_TEAM_RUNNING_MAX, sizeof(*words));
	unsigned i;

	for (i = 0; i < BCL_TEAM_RUNNING_MAX; i++)
		if (world->rank == SIZE - 1)
			expect(job,
			       bcl_ibroadcast(world, &words[i], 4, 0,
					      &requests[i]) == BCL_OK,
			       "room", world->rank);
	if (world->rank == SIZE - 1)
		expect(job,
		       bcl_persistent_start(sum->operation, &request) ==
				       BCL_ERR_AGAIN &&
			       !request,
		       "no room", world->rank);
	pthread_barrier_wait(&job->together);
	for (i = 0; i < BCL_TEAM_RUNNING_MAX; i++)
		if (world->rank == SIZE - 1)
			bcl_adi_wait(world->adi, &requests[i], NULL);
		else
			bcl_broadcast(world, &words[i], 4, 0);
	sum_fill(sum, 1);
	expect(job,
	       bcl_persistent_run(sum->operation) == BCL_OK &&
		       sum_is_right(sum, 1),
	       "room again", world->rank);
	sum_free(sum);
	free(words);
}

START_TEST(bounded)
{
	struct job job = { .run = fill_team };

	run_job(&job, two_nodes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("persistent");
	TCase *tests = tcase_create("operations");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, pending_is_refused);
	tcase_add_test(tests, last_is_done_at_once);
	tcase_add_test(tests, two_at_a_time);
	tcase_add_test(tests, freed_while_pending);
	tcase_add_test(tests, made_by_some_members);
	tcase_add_test(tests, team_is_freed_first);
	tcase_add_test(tests, death_of_a_member);
	tcase_add_test(tests, one_is_refused);
	tcase_add_test(tests, bounded);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
