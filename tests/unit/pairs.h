/* SPDX-License-Identifier: MIT */
/*
 * For tests with several processes. Each process opens a context and a port,
 * and has a peer for each remaining process of the job. A failed condition
 * prints the line's number and ends the process.
 */
#ifndef BCL_TESTS_PAIRS_H
#define BCL_TESTS_PAIRS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bcl/bcl.h>

#include "tests/unit/counter.h"
#include "transport/boot/boot.h"
#include "transport/boot/fork.h"
#include "transport/context.h"

#define must(condition)                                                    \
	do {                                                               \
		if (!(condition)) {                                        \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
				#condition);                               \
			exit(1);                                           \
		}                                                          \
	} while (0)

enum {
	RANKS_MAX = 16,
};

struct rank {
	struct bcl_boot *boot;
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peer[RANKS_MAX];
};

/* Environment of the contexts that rank_open() opens; NULL: bcl_env_linux. */
static const struct bcl_env *rank_env;

/* Allocates a page. All ranks that are forked afterwards share the page. */
static inline void *ranks_share(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	must(page != MAP_FAILED);
	return page;
}

static inline uint64_t rank_now(void)
{
	return bcl_env_linux.now(NULL);
}

/* Waits for the next event, and may sleep. Fails after 50 s. */
static inline struct bcl_event rank_event(struct rank *rank)
{
	struct bcl_event event;
	enum bcl_status status;

	/* AGAIN: there is room again after a refused message */
	do
		status = bcl_wait(rank->port, UINT64_C(50000000000));
	while (status == BCL_ERR_AGAIN);
	must(!status);
	must(!bcl_poll(rank->port, &event));
	return event;
}

static inline uint64_t rank_counter(struct rank *rank, const char *name)
{
	return counter_of(rank->context, name);
}

/*
 * Sets the path, before the context is opened. BCL_PATH_CARD: each rank is a
 * virtual node, and ranks talk over UDP on the loopback interface.
 * BCL_PATH_SHARED: all ranks share memory, and have no network.
 */
static inline void rank_path(unsigned me, enum bcl_path path)
{
	char node[16];

	snprintf(node, sizeof(node), "node%u", me);
	setenv("BCL_NODE", path == BCL_PATH_CARD ? node : "", 1);
	setenv("BCL_RAILS", path == BCL_PATH_CARD ? "udp" : "none", 1);
	setenv("BCL_NET", "lo", 1);
}

/* Joins the job. Returns when all peers are up on `path`. */
static inline void rank_open(struct rank *rank, enum bcl_path path)
{
	struct bcl_context_options options = { .struct_size = sizeof(options) };
	uint8_t key[BCL_KEY_SIZE], address[BCL_ADDRESS_MAX];
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	size_t length;

	memset(rank, 0, sizeof(*rank));
	must(!bcl_boot_open(&bcl_env_linux, &rank->boot));
	must(rank->boot->size <= RANKS_MAX);
	rank_path(rank->boot->rank, path);
	must(!bcl_boot_key(rank->boot, key));
	options.job_key = key;
	options.local_ranks = rank->boot->local_ranks;
	must(!bcl_context_open(rank_env ? rank_env : &bcl_env_linux, &options,
			       -1, &rank->context));
	must(!bcl_port_open(rank->context, NULL, &rank->port));
	must(!bcl_port_address(rank->port, address, &length));
	must(!bcl_boot_put(rank->boot, "address", address, length));
	must(!bcl_boot_fence(rank->boot));
	for (unsigned i = 0; i < rank->boot->size; i++) {
		if (i == rank->boot->rank)
			continue;
		must(!bcl_boot_get(rank->boot, i, "address", address,
				   sizeof(address), &length));
		must(!bcl_peer_open(rank->port, address, length,
				    &rank->peer[i]));
	}
	for (unsigned left = rank->boot->size - 1; left; left--) {
		struct bcl_event event = rank_event(rank);

		must(event.kind == BCL_EVENT_PEER && !event.status);
		bcl_peer_info(event.peer, &info);
		must(info.path == path);
	}
	must(!bcl_boot_fence(rank->boot));
}

static inline void rank_close(struct rank *rank)
{
	must(!bcl_boot_fence(rank->boot));
	bcl_close(rank->context);
	bcl_boot_close(rank->boot);
}

/* Runs body(rank, &path) in two ranks. `way` 0: over shared memory; 1: by the
 * card. Returns the number of failed ranks. */
static inline int rank_pair(int (*body)(unsigned me, void *path), int way)
{
	enum bcl_path path = way ? BCL_PATH_CARD : BCL_PATH_SHARED;

	return bcl_boot_job_run(2, body, &path);
}

/* Sends a number to rank `to`, and tries again as long as there is no room. No
 * event may come meanwhile. */
static inline void rank_send(struct rank *rank, unsigned to, uint64_t number)
{
	const struct iovec iov = { &number, sizeof(number) };
	struct bcl_event event;
	enum bcl_status status;

	while ((status = bcl_send(rank->peer[to], 1, 0, &iov, 1, 0))) {
		must(status == BCL_ERR_AGAIN);
		must(bcl_poll(rank->port, &event) == BCL_ERR_EMPTY);
	}
}

#endif
