/* SPDX-License-Identifier: MIT */
/*
 * Tests with several processes on one host: each rank is a forked process
 * with a context and a port of its own, over shared memory.
 */
#ifndef BCL_TESTS_RANKS_H
#define BCL_TESTS_RANKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include <bcl/bcl.h>

enum {
	RANKS_MAX = 64,
};

/* In memory that all ranks share. */
struct ranks {
	unsigned n;
	_Atomic unsigned arrived;     /* at barriers, all together */
	_Atomic unsigned signals[16]; /* for the tests' own use */
	struct {
		pid_t pid;
		size_t length;
		uint8_t address[BCL_ADDRESS_MAX];
		_Atomic unsigned ready;
	} rank[RANKS_MAX];
};

struct rank {
	struct ranks *all;
	unsigned me;
	unsigned barriers; /* passed */
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peers[RANKS_MAX];
};

/* What a rank does between opening and closing its context. */
typedef void rank_body(struct rank *rank);

/*
 * Fork n ranks that run body; wait for them. Fails if one of them does, but
 * those in `killed` (bits) must die by a signal.
 */
void ranks_run(unsigned n, rank_body *body, uint64_t killed);

/* The same without opening anything: the body calls rank_open(). */
void ranks_run_bare(unsigned n, rank_body *body, uint64_t killed);
void rank_open(struct rank *rank, const struct bcl_context_options *options);
void rank_close(struct rank *rank);

/*
 * What a helper did for a peer was done before the peer said so. The thread
 * sanitizer does not see an order that leads through another process, or
 * another map of the same memory, but that of a lock which both threads take.
 */
void ranks_show_order(struct bcl_context *context);

/* All living ranks: wait for `n` of them. */
void rank_barrier_of(struct rank *rank, unsigned n);
static inline void rank_barrier(struct rank *rank)
{
	rank_barrier_of(rank, rank->all->n);
}

/* Open the peer and wait until it is up, or lost: its status. */
struct bcl_peer *rank_begin(struct rank *rank, unsigned other);
enum bcl_status rank_connect(struct rank *rank, unsigned other);

/* The next event, whatever comes; fails after half a minute. */
void rank_event(struct rank *rank, struct bcl_event *event);
/* The next event, which is of that kind. */
void rank_expect(struct rank *rank, enum bcl_event_kind kind,
		 struct bcl_event *event);
/* Send, polling while it answers AGAIN; no events may come meanwhile. */
void rank_send(struct rank *rank, unsigned other, uint64_t immediate,
	       const void *data, size_t length);
/* Progress for some time, a turn at least; no events may come. */
void rank_idle(struct rank *rank, unsigned milliseconds);

uint64_t rank_counter(struct rank *rank, const char *name);
uint64_t rank_now(void); /* ns */

#endif
