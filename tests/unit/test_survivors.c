/* SPDX-License-Identifier: MIT */
/*
 * Processes agree, and make a team, while some are killed at a moment that the
 * seed draws, or else when the others begin to make the team. The ranks are
 * processes of one host, or of virtual nodes.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "collectives/team.h"
#include "sim/random.h"
#include "tests/tier.h"
#include "tests/unit/unit.h"
#include "transport/boot/fork.h"

enum {
	RANKS_MAX = 17,
	ROUNDS = 64,	/* agreements before the team of survivors */
	MOMENTS = 4000, /* us after the beginning, when victims die */
};

struct end {
	bool over;
	enum bcl_status agreed[ROUNDS], shrunk;
	uint64_t flags[ROUNDS], name;
	unsigned size;
	uint32_t sum;
};

struct job {
	const char *nodes; /* a letter per rank */
	uint64_t victims;  /* a bit per rank */
	unsigned moment[RANKS_MAX];
	struct end *end; /* shared by all ranks */
};

/* SIGALRM ends the process. */
static void die_after(unsigned us)
{
	const struct itimerval timer = {
		.it_value = { .tv_sec = us / 1000000, .tv_usec = us % 1000000 },
	};

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void survive(struct bcl_team *world, struct end *end, bool victim)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT32);
	uint32_t one = 1;
	struct bcl_team *team;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		end->flags[i] = ~(UINT64_C(1) << world->rank);
		end->agreed[i] = bcl_team_agree(world, &end->flags[i]);
	}
	if (victim)
		pause();
	end->shrunk = bcl_team_shrink(world, &team);
	if (end->shrunk != BCL_OK)
		return;
	end->name = team->name;
	end->size = team->size;
	bcl_allreduce(team, &one, &end->sum, 1, sum);
	bcl_team_free(team);
}

static int rank_of(unsigned rank, void *argument)
{
	const struct job *job = argument;
	char node[] = { job->nodes[rank], 0 };
	bool victim = job->victims >> rank & 1;
	struct end *end = &job->end[rank];
	struct bcl_team *world;
	struct bcl_adi *adi;

	setenv("BCL_NODE", node, 1);
	setenv("BCL_NET", "lo", 1);
	setenv("BCL_RAILS", "udp", 1);
	setenv("BCL_PEER_TIMEOUT", "5s", 1);
	signal(SIGALRM, SIG_DFL); /* not the handler of the test's parent */
	alarm(60);
	if (bcl_adi_open(NULL, &adi) || bcl_team_world(adi, &world) ||
	    bcl_barrier(world))
		return 100;
	if (victim)
		die_after(1 + job->moment[rank]);
	survive(world, end, victim);
	bcl_team_cancel(world);
	bcl_team_free(world);
	end->over = true;
	bcl_adi_close(adi);
	return 0;
}

static void check(const struct job *job, unsigned size)
{
	const struct end *first = NULL;
	unsigned rank, living = 0, i;

	for (rank = 0; rank < size; rank++)
		living += job->end[rank].over;
	for (rank = 0; rank < size; rank++) {
		const struct end *end = &job->end[rank];

		if (!end->over)
			continue;
		first = first ? first : end;
		for (i = 0; i < ROUNDS; i++) {
			ck_assert_int_eq(end->agreed[i], BCL_OK);
			ck_assert_uint_eq(end->flags[i], first->flags[i]);
			ck_assert_uint_eq(end->flags[i] >> rank & 1, 0);
		}
		ck_assert_int_eq(end->shrunk, BCL_OK);
		ck_assert_uint_eq(end->name, first->name);
		ck_assert_uint_eq(end->size, first->size);
		if (end->size == living)
			ck_assert_uint_eq(end->sum, living);
	}
	ck_assert_uint_ge(first->size, living);
}

/* Returns the number of ranks that were killed. */
static unsigned run(const char *nodes, uint64_t seed)
{
	unsigned size = (unsigned)strlen(nodes), dead = 0, rank;
	uint64_t random = seed;
	struct job job = {
		.nodes = nodes,
		.end = mmap(NULL, RANKS_MAX * sizeof(*job.end),
			    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0),
	};
	int failed;

	ck_assert(job.end != MAP_FAILED);
	/* the lower half at most, with the coordinators */
	for (rank = 0; rank < size / 2 + 1 && rank < size - 1; rank++) {
		if (sim_random(&random) % 2)
			job.victims |= UINT64_C(1) << rank;
		job.moment[rank] = (unsigned)(sim_random(&random) % MOMENTS);
	}
	failed = bcl_boot_job_run(size, rank_of, &job);
	for (rank = 0; rank < size; rank++) {
		ck_assert(job.end[rank].over != (job.victims >> rank & 1));
		dead += !job.end[rank].over;
	}
	ck_assert_int_eq(failed, (int)dead);
	check(&job, size);
	munmap(job.end, RANKS_MAX * sizeof(*job.end));
	return dead;
}

static const char *const shapes[] = {
	"aa", "ab", "aaaa", "aabb", "abcde", "aaaabbbbccccdddde",
};

START_TEST(some_are_killed)
{
	const char *nodes = shapes[_i];
	unsigned n = strlen(nodes) > 5 ? 1 : 5, dead = 0;
	uint64_t seed;

	for (seed = 1; seed <= (tier_long() ? 20 * n : n); seed++) {
		fprintf(stderr, "%s, seed %u\n", nodes, (unsigned)seed);
		dead += run(nodes, seed);
	}
	ck_assert_uint_gt(dead, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("survivors");
	TCase *tests = tcase_create("kills");

	tcase_set_timeout(tests, tier_long() ? 1000 : 100);
	tcase_add_loop_test(tests, some_are_killed, 0,
			    sizeof(shapes) / sizeof(shapes[0]));
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
