/* SPDX-License-Identifier: MIT */
/*
 * Ranks of a simulated cluster agree, and make a team, while nodes crash at any
 * frame that they send: the frames in flight to and from them are lost, too. A
 * run without the crash tells which frames the node sends meanwhile, since both
 * runs are equal up to the crash.
 */
#include "sim_script.h"
#include "unit.h"

#include <string.h>

#include "collectives/team.h"
#include "tests/tier.h"

enum {
	RANKS_MAX = 17,
};

static const uint64_t LIMIT = 60000000000; /* ns */

/* What a rank has done. */
enum phase {
	NOTHING,
	JOINED, /* all ranks have the world */
	AGREED,
	SHRUNK,
	PHASES
};

/* The end of a rank. */
static struct end {
	enum phase phase;
	uint64_t sent[PHASES]; /* frames of the node when the phase began */
	enum bcl_status agreed, shrunk;
	uint64_t flags, name;
	unsigned size;
} ends[RANKS_MAX];

static struct script script;

static void pass(unsigned rank, enum phase phase)
{
	ends[rank].phase = phase;
	ends[rank].sent[phase] = sim_injector_sent(script.injector, rank);
}

static void shrink(struct bcl_team *world, unsigned rank)
{
	struct end *end = &ends[rank];
	struct bcl_team *team;

	pass(rank, JOINED);
	end->flags = ~(UINT64_C(1) << rank);
	end->agreed = bcl_team_agree(world, &end->flags);
	pass(rank, AGREED);
	end->shrunk = bcl_team_shrink(world, &team);
	pass(rank, SHRUNK);
	if (end->shrunk != BCL_OK)
		return;
	end->name = team->name;
	end->size = team->size;
	bcl_team_cancel(team);
	bcl_team_free(team);
}

static void survive(struct sim_rank *rank)
{
	struct bcl_team *world;
	struct bcl_adi *adi;

	ck_assert_int_eq(sim_rank_join(rank, &adi), BCL_OK);
	ck_assert_int_eq(bcl_team_world(adi, &world), BCL_OK);
	/* until all have the world, without a message */
	sim_compute(sim_job_world(rank->job), 50000000);
	shrink(world, rank->boot.rank);
	bcl_team_cancel(world);
	bcl_team_free(world);
	sim_rank_leave(adi);
}

/* All that a rank has got is that of a rank that lives, also if the rank
 * crashed later. */
static void check_like(unsigned rank, const struct end *living)
{
	const struct end *end = &ends[rank];

	if (end->phase >= AGREED) {
		ck_assert_int_eq(end->agreed, BCL_OK);
		ck_assert_uint_eq(end->flags, living->flags);
		ck_assert_uint_eq(end->flags >> rank & 1, 0);
	}
	if (end->phase == SHRUNK) {
		ck_assert_int_eq(end->shrunk, BCL_OK);
		ck_assert_uint_eq(end->name, living->name);
		ck_assert_uint_eq(end->size, living->size);
	}
}

/* crashed: the victims; otherwise the victims may go on by themselves. */
static void check(unsigned ranks, uint64_t victims, bool crashed)
{
	const struct end *first = NULL;
	unsigned rank, living = 0;

	for (rank = ranks; rank-- > 0;)
		if (!(victims >> rank & 1)) {
			ck_assert_int_eq(ends[rank].phase, SHRUNK);
			living++;
			first = &ends[rank];
		}
	for (rank = 0; rank < ranks; rank++)
		if (crashed || !(victims >> rank & 1))
			check_like(rank, first);
	ck_assert_uint_ge(first->size, living);
}

/* Returns the number of nodes that crashed. */
static unsigned run(unsigned nodes, const char *faults, uint64_t victims)
{
	unsigned crashes, left;

	memset(ends, 0, sizeof(ends));
	script_open(&script, nodes, 1, faults, "100ms");
	left = sim_job_run(script.job, survive, NULL, LIMIT);
	ck_assert_msg(!left, "%u ranks do not end: %s", left, faults);
	crashes =
		(unsigned)sim_injector_count(script.injector, SIM_FAULT_CRASH);
	check(nodes, victims, crashes > 0);
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

struct shape {
	unsigned nodes;
	unsigned crashes[2]; /* in each phase: in the short, in the long tier */
};

/* The frames at which a node crashes: of a phase, with equal distances. */
struct frames {
	uint64_t first, last, step;
};

/* Of a run without crashes of the node. */
static struct frames frames_of(const struct end *end, enum phase phase,
			       const struct shape *shape)
{
	struct frames frames = {
		.first = end->sent[phase] + 1,
		.last = end->sent[phase + 1],
	};
	unsigned crashes = shape->crashes[tier_long()];

	ck_assert_uint_le(frames.first, frames.last);
	frames.step = (frames.last - frames.first) / crashes + 1;
	return frames;
}

static void crash_one(const struct shape *shape, unsigned victim,
		      enum phase phase)
{
	struct frames frames;
	char faults[64];
	uint64_t sent;

	run(shape->nodes, "", 0);
	frames = frames_of(&ends[victim], phase, shape);
	for (sent = frames.first; sent <= frames.last; sent += frames.step) {
		snprintf(faults, sizeof(faults), "crash node=%u sent=%u\n",
			 victim, (unsigned)sent);
		ck_assert_uint_eq(
			run(shape->nodes, faults, UINT64_C(1) << victim), 1);
		ck_assert_int_eq(ends[victim].phase, phase);
	}
}

static const struct shape shapes[] = {
	{ 2, { 5, 1000 } },
	{ 3, { 5, 1000 } },
	{ 5, { 5, 1000 } },
	{ 17, { 3, 25 } },
};

/* One node crashes, in both phases. */
START_TEST(one_crashes)
{
	const struct shape *shape = &shapes[_i];
	unsigned victim;

	for (victim = 0; victim < shape->nodes && victim < 3; victim++) {
		crash_one(shape, victim, JOINED);
		crash_one(shape, victim, AGREED);
	}
}
END_TEST

/* Node 0 has crashed at this frame, and node 1 crashes in the phase. Returns
 * how often both nodes crashed. */
static unsigned crash_second(const struct shape *shape, uint64_t first,
			     enum phase phase)
{
	struct frames frames;
	unsigned both = 0;
	char faults[96];
	uint64_t sent;

	snprintf(faults, sizeof(faults), "crash node=0 sent=%u\n",
		 (unsigned)first);
	ck_assert_uint_eq(run(shape->nodes, faults, 1), 1);
	frames = frames_of(&ends[1], phase, shape);
	for (sent = frames.first; sent <= frames.last; sent += frames.step) {
		snprintf(faults, sizeof(faults),
			 "crash node=0 sent=%u\ncrash node=1 sent=%u\n",
			 (unsigned)first, (unsigned)sent);
		both += run(shape->nodes, faults, 3) == 2;
	}
	return both;
}

/* The first two coordinators crash. */
START_TEST(coordinators_crash)
{
	static const struct shape some = { 4, { 4, 20 } };
	enum phase phase = _i;
	struct frames frames;
	uint64_t first;

	run(some.nodes, "", 0);
	frames = frames_of(&ends[0], phase, &some);
	for (first = frames.first; first <= frames.last; first += frames.step)
		ck_assert_uint_gt(crash_second(&some, first, phase), 0);
}
END_TEST

/*
 * One direction of the cable of a node breaks, and nobody is told: the other
 * nodes go on without the node, which goes on alone or learns that it is given
 * up.
 */
START_TEST(cable_breaks)
{
	unsigned nodes = 2 + (unsigned)_i / 4, victim = (unsigned)_i % 4 / 2;
	unsigned link = (unsigned)_i % 4;
	char faults[64];

	snprintf(faults, sizeof(faults), "cut link=%u at=20ms\n", link);
	run(nodes, faults, UINT64_C(1) << victim);
	ck_assert_uint_eq(ends[!victim].size, nodes - 1);
	ck_assert(ends[victim].shrunk == BCL_ERR_DEAD ||
		  (ends[victim].shrunk == BCL_OK && ends[victim].size == 1));
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
	tcase_add_loop_test(tests, coordinators_crash, JOINED, SHRUNK);
	tcase_add_loop_test(tests, cable_breaks, 0, 4 * 4);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
