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

struct bcl_env;

enum {
	RANKS_MAX = 64,
};

/* In memory that all ranks share. */
struct ranks {
	unsigned n;
	_Atomic unsigned arrived;     /* sum of the arrivals at all barriers */
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
	/* for rank_open(), instead of the system; NULL: none */
	const struct bcl_env *env;
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peers[RANKS_MAX];
};

/* A rank's part of a test, between opening and closing the rank's context. */
typedef void rank_body(struct rank *rank);

/* Forks n ranks that run body, and waits for the ranks. Fails if a rank fails.
 * The ranks in `killed` (a bit per rank) must die by a signal. */
void ranks_run(unsigned n, rank_body *body, uint64_t killed);

/* The same, but the ranks open no contexts: the body calls rank_open(). */
void ranks_run_bare(unsigned n, rank_body *body, uint64_t killed);
void rank_open(struct rank *rank, const struct bcl_context_options *options);
void rank_close(struct rank *rank);

/*
 * Shows an order of events to the thread sanitizer. A helper does work for a
 * peer before the peer reports the work. The sanitizer does not see the order,
 * because the order leads through a second process or through a second map of
 * the same memory. The sanitizer does see the order of a lock that both threads
 * take, so the function takes and releases the lock of the context.
 */
void ranks_show_order(struct bcl_context *context);

/* A barrier of the n living ranks. All living ranks must call the function. */
void rank_barrier_of(struct rank *rank, unsigned n);
static inline void rank_barrier(struct rank *rank)
{
	rank_barrier_of(rank, rank->all->n);
}

/* rank_begin() opens the peer. rank_connect() also waits until the peer is up
 * or lost, and returns the peer's status. */
struct bcl_peer *rank_begin(struct rank *rank, unsigned other);
enum bcl_status rank_connect(struct rank *rank, unsigned other);

/* Polls until an event of any kind comes. Fails after half a minute. */
void rank_event(struct rank *rank, struct bcl_event *event);
/* The same, but fails if the event is of a different kind. */
void rank_expect(struct rank *rank, enum bcl_event_kind kind,
		 struct bcl_event *event);
/* Sends a message, and polls as long as bcl_send() answers AGAIN. No events may
 * come meanwhile. */
void rank_send(struct rank *rank, unsigned other, uint64_t immediate,
	       const void *data, size_t length);
/* Polls for some time, at least once. No events may come meanwhile. */
void rank_idle(struct rank *rank, unsigned milliseconds);

uint64_t rank_counter(struct rank *rank, const char *name);
uint64_t rank_now(void); /* ns */

#endif
