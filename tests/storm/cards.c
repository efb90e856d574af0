/* SPDX-License-Identifier: MIT */
/*
 * Storms over the cards: cards [--seed N | --seeds COUNT [--from N]]
 * Several at a time, each in a process of its own; the first that breaks a
 * rule ends it, with the line that repeats it.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

enum {
	SEEDS = 2000,
	CREWS = 64, /* at most */
};

/* What one process has seen, and where it is; shared with the parent. */
struct crew {
	uint64_t seed;
	struct storm_log log;
	pid_t pid;
};

static void sail(struct crew *crew, uint64_t from, uint64_t until,
		 unsigned step)
{
	for (crew->seed = from; crew->seed < until; crew->seed += step)
		storm(crew->seed, &crew->log);
	exit(0);
}

static void add(struct storm_log *to, const struct storm_log *log)
{
	unsigned long *sum = (unsigned long *)to;
	const unsigned long *more = (const unsigned long *)log;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*sum); i++)
		sum[i] += more[i];
}

/* All kinds of trouble came, or the seeds are too few to say anything. */
static bool was_rough(const struct storm_log *log)
{
	const unsigned long *counts = (const unsigned long *)log;

	for (size_t i = 0; i < sizeof(*log) / sizeof(*counts); i++)
		if (!counts[i])
			return false;
	return true;
}

static int run(uint64_t from, uint64_t count, const char *self)
{
	struct crew *crew =
		mmap(NULL, CREWS * sizeof(*crew), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned crews = processors > CREWS ? CREWS : (unsigned)processors;
	struct storm_log log = { 0 };
	int status, failed = 0;

	if (crew == MAP_FAILED)
		return 1;
	for (unsigned i = 0; i < crews; i++) {
		crew[i].pid = fork();
		if (!crew[i].pid)
			sail(&crew[i], from + i, from + count, crews);
	}
	for (unsigned i = 0; i < crews; i++) {
		waitpid(crew[i].pid, &status, 0);
		add(&log, &crew[i].log);
		if (!status)
			continue;
		failed = 1;
		printf("failed: %s --seed %llu\n", self,
		       (unsigned long long)crew[i].seed);
	}
	printf("%llu storms: asked %lu, ended %lu (%lu lost), delivered %lu; "
	       "sent again %lu, refused %lu, connections lost %lu; "
	       "kills %lu, ports closed %lu, isolations %lu\n",
	       (unsigned long long)count, log.asked, log.done, log.failed,
	       log.delivered, log.retransmitted, log.refused, log.lost,
	       log.kills, log.closings, log.isolations);
	if (count >= 100 && !was_rough(&log)) {
		printf("but there was no storm\n");
		failed = 1;
	}
	return failed;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "seeds", required_argument, NULL, 'n' },
		{ "from", required_argument, NULL, 'f' },
		{ 0 },
	};
	uint64_t from = 1, count = SEEDS;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 's':
			from = strtoull(optarg, NULL, 0);
			count = 1;
			break;
		case 'n':
			count = strtoull(optarg, NULL, 0);
			break;
		case 'f':
			from = strtoull(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	return run(from, count, argv[0]);
}
