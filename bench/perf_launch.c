/* SPDX-License-Identifier: MIT */
/* Runs bcl-perf in the ranks of a launcher; see perf_launch.h. */
#include "bench/perf_launch.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/perf_rank.h"
#include "env/env.h"
#include "transport/boot/boot.h"

enum {
	NAME = 64 + BCL_CONFIG_TEXT_MAX, /* bytes of a node's name */
};

static void must_succeed(enum bcl_status status, const char *what)
{
	if (status == BCL_OK)
		return;
	fprintf(stderr, "bcl-perf: %s: %s\n", what, bcl_strstatus(status));
	exit(1);
}

/* Counts the ranks on the node of rank 0, which must come first. */
static void find_layout(struct bcl_boot *boot, unsigned int ranks[PERF_NODES])
{
	char mine[NAME] = { 0 }, first[NAME], name[NAME];
	unsigned int i;
	size_t length;

	gethostname(mine, 64);
	strcat(mine, boot->config.node);
	must_succeed(bcl_boot_put(boot, "perf-node", mine, NAME), "launcher");
	must_succeed(bcl_boot_fence(boot), "launcher");
	ranks[0] = ranks[1] = 0;
	for (i = 0; i < boot->size; i++) {
		must_succeed(
			bcl_boot_get(boot, i, "perf-node", name, NAME, &length),
			"launcher");
		if (!i)
			memcpy(first, name, NAME);
		ranks[strcmp(name, first) != 0]++;
		if (ranks[1] && !strcmp(name, first)) {
			fprintf(stderr, "bcl-perf: the ranks of a node must "
					"follow one another\n");
			exit(1);
		}
	}
}

static int run_rank(struct bcl_boot *boot, const unsigned int ranks[PERF_NODES])
{
	char side[32], sides[32], node0[32];
	char *word[] = { "bcl-perf", side, sides, node0, "cpus=none", NULL };
	int status;

	snprintf(side, sizeof(side), "side=%u", boot->rank);
	snprintf(sides, sizeof(sides), "sides=%u", boot->size);
	snprintf(node0, sizeof(node0), "node0=%u", ranks[0]);
	status = perf_rank_main(boot, 5, word);
	bcl_boot_close(boot);
	return status;
}

/* Forks the asking process: rank 0 reads from and answers it. Returns 0 in the
 * child. */
static pid_t fork_asker(struct perf_source *source)
{
	int in[2], out[2];
	cpu_set_t all;
	pid_t pid;

	if (pipe(in) || pipe(out) || (pid = fork()) < 0) {
		perror("bcl-perf");
		exit(1);
	}
	if (pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
	} else {
		memset(source, 0, sizeof(*source));
		source->sides = 1;
		source->in[0] = in[1];
		source->out[0] = out[0];
		source->messages = -1;
		fcntl(in[1], F_SETFD, FD_CLOEXEC);
		fcntl(out[0], F_SETFD, FD_CLOEXEC);
		/* References need more than the CPU of rank 0. */
		memset(&all, 0xff, sizeof(all));
		sched_setaffinity(0, sizeof(all), &all);
	}
	close(in[0]);
	close(out[1]);
	if (pid) {
		close(in[1]);
		close(out[0]);
	}
	return pid;
}

bool perf_launched(struct perf_given *given, int *status)
{
	struct bcl_boot *boot;
	int asked = 0, null;
	pid_t pid = 0;

	memset(given, 0, sizeof(*given));
	must_succeed(bcl_boot_open(&bcl_env_linux, &boot), "launcher");
	if (boot->size == 1) {
		bcl_boot_close(boot);
		return false;
	}
	find_layout(boot, given->ranks);
	if (!boot->rank) {
		pid = fork_asker(&given->source);
		if (!pid)
			return false;
	} else {
		null = open("/dev/null", O_WRONLY);
		dup2(null, 1);
	}
	*status = run_rank(boot, given->ranks);
	if (pid && waitpid(pid, &asked, 0) == pid && asked)
		*status = 1;
	return true;
}
