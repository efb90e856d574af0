/* SPDX-License-Identifier: MIT */
/*
 * A mock of the ADI for tests of the collectives. The ranks of a job are
 * threads of one process, and only the functions that the collectives use
 * exist. A test runs up to 64 ranks in any topology in a short time, and ranks
 * die on demand.
 */
#ifndef BCL_TESTS_COLL_MOCK_H
#define BCL_TESTS_COLL_MOCK_H

#include <stdbool.h>

#include <bcl/coll.h>

struct mock_options {
	unsigned size;
	const unsigned *hosts; /* by rank; NULL: all on one host */
	unsigned local_ranks;  /* of each host; 0: not known */
	bool synchronous;      /* a send ends when its receive matches */
	bool private;	       /* bcl_memory_map() is UNSUPPORTED */
	bool crowded; /* real hosts, each with two processors for more ranks */
	/* Figures of peers on the host of rank 0 (`inside`) and on the other
	 * hosts; NULL: unknown. */
	const struct bcl_peer_info *inside, *between;
	const char *coll; /* BCL_COLL; NULL: not set */
	bool coll_fixed;  /* BCL_COLL_FIXED */
};

struct mock_world;

struct mock_world *mock_open(const struct mock_options *options);
void mock_close(struct mock_world *world);

/* Calls run() in a thread for each rank; returns when all have returned. */
void mock_run(struct mock_world *world,
	      void (*run)(struct bcl_adi *adi, void *arg), void *arg);

/* The calling rank is dead from now on, and must not call the mock again. */
void mock_die(struct bcl_adi *adi);

/*
 * The calling rank dies at the beginning of a send: the next send, if n is 1.
 * From then on the rank is alone: no message of the rank arrives, and all other
 * ranks are lost to the rank, so the functions return. mock_is_dead(): the rank
 * has died.
 */
void mock_die_at(struct bcl_adi *adi, unsigned n);
bool mock_is_dead(const struct bcl_adi *adi);

/* From now on the calling rank and this rank are lost to each other, though
 * both live. */
void mock_part(struct bcl_adi *adi, unsigned rank);

/* The number of messages that a rank has sent to another one. */
unsigned mock_sent(struct bcl_adi *adi, unsigned from, unsigned to);

/* The number of messages that arrived and that no receive has matched. */
unsigned mock_left_over(const struct mock_world *world);

#endif
