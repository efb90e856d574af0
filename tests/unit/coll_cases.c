/* SPDX-License-Identifier: MIT */
#include "tests/unit/coll_cases.h"

#include <stdio.h>

#include "collectives/team.h"
#include "tests/tier.h"
#include "tests/unit/coll_case.h"

static void run_case(struct test *test, enum bcl_operation operation)
{
	if (case_moves[operation])
		case_moves[operation](test);
	else
		case_sums[operation](test);
}

static struct test test_of(struct bcl_team *team, const char *what)
{
	return (struct test){
		.team = team,
		.adi = team->adi,
		.rank = bcl_team_rank(team),
		.size = bcl_team_size(team),
		.what = what,
		/* neighbours run a persistent operation in different ways */
		.calls = bcl_team_rank(team),
		.runs = 2,
	};
}

static bool has_root(enum bcl_operation operation)
{
	return operation == BCL_OPERATION_BROADCAST ||
	       operation == BCL_OPERATION_REDUCE ||
	       operation == BCL_OPERATION_GATHER ||
	       operation == BCL_OPERATION_SCATTER ||
	       operation == BCL_OPERATION_GATHERV ||
	       operation == BCL_OPERATION_SCATTERV;
}

enum {
	LONG = 100000, /* bytes, which take most of the time */
};

/* The persistent form has one root. The short tier has one case of this form,
 * and of long vectors one root in place and another root not in place. */
static bool is_left_out(const struct test *test, enum bcl_operation operation,
			unsigned root)
{
	if (test->form == PERSISTENT)
		return root ||
		       (!tier_long() && test->in_place != test->length % 2);
	return !tier_long() && test->length > LONG && has_root(operation) &&
	       root != test->in_place;
}

static unsigned run(struct bcl_team *team, enum bcl_operation operation,
		    size_t length, const char *what)
{
	struct test test = test_of(team, what);
	unsigned roots[] = { 0, test.size / 2, test.size - 1 };
	unsigned i, variant;

	test.length = length;
	for (variant = 0; variant < 2 * FORMS; variant++) {
		test.in_place = variant & 1;
		test.form = (enum form)(variant / 2);
		for (i = 0; i < (has_root(operation) ? 3 : 1); i++) {
			if (is_left_out(&test, operation, i))
				continue;
			test.root = roots[i];
			run_case(&test, operation);
		}
		if (operation == BCL_OPERATION_ALLREDUCE && test.form == BLOCKS)
			case_same_everywhere(&test);
	}
	return test.failures;
}

unsigned cases_run(struct bcl_team *team, enum bcl_operation operation,
		   size_t length)
{
	return run(team, operation, length, bcl_operation_names[operation]);
}

unsigned cases_run_all(struct bcl_team *team, enum bcl_operation operation,
		       size_t length)
{
	const struct bcl_algorithm *algorithm = bcl_algorithms[operation];
	const struct bcl_choices choices = team->choices;
	unsigned failures = 0;
	char what[64];

	for (; algorithm->name; algorithm++) {
		if (bcl_team_force(team, operation, algorithm->name) != BCL_OK)
			continue;
		snprintf(what, sizeof(what), "%s by %s",
			 bcl_operation_names[operation], algorithm->name);
		failures += run(team, operation, length, what);
		team->choices = choices;
	}
	return failures;
}

unsigned cases_overlap(struct bcl_team *one, struct bcl_team *other)
{
	enum {
		ROUNDS = 8,
		COUNT = 500,
	};
	struct test test = test_of(one, "overlap");
	struct bcl_team *teams[2] = { one, other };
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT32);
	struct bcl_adi_request *requests[2][2 * ROUNDS + 1];
	uint32_t in[2][ROUNDS][COUNT], out[2][ROUNDS][COUNT];
	uint32_t words[2][ROUNDS];
	unsigned round, t, i;

	for (round = 0; round < ROUNDS; round++)
		for (t = 0; t < 2; t++) {
			struct bcl_team *team = teams[t];
			unsigned rank = bcl_team_rank(team);

			for (i = 0; i < COUNT; i++)
				in[t][round][i] = rank + i * round;
			words[t][round] = rank ? 0 : 1000 * t + round;
			case_expect_ok(&test,
				       bcl_iallreduce(team, in[t][round],
						      out[t][round], COUNT, sum,
						      &requests[t][2 * round]));
			case_expect_ok(
				&test,
				bcl_ibroadcast(team, &words[t][round], 4, 0,
					       &requests[t][2 * round + 1]));
		}
	for (t = 0; t < 2; t++)
		case_expect_ok(&test, bcl_ibarrier(teams[t],
						   &requests[t][2 * ROUNDS]));
	/*
	 * Blocking operations run while the nonblocking operations are pending.
	 * Then the test waits for the nonblocking operations, the last first.
	 */
	for (t = 0; t < 2; t++) {
		unsigned n = bcl_team_size(teams[t]);
		uint32_t one_each = 1, count = 0;

		case_expect_ok(&test, bcl_allreduce(teams[t], &one_each, &count,
						    1, sum));
		if (count != n)
			case_fail(&test, "wrong count", count);
	}
	for (t = 2; t-- > 0;)
		for (i = 2 * ROUNDS + 1; i-- > 0;)
			case_expect_ok(
				&test,
				bcl_adi_wait(test.adi, &requests[t][i], NULL));
	for (t = 0; t < 2; t++)
		for (round = 0; round < ROUNDS; round++) {
			unsigned n = bcl_team_size(teams[t]);

			if (words[t][round] != 1000 * t + round)
				case_fail(&test, "wrong word", round);
			for (i = 0; i < COUNT; i++)
				if (out[t][round][i] !=
				    n * (n - 1) / 2 + n * i * round)
					case_fail(&test, "wrong sum", i);
		}
	return test.failures;
}

unsigned cases_mixed(struct bcl_team *team, unsigned seed, unsigned n)
{
	static const size_t lengths[] = { 0, 1, 8, 16, 40, 700, 17000, 100000 };
	struct test test = test_of(team, "mixed");
	uint64_t random = seed, own = seed + 1 + test.rank;

	/* as often as members that call another form */
	test.runs = 1;
	while (n--) {
		enum bcl_operation operation;

		random = random * 6364136223846793005u + 1442695040888963407u;
		own = own * 6364136223846793005u + 1442695040888963407u;
		operation = (enum bcl_operation)(random >> 33) % BCL_OPERATIONS;
		test.what = bcl_operation_names[operation];
		test.length = lengths[(random >> 40) % 8];
		test.root = (unsigned)(random >> 45) % test.size;
		test.in_place = random >> 60 & 1;
		/*
		 * Each member draws alone: members that call different forms
		 * of an operation must work together.
		 */
		test.form = (enum form)((own >> 60) % FORMS);
		run_case(&test, operation);
	}
	return test.failures;
}
