/* SPDX-License-Identifier: MIT */
/*
 * A rank that measures: the library's side of bcl-perf, in the framework of the
 * reference programs (ref/ref.h). The parameter "do" names the measurement.
 * Every rank of the job is asked; ranks without a part in the measurement do
 * nothing.
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
	struct bcl_team *team; /* NULL in a group with twins */
	struct bcl_boot *boot; /* local != 0: of the job */
	int rank, size;
	int partner;  /* of rank 0: the first rank of the second node, or rank
		       * 1 */
	bool between; /* the partner is on the second node */
	unsigned char *memory;	   /* for large messages, see ref_memory() */
	struct bcl_port *port;	   /* for figures of the transport */
	struct bcl_peer *player;   /* the partner's port */
	struct perf_job *job;	   /* or NULL */
	struct perf_member *twins; /* both twins, or NULL */
};

/*
 * The main function of a rank. boot: the job of a launcher, in which rank 0
 * passes on the lines that it reads. NULL: bcl-perf has started the rank, and
 * every rank reads standard input.
 */
int perf_rank_main(struct bcl_boot *boot, int argc, char **argv);

/* Ends the process unless the status is OK. */
void perf_must(const struct perf_rank *rank, enum bcl_status status,
	       const char *what);

/* True for the two ranks that exchange messages. */
static inline bool perf_plays(const struct perf_rank *rank)
{
	return rank->rank == 0 || rank->rank == rank->partner;
}

static inline int perf_other(const struct perf_rank *rank)
{
	return rank->rank ? 0 : rank->partner;
}

/* Blocking messages of the ADI, tag and context 0. They end the process on an
 * error. */
void perf_send(const struct perf_rank *rank, const void *data, size_t size,
	       int to);
void perf_receive(const struct perf_rank *rank, void *data, size_t size,
		  int from);

/* Start a send to, or a receive from, the remote player. They end the process
 * on an error. */
struct bcl_adi_request *perf_start_send(const struct perf_rank *rank,
					const void *data, size_t size);
struct bcl_adi_request *perf_start_receive(const struct perf_rank *rank,
					   void *data, size_t size);
void perf_finish(const struct perf_rank *rank, struct bcl_adi_request **request,
		 unsigned int n);

/*
 * Moves samples that the partner has taken to rank 0, which adds them to the
 * answer. Both players call this.
 */
void perf_hand_over(const struct perf_rank *rank, const double *sample,
		    unsigned int n);

/* The memory for large messages, allocated at the first call. */
unsigned char *perf_memory(struct perf_rank *rank);

/* Iterations in a sample: the number asked for, else by the cost of
 * a message. */
size_t perf_iterations(const struct perf_rank *rank);

/*
 * The measurements; a call runs a round. They return how many messages this
 * rank has sent to the player at least, for a check against the counters.
 */
size_t perf_latency(struct perf_rank *rank);
size_t perf_exchange(struct perf_rank *rank);
size_t perf_rate(struct perf_rank *rank);
size_t perf_bandwidth(struct perf_rank *rank);
size_t perf_loggp(struct perf_rank *rank);
size_t perf_collective(struct perf_rank *rank);
size_t perf_wake(struct perf_rank *rank);

/*
 * A process that computes on the CPU of rank 1 on demand. It starts before the
 * library, and so knows nothing of it. begin() and end() enclose a period of
 * computing; end() returns the share of the CPU in percent.
 */
struct perf_job *perf_job_start(struct ref *ref);
void perf_job_begin(struct perf_job *job);
double perf_job_end(struct perf_job *job);

#endif
