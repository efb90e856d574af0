/* SPDX-License-Identifier: MIT */
/*
 * Storms over the whole stack: the ranks of a job exchange messages through the
 * ADI, while frames are harmed, links are cut for a time, and nodes are slow or
 * do not read. Receivers stop senders early, and queues are short. Once all
 * messages are received, every stopped sender must have received GO.
 */
#include "adi/job.h"
#include "adi/peer.h"
#include "cluster.h"
#include "tests/unit/adi_traffic.h"
#include "tests/unit/need.h"

const unsigned storm_seeds = 100;
const unsigned storm_ncounts = CLUSTER_STALLED + 1;

enum {
	REQUESTS = 16,	 /* pending messages of a rank, in every other storm */
	MEETING = 2,	 /* context of the messages of meet() */
	FLOODING = 3,	 /* context of the messages of flood() */
	FLOOD = 40,	 /* messages in each direction, ... */
	LENGTH = 4000,	 /* ... of so many bytes */
	PATIENCE = 1000, /* ms that GO may take */
};

static struct sim_world *world; /* of the current job */
static uint64_t traffic;	/* seed */

static void begin(struct sim_job *job, unsigned ranks, uint64_t seed)
{
	(void)ranks;
	world = sim_job_world(job);
	traffic = seed;
	sim_world_set(world, "BCL_UNEXPECTED", "64k"); /* the minimum */
	if (seed % 2)
		sim_job_messages(job, REQUESTS);
}

static void pause_rank(struct bcl_adi *adi, uint64_t ns)
{
	(void)adi;
	sim_compute(world, ns);
}

/*
 * Send more than a receiver keeps, in both directions. A rank that begins to
 * receive has to send GO, while its own messages still fill the queue to the
 * same peer.
 */
static void flood(struct bcl_adi *adi)
{
	static const uint8_t bytes[LENGTH];
	static uint8_t in[LENGTH]; /* all ranks receive the same bytes */
	struct bcl_adi_request *sends[2 * FLOOD];
	const unsigned ranks = bcl_adi_size(adi), me = bcl_adi_rank(adi);
	const int sides[] = { (int)((me + 1) % ranks),
			      (int)((me + ranks - 1) % ranks) };
	unsigned i;

	/* each message has its own tag, else bcl-check confuses messages */
	for (i = 0; i < 2 * FLOOD; i++)
		need_equal(bcl_adi_isend(adi, bytes, LENGTH, sides[i % 2],
					 (int)i, FLOODING, &sends[i]),
			   BCL_OK);
	for (i = 0; i < 20; i++) {
		bcl_adi_progress(adi);
		pause_rank(adi, CLUSTER_MS / 20);
	}
	for (i = 0; i < 2 * FLOOD; i++)
		need_equal(bcl_adi_recv(adi, in, LENGTH, sides[!(i % 2)],
					(int)i, FLOODING, NULL),
			   BCL_OK);
	need_equal(bcl_adi_waitall(adi, sends, 2 * FLOOD, NULL), BCL_OK);
}

/* Wait until all ranks have come here. */
static void meet(struct bcl_adi *adi)
{
	struct bcl_adi_request *request[2 * CLUSTER_RANKS];
	const unsigned ranks = bcl_adi_size(adi);

	for (unsigned r = 0; r < ranks; r++) {
		need_equal(bcl_adi_irecv(adi, NULL, 0, (int)r, 0, MEETING,
					 &request[2 * r]),
			   BCL_OK);
		need_equal(bcl_adi_isend(adi, NULL, 0, (int)r, 0, MEETING,
					 &request[2 * r + 1]),
			   BCL_OK);
	}
	for (unsigned i = 0; i < 2 * ranks; i++)
		need_equal(bcl_adi_wait(adi, &request[i], NULL), BCL_OK);
}

static bool stopped(const struct bcl_adi *adi)
{
	const struct bcl_adi_peer *peer = adi->peers;

	while (peer && !peer->stopped)
		peer = peer->next;
	return peer;
}

static void play(struct sim_rank *rank)
{
	struct bcl_adi *adi;

	need_equal(sim_rank_join(rank, &adi), BCL_OK);
	flood(adi);
	traffic_play(adi, traffic, pause_rank);
	meet(adi);
	for (unsigned ms = 0; ms < PATIENCE && stopped(adi); ms++) {
		pause_rank(adi, CLUSTER_MS);
		bcl_adi_progress(adi);
	}
	need(!stopped(adi));
	meet(adi);
	sim_rank_leave(adi);
}

const struct cluster_play cluster_play = {
	.kinds = CLUSTER_SURVIVED,
	.timeout = CLUSTER_PATIENCE,
	.begin = begin,
	.rank = play,
};
