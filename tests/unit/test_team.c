/* SPDX-License-Identifier: MIT */
/* Teams are made, nested, freed, and lost when a member dies. The tests use the
 * mock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "adi/internal.h"
#include "collectives/team.h"
#include "env/counters.h"
#include "tests/unit/coll_cases.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

static const unsigned two_nodes[] = { 0, 1, 0, 1, 1, 0, 0 };

struct job {
	void (*run)(struct job *job, struct bcl_team *world);
	atomic_uint failures;
	unsigned victim;
	enum bcl_operation operation;
	const char *algorithm;
	pthread_barrier_t over; /* of all ranks */
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

static void run_job(struct job *job, const struct mock_options *options)
{
	struct mock_world *world = mock_open(options);

	pthread_barrier_init(&job->over, NULL, options->size);
	mock_run(world, enter, job);
	pthread_barrier_destroy(&job->over);
	ck_assert_uint_eq(job->failures, 0);
	mock_close(world);
}

static void expect(struct job *job, bool true_enough, const char *what,
		   const struct bcl_team *team)
{
	if (true_enough)
		return;
	job->failures++;
	fprintf(stderr, "rank %u of %u: %s (%s, victim %u)\n", team->rank,
		team->size, what, job->algorithm ? job->algorithm : "",
		job->victim);
}

/* ---- shapes ---- */

static void ask(struct job *job, struct bcl_team *world)
{
	unsigned node, members, rank;

	expect(job, bcl_team_size(world) == 7, "size", world);
	for (rank = 0; rank < 7; rank++) {
		bcl_team_node(world, rank, &node, &members);
		expect(job, node == two_nodes[rank], "node", world);
		expect(job, members == (node ? 3 : 4), "members", world);
	}
}

START_TEST(knows_its_nodes)
{
	struct job job = { .run = ask };

	run_job(&job, &(struct mock_options){ .size = 7, .hosts = two_nodes });
}
END_TEST

/* The launcher says how many ranks a node has. Ranks believe the launcher and
 * keep no table of all ranks, unless ranks see that the number is wrong. */
static void compare_nodes(struct job *job, struct bcl_team *world,
			  const unsigned *expected, bool tables)
{
	unsigned node, members, rank;

	expect(job, (world->layout.node != NULL) == tables, "tables", world);
	for (rank = 0; rank < world->size; rank++) {
		bcl_team_node(world, rank, &node, &members);
		expect(job, node == expected[rank], "node", world);
		expect(job, members == 2, "members", world);
	}
	job->failures += cases_mixed(world, 5, 20);
}

static const unsigned in_a_row[] = { 0, 0, 1, 1, 2, 2 };
static const unsigned in_turn[] = { 0, 1, 2, 0, 1, 2 };

static void have_no_tables(struct job *job, struct bcl_team *world)
{
	compare_nodes(job, world, in_a_row, false);
}

static void have_tables(struct job *job, struct bcl_team *world)
{
	compare_nodes(job, world, in_turn, true);
}

START_TEST(launcher_says_how_many)
{
	struct job regular = { .run = have_no_tables };
	struct job irregular = { .run = have_tables };
	/* The launcher does not know; the number is right; ranks in a row are
	 * not of a node; the number is no divisor. */
	unsigned said[] = { 0, 2, 3, 4 }, i;

	for (i = 0; i < sizeof(said) / sizeof(*said); i++) {
		struct mock_options options = {
			.size = 6,
			.hosts = in_a_row,
			.local_ranks = said[i],
		};

		run_job(&regular, &options);
		options.hosts = in_turn;
		run_job(&irregular, &options);
	}
}
END_TEST

/* ---- nesting ---- */

static void split(struct job *job, struct bcl_team *world)
{
	unsigned n = bcl_team_size(world), rank = bcl_team_rank(world);
	unsigned half[16], back[16], size = 0, i;
	struct bcl_team *team, *reversed, *inner;
	enum bcl_status status;

	/* Odd and even ranks make teams at the same time. */
	for (i = rank % 2; i < n; i += 2)
		half[size++] = i;
	status = bcl_team_create(world, half, size, rank % 2, &team);
	expect(job, status == BCL_OK, "half", world);
	expect(job, bcl_team_rank(team) == rank / 2, "rank", team);
	for (i = 0; i < n; i++)
		back[i] = n - 1 - i;
	status = bcl_team_create(world, back, n, 7, &reversed);
	expect(job, status == BCL_OK, "reversed", world);
	expect(job, bcl_team_rank(reversed) == n - 1 - rank, "rank", reversed);
	for (i = 0; i < size; i++)
		back[i] = size - 1 - i;
	status = bcl_team_create(team, back, size, 0, &inner);
	expect(job, status == BCL_OK, "inner", team);

	job->failures += cases_overlap(team, reversed);
	job->failures += cases_overlap(inner, world);
	job->failures += cases_mixed(reversed, 3, 20);
	job->failures += cases_mixed(inner, 4, 20);
	bcl_team_free(team);
	bcl_team_free(inner);
	bcl_team_free(reversed);
}

START_TEST(nested)
{
	unsigned size;

	for (size = 2; size <= 7; size++) {
		struct job job = { .run = split };

		run_job(&job, &(struct mock_options){ .size = size,
						      .hosts = two_nodes });
		run_job(&job, &(struct mock_options){ .size = size });
	}
}
END_TEST

static void make_many(struct job *job, struct bcl_team *world)
{
	enum {
		TEAMS = 300,
	};
	static const unsigned ranks[] = { 1, 0 };
	struct bcl_team *teams[TEAMS], *team;
	unsigned i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < TEAMS; i++)
			if (bcl_team_create(world, ranks, 2, i, &teams[i]))
				job->failures++;
		for (i = 0; i < TEAMS; i++)
			if (bcl_barrier(teams[TEAMS - 1 - i]))
				job->failures++;
		for (i = 0; i < TEAMS; i++)
			bcl_team_free(teams[i]);
	}
	/* More teams than there are numbers: numbers are used again. */
	for (i = 0; i < BCL_TEAM_NUMBERS; i++) {
		if (bcl_team_create(world, ranks, 2, 0, &team)) {
			job->failures++;
			return;
		}
		bcl_team_free(team);
	}
}

START_TEST(many_teams)
{
	struct job job = { .run = make_many };

	run_job(&job, &(struct mock_options){ .size = 2 });
}
END_TEST

static void exhaust(struct job *job, struct bcl_team *world)
{
	static const unsigned ranks[] = { 0, 1 };
	struct bcl_team *teams[BCL_TEAM_NUMBERS];
	unsigned n = 0;
	enum bcl_status status;

	for (;;) {
		status = bcl_team_create(world, ranks, 2, 0, &teams[n]);
		if (status != BCL_OK || ++n == BCL_TEAM_NUMBERS)
			break;
	}
	/* The world has one of the numbers. */
	expect(job, n == BCL_TEAM_NUMBERS - 1, "number of teams", world);
	expect(job, status == BCL_ERR_NOMEM, "refusal", world);
	expect(job, bcl_barrier(world) == BCL_OK, "barrier", world);
	while (n--)
		bcl_team_free(teams[n]);
}

START_TEST(numbers_run_out)
{
	struct job job = { .run = exhaust };

	run_job(&job, &(struct mock_options){ .size = 2, .hosts = two_nodes });
}
END_TEST

static void call_some(struct job *job, struct bcl_team *world)
{
	struct bcl_counter_page *counters = bcl_adi_counters(world->adi);
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_INT32);
	struct bcl_adi_request *request;
	int32_t one = 1, all;
	bool shares = world->shares;

	expect(job, !bcl_allreduce(world, &one, &all, 1, sum), "8", world);
	expect(job, !bcl_allreduce(world, &one, &all, 0, sum), "0", world);
	expect(job, !bcl_ibarrier(world, &request), "started", world);
	expect(job, !bcl_adi_wait(world->adi, &request, NULL), "over", world);
	expect(job, bcl_counter_get(counters, BCL_COUNT_coll_allreduce) == 1,
	       "allreduces that move something", world);
	expect(job, bcl_counter_get(counters, BCL_COUNT_coll_barrier) == 1,
	       "barriers", world);
	expect(job,
	       bcl_counter_get(counters, BCL_COUNT_coll_scheduled) ==
		       (shares ? 1 : 2),
	       "of those by schedules", world);
	expect(job, bcl_counter_get(counters, BCL_COUNT_coll_teams) == 1,
	       "teams", world);
}

START_TEST(counted)
{
	struct job job = { .run = call_some };

	run_job(&job, &(struct mock_options){ .size = 3 });
	run_job(&job, &(struct mock_options){ .size = 3, .private = true });
}
END_TEST

/* The member is alone, so that no other member learns of the errors. */
static void misuse(struct job *job, struct bcl_team *world)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_INT32);
	struct bcl_adi_request *request;
	uint32_t word = 0;

	expect(job, bcl_broadcast(world, &word, 4, 1) == BCL_ERR_ARG, "root",
	       world);
	expect(job, bcl_broadcast(world, NULL, 4, 0) == BCL_ERR_ARG, "buffer",
	       world);
	expect(job, bcl_allreduce(world, &word, &word, 1, NULL) == BCL_ERR_ARG,
	       "reduction", world);
	expect(job,
	       bcl_allreduce(world, &word, &word, SIZE_MAX / 2, sum) ==
		       BCL_ERR_ARG,
	       "count", world);
	expect(job, !bcl_reduction(BCL_BAND, BCL_DOUBLE), "bits of a double",
	       world);
	/* An operation with nothing to do ends at once. */
	expect(job,
	       bcl_ibroadcast(world, NULL, 0, 0, &request) == BCL_OK &&
		       !request,
	       "nothing", world);
	expect(job, bcl_barrier(world) == BCL_OK, "barrier", world);
}

START_TEST(wrong_arguments)
{
	struct job job = { .run = misuse };

	run_job(&job, &(struct mock_options){ .size = 1 });
}
END_TEST

static void misname(struct job *job, struct bcl_team *world)
{
	unsigned n = bcl_team_size(world), rank = bcl_team_rank(world);
	const unsigned outside[] = { n }, others[] = { (rank + 1) % n };
	const unsigned twice[] = { rank, rank };
	struct bcl_team *team;

	expect(job, bcl_team_create(world, outside, 1, 0, &team) == BCL_ERR_ARG,
	       "no such rank", world);
	expect(job, bcl_team_create(world, others, 1, 0, &team) == BCL_ERR_ARG,
	       "not a member", world);
	expect(job, bcl_team_create(world, twice, 2, 0, &team) == BCL_ERR_ARG,
	       "a member twice", world);
	expect(job, bcl_team_create(world, NULL, 1, 0, &team) == BCL_ERR_ARG,
	       "no ranks", world);
	expect(job,
	       bcl_team_create(world, &rank, 1, BCL_TEAM_IDS, &team) ==
		       BCL_ERR_ARG,
	       "id", world);
	expect(job, bcl_barrier(world) == BCL_OK, "barrier", world);
}

START_TEST(wrong_members)
{
	struct job job = { .run = misname };

	run_job(&job, &(struct mock_options){ .size = 3 });
}
END_TEST

/* A sum over a team of the same ranks. */
static void add_up_again(struct job *job, struct bcl_team *old)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_INT32);
	unsigned ranks[] = { 0, 1, 2, 3 }, n = bcl_team_size(old);
	uint32_t one = 1, all = 0;
	struct bcl_team *team;

	if (bcl_team_create(old, ranks, n, 7, &team) != BCL_OK) {
		expect(job, false, "another team", old);
		return;
	}
	expect(job,
	       bcl_allreduce(team, &one, &all, 1, sum) == BCL_OK && all == n,
	       "its sum", team);
	bcl_team_free(team);
}

/* A refused member is an operation behind the other members: all members must
 * learn of the refusal. */
static void be_refused(struct job *job, struct bcl_team *world)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_INT32);
	bool refused = bcl_team_rank(world) == job->victim;
	uint32_t one = 1, all;
	unsigned i;

	pthread_barrier_wait(&job->over); /* all members have the team */
	for (i = 0; i < 3; i++)
		expect(job,
		       bcl_allreduce(world, &one, &all, 1,
				     i == 0 && refused ? NULL : sum) ==
			       BCL_ERR_ARG,
		       "refused", world);
	add_up_again(job, world);
}

START_TEST(one_is_refused)
{
	static const unsigned hosts[] = { 0, 1, 0, 1 };
	struct job job = { .run = be_refused };

	for (; job.victim < 4; job.victim++) {
		run_job(&job, &(struct mock_options){ .size = 4 });
		run_job(&job,
			&(struct mock_options){ .size = 4, .hosts = hosts });
	}
}
END_TEST

static void too_many(struct job *job, struct bcl_team *world)
{
	struct bcl_adi_request *requests[BCL_TEAM_RUNNING_MAX], *one_more;
	struct bcl_adi *adi = world->adi;
	uint64_t words[BCL_TEAM_RUNNING_MAX] = { 0 };
	unsigned i;

	if (bcl_team_rank(world) == 0) {
		/* The other rank begins once rank 0 was refused. */
		for (i = 0; i < BCL_TEAM_RUNNING_MAX; i++) {
			words[i] = 1;
			if (bcl_iallreduce(world, BCL_IN_PLACE, &words[i], 1,
					   bcl_reduction(BCL_SUM, BCL_UINT64),
					   &requests[i]))
				job->failures++;
		}
		expect(job, bcl_ibarrier(world, &one_more) == BCL_ERR_AGAIN,
		       "refused", world);
		pthread_barrier_wait(&job->over);
	} else {
		pthread_barrier_wait(&job->over);
		for (i = 0; i < BCL_TEAM_RUNNING_MAX; i++) {
			words[i] = 1;
			if (bcl_iallreduce(world, BCL_IN_PLACE, &words[i], 1,
					   bcl_reduction(BCL_SUM, BCL_UINT64),
					   &requests[i]))
				job->failures++;
		}
	}
	for (i = 0; i < BCL_TEAM_RUNNING_MAX; i++)
		if (bcl_adi_wait(adi, &requests[i], NULL) || words[i] != 2)
			job->failures++;
}

START_TEST(bounded)
{
	struct job job = { .run = too_many };

	run_job(&job, &(struct mock_options){ .size = 2 });
	run_job(&job, &(struct mock_options){ .size = 2, .hosts = two_nodes });
}
END_TEST

/* Rank 0 hears rank 2, then rank 1. */
static void begin_in_turn(struct job *job, struct bcl_team *world,
			  uint64_t *word, struct bcl_adi_request **request)
{
	struct bcl_schedule *schedule;

	if (bcl_schedule_get(world, &schedule)) {
		job->failures++;
		return;
	}
	if (world->rank == 0) {
		bcl_step_receive(schedule, 2, word, sizeof(*word));
		bcl_step_round(schedule);
		bcl_step_receive(schedule, 1, word, sizeof(*word));
	} else {
		bcl_step_send(schedule, 0, word, sizeof(*word));
	}
	expect(job, bcl_schedule_start(schedule, request) == BCL_OK, "start",
	       world);
}

/*
 * Tags repeat. While rank 2 is late, ranks 0 and 1 run as many broadcasts as
 * there are tags, in which the root waits for nobody. Then no rank may take a
 * message of the next broadcast for a message of the first operation, which is
 * still under way.
 */
static void use_all_tags(struct job *job, struct bcl_team *world)
{
	uint64_t first = world->rank + 7, word;
	enum bcl_status status = BCL_ERR_AGAIN;
	struct bcl_adi_request *request = NULL;
	unsigned i;

	if (world->rank == 2)
		pthread_barrier_wait(&job->over);
	begin_in_turn(job, world, &first, &request);
	for (i = 1; i <= BCL_TEAM_TAG_SEQUENCE; i++) {
		word = i;
		expect(job,
		       bcl_broadcast(world, &word, sizeof(word), 0) == BCL_OK &&
			       word == i,
		       "broadcast", world);
	}
	word = world->rank + 1;
	if (world->rank == 0) {
		status = bcl_broadcast(world, &word, sizeof(word), 1);
		expect(job, status == BCL_ERR_AGAIN, "refused", world);
	}
	if (world->rank != 2)
		pthread_barrier_wait(&job->over);
	bcl_adi_wait(world->adi, &request, NULL);
	if (status == BCL_ERR_AGAIN)
		status = bcl_broadcast(world, &word, sizeof(word), 1);
	expect(job, status == BCL_OK && word == 2, "the next", world);
	expect(job, first == (world->rank ? world->rank + 7 : 8), "the first",
	       world);
}

START_TEST(tags_repeat)
{
	static const unsigned hosts[] = { 0, 1, 2 };
	struct job job = { .run = use_all_tags };

	run_job(&job, &(struct mock_options){ .size = 3, .hosts = hosts });
}
END_TEST

/* ---- death ---- */

static enum bcl_status call_one(struct bcl_team *team,
				enum bcl_operation operation,
				unsigned char *send, unsigned char *receive,
				size_t *lengths)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT32);
	static const size_t counts[] = { 700, 300, 0, 600, 500 };
	static const unsigned ranks[] = { 0, 1, 2, 3, 4 };
	const struct bcl_blocks blocks = {
		.n = bcl_team_size(team),
		.ranks = ranks,
		.lengths = lengths,
		.offsets = lengths + 8,
	};

	switch (operation) {
	case BCL_OPERATION_BROADCAST:
		return bcl_broadcast(team, receive, 3000, 0);
	case BCL_OPERATION_REDUCE:
		return bcl_reduce(team, send, receive, 700, sum, 0);
	case BCL_OPERATION_ALLREDUCE:
		return bcl_allreduce(team, send, receive, 700, sum);
	case BCL_OPERATION_GATHER:
		return bcl_gather(team, send, 3000, receive, 0);
	case BCL_OPERATION_SCATTER:
		return bcl_scatter(team, send, receive, 3000, 0);
	case BCL_OPERATION_ALLGATHER:
		return bcl_allgather(team, send, 3000, receive);
	case BCL_OPERATION_ALLTOALL:
		return bcl_alltoall(team, send, receive, 3000);
	case BCL_OPERATION_ALLTOALLV:
		return bcl_alltoallv(team, send, lengths, lengths + 8, receive,
				     lengths, lengths + 8);
	case BCL_OPERATION_REDUCE_SCATTER:
		return bcl_reduce_scatter(team, send, receive, 700, sum);
	case BCL_OPERATION_SCAN:
		return bcl_scan(team, send, receive, 700, sum);
	case BCL_OPERATION_EXSCAN:
		return bcl_exscan(team, send, receive, 700, sum);
	case BCL_OPERATION_GATHERV:
		return bcl_gatherv(team, send, 3000, receive, lengths,
				   lengths + 8, 0);
	case BCL_OPERATION_SCATTERV:
		return bcl_scatterv(team, send, lengths, lengths + 8, receive,
				    3000, 0);
	case BCL_OPERATION_ALLGATHERV:
		return bcl_allgatherv(team, send, 3000, receive, lengths,
				      lengths + 8);
	case BCL_OPERATION_REDUCE_SCATTERV:
		return bcl_reduce_scatterv(team, send, receive, counts, sum);
	case BCL_OPERATION_SHIFT:
		return bcl_shift(team, send, receive, 3000, 1);
	case BCL_OPERATION_EXCHANGE:
		return bcl_exchange(team, send, &blocks, receive, &blocks);
	default:
		return bcl_barrier(team);
	}
}

/* Every member depends on every other member. */
static bool is_mutual(enum bcl_operation operation)
{
	return operation == BCL_OPERATION_BARRIER ||
	       operation == BCL_OPERATION_ALLREDUCE ||
	       operation == BCL_OPERATION_ALLGATHER ||
	       operation == BCL_OPERATION_ALLTOALL ||
	       operation == BCL_OPERATION_ALLTOALLV ||
	       operation == BCL_OPERATION_REDUCE_SCATTER ||
	       operation == BCL_OPERATION_ALLGATHERV ||
	       operation == BCL_OPERATION_EXCHANGE;
}

static void lose_one(struct job *job, struct bcl_team *world)
{
	unsigned n = bcl_team_size(world), i;
	unsigned char *send = calloc(n, 3000), *receive = calloc(n, 3000);
	size_t lengths[16];
	enum bcl_status status;

	for (i = 0; i < n; i++) {
		lengths[i] = 3000;
		lengths[i + 8] = 3000 * i;
	}
	/* If the team cannot run the algorithm, the team uses another. */
	bcl_team_force(world, job->operation, job->algorithm);
	status = call_one(world, job->operation, send, receive, lengths);
	expect(job, status == BCL_OK, "all were alive", world);
	pthread_barrier_wait(&job->over);
	if (bcl_team_rank(world) == job->victim) {
		mock_die(world->adi);
		pthread_barrier_wait(&job->over);
		/* The victim goes on only to give back memory. */
		while (world->lost == BCL_OK)
			bcl_adi_turn(world->adi);
	} else {
		status =
			call_one(world, job->operation, send, receive, lengths);
		expect(job,
		       status == BCL_ERR_DEAD ||
			       (status == BCL_OK && !is_mutual(job->operation)),
		       "one was dead", world);
		expect(job, bcl_barrier(world) == BCL_ERR_DEAD, "after it",
		       world);
		pthread_barrier_wait(&job->over);
	}
	free(send);
	free(receive);
}

START_TEST(death_of_a_member)
{
	enum bcl_operation operation = (enum bcl_operation)_i;
	const struct bcl_algorithm *algorithm = bcl_algorithms[operation];

	for (; algorithm->name; algorithm++) {
		unsigned victim;

		for (victim = 0; victim < 5; victim++) {
			struct job job = {
				.run = lose_one,
				.victim = victim,
				.operation = operation,
				.algorithm = algorithm->name,
			};
			struct mock_options options = { .size = 5 };

			run_job(&job, &options);
			options.hosts = two_nodes;
			options.synchronous = true;
			run_job(&job, &options);
		}
	}
}
END_TEST

/* The survivors make a team while the news of the loss still spreads in the old
 * team. */
static void go_on_without(struct job *job, struct bcl_team *world)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_INT32);
	unsigned me = bcl_team_rank(world), ranks[5], n = 0, i;
	uint32_t one = 1, all = 0;
	struct bcl_team *team;

	for (i = 0; i < 5; i++)
		if (i != job->victim)
			ranks[n++] = i;
	if (me == job->victim) {
		mock_die(world->adi);
		pthread_barrier_wait(&job->over);
		while (world->lost == BCL_OK)
			bcl_adi_turn(world->adi);
		return;
	}
	pthread_barrier_wait(&job->over);
	expect(job, bcl_barrier(world) == BCL_ERR_DEAD, "one was dead", world);
	for (i = 0; i < 3; i++) {
		if (bcl_team_create(world, ranks, n, i, &team) != BCL_OK) {
			expect(job, false, "no team of those who live", world);
			return;
		}
		expect(job,
		       bcl_allreduce(team, &one, &all, 1, sum) == BCL_OK &&
			       all == n,
		       "its sum", world);
		bcl_team_free(team);
	}
}

START_TEST(survivors)
{
	struct job job = { .run = go_on_without };
	unsigned victim;

	for (victim = 0; victim < 5; victim++) {
		struct mock_options options = { .size = 5 };

		job.victim = victim;
		run_job(&job, &options);
		options.hosts = two_nodes;
		options.synchronous = true;
		run_job(&job, &options);
	}
}
END_TEST

/* A member dies before the members make a team. */
static void make_with_dead(struct job *job, struct bcl_team *world)
{
	static const unsigned ranks[] = { 0, 1, 2, 3, 4 };
	enum bcl_status status;
	struct bcl_team *team;

	pthread_barrier_wait(&job->over);
	if (bcl_team_rank(world) == job->victim) {
		mock_die(world->adi);
		pthread_barrier_wait(&job->over);
		while (world->lost == BCL_OK)
			bcl_adi_turn(world->adi);
		return;
	}
	status = bcl_team_create(world, ranks, 5, 0, &team);
	expect(job, status == BCL_ERR_DEAD, bcl_strstatus(status), world);
	expect(job, bcl_barrier(world) == BCL_ERR_DEAD, "parent", world);
	pthread_barrier_wait(&job->over);
}

START_TEST(death_in_creation)
{
	struct job job = { .run = make_with_dead };

	for (job.victim = 0; job.victim < 5; job.victim++) {
		run_job(&job, &(struct mock_options){ .size = 5 });
		run_job(&job, &(struct mock_options){ .size = 5,
						      .hosts = two_nodes });
	}
}
END_TEST

enum {
	OFFERED = 3000, /* bytes of a block that a member fetches */
};

static enum bcl_status start_one(struct job *job, struct bcl_team *team,
				 const unsigned char *send,
				 unsigned char *receive,
				 struct bcl_adi_request **request)
{
	static const size_t lengths[] = { OFFERED, OFFERED };
	static const size_t offsets[] = { 0, OFFERED };

	switch (job->operation) {
	case BCL_OPERATION_SCATTER:
		return bcl_iscatter(team, send, receive, OFFERED, 0, request);
	case BCL_OPERATION_ALLTOALL:
		return bcl_ialltoall(team, send, receive, OFFERED, request);
	default:
		return bcl_ialltoallv(team, send, lengths, offsets, receive,
				      lengths, offsets, request);
	}
}

/* Rank 0 loses the team while rank 1 may fetch, and its memory is the program's
 * again. Rank 1 does not hear of the loss. */
static void take_back(struct job *job, struct bcl_team *world)
{
	bool first =
		world->rank == 1 && job->operation != BCL_OPERATION_SCATTER;
	unsigned char send[2 * OFFERED] = { 1 }, receive[2 * OFFERED];
	struct bcl_adi_request *request = NULL;

	expect(job, !bcl_team_force(world, job->operation, "attached"),
	       "attached", world);
	if (first)
		start_one(job, world, send, receive, &request);
	pthread_barrier_wait(&job->over);
	if (world->rank == 0) {
		start_one(job, world, send, receive, &request);
		expect(job, request != NULL, "not over", world);
		mock_part(world->adi, 1);
		bcl_team_cancel(world);
		expect(job,
		       bcl_adi_wait(world->adi, &request, NULL) ==
			       BCL_ERR_CANCELLED,
		       "cancelled", world);
		send[OFFERED] = 2;
	}
	pthread_barrier_wait(&job->over);
	if (world->rank == 1) {
		if (!first)
			start_one(job, world, send, receive, &request);
		expect(job,
		       bcl_adi_wait(world->adi, &request, NULL) ==
			       BCL_ERR_CANCELLED,
		       "memory that is offered no more", world);
	}
	pthread_barrier_wait(&job->over);
}

START_TEST(offers_end)
{
	static const enum bcl_operation operations[] = {
		BCL_OPERATION_SCATTER,
		BCL_OPERATION_ALLTOALL,
		BCL_OPERATION_ALLTOALLV,
	};
	struct job job = { .run = take_back, .operation = operations[_i] };

	run_job(&job, &(struct mock_options){ .size = 2 });
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("team");
	TCase *tests = tcase_create("teams");

	tcase_set_timeout(tests, 100);
	tcase_add_test(tests, knows_its_nodes);
	tcase_add_test(tests, launcher_says_how_many);
	tcase_add_test(tests, nested);
	tcase_add_test(tests, many_teams);
	tcase_add_test(tests, numbers_run_out);
	tcase_add_test(tests, counted);
	tcase_add_test(tests, wrong_arguments);
	tcase_add_test(tests, wrong_members);
	tcase_add_test(tests, one_is_refused);
	tcase_add_test(tests, bounded);
	tcase_add_test(tests, tags_repeat);
	tcase_add_loop_test(tests, death_of_a_member, 0, BCL_OPERATIONS);
	tcase_add_test(tests, survivors);
	tcase_add_test(tests, death_in_creation);
	tcase_add_loop_test(tests, offers_end, 0, 3);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
