/* SPDX-License-Identifier: MIT */
/* The end of a job while frames are lost. */
#include "counter.h"
#include "sim_script.h"
#include "unit.h"

#include <stdio.h>

enum {
	NODES = 5,
	FRAMES = 40, /* more frames than a rank of the job sends */
};

static const uint64_t SECOND = 1000000000;

static uint64_t lost; /* nodes that the ranks have lost, in sum */

static void join_and_leave(struct sim_rank *rank)
{
	struct bcl_context *context;
	struct bcl_adi *adi;

	ck_assert_int_eq(sim_rank_join(rank, &adi), BCL_OK);
	context = bcl_adi_context(adi);
	bcl_adi_close(adi);
	lost += counter_of(context, "card.lost");
	bcl_close(context);
}

/* A rank that has closed may have ended. No rank may call the ended rank again,
 * and then count a lost node, whichever frame of the job is lost. */
START_TEST(ranks_that_are_gone_are_not_called)
{
	struct script script;
	char faults[64];
	unsigned from;

	for (from = 0; from < NODES; from++) {
		snprintf(faults, sizeof(faults), "drop from=%u nth=%d\n", from,
			 _i);
		script_open(&script, NODES, 1, faults, "30s");
		lost = 0;
		ck_assert_uint_eq(
			sim_job_run(script.job, join_and_leave, NULL, SECOND),
			0);
		script_close(&script);
		ck_assert_uint_eq(lost, 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("closing");
	TCase *tcase = tcase_create("jobs that end");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, ranks_that_are_gone_are_not_called, 1,
			    FRAMES);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
