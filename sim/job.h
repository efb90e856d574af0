/* SPDX-License-Identifier: MIT */
/*
 * A job on a simulated cluster: the ranks of its nodes, each of which runs
 * ordinary code on contexts, the ADI and collectives, in virtual time.
 *
 * Ranks are dealt out to nodes in blocks. A rank opens one context, with
 * rank->context, and joins the job with rank->boot: what the ranks put is
 * in a table that all of them see. Ranks of one node share memory.
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
	struct bcl_context_options context;
	struct bcl_boot boot;
	void *arg;
	struct sim_boot_value *values; /* that it has put */
	int object;		       /* woken at the end of a fence */
	unsigned life;		       /* crashes of its node before it */
	bool living, fencing;
};

/* The cluster must stay until the job is closed. */
struct sim_job *sim_job_open(const struct sim_cluster *cluster, uint64_t seed);
/* Before it runs: each rank talks to so many others at most, not to all. That
 * saves 0.1 KB for each of the rest. */
void sim_job_peers(struct sim_job *job, uint32_t peers);
/* The same: a rank has so many messages under way at most, a power of two; few,
 * unless it is said. Not only what travels counts, but what was not
 * acknowledged yet. */
void sim_job_messages(struct sim_job *job, uint32_t messages);
void sim_job_close(struct sim_job *job);

/* What cards had use for whose ranks have left: of each the most on any node.
 */
void sim_job_peaks(const struct sim_job *job, struct bcl_card_peaks *most);

/* Until now all that was to be in the trace is. */
bool sim_job_traced(const struct sim_job *job);

struct sim_world *sim_job_world(struct sim_job *job);
struct sim_fabric *sim_job_fabric(struct sim_job *job);

/*
 * Have all ranks run; once in the life of a job. The number of those that had
 * not returned after `limit` ns of virtual time, or when all waited for ever.
 */
unsigned sim_job_run(struct sim_job *job, void (*run)(struct sim_rank *rank),
		     void *arg, uint64_t limit);

/* All ranks have returned, some without leaving: their cards stop at once, with
 * all that is on its way. */
void sim_job_stop(struct sim_job *job);

/*
 * What befalls a node, for sim_inject(); arg: the job. The ranks of a node that
 * crashes are gone without a word, but for what they have put, and fences do
 * not wait for them. When it comes back they begin anew, each in its next life:
 * the same card, in another incarnation. Nobody waits for them in a fence, but
 * they would for all others, so that such a rank cannot join a job that has
 * begun.
 */
void sim_job_befalls(void *arg, const struct sim_fault *fault, bool begins);

/* For a rank: join the job, and leave it with the context. */
enum bcl_status sim_rank_join(struct sim_rank *rank, struct bcl_adi **adi);
void sim_rank_leave(struct bcl_adi *adi);

#endif
