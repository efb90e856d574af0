/* SPDX-License-Identifier: MIT */
/*
 * Ranks of a simulated cluster agree, and make a team, while nodes crash at any
 * frame that they send: the frames in flight to and from them are lost, too.
 */
#include "sim_script.h"
#include "unit.h"

#include <string.h>

#include "collectives/team.h"
#include "tests/tier.h"

enum {
	RANKS_MAX = 17,
	TOO_EARLY = 100,
};

static const uint64_t LIMIT = 60000000000; /* ns */

/* The end of a rank. */
static struct end {
	bool has_world, over;
	enum bcl_status agreed, shrunk;
	uint64_t flags, name;
	unsigned size;
} ends[RANKS_MAX];

static unsigned all_have_world, ranks;

/* Returns true if all ranks have the world. False: a node crashed before. */
static bool await_world(struct sim_rank *rank, bool has_it)
{
	ends[rank->boot.rank].has_world = has_it;
	all_have_world += has_it;
	/* without a message, so that nobody learns of a crash */
	sim_compute(sim_job_world(rank->job), 50000000);
	return all_have_world == ranks;
}

static void shrink(struct bcl_team *world, struct end *end, unsigned rank)
{
	struct bcl_team *team;

	end->flags = ~(UINT64_C(1) << rank);
	end->agreed = bcl_team_agree(world, &end->flags);
	end->shrunk = bcl_team_shrink(world, &team);
	if (end->shrunk != BCL_OK)
		return;
	end->name = team->name;
	end->size = team->size;
	bcl_team_cancel(team);
	bcl_team_free(team);
}

static void survive(struct sim_rank *rank)
{
	struct end *end = &ends[rank->boot.rank];
	enum bcl_status status;
	struct bcl_team *world;
	struct bcl_adi *adi;

	if (sim_rank_join(rank, &adi) != BCL_OK) {
		await_world(rank, false);
		return;
	}
	status = bcl_team_world(adi, &world);
	if (await_world(rank, status == BCL_OK))
		shrink(world, end, rank->boot.rank);
	if (status == BCL_OK) {
		bcl_team_cancel(world);
		bcl_team_free(world);
	}
	end->over = true;
	sim_rank_leave(adi);
}

/* A member that crashed may have been over before. */
static void check(uint64_t crashed)
{
	const struct end *first = NULL;
	unsigned rank, living = 0;

	for (rank = 0; rank < ranks; rank++) {
		const struct end *end = &ends[rank];

		if (crashed >> rank & 1)
			continue;
		living++;
		first = first ? first : end;
		ck_assert_int_eq(end->agreed, BCL_OK);
		ck_assert_uint_eq(end->flags, first->flags);
		ck_assert_uint_eq(end->flags >> rank & 1, 0);
		ck_assert_int_eq(end->shrunk, BCL_OK);
		ck_assert_uint_eq(end->name, first->name);
		ck_assert_uint_eq(end->size, first->size);
	}
	ck_assert_uint_ge(first->size, living);
}

/* Returns the number of nodes that crashed, or TOO_EARLY: one before all ranks
 * had the world. */
static unsigned run(unsigned nodes, const char *faults, uint64_t victims)
{
	struct script script;
	unsigned crashes, left;

	memset(ends, 0, sizeof(ends));
	all_have_world = 0;
	ranks = nodes;
	script_open(&script, nodes, 1, faults, "100ms");
	left = sim_job_run(script.job, survive, NULL, LIMIT);
	ck_assert_msg(!left, "%u ranks do not end: %s", left, faults);
	crashes =
		(unsigned)sim_injector_count(script.injector, SIM_FAULT_CRASH);
	if (all_have_world == nodes)
		check(victims);
	else
		crashes = TOO_EARLY;
	script_close(&script);
	return crashes;
}

START_TEST(all_live)
{
	ck_assert_uint_eq(run((unsigned)_i, "", 0), 0);
	ck_assert_uint_eq(ends[0].size, (unsigned)_i);
	ck_assert_uint_eq(ends[0].flags, ~((UINT64_C(1) << _i) - 1));
}
END_TEST

/* step: frames between two crashes; in the long tier and in the short tier. */
struct shape {
	unsigned nodes, steps[2];
};

static const struct shape shapes[] = {
	{ 2, { 1, 3 } },
	{ 3, { 1, 5 } },
	{ 5, { 1, 11 } },
	{ 17, { 5, 47 } },
};

static unsigned step_of(const struct shape *shape)
{
	return shape->steps[!tier_long()];
}

/* One node crashes, at each of its frames. */
START_TEST(one_crashes)
{
	const struct shape *shape = &shapes[_i];
	unsigned victim, sent, crashes, tried = 0;
	char faults[64];

	for (victim = 0; victim < shape->nodes && victim < 3; victim++)
		for (sent = 1;; sent += step_of(shape)) {
			snprintf(faults, sizeof(faults),
				 "crash node=%u sent=%u", victim, sent);
			crashes = run(shape->nodes, faults,
				      UINT64_C(1) << victim);
			tried += crashes == 1;
			if (!crashes)
				break;
		}
	ck_assert_uint_gt(tried, shape->nodes);
}
END_TEST

/* The first frame of a node after the creation of the world. */
static unsigned first_frame(unsigned nodes, unsigned node)
{
	unsigned sent = 0, crashes;
	char faults[64];

	do {
		snprintf(faults, sizeof(faults), "crash node=%u sent=%u", node,
			 ++sent);
		crashes = run(nodes, faults, UINT64_C(1) << node);
	} while (crashes == TOO_EARLY);
	ck_assert_uint_eq(crashes, 1);
	return sent;
}

/* The first two coordinators crash. */
START_TEST(coordinators_crash)
{
	static const struct shape some = { 4, { 3, 17 } };
	unsigned first = first_frame(some.nodes, 0);
	unsigned begin = first_frame(some.nodes, 1);
	unsigned second, crashes, before, tried = 0;
	char faults[96];

	do {
		before = tried;
		for (second = begin, crashes = 2; crashes == 2;
		     second += step_of(&some)) {
			snprintf(faults, sizeof(faults),
				 "crash node=0 sent=%u\ncrash node=1 sent=%u\n",
				 first, second);
			crashes = run(some.nodes, faults, 3);
			tried += crashes == 2;
		}
		first += step_of(&some);
	} while (tried > before);
	ck_assert_uint_gt(tried, 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_survivors");
	TCase *tests = tcase_create("crashes");

	tcase_set_timeout(tests, tier_long() ? 1000 : 100);
	tcase_add_loop_test(tests, all_live, 1, 6);
	tcase_add_loop_test(tests, all_live, RANKS_MAX, RANKS_MAX + 1);
	tcase_add_loop_test(tests, one_crashes, 0, 4);
	tcase_add_test(tests, coordinators_crash);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
