/* SPDX-License-Identifier: MIT */
/*
 * A job whose ranks are threads of one process, with just the functions of
 * the ADI that the collectives use: all numbers of ranks and topologies in
 * no time, and ranks that die on demand.
 */
#ifndef BCL_TESTS_COLL_MOCK_H
#define BCL_TESTS_COLL_MOCK_H

#include <stdbool.h>

#include <bcl/coll.h>

struct mock_options {
	unsigned size;
	const unsigned *hosts; /* by rank; NULL: all on one */
	unsigned local_ranks;  /* of each host, the launcher says; or 0 */
	bool synchronous;      /* a send ends when it was received */
	bool private;	       /* memory cannot be shared */
	/* What peers on the own node and on others are like; NULL: unknown. */
	const struct bcl_peer_info *inside, *between;
	const char *coll; /* BCL_COLL; NULL: not set */
};

struct mock_world;

struct mock_world *mock_open(const struct mock_options *options);
void mock_close(struct mock_world *world);

/* Run it in a thread for each rank; returns when all have returned. */
void mock_run(struct mock_world *world,
	      void (*run)(struct bcl_adi *adi, void *arg), void *arg);

/* The calling rank is dead from now on; it calls nothing more. */
void mock_die(struct bcl_adi *adi);

/* Messages that have come and were never received. */
unsigned mock_left_over(const struct mock_world *world);

/* Allocations of messages are not counted. */
unsigned long mock_messages(const struct mock_world *world);

#endif
