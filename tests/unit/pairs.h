/* SPDX-License-Identifier: MIT */
/*
 * For tests of several processes: each opens a context and a port and has a
 * peer for every other. What fails ends the process with the line's number.
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

/* Of the contexts that rank_open() opens; NULL: this machine's. */
static const struct bcl_env *rank_env;

/* A page that all ranks share which are forked afterwards. */
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

/* The next event, sleeping as it pays; 50 s without one is a failure. */
static inline struct bcl_event rank_event(struct rank *rank)
{
	struct bcl_event event;
	enum bcl_status status;

	/* AGAIN: there is room for a message that was refused */
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
 * Before the context is opened: each rank is a node of its own, reached over
 * UDP on the loopback interface; or all share memory and there is no network.
 */
static inline void rank_path(unsigned me, enum bcl_path path)
{
	char node[16];

	snprintf(node, sizeof(node), "node%u", me);
	setenv("BCL_NODE", path == BCL_PATH_CARD ? node : "", 1);
	setenv("BCL_RAILS", path == BCL_PATH_CARD ? "udp" : "none", 1);
	setenv("BCL_NET", "lo", 1);
}

/* Join the job; all peers are up, on this path. */
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

/* Two ranks that run body(rank, &path): 0 shares memory, 1 goes by the card.
 * How many of them failed. */
static inline int rank_pair(int (*body)(unsigned me, void *path), int way)
{
	enum bcl_path path = way ? BCL_PATH_CARD : BCL_PATH_SHARED;

	return bcl_boot_job_run(2, body, &path);
}

/* A number to rank `to`, however full the way is; no event is under way. */
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
