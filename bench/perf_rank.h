/* SPDX-License-Identifier: MIT */
/*
 * A rank that measures: the library's side of bcl-perf, in the frame of the
 * reference programs (ref/ref.h). The parameter "do" names the measurement;
 * every rank of the job is asked, those without a part in it do nothing.
 */
#ifndef BCL_BENCH_PERF_RANK_H
#define BCL_BENCH_PERF_RANK_H

#include <stdbool.h>

#include <bcl/coll.h>

#include "bench/ref/ref.h"

struct bcl_boot;
struct perf_job;
struct perf_member;

struct perf_rank {
	struct ref *ref;
	struct bcl_adi *adi;
	struct bcl_adi *twin;  /* rank 1 in the same process, or NULL */
	struct bcl_team *team; /* NULL where there are twins */
	struct bcl_boot *boot; /* local != 0: the job's */
	int rank, size;
	int partner;  /* whom rank 0 plays with: the first rank of the other
		       * node, or rank 1 */
	bool between; /* the partner is on the other node */
	unsigned char *memory;	   /* for large messages, see ref_memory() */
	struct bcl_port *port;	   /* for the transport's own figures */
	struct bcl_peer *player;   /* the partner's such port */
	struct perf_job *job;	   /* or NULL */
	struct perf_member *twins; /* both, or NULL */
};

/*
 * What a rank's process does. boot: the job, if a launcher has started it;
 * then rank 0 tells the others what it reads. NULL: bcl-perf has, and every
 * rank reads its standard input.
 */
int perf_rank_main(struct bcl_boot *boot, int argc, char **argv);

/* Ends the process unless the status is OK. */
void perf_must(const struct perf_rank *rank, enum bcl_status status,
	       const char *what);

/* Is this rank one of the two that play? */
static inline bool perf_plays(const struct perf_rank *rank)
{
	return rank->rank == 0 || rank->rank == rank->partner;
}

static inline int perf_other(const struct perf_rank *rank)
{
	return rank->rank ? 0 : rank->partner;
}

/* Blocking messages of the ADI that must succeed, tag and context 0. */
void perf_send(const struct perf_rank *rank, const void *data, size_t size,
	       int to);
void perf_receive(const struct perf_rank *rank, void *data, size_t size,
		  int from);

/* Starts a send or a receive that must start, with the other player. */
struct bcl_adi_request *perf_start_send(const struct perf_rank *rank,
					const void *data, size_t size);
struct bcl_adi_request *perf_start_receive(const struct perf_rank *rank,
					   void *data, size_t size);
void perf_finish(const struct perf_rank *rank, struct bcl_adi_request **request,
		 unsigned int n);

/*
 * Moves samples that were taken at the partner to rank 0, which adds them to
 * its answer; called by both players.
 */
void perf_hand_over(const struct perf_rank *rank, const double *sample,
		    unsigned int n);

/* The memory for large messages, made at its first use. */
unsigned char *perf_memory(struct perf_rank *rank);

/* Iterations in a sample: as asked, else by what a message costs. */
size_t perf_iterations(const struct perf_rank *rank);

/*
 * The measurements, a round each. They return how many messages this rank
 * has sent to the other player at least: the counters are held against it.
 */
size_t perf_latency(struct perf_rank *rank);
size_t perf_exchange(struct perf_rank *rank);
size_t perf_rate(struct perf_rank *rank);
size_t perf_bandwidth(struct perf_rank *rank);
size_t perf_loggp(struct perf_rank *rank);
size_t perf_collective(struct perf_rank *rank);
size_t perf_wake(struct perf_rank *rank);

/*
 * A process that computes on the CPU of rank 1 while it is told to; started
 * before the library is, so that it is foreign. begin() and end() enclose a
 * spell; end() returns its share of the CPU in %.
 */
struct perf_job *perf_job_start(struct ref *ref);
void perf_job_begin(struct perf_job *job);
double perf_job_end(struct perf_job *job);

#endif
