/* SPDX-License-Identifier: MIT */
/*
 * Storms over collectives: the ranks of a job run random operations with random
 * algorithms and check the results. Meanwhile frames are harmed, links are cut
 * for a time, and nodes are slow or do nothing.
 */
#include "cluster.h"
#include "collectives/team.h"
#include "sim/random.h"
#include "tests/unit/coll_cases.h"
#include "tests/unit/need.h"

enum {
	OPERATIONS = 24,
};

const unsigned storm_seeds = 100;
const unsigned storm_ncounts = CLUSTER_STALLED + 1;

static uint64_t drawn; /* the seed of the current job */

static void begin(struct sim_job *job, unsigned ranks, uint64_t seed)
{
	(void)job;
	(void)ranks;
	drawn = seed;
}

/* Force a random algorithm for half of the operations, on average. Where the
 * job cannot use the algorithm, the library chooses. All ranks draw the same
 * algorithms. */
static void force(struct bcl_team *team)
{
	const struct bcl_algorithm *algorithm;
	uint64_t random = drawn;
	unsigned operation, n;

	for (operation = 0; operation < BCL_OPERATIONS; operation++) {
		if (sim_random(&random) % 2)
			continue;
		for (n = 0; bcl_algorithms[operation][n].name; n++)
			;
		algorithm = &bcl_algorithms[operation][sim_random(&random) % n];
		bcl_team_force(team, operation, algorithm->name);
	}
}

static void play(struct sim_rank *rank)
{
	struct bcl_team *team;
	struct bcl_adi *adi;

	need_equal(sim_rank_join(rank, &adi), BCL_OK);
	need_equal(bcl_team_world(adi, &team), BCL_OK);
	force(team);
	need_equal(cases_mixed(team, (unsigned)drawn, OPERATIONS), 0);
	bcl_team_free(team);
	sim_rank_leave(adi);
}

const struct cluster_play cluster_play = {
	.kinds = CLUSTER_SURVIVED,
	.timeout = CLUSTER_PATIENCE,
	.begin = begin,
	.rank = play,
};
