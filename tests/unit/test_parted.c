/* SPDX-License-Identifier: MIT */
/*
 * Ranks lose each other though both live, as when a network breaks between two
 * nodes, while each still reaches the rest. All calls return. All ranks that go
 * on agree, and have the same team.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "adi/internal.h"
#include "collectives/team.h"
#include "sim/random.h"
#include "tests/tier.h"
#include "tests/unit/agreements.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

enum {
	RANKS_MAX = 8,
};

struct end {
	bool dead;
	enum bcl_status agreed, shrunk;
	uint64_t flags, name;
	unsigned size;
};

/* The rank begins when rank `from` has sent this number of messages. */
struct cue {
	unsigned from, to, messages;
};

struct job {
	unsigned size;
	uint64_t parted[RANKS_MAX];  /* sets of ranks; both ranks of a pair */
	unsigned dies_at[RANKS_MAX]; /* messages of the rank; 0: never */
	const struct cue *cues;	     /* by rank; NULL: none */
	pthread_barrier_t ready;
	struct end end[RANKS_MAX];
};

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

static void part(struct bcl_adi *adi, uint64_t others)
{
	unsigned other;

	for (other = 0; other < bcl_adi_size(adi); other++)
		if (others >> other & 1)
			mock_part(adi, other);
}

static void await(struct bcl_adi *adi, const struct cue *cue, unsigned sent)
{
	while (mock_sent(adi, cue->from, cue->to) < sent + cue->messages)
		sched_yield();
}

static void survive(struct bcl_adi *adi, void *arg)
{
	struct job *job = arg;
	unsigned rank = bcl_adi_rank(adi), sent = 0;
	const struct cue *cue = job->cues ? &job->cues[rank] : NULL;
	struct bcl_team *world;

	if (bcl_team_world(adi, &world) != BCL_OK)
		return;
	pthread_barrier_wait(&job->ready);
	part(adi, job->parted[rank]);
	if (cue)
		sent = mock_sent(adi, cue->from, cue->to);
	pthread_barrier_wait(&job->ready);
	if (cue)
		await(adi, cue, sent);
	mock_die_at(adi, job->dies_at[rank]);
	shrink(world, &job->end[rank], rank);
	job->end[rank].dead = mock_is_dead(adi);
	bcl_team_cancel(world);
	bcl_team_free(world);
	finish_agreements(adi);
}

/* A rank that nobody has lost goes on. */
static void check(const struct job *job)
{
	const struct end *last = &job->end[job->size - 1];
	unsigned rank, n = 0, dead = 0;

	for (rank = 0; rank < job->size; rank++) {
		const struct end *end = &job->end[rank];

		dead += end->dead;
		if (end->dead)
			continue;
		if (end->agreed == BCL_OK) {
			ck_assert_uint_eq(end->flags, last->flags);
			ck_assert_uint_eq(end->flags >> rank & 1, 0);
		}
		if (end->shrunk == BCL_OK) {
			ck_assert_int_eq(end->agreed, BCL_OK);
			ck_assert_uint_eq(end->name, last->name);
			ck_assert_uint_eq(end->size, last->size);
			n++;
		} else {
			ck_assert_int_eq(end->shrunk, BCL_ERR_DEAD);
			ck_assert_uint_ne(job->parted[rank], 0);
		}
	}
	ck_assert_uint_ge(last->size, n);
	ck_assert_uint_le(last->size, n + dead);
}

static void run(struct job *job, bool synchronous)
{
	struct mock_options options = {
		.size = job->size,
		.synchronous = synchronous,
	};
	struct mock_world *world = mock_open(&options);

	pthread_barrier_init(&job->ready, NULL, job->size);
	mock_run(world, survive, job);
	pthread_barrier_destroy(&job->ready);
	check(job);
	mock_close(world);
}

/*
 * Ranks 0 and 1 have lost each other. Rank 3 hears rank 1 first, and from then
 * on ignores rank 0; rank 2 hears rank 0 first. So rank 2 follows rank 0, rank
 * 3 follows rank 1, and each of the leaders waits for the follower of the
 * other.
 */
START_TEST(sides)
{
	static const struct cue cues[] = {
		{ 3, 1, 1 },
		{ 1, 1, 0 }, /* the first */
		{ 0, 2, 1 },
		{ 1, 3, 1 },
	};
	struct job job = {
		.size = 4,
		.parted = { 2, 1 },
		.cues = cues,
	};

	run(&job, false);
}
END_TEST

/* One to three pairs, and a death in half of the runs. The last rank lives, and
 * is in no pair. */
START_TEST(any_pairs)
{
	static const unsigned sizes[] = { 3, 4, 5, 8 };
	unsigned seeds = tier_long() ? 2000 : 100, seed, i;

	for (seed = 1; seed <= seeds; seed++) {
		struct job job = { .size = sizes[_i] };
		uint64_t random = seed;
		unsigned n = job.size - 1;

		for (i = seed % 3 + 1; i; i--) {
			unsigned a = (unsigned)(sim_random(&random) % n);
			unsigned b = (unsigned)(sim_random(&random) % n);

			job.parted[a] |= (uint64_t)(a != b) << b;
			job.parted[b] |= (uint64_t)(a != b) << a;
		}
		if (seed % 4 < 2)
			job.dies_at[sim_random(&random) % n] =
				(unsigned)(sim_random(&random) % 16);
		fprintf(stderr, "%u ranks, seed %u\n", job.size, seed);
		run(&job, seed % 2);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parted");
	TCase *tests = tcase_create("pairs");

	tcase_set_timeout(tests, tier_long() ? 1000 : 100);
	tcase_add_test(tests, sides);
	tcase_add_loop_test(tests, any_pairs, 0, 4);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
