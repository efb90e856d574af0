/* SPDX-License-Identifier: MIT */
/*
 * With BCL_CHECK=on members that call operations differently must all get
 * BCL_ERR_ARG, and the log must name the operation, ranks and values. Calls
 * that do not differ must run as ever.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectives/check.h"
#include "tests/unit/coll_cases.h"
#include "tests/unit/capture.h"
#include "tests/unit/unit.h"
#include "transport/boot/fork.h"

enum {
	RANKS_MAX = 4,
	GUARD = 0x55,
};

static uint32_t in[64], out[64];

static void multiply(const void *a, void *b, size_t count, void *arg)
{
	const uint32_t *x = a;
	uint32_t *y = b;

	(void)arg;
	while (count--)
		*y++ *= *x++;
}

static const struct bcl_reduction own = {
	.element = 4,
	.commutative = true,
	.apply = multiply,
};

static enum bcl_status allreduce(struct bcl_team *team, size_t count,
				 const struct bcl_reduction *reduction)
{
	return bcl_allreduce(team, out, in, count, reduction);
}

/* ---- mistakes of one member: wrong is true there ------------------------- */

static enum bcl_status length(struct bcl_team *team, bool wrong)
{
	return bcl_broadcast(team, in, wrong ? 16 : 8, 0);
}

static enum bcl_status nothing(struct bcl_team *team, bool wrong)
{
	return bcl_allgather(team, out, wrong ? 0 : 8, in);
}

static enum bcl_status root(struct bcl_team *team, bool wrong)
{
	return bcl_gather(team, out, 8, in, wrong ? team->rank : 0);
}

static enum bcl_status combination(struct bcl_team *team, bool wrong)
{
	return allreduce(team, 2,
			 bcl_reduction(wrong ? BCL_MAX : BCL_SUM, BCL_INT32));
}

static enum bcl_status type(struct bcl_team *team, bool wrong)
{
	return allreduce(
		team, 2,
		bcl_reduction(BCL_SUM, wrong ? BCL_UINT32 : BCL_FLOAT));
}

static enum bcl_status operator_of_the_program(struct bcl_team *team,
					       bool wrong)
{
	return allreduce(team, 2,
			 wrong ? &own : bcl_reduction(BCL_SUM, BCL_INT32));
}

static enum bcl_status order(struct bcl_team *team, bool wrong)
{
	return wrong ? bcl_broadcast(team, in, 8, 0) : bcl_barrier(team);
}

static enum bcl_status distance(struct bcl_team *team, bool wrong)
{
	return bcl_shift(team, out, in, 8, wrong ? -1 : 1);
}

static const size_t offsets[RANKS_MAX] = { 0, 32, 64, 96 };
static const size_t equal[RANKS_MAX] = { 8, 8, 8, 8 };

static enum bcl_status blocks_of_all(struct bcl_team *team, bool wrong)
{
	size_t lengths[RANKS_MAX] = { 4, 4, 4, 4 };

	lengths[team->size - 1] = wrong ? 4 : 8;
	lengths[0] = wrong ? 8 : 4;
	return bcl_allgatherv(team, out, lengths[team->rank], in, lengths,
			      offsets);
}

static enum bcl_status counts(struct bcl_team *team, bool wrong)
{
	size_t many[RANKS_MAX] = { 1, 1, 1, 1 };

	many[0] = wrong ? 3 : 1;
	return bcl_reduce_scatterv(team, out, in, many,
				   bcl_reduction(BCL_SUM, BCL_INT32));
}

/* Without a comparison rank 0 would wait for a message that is not sent. */
static enum bcl_status no_block(struct bcl_team *team, bool wrong)
{
	const size_t none[RANKS_MAX] = { 0, 8, 8, 8 };

	return bcl_alltoallv(team, out, wrong ? none : equal, offsets, in,
			     equal, offsets);
}

static enum bcl_status gathered_block(struct bcl_team *team, bool wrong)
{
	return bcl_gatherv(team, out, wrong ? 4 : 8, in, equal, offsets, 0);
}

static enum bcl_status scattered_block(struct bcl_team *team, bool wrong)
{
	return bcl_scatterv(team, out, equal, offsets, in, wrong ? 12 : 8, 0);
}

/* Each member sends two blocks to member 0, and receives none elsewhere. */
static enum bcl_status listed_blocks(struct bcl_team *team, bool wrong)
{
	const size_t lengths[2 * RANKS_MAX] = {
		wrong ? 5 : 4, wrong ? 3 : 4, 4, 4, 4, 4, 4, 4
	};
	const size_t places[2 * RANKS_MAX] = { 0, 8, 16, 24, 32, 40, 48, 56 };
	static const unsigned to_first[2];
	static const unsigned from_all[] = { 0, 0, 1, 1, 2, 2, 3, 3 };
	const struct bcl_blocks to = {
		.n = 2, .ranks = to_first, .lengths = lengths, .offsets = places
	};
	const struct bcl_blocks from = {
		.n = team->rank ? 0 : 2 * team->size,
		.ranks = from_all,
		.lengths = lengths,
		.offsets = places,
	};

	return bcl_exchange(team, out, &to, in, &from);
}

static enum bcl_status in_background(struct bcl_team *team, bool wrong)
{
	struct bcl_adi_request *request;
	enum bcl_status status;

	status = bcl_ibroadcast(team, in, wrong ? 12 : 8, 0, &request);
	return status == BCL_OK ? bcl_adi_wait(team->adi, &request, NULL)
				: status;
}

static enum bcl_status persistent(struct bcl_team *team, bool wrong)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_DOUBLE);
	struct bcl_persistent *operation;
	enum bcl_status status;

	status = bcl_allreduce_init(team, out, in, wrong ? 3 : 1, sum,
				    &operation);
	if (status == BCL_OK)
		status = bcl_persistent_run(operation);
	bcl_persistent_free(operation);
	return status;
}

static const struct mistake {
	enum bcl_status (*call)(struct bcl_team *team, bool wrong);
	const char *said;
} mistakes[] = {
	{ length, "rank 1 calls broadcast with 16 bytes, root 0; rank 0 calls "
		  "broadcast with 8 bytes, root 0 (1 of " },
	{ nothing, "rank 1 calls allgather with 0 bytes; rank 0 calls "
		   "allgather with 8 bytes" },
	{ root, "rank 1 calls gather with 8 bytes, root 1; rank 0 calls gather "
		"with 8 bytes, root 0" },
	{ combination,
	  "rank 1 calls allreduce with 8 bytes, maximum of int32 (4 "
	  "bytes); rank 0 calls allreduce with 8 bytes, sum of int32 "
	  "(4 bytes)" },
	{ type, "sum of uint32 (4 bytes); rank 0 calls allreduce with "
		"8 bytes, "
		"sum of float (4 bytes)" },
	{ operator_of_the_program, "a commutative operator of the program's "
				   "type (4 bytes); rank 0 calls allreduce" },
	{ order, "rank 1 calls broadcast with 8 bytes, root 0; rank 0 calls "
		 "barrier with 0 bytes" },
	{ distance, "rank 1 calls shift with 8 bytes, distance -1; rank 0 "
		    "calls shift with 8 bytes, distance 1" },
	{ blocks_of_all, "bytes a block on average with other lengths of "
			 "blocks" },
	{ counts, "rank 1 calls reduce_scatterv" },
	{ no_block, "in alltoallv rank 1 sends 0 bytes in 1 blocks to rank 0, "
		    "which expects 8 in 1" },
	{ gathered_block, "in gatherv rank 1 sends 4 bytes in 1 blocks to rank "
			  "0, which expects 8 in 1" },
	{ scattered_block, "in scatterv rank 0 sends 8 bytes in 1 blocks to "
			   "rank 1, which expects 12 in 1" },
	{ listed_blocks, "in exchange rank 1 sends 8 bytes in 2 blocks to rank "
			 "0, which expects 8 in 2 of other lengths" },
	{ in_background, "rank 1 calls broadcast with 12 bytes" },
	{ persistent, "rank 1 calls allreduce with 24 bytes, sum of double" },
};

enum {
	MISTAKES = sizeof(mistakes) / sizeof(*mistakes),
};

static bool is_untouched(void)
{
	const unsigned char *bytes = (unsigned char *)in;
	unsigned i;

	for (i = 0; i < sizeof(in); i++)
		if (bytes[i] != GUARD)
			return false;
	return true;
}

static int make_mistake(struct bcl_team *world, unsigned i)
{
	enum bcl_status status, after;
	struct bcl_team *team;

	if (bcl_team_dup(world, &team) != BCL_OK)
		return 1;
	memset(in, GUARD, sizeof(in));
	status = mistakes[i].call(team, world->rank == 1);
	after = bcl_barrier(team);
	bcl_team_free(team);
	if (status == BCL_ERR_ARG && after == BCL_ERR_ARG && is_untouched())
		return 0;
	fprintf(stderr, "rank %u, mistake %u: %s, then %s\n", world->rank, i,
		bcl_strstatus(status), bcl_strstatus(after));
	return 1;
}

static int make_mistakes(struct bcl_team *world)
{
	int failures = 0;
	unsigned i;

	for (i = 0; i < MISTAKES; i++)
		failures += make_mistake(world, i);
	return failures;
}

static int make_none(struct bcl_team *world)
{
	static const size_t lengths[] = { 0, 8, 5000 };
	unsigned operation, i;
	int failures = 0;

	for (operation = 0; operation < BCL_OPERATIONS; operation++)
		for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
			failures += (int)cases_run_all(
				world, (enum bcl_operation)operation,
				lengths[i]);
	return failures + (int)cases_mixed(world, 3, 60);
}

struct job {
	const char *nodes; /* a letter per rank */
	int (*run)(struct bcl_team *world);
};

static const struct job jobs[] = {
	{ "aa", make_mistakes },   { "ab", make_mistakes },
	{ "aabb", make_mistakes }, { "aaa", make_none },
	{ "aabb", make_none },
};

enum {
	WITH_MISTAKES = 3, /* of the jobs, the first ones */
	JOBS = sizeof(jobs) / sizeof(*jobs),
};

static int rank_of(unsigned rank, void *argument)
{
	const struct job *job = argument;
	char node[] = { job->nodes[rank], 0 };
	struct bcl_team *world;
	struct bcl_adi *adi;
	int failures;

	setenv("BCL_NODE", node, 1);
	setenv("BCL_NET", "lo", 1);
	setenv("BCL_RAILS", "udp", 1);
	/* the first rank decides for all */
	if (rank == 0)
		setenv("BCL_CHECK", "1", 1);
	if (bcl_adi_open(NULL, &adi) || bcl_team_world(adi, &world))
		return 100;
	failures = job->run(world) + (bcl_barrier(world) != BCL_OK);
	bcl_team_free(world);
	bcl_adi_close(adi);
	return failures != 0;
}

static int run_job(const struct job *job)
{
	return bcl_boot_job_run((unsigned)strlen(job->nodes), rank_of,
				(void *)job);
}

START_TEST(differences)
{
	struct capture capture;
	unsigned i;
	int failed;
	char *said;

	capture_begin(&capture);
	failed = run_job(&jobs[_i]);
	said = capture_end(&capture);
	if (failed)
		fputs(said, stderr);
	ck_assert_int_eq(failed, 0);
	for (i = 0; i < MISTAKES; i++)
		ck_assert_msg(strstr(said, mistakes[i].said) != NULL,
			      "not said: %s\n%s", mistakes[i].said, said);
	free(said);
}
END_TEST

START_TEST(no_difference)
{
	ck_assert_int_eq(run_job(&jobs[_i]), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("coll_check");
	TCase *tests = tcase_create("jobs");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, differences, 0, WITH_MISTAKES);
	tcase_add_loop_test(tests, no_difference, WITH_MISTAKES, JOBS);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
