/* SPDX-License-Identifier: MIT */
/*
 * Many storms: PROGRAM [--quick] [--seed N | --seeds COUNT [--from N]]
 * Several processes run storms at the same time. When a storm has broken a
 * rule, the program prints the command line that repeats the storm, and no new
 * storm begins.
 *
 * A storm with known faults: PROGRAM --seed N --faults SCRIPT
 */
#include <getopt.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"
#include "tests/tier.h"

enum {
	CREWS = 64, /* at most */
	LONG = 5,   /* times as many storms in the long tier */
};

bool storm_quick;
const char *storm_script, *storm_program;

/* The current storm of a process, and the counts of its storms so far. */
struct crew {
	uint64_t seed;
	struct storm_log log;
};

/* Shared by all processes. */
struct fleet {
	atomic_bool stops; /* a storm has failed: no new storms */
	struct crew crew[CREWS];
};

static void sail(struct fleet *fleet, struct crew *crew, uint64_t from,
		 uint64_t until, unsigned step)
{
	for (crew->seed = from; crew->seed < until; crew->seed += step) {
		if (atomic_load_explicit(&fleet->stops, memory_order_relaxed))
			break;
		storm(crew->seed, &crew->log);
	}
	exit(0);
}

static void add(struct storm_log *to, const struct storm_log *log)
{
	for (unsigned i = 0; i < STORM_COUNTS; i++)
		to->count[i] += log->count[i];
}

/* Returns false if a counter is 0. The counters of fewer than 100 storms do not
 * tell. */
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

/* Wait for a process to end. Returns false if a storm failed. */
static bool land(struct fleet *fleet, const pid_t *pid, unsigned crews)
{
	unsigned i = 0;
	int status;
	pid_t who = wait(&status);

	while (i < crews && pid[i] != who)
		i++;
	if (i == crews || !status)
		return i < crews;
	atomic_store_explicit(&fleet->stops, true, memory_order_relaxed);
	printf("failed: %s --seed %llu%s%s\n", storm_program,
	       (unsigned long long)fleet->crew[i].seed,
	       storm_script ? " --faults " : "",
	       storm_script ? storm_script : "");
	return false;
}

static int run(uint64_t from, uint64_t count)
{
	struct fleet *fleet = mmap(NULL, sizeof(*fleet), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned crews = processors > CREWS ? CREWS
			 : processors > 0   ? (unsigned)processors
					    : 1;
	struct storm_log log = { 0 };
	bool failed = false;
	pid_t pid[CREWS];

	if (fleet == MAP_FAILED)
		return 1;
	for (unsigned i = 0; i < crews; i++) {
		pid[i] = fork();
		if (pid[i] < 0) {
			perror("fork");
			crews = i;
			failed = true;
		}
		if (!pid[i])
			sail(fleet, &fleet->crew[i], from + i, from + count,
			     crews);
	}
	for (unsigned i = 0; i < crews; i++)
		failed |= !land(fleet, pid, crews);
	for (unsigned i = 0; i < crews; i++)
		add(&log, &fleet->crew[i].log);
	if (failed)
		return 1;
	if (print(count, &log))
		return 0;
	printf("but there was no storm\n");
	return 1;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (*text >= '0' && *text <= '9' && !*end)
		return value;
	fprintf(stderr, "%s: \"%s\" is no number\n", storm_program, text);
	exit(2);
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
	uint64_t from = 1, count = storm_seeds * (tier_long() ? LONG : 1);
	int option;

	storm_program = realpath("/proc/self/exe", NULL);
	if (!storm_program)
		return 1;
	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 's':
			from = number(optarg);
			count = 1;
			break;
		case 'n':
			count = number(optarg);
			break;
		case 'f':
			from = number(optarg);
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
