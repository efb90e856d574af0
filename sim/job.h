/* SPDX-License-Identifier: MIT */
/*
 * A job on a simulated cluster: the ranks of the nodes run ordinary code on
 * contexts, the ADI and collectives, in virtual time.
 *
 * Ranks are dealt out to nodes in blocks. A rank opens a context with
 * sim_rank_open() and joins the job with rank->boot. All ranks see the values
 * that any rank has put. Ranks of a node share memory.
 */
#ifndef SIM_JOB_H
#define SIM_JOB_H

#include <bcl/adi.h>

#include "nicfw/hal.h"
#include "sim/fault.h"
#include "sim/world.h"
#include "transport/boot/boot.h"

struct sim_job;

struct sim_rank {
	struct sim_job *job;
	const struct bcl_env *env;
	struct bcl_boot boot;
	void *arg;
	struct sim_boot_value *values; /* put by this rank */
	int object;		       /* woken at the end of a fence */
	unsigned life;		       /* number of crashes of the node so
					* far */
	bool living, fencing;
};

/* The cluster must stay valid until the job is closed. */
struct sim_job *sim_job_open(const struct sim_cluster *cluster, uint64_t seed);
/* Call before the job runs: each rank talks to at most `peers` ranks, not to
 * all. Saves 0.1 KB of memory for each rank fewer. */
void sim_job_peers(struct sim_job *job, uint32_t peers);
/*
 * Call before the job runs: at most `messages` messages of a rank are pending,
 * a power of two. The default is small. A message counts until it is
 * acknowledged.
 */
void sim_job_messages(struct sim_job *job, uint32_t messages);
void sim_job_close(struct sim_job *job);

/* Memory that cards of departed ranks have used: for each figure the maximum
 * over the nodes. */
void sim_job_peaks(const struct sim_job *job, struct bcl_card_peaks *most);

/* True if everything until now could be written to the trace. */
bool sim_job_traced(const struct sim_job *job);

struct sim_world *sim_job_world(struct sim_job *job);
struct sim_fabric *sim_job_fabric(struct sim_job *job);

/*
 * Runs all ranks; call it once per job. Returns the number of ranks that had
 * not returned after `limit` ns of virtual time, or when all ranks waited
 * forever.
 */
unsigned sim_job_run(struct sim_job *job, void (*run)(struct sim_rank *rank),
		     void *arg, uint64_t limit);

/* Call when all ranks have returned, some without leaving the job: stops their
 * cards at once, and frames in flight are lost. */
void sim_job_stop(struct sim_job *job);

/*
 * Applies a fault to a node, for sim_inject(); `arg` is the job. On a crash the
 * ranks of the node vanish without a goodbye. The values that they have put
 * remain, and fences do not wait for them. When the node comes back, the ranks
 * start anew: the same card, in a new incarnation. Restarted ranks count in
 * fences again. They cannot join a job that has begun: they would wait in a
 * fence that all ranks have passed already.
 */
void sim_job_befalls(void *arg, const struct sim_fault *fault, bool begins);

/* Called by a rank: opens a context on the rank's host. */
enum bcl_status sim_rank_open(struct sim_rank *rank,
			      struct bcl_context **context);
/* Called by a rank: opens a context and joins the job; leaves the job and
 * closes the context. */
enum bcl_status sim_rank_join(struct sim_rank *rank, struct bcl_adi **adi);
void sim_rank_leave(struct bcl_adi *adi);

#endif
