/* SPDX-License-Identifier: MIT */
/*
 * Storms over the whole stack: the ranks of a job exchange messages through the
 * ADI, while frames are harmed, links are cut for a time, and nodes are slow or
 * do not read.
 */
#include "cluster.h"
#include "tests/unit/adi_traffic.h"
#include "tests/unit/need.h"

const unsigned storm_seeds = 100;
const unsigned storm_ncounts = CLUSTER_STALLED + 1;

static struct sim_world *world; /* of the job that runs */
static uint64_t traffic;

static void begin(struct sim_job *job, unsigned ranks, uint64_t seed)
{
	(void)ranks;
	world = sim_job_world(job);
	traffic = seed;
}

static void pause_rank(struct bcl_adi *adi, uint64_t ns)
{
	(void)adi;
	sim_compute(world, ns);
}

static void play(struct sim_rank *rank)
{
	struct bcl_adi *adi;

	need_equal(sim_rank_join(rank, &adi), BCL_OK);
	traffic_play(adi, traffic, pause_rank);
	sim_rank_leave(adi);
}

const struct cluster_play cluster_play = {
	.kinds = CLUSTER_SURVIVED,
	.timeout = CLUSTER_PATIENCE,
	.begin = begin,
	.rank = play,
};
