/* SPDX-License-Identifier: MIT */
/*
 * A transport between the ports of a single process, for tests of the ADI. The
 * mock has the functions of bcl/bcl.h that the ADI uses, and runs on any
 * environment (fibers in virtual time, or threads). The mock keeps to the
 * contract and goes to the limits of the contract: full queues, slow
 * connections, large transfers that end in any order, peers that are lost. When
 * the life of an event ends, the mock overwrites the event's data.
 */
#ifndef MOCK_TRANSPORT_H
#define MOCK_TRANSPORT_H

#include "transport/boot/boot.h"
#include "transport/context.h"

struct mock;

struct mock_options {
	uint64_t seed;
	unsigned ports;	   /* processes */
	unsigned again;	   /* sends, offers and pulls: percent of AGAIN */
	unsigned ring;	   /* messages in flight to a peer; 0: any number */
	unsigned offers;   /* unread offers of a port; 0: any number */
	uint64_t latency;  /* ns, at most, of a message; order is kept */
	uint64_t connect;  /* ns, at most, until a new peer is up */
	uint64_t transfer; /* ns, at most, of a large transfer; any order */
	size_t eager_max;  /* 0: 4096 */
	bool longs;	   /* messages of up to BCL_LONG_MAX bytes */
	size_t unexpected; /* 0: 4 MB */
};

struct mock *mock_open(const struct bcl_env *env,
		       const struct mock_options *options);
/* Call only after all ports are closed. */
void mock_close(struct mock *mock);

/*
 * The context of process i, and the boot interface by which process i joins a
 * job of n processes. If the mock has fewer than n ports, the last processes of
 * the job were never started.
 */
struct bcl_context *mock_context(struct mock *mock, unsigned i);
struct bcl_boot *mock_boot(struct mock *mock, unsigned i, unsigned n);

/* Kills process i: all peers for the port of process i are lost, and calls of
 * process i end with BCL_ERR_CLOSED. */
void mock_kill(struct mock *mock, unsigned i);
/* While `blocked` is set, sends from process i to process j answer AGAIN. */
void mock_block(struct mock *mock, unsigned i, unsigned j, bool blocked);
/* Sends a message from port i to port j without any check, as a broken peer
 * might. */
void mock_inject(struct mock *mock, unsigned i, unsigned j, unsigned type,
		 uint64_t immediate, const void *data, size_t length);

/* The number of messages of a type (-1: of any type) that port i has sent. */
unsigned mock_sent(struct mock *mock, unsigned i, int type);
/* The number of messages from port i that were in flight when port i was
 * closed. */
unsigned mock_cut(struct mock *mock, unsigned i);
/* A counter of port i. */
uint64_t mock_count(struct mock *mock, unsigned i, enum bcl_counter_id id);

#endif
