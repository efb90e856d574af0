/* SPDX-License-Identifier: MIT */
/*
 * Many storms: PROGRAM [--quick] [--seed N | --seeds COUNT [--from N]]
 * Several at a time, each in a process of its own; the first that breaks a
 * rule ends it, with the line that repeats it.
 *
 * One whose faults are known: PROGRAM --seed N --faults SCRIPT
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
	CREWS = 64, /* at most */
};

bool storm_quick;
const char *storm_script, *storm_program;

/* What one process has seen, and where it is; shared with the parent. */
struct crew {
	uint64_t seed;
	struct storm_log log;
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
	for (unsigned i = 0; i < STORM_COUNTS; i++)
		to->count[i] += log->count[i];
}

/* False: something never happened; or the seeds are too few to say so. */
static bool print(uint64_t storms, const struct storm_log *log)
{
	bool all = true;

	printf("%llu storms:", (unsigned long long)storms);
	for (unsigned i = 0; i < storm_ncounts; i++) {
		printf("%s %s %lu", i ? "," : "", storm_counts[i],
		       log->count[i]);
		all = all && log->count[i];
	}
	putchar('\n');
	return all || storms < 100;
}

static int run(uint64_t from, uint64_t count)
{
	struct crew *crew =
		mmap(NULL, CREWS * sizeof(*crew), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned crews = processors > CREWS ? CREWS : (unsigned)processors;
	struct storm_log log = { 0 };
	int status, failed = 0;
	pid_t pid[CREWS];

	if (crew == MAP_FAILED)
		return 1;
	for (unsigned i = 0; i < crews; i++) {
		pid[i] = fork();
		if (!pid[i])
			sail(&crew[i], from + i, from + count, crews);
	}
	for (unsigned i = 0; i < crews; i++) {
		waitpid(pid[i], &status, 0);
		add(&log, &crew[i].log);
		if (!status)
			continue;
		failed = 1;
		printf("failed: %s --seed %llu%s%s\n", storm_program,
		       (unsigned long long)crew[i].seed,
		       storm_script ? " --faults " : "",
		       storm_script ? storm_script : "");
	}
	if (!print(count, &log)) {
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
		{ "quick", no_argument, NULL, 'q' },
		{ "faults", required_argument, NULL, 't' },
		{ 0 },
	};
	uint64_t from = 1, count = storm_seeds;
	int option;

	storm_program = argv[0];
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
		case 'q':
			storm_quick = true;
			break;
		case 't':
			storm_script = optarg;
			break;
		default:
			return 2;
		}
	}
	return run(from, count);
}
