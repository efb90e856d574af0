/* SPDX-License-Identifier: MIT */
/*
 * The two nodes for figures between nodes. scripts/cluster makes them on this
 * machine, as namespaces if permitted, else as virtual nodes (BCL_NODE) over
 * loopback. bcl-perf runs inside of scripts/cluster.
 */
#ifndef BCL_BENCH_PERF_PLACE_H
#define BCL_BENCH_PERF_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

enum {
	PERF_NODES = 2,
};

struct perf_node {
	pid_t holder; /* process that holds the namespaces; 0: virtual */
	const char *name;
	const char *address;
	const char *interface;
};

struct perf_places {
	struct perf_node node[PERF_NODES];
	bool virtual;
};

/*
 * Runs the program `self` again under `directory`cluster. Returns if the
 * program runs there already, or if there is no such file.
 */
void perf_places_enter(const char *directory, char *self, bool virtual,
		       char **argv);

/* Fills in the nodes that exist. */
void perf_places_find(struct perf_places *places);

/* Moves this process into the namespaces that `holder` holds. */
bool perf_place_move(pid_t holder);

#endif
