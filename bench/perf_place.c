/* SPDX-License-Identifier: MIT */
/* Enters the two nodes that scripts/cluster makes; see perf_place.h. */
#include "bench/perf_place.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

enum {
	ARGUMENTS = 64,
	SPACES = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS,
};

static const struct perf_places virtual_places = {
	.node = { { 0, "node0", "127.0.0.1", "lo" },
		  { 0, "node1", "127.0.0.1", "lo" } },
	.virtual = true,
};

static const struct perf_places real_places = {
	.node = { { 0, "node0", "10.77.0.1", "eth0" },
		  { 0, "node1", "10.77.0.2", "eth0" } },
};

void perf_places_enter(const char *directory, char *self, bool virtual,
		       char **argv)
{
	char *word[ARGUMENTS], file[4096];
	unsigned int n = 0;

	if (getenv("CLUSTER_KIND"))
		return;
	snprintf(file, sizeof(file), "%scluster", directory);
	word[n++] = file;
	word[n++] = "run";
	if (virtual)
		word[n++] = "-v";
	word[n++] = self;
	for (argv++; *argv && n < ARGUMENTS - 1; argv++)
		word[n++] = *argv;
	word[n] = NULL;
	execv(file, word);
	fprintf(stderr, "bcl-perf: %s: %m\n", file);
}

void perf_places_find(struct perf_places *places)
{
	const char *kind = getenv("CLUSTER_KIND");
	const char *pids = getenv("CLUSTER_PIDS");
	unsigned int i;

	*places = virtual_places;
	if (!kind || strcmp(kind, "namespaces") || !pids)
		return;
	*places = real_places;
	for (i = 0; i < PERF_NODES; i++) {
		char *end;

		places->node[i].holder = (pid_t)strtol(pids, &end, 10);
		pids = end;
	}
}

bool perf_place_move(pid_t holder)
{
	int fd = pidfd_open(holder, 0);

	return fd >= 0 && !setns(fd, SPACES) && !close(fd);
}
