/* SPDX-License-Identifier: MIT */
/*
 * Tests of the collectives over the real stack, with the cases of coll_cases.h:
 * the ranks are processes of one host, or of virtual nodes that reach each
 * other through the card.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adi/job.h"
#include "adi/request.h"
#include "collectives/call.h"
#include "collectives/team.h"
#include "env/counters.h"
#include "tests/tier.h"
#include "tests/unit/coll_cases.h"
#include "tests/unit/unit.h"
#include "transport/boot/fork.h"
#include "transport/context.h"

struct job {
	unsigned size;
	const char *nodes; /* a letter per rank: its node; NULL: one host */
	bool threads;
	unsigned victim;
	int (*run)(const struct job *job, struct bcl_team *world);
};

static int fork_rank(unsigned rank, void *argument)
{
	const struct job *job = argument;
	struct bcl_adi_options options = {
		.struct_size = sizeof(options),
		.flags = job->threads ? BCL_ADI_THREADS : 0,
	};
	struct bcl_team *world;
	struct bcl_adi *adi;
	int failures;

	if (job->nodes) {
		char name[] = { job->nodes[rank], 0 };

		setenv("BCL_NODE", name, 1);
		setenv("BCL_NET", "lo", 1);
		setenv("BCL_RAILS", "udp", 1);
	} else {
		setenv("BCL_RAILS", "none", 1);
	}
	if (bcl_adi_open(&options, &adi) || bcl_team_world(adi, &world))
		return 100;
	failures = job->run(job, world);
	bcl_team_free(world);
	bcl_adi_close(adi);
	return failures != 0;
}

static void run_job(const struct job *job)
{
	ck_assert_int_eq(bcl_boot_job_run(job->size, fork_rank, (void *)job),
			 0);
}

static int expect(bool holds, const char *what, const struct bcl_team *team)
{
	if (!holds)
		fprintf(stderr, "rank %u of %u: not so: %s\n", team->rank,
			team->size, what);
	return !holds;
}

/* ---- values ------------------------------------------------------------- */

static int everything(const struct job *job, struct bcl_team *world)
{
	/* the longest takes several pieces and chunks */
	const size_t lengths[] = { 0, 8, 25, 5000,
				   tier_long() && !UNIT_SLOW ? 300001
							     : 150001 };
	unsigned operation, i, node, members, mine;
	int failures = 0;

	/* check that the job runs with the nodes and the segment of its
	 * shape */
	bcl_team_node(world, world->rank, &mine, &members);
	failures += expect(world->shares == (members > 1), "a segment", world);
	for (i = 0; i < world->size; i++) {
		bool same =
			!job->nodes || job->nodes[i] == job->nodes[world->rank];

		bcl_team_node(world, i, &node, &members);
		failures += expect((node == mine) == same, "nodes", world);
	}
	for (operation = 0; operation < BCL_OPERATIONS; operation++)
		for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
			failures += (int)cases_run_all(
				world, (enum bcl_operation)operation,
				lengths[i]);
	failures += (int)cases_mixed(world, 17, 300);
	failures += (int)cases_overlap(world, world);
	return failures;
}

static const struct job shapes[] = {
	{ .size = 1, .run = everything },
	{ .size = 2, .run = everything },
	{ .size = 7, .run = everything },
	{ .size = 2, .nodes = "ab", .run = everything },
	{ .size = 4, .nodes = "aabb", .run = everything },
	{ .size = 5, .nodes = "abcab", .run = everything },
	{ .size = 3, .nodes = "aab", .threads = true, .run = everything },
};

/* All operations must give the right values with every algorithm, on each shape
 * of job. */
START_TEST(values)
{
	run_job(&shapes[_i]);
}
END_TEST

/* ---- choices ------------------------------------------------------------ */

/*
 * The collectives choose an algorithm, and with it the order of a sum, by the
 * latency of peers. bcl_peer_info() must report a typical latency here, equal
 * for all peers: with a measured latency sums would differ from run to run.
 */
static int know_what_is_typical(const struct job *job, struct bcl_team *world)
{
	double latency = 0;
	int failures = 0;
	unsigned i;

	for (i = 0; i < job->size; i++) {
		struct bcl_peer_info info = { .struct_size = sizeof(info) };
		struct bcl_peer *peer;

		if (i == world->rank)
			continue;
		failures += expect(!bcl_adi_peer(world->adi, i, &peer), "peer",
				   world);
		bcl_peer_info(peer, &info);
		failures += expect(info.path == BCL_PATH_CARD &&
					   info.state == BCL_PEER_UP,
				   "between nodes", world);
		failures += expect(latency <= 0 || info.latency == latency,
				   "one latency", world);
		latency = info.latency;
	}
	return failures;
}

static int talk_before(const struct job *job, struct bcl_team *world)
{
	uint64_t words[3] = { 0 }, answers[3];
	int failures = 0, i;

	for (i = 0; i < 10; i++)
		failures += expect(
			!bcl_alltoall(world, words, answers, sizeof(*words)),
			"alltoall", world);
	return failures + know_what_is_typical(job, world);
}

/* The latency is typical even after the ranks have exchanged messages. */
START_TEST(nothing_measured)
{
	static const struct job job = {
		.size = 3,
		.nodes = "abc",
		.run = talk_before,
	};

	run_job(&job);
}
END_TEST

/* ---- threads ------------------------------------------------------------ */

struct worker {
	struct bcl_team *team;
	unsigned failures;
};

static void *work(void *arg)
{
	struct worker *worker = arg;

	worker->failures = cases_mixed(worker->team, 5, 200);
	return NULL;
}

/* Several threads run operations at the same time, each on its own team. */
static int in_threads(const struct job *job, struct bcl_team *world)
{
	enum {
		THREADS = 3,
	};
	struct worker workers[THREADS];
	pthread_t threads[THREADS];
	unsigned ranks[8], i;
	int failures = 0;

	(void)job;
	for (i = 0; i < world->size; i++)
		ranks[i] = world->size - 1 - i;
	for (i = 0; i < THREADS; i++) {
		workers[i].failures = 0;
		if (bcl_team_create(world, ranks, world->size, i,
				    &workers[i].team))
			return 1;
	}
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &workers[i]);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		failures += (int)workers[i].failures;
		bcl_team_free(workers[i].team);
	}
	return failures;
}

START_TEST(teams_of_threads)
{
	static const struct job jobs[] = {
		{ .size = 2, .threads = true, .run = in_threads },
		{ .size = 3,
		  .threads = true,
		  .nodes = "aba",
		  .run = in_threads },
	};

	run_job(&jobs[_i]);
}
END_TEST

/* ---- waiting for long --------------------------------------------------- */

/*
 * The victim is later than a member yields. The other members must sleep in
 * each operation, and must not wake up all the time. The victim must wake the
 * sleepers, in a blocking operation and in a nonblocking one.
 */
static int come_late(const struct job *job, struct bcl_team *world)
{
	enum {
		LATE = 300, /* ms */
	};
	struct bcl_counter_page *counters = bcl_adi_counters(world->adi);
	static unsigned char in[100000], out[400000];
	struct bcl_adi_request *request;
	bool late = world->rank == job->victim;
	uint64_t sleeps, wakes;
	int failures = 0;
	unsigned i;

	if (!world->can_sleep)
		return 0;
	for (i = 0; i < 4; i++) {
		if (late)
			usleep(LATE * 1000);
		if (i == 0)
			failures += bcl_barrier(world) != BCL_OK;
		else if (i == 1)
			failures += bcl_broadcast(world, in, 8, job->victim) !=
				    BCL_OK;
		else if (i == 2)
			failures +=
				bcl_allgather(world, in, 500, out) != BCL_OK;
		else if (late)
			failures += bcl_ibarrier(world, &request) ||
				    bcl_adi_wait(world->adi, &request, NULL);
		else
			failures += bcl_barrier(world) != BCL_OK;
	}
	sleeps = bcl_counter_get(counters, BCL_COUNT_coll_sleeps);
	wakes = bcl_counter_get(counters, BCL_COUNT_coll_wakes);
	failures += expect(late || (sleeps >= 4 && sleeps < 4 * LATE / 3),
			   "sleeps", world);
	failures += expect(!late || wakes, "wakes", world);
	return failures;
}

START_TEST(sleeping)
{
	static const struct job jobs[] = {
		{ .size = 2, .victim = 1, .run = come_late },
		{ .size = 4, .victim = 2, .run = come_late },
		{ .size = 3, .threads = true, .run = come_late },
	};

	run_job(&jobs[_i]);
}
END_TEST

/* ---- sleeping beside a thread that polls -------------------------------- */

static struct bcl_env without_alarm;
static atomic_bool polls;

/* Waits without a deadline: the caller returns only when woken. */
static void wait_until_woken(void *arg, int object, uint64_t until)
{
	(void)until;
	bcl_env_linux.wait(arg, object, UINT64_MAX);
}

static void *poll_always(void *arg)
{
	struct bcl_adi *adi = arg;

	while (atomic_load(&polls))
		bcl_adi_iprobe(adi, 1, 0, 7, NULL);
	return NULL;
}

static int be_woken(const struct job *job, struct bcl_team *world)
{
	enum {
		ROUNDS = 10,
		LATE = 100000, /* us: longer than a member yields */
	};
	int failures = 0;
	pthread_t thread;
	unsigned i;

	if (!world->can_sleep)
		return 0;
	if (world->rank == job->victim) {
		for (i = 0; i < ROUNDS; i++) {
			usleep(LATE);
			failures += bcl_barrier(world) != BCL_OK;
		}
		return failures;
	}
	without_alarm = bcl_env_linux;
	without_alarm.wait = wait_until_woken;
	world->adi->env = &without_alarm;
	atomic_store(&polls, true);
	pthread_create(&thread, NULL, poll_always, world->adi);
	for (i = 0; i < ROUNDS; i++)
		failures += bcl_barrier(world) != BCL_OK;
	atomic_store(&polls, false);
	pthread_join(thread, NULL);
	world->adi->env = &bcl_env_linux;
	return failures + expect(bcl_counter_get(bcl_adi_counters(world->adi),
						 BCL_COUNT_coll_sleeps),
				 "sleeps", world);
}

/* A thread of rank 0 polls all the time, and so may take the message that wakes
 * a sleeper. The thread that sleeps in a barrier must wake up nevertheless. */
START_TEST(woken_beside_a_thread)
{
	const struct job job = {
		.size = 2,
		.threads = true,
		.victim = 1,
		.run = be_woken,
	};

	run_job(&job);
}
END_TEST

/* ---- messages beside a wait --------------------------------------------- */

enum {
	MESSAGES = 32,
};

static struct {
	_Atomic bool *sent; /* shared by both ranks */
	struct bcl_env env;
	const struct bcl_adi_request *last; /* yields count until its end */
	unsigned yields;
} beside;

static void count_yields(void *arg)
{
	if (beside.last->state != BCL_REQUEST_DONE)
		beside.yields++;
	bcl_env_linux.yield(arg);
}

static int wait_all(struct bcl_team *world, struct bcl_adi_request **requests)
{
	return bcl_adi_waitall(world->adi, requests, MESSAGES, NULL) != BCL_OK;
}

static int send_all(struct bcl_team *world)
{
	struct bcl_adi_request *requests[MESSAGES];
	int failures = 0;
	unsigned i;

	for (i = 0; i < MESSAGES; i++)
		failures += bcl_adi_issend(world->adi, &i, sizeof(i), 1, 0, 7,
					   &requests[i]) != BCL_OK;
	atomic_store(beside.sent, true);
	failures += wait_all(world, requests);
	return failures + (bcl_barrier(world) != BCL_OK);
}

static int wait_beside(struct bcl_team *world)
{
	struct bcl_adi_request *requests[MESSAGES];
	unsigned got[MESSAGES], i;
	int failures = 0;

	for (i = 0; i < MESSAGES; i++)
		failures += bcl_adi_irecv(world->adi, &got[i], sizeof(got[i]),
					  0, 0, 7, &requests[i]) != BCL_OK;
	beside.last = requests[MESSAGES - 1];
	beside.env = bcl_env_linux;
	beside.env.yield = count_yields;
	while (!atomic_load(beside.sent))
		usleep(1000);
	world->adi->env = &beside.env;
	failures += bcl_barrier(world) != BCL_OK;
	world->adi->env = &bcl_env_linux;
	failures += wait_all(world, requests);
	return failures +
	       expect(beside.yields < 2 * MESSAGES, "few yields", world);
}

/* On a crowded host a member yields while it waits. In a barrier rank 1 finds
 * messages of rank 0 that have all arrived. Until the last message is done rank
 * 1 must hardly yield: less than twice per message. */
static int take_messages(const struct job *job, struct bcl_team *world)
{
	int failures;
	char c = 0;

	(void)job;
	bcl_adi_context(world->adi)->crowded = true;
	bcl_call_prepare(world);
	if (world->rank == 0) {
		failures = bcl_adi_send(world->adi, &c, 1, 1, 0, 7) != BCL_OK;
		return failures + send_all(world);
	}
	failures = bcl_adi_recv(world->adi, &c, 1, 0, 0, 7, NULL) != BCL_OK;
	return failures + wait_beside(world);
}

START_TEST(messages_beside_a_wait)
{
	const struct job job = { .size = 2, .run = take_messages };

	beside.sent = mmap(NULL, sizeof(*beside.sent), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(beside.sent, MAP_FAILED);
	run_job(&job);
}
END_TEST

/* ---- going ahead -------------------------------------------------------- */

enum {
	AHEAD = 10, /* broadcasts that the root runs alone */
};

/* Short broadcasts. Each one carries its number, in the first and last word. */
static int broadcasts(struct bcl_team *world, unsigned root)
{
	uint64_t words[7] = { 0 }, i;
	int failures = 0;

	for (i = 1; i <= AHEAD; i++) {
		if (world->rank == root)
			words[0] = words[6] = i;
		failures += bcl_broadcast(world, words, sizeof(words), root) ||
			    words[0] != i || words[6] != i;
	}
	return expect(!failures, "the root's words", world);
}

/* The root must finish AHEAD broadcasts without the others. The other members
 * join only after a message that the root sends behind its broadcasts. */
static int go_ahead(const struct job *job, struct bcl_team *world)
{
	int failures = 0;
	unsigned i;

	if (world->rank == job->victim) {
		failures += broadcasts(world, job->victim);
		for (i = 0; i < world->size; i++)
			if (i != job->victim)
				failures +=
					bcl_adi_send(world->adi, NULL, 0,
						     (int)i, 0, 0) != BCL_OK;
		return failures;
	}
	failures += bcl_adi_recv(world->adi, NULL, 0, (int)job->victim, 0, 0,
				 NULL) != BCL_OK;
	return failures + broadcasts(world, job->victim);
}

START_TEST(ahead)
{
	static const struct job jobs[] = {
		{ .size = 2, .victim = 0, .run = go_ahead },
		{ .size = 3, .victim = 2, .run = go_ahead },
	};

	run_job(&jobs[_i]);
}
END_TEST

/* ---- wrong lengths ------------------------------------------------------ */

/* Broadcast `sent` bytes at the root, `due` bytes at the other rank. The other
 * rank must get BCL_ERR_TRUNCATED, and so must the next operations of both. */
static int differ(struct bcl_team *world, size_t sent, size_t due)
{
	size_t length = world->rank ? due : sent;
	unsigned char bytes[100] = { 0 };
	unsigned ranks[] = { 0, 1 }, i;
	enum bcl_status status;
	struct bcl_team *team;
	int failures;

	if (bcl_team_create(world, ranks, 2, 0, &team))
		return expect(false, "a team", world);
	status = bcl_broadcast(team, bytes, length, 0);
	failures = expect(status == (world->rank ? BCL_ERR_TRUNCATED : BCL_OK),
			  bcl_strstatus(status), world);
	for (i = 0; i < 2; i++)
		failures += expect(bcl_barrier(team) == BCL_ERR_TRUNCATED,
				   "why", world);
	bcl_team_free(team);
	return failures;
}

static int call_with_other_lengths(const struct job *job,
				   struct bcl_team *world)
{
	(void)job;
	return differ(world, 100, 50) + differ(world, 50, 100) +
	       expect(!bcl_barrier(world), "the other team", world);
}

/* A wrong length ends the team of the operation only. The world must work
 * afterwards. */
START_TEST(wrong_lengths)
{
	static const struct job job = {
		.size = 2,
		.nodes = "ab",
		.run = call_with_other_lengths,
	};

	run_job(&job);
}
END_TEST

/* ---- the reason of a loss ----------------------------------------------- */

/* Rank 1 begins a barrier and lets the barrier fail with `by`, as if rank 0 had
 * taken back a message or a put target. Then rank 1 lets rank 0 go on, and
 * returns the result of the barrier. */
static enum bcl_status be_let_down(struct bcl_team *team, enum bcl_status by)
{
	struct bcl_adi_request *request;

	if (bcl_ibarrier(team, &request) || !request || !team->running)
		return BCL_ERR_SYSTEM;
	bcl_adi_schedule_fail(&team->running->engine, by);
	if (bcl_adi_send(team->adi, NULL, 0, 0, 0, 0))
		return BCL_ERR_SYSTEM;
	return bcl_adi_wait(team->adi, &request, NULL);
}

/* Rank 0 ends the team with a wrong argument, after the failure at rank 1. Rank
 * 1 must wait for the reason, and report BCL_ERR_ARG. */
static int hear_why(struct bcl_team *world, enum bcl_status by)
{
	enum bcl_status status = BCL_ERR_ARG;

	if (world->rank) {
		status = be_let_down(world, by);
	} else {
		bcl_adi_recv(world->adi, NULL, 0, 1, 0, 0, NULL);
		bcl_broadcast(world, NULL, 1, 0);
	}
	return expect(status == BCL_ERR_ARG, bcl_strstatus(status), world) +
	       expect(bcl_barrier(world) == BCL_ERR_ARG, "the end", world);
}

static int let_down_inside(const struct job *job, struct bcl_team *world)
{
	(void)job;
	return hear_why(world, BCL_ERR_CANCELLED);
}

static int let_down_between(const struct job *job, struct bcl_team *world)
{
	(void)job;
	return hear_why(world, BCL_ERR_NOPORT);
}

/* Rank 0 does not end the team. Rank 1 must wait in vain, and report its own
 * failure. */
static int hear_nothing(const struct job *job, struct bcl_team *world)
{
	enum bcl_status status = BCL_ERR_MEMORY;

	(void)job;
	if (world->rank) {
		status = be_let_down(world, BCL_ERR_MEMORY);
	} else {
		bcl_adi_recv(world->adi, NULL, 0, 1, 0, 0, NULL);
		bcl_barrier(world); /* the message of rank 1 has come */
	}
	return expect(status == BCL_ERR_MEMORY, bcl_strstatus(status), world) +
	       expect(bcl_barrier(world) == BCL_ERR_MEMORY, "the end", world);
}

/* A member that fails with CANCELLED, MEMORY or NOPORT waits a part of
 * BCL_PEER_TIMEOUT for the reason why the team is lost. The long timeout leaves
 * time for the reason; the short one ends a wait in vain soon. */
START_TEST(let_down)
{
	static const struct job jobs[] = {
		{ .size = 2, .nodes = "ab", .run = let_down_inside },
		{ .size = 2, .nodes = "ab", .run = let_down_between },
		{ .size = 2, .nodes = "ab", .run = hear_nothing },
	};

	setenv("BCL_PEER_TIMEOUT", _i == 2 ? "1s" : "40s", 1);
	run_job(&jobs[_i]);
}
END_TEST

/* ---- death -------------------------------------------------------------- */

/* The survivors must be able to make a team, and to use it. */
static int go_on_without(struct bcl_team *world, unsigned victim)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT64);
	unsigned ranks[8], n = 0, i;
	uint64_t one = 1, all = 0;
	struct bcl_team *team;
	enum bcl_status status;
	int failures;

	for (i = 0; i < world->size; i++)
		if (i != victim)
			ranks[n++] = i;
	status = bcl_team_create(world, ranks, n, 0, &team);
	if (status != BCL_OK)
		return expect(false, bcl_strstatus(status), world);
	failures = expect(!bcl_allreduce(team, &one, &all, 1, sum) && all == n,
			  "a sum of those who live", world);
	bcl_team_free(team);
	return failures;
}

static int lose_one(const struct job *job, struct bcl_team *world)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT64);
	static uint64_t in[50000], out[50000];
	enum bcl_status status;
	unsigned i;
	int failures = 0;

	for (i = 0; i < 20; i++)
		failures += expect(!bcl_allreduce(world, in, out, 1, sum),
				   "all alive", world);
	/* the others may still be in the last allreduce: let them finish */
	if (world->rank == job->victim) {
		usleep(100000);
		raise(SIGKILL);
	}
	status = bcl_allreduce(world, in, out, 50000, sum);
	failures += expect(bcl_status_loss(status) == BCL_LOSS_PEER,
			   bcl_strstatus(status), world);
	status = bcl_barrier(world);
	failures += expect(bcl_status_loss(status) == BCL_LOSS_PEER,
			   bcl_strstatus(status), world);
	return failures + go_on_without(world, job->victim);
}

/* A rank is killed between two operations. The survivors must lose the world,
 * and go on without the dead rank. */
START_TEST(death)
{
	static const struct job jobs[] = {
		{ .size = 2, .victim = 0, .run = lose_one },
		{ .size = 2, .victim = 1, .run = lose_one },
		{ .size = 4, .victim = 0, .run = lose_one },
		{ .size = 4, .victim = 2, .run = lose_one },
		{ .size = 4, .victim = 1, .nodes = "aabb", .run = lose_one },
		{ .size = 4, .victim = 2, .nodes = "aabb", .run = lose_one },
		{ .size = 3, .victim = 0, .nodes = "abc", .run = lose_one },
	};

	setenv("BCL_PEER_TIMEOUT", "5s", 1);
	/* only the victim fails */
	ck_assert_int_eq(
		bcl_boot_job_run(jobs[_i].size, fork_rank, (void *)&jobs[_i]),
		1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("coll_real");
	TCase *tests = tcase_create("jobs");

	tcase_set_timeout(tests, 250);
	tcase_add_loop_test(tests, values, 0,
			    sizeof(shapes) / sizeof(shapes[0]));
	tcase_add_test(tests, nothing_measured);
	tcase_add_loop_test(tests, teams_of_threads, 0, 2);
	tcase_add_loop_test(tests, sleeping, 0, 3);
	tcase_add_test(tests, woken_beside_a_thread);
	tcase_add_test(tests, messages_beside_a_wait);
	tcase_add_loop_test(tests, ahead, 0, 2);
	tcase_add_test(tests, wrong_lengths);
	tcase_add_loop_test(tests, let_down, 0, 3);
	tcase_add_loop_test(tests, death, 0, 7);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
