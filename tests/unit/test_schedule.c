/* SPDX-License-Identifier: MIT */
/*
 * A builder takes more than a schedule has. The operation must fail, and the
 * builder must not write beside the arrays. With assertions the builder must
 * stop at the fault.
 */
#include <signal.h>

#include "collectives/schedule.h"
#include "collectives/team.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

struct plan {
	void (*take)(struct bcl_schedule *schedule);
	unsigned times;
	enum bcl_status status;
	unsigned nscratch, nwindows, ngranted;
};

static unsigned char memory[64];

static void take_scratch(struct bcl_schedule *schedule)
{
	ck_assert_ptr_nonnull(bcl_step_scratch(schedule, 64));
}

static void take_window(struct bcl_schedule *schedule)
{
	bcl_step_window(schedule, memory, sizeof(memory));
}

static void take_granted(struct bcl_schedule *schedule)
{
	bcl_step_granted(schedule, 0);
}

static void build(struct bcl_adi *adi, void *arg)
{
	struct bcl_schedule *schedule;
	struct plan *plan = arg;
	struct bcl_team *world;
	unsigned i;

	plan->status = bcl_team_world(adi, &world);
	if (plan->status != BCL_OK)
		return;
	plan->status = bcl_schedule_get(world, &schedule);
	for (i = 0; i < plan->times; i++)
		plan->take(schedule);
	plan->status = schedule->status;
	plan->nscratch = schedule->nscratch;
	plan->nwindows = schedule->nwindows;
	plan->ngranted = schedule->ngranted;
	bcl_schedule_free(schedule);
	bcl_team_free(world);
}

static struct plan taking(void (*take)(struct bcl_schedule *schedule),
			  unsigned times)
{
	const struct mock_options options = { .size = 1 };
	struct mock_world *world = mock_open(&options);
	struct plan plan = { .take = take, .times = times };

	mock_run(world, build, &plan);
	mock_close(world);
	return plan;
}

static const struct {
	void (*take)(struct bcl_schedule *schedule);
	unsigned most;
} arrays[] = {
	{ take_scratch, BCL_SCHEDULE_SCRATCH },
	{ take_window, BCL_SCHEDULE_WINDOWS },
	{ take_granted, BCL_SCHEDULE_GRANTS },
};

START_TEST(all_that_there_is)
{
	struct plan plan = taking(arrays[_i].take, arrays[_i].most);

	ck_assert_int_eq(plan.status, BCL_OK);
	ck_assert_uint_eq(plan.nscratch + plan.nwindows + plan.ngranted,
			  arrays[_i].most);
}
END_TEST

START_TEST(one_more)
{
	struct plan plan = taking(arrays[_i].take, arrays[_i].most + 1);

	ck_assert_int_eq(plan.status, BCL_ERR_UNSUPPORTED);
	ck_assert_uint_eq(plan.nscratch + plan.nwindows + plan.ngranted,
			  arrays[_i].most);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("schedule");
	TCase *tests = tcase_create("builders");
	int n = sizeof(arrays) / sizeof(arrays[0]);

	tcase_add_loop_test(tests, all_that_there_is, 0, n);
#ifdef BCL_ASSERTIONS
	tcase_add_loop_test_raise_signal(tests, one_more, SIGABRT, 0, n);
#else
	tcase_add_loop_test(tests, one_more, 0, n);
#endif
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
