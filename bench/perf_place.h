/* SPDX-License-Identifier: MIT */
/*
 * The two nodes that figures between nodes need. scripts/cluster makes them
 * on this machine, as namespaces where that is permitted, else as virtual
 * nodes (BCL_NODE) over loopback; bcl-perf runs inside of it.
 */
#ifndef BCL_BENCH_PERF_PLACE_H
#define BCL_BENCH_PERF_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

enum {
	PERF_NODES = 2,
};

struct perf_node {
	pid_t holder; /* whose namespaces they are; 0: virtual */
	const char *name;
	const char *address;
	const char *interface;
};

struct perf_places {
	struct perf_node node[PERF_NODES];
	bool virtual;
};

/*
 * Runs the program `self` again under `directory`cluster, unless that is
 * where it runs already or there is no such file.
 */
void perf_places_enter(const char *directory, char *self, bool virtual,
		       char **argv);

/* What there is. */
void perf_places_find(struct perf_places *places);

/* Moves this process to a node, if it has namespaces. */
bool perf_place_move(pid_t holder);

#endif
