/* SPDX-License-Identifier: MIT */
/*
 * A transport of ports in one process, for tests of what stands on it: the
 * functions of bcl/bcl.h that the ADI uses, on any environment (fibers in
 * virtual time, or threads). It keeps to the contract and goes to its limits:
 * full queues, slow connections, large transfers that end in any order,
 * peers that are lost. Data of an event is overwritten when its life is over.
 */
#ifndef MOCK_TRANSPORT_H
#define MOCK_TRANSPORT_H

#include "transport/boot/boot.h"
#include "transport/context.h"

struct mock;

struct mock_options {
	uint64_t seed;
	unsigned ports;	   /* processes */
	unsigned again;	   /* of 100 sends, offers and pulls */
	unsigned ring;	   /* messages on their way per pair; 0: any number */
	unsigned offers;   /* of a port, not read yet; 0: any number */
	uint64_t latency;  /* ns, at most, of a message; order is kept */
	uint64_t connect;  /* ns, at most, until a new peer is up */
	uint64_t transfer; /* ns, at most, of a large one; any order */
	size_t eager_max;  /* 0: 4096 */
	bool longs;	   /* messages of up to BCL_LONG_MAX bytes */
	size_t unexpected; /* 0: 4 MB */
};

struct mock *mock_open(const struct bcl_env *env,
		       const struct mock_options *options);
/* All ports are closed. */
void mock_close(struct mock *mock);

/* What process i has: a context, and how it joins a job of the first n. If
 * there are fewer, the rest have never been started. */
struct bcl_context *mock_context(struct mock *mock, unsigned i);
struct bcl_boot *mock_boot(struct mock *mock, unsigned i, unsigned n);

/* Process i is dead: the others lose its port; its own calls end with
 * BCL_ERR_CLOSED. */
void mock_kill(struct mock *mock, unsigned i);
/* Sends from i to j answer AGAIN while it is set. */
void mock_block(struct mock *mock, unsigned i, unsigned j, bool blocked);
/* Put a message from port i in port j's way, as a broken peer would. */
void mock_inject(struct mock *mock, unsigned i, unsigned j, unsigned type,
		 uint64_t immediate, const void *data, size_t length);

/* How often bcl_send() and bcl_commit() sent a message of this type, or any
 * (-1), from port i. */
unsigned mock_sent(struct mock *mock, unsigned i, int type);
/* How many messages from port i were on their way when it was closed. */
unsigned mock_cut(struct mock *mock, unsigned i);
/* A counter of port i. */
uint64_t mock_count(struct mock *mock, unsigned i, enum bcl_counter_id id);

#endif
