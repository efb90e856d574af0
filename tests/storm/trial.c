/* SPDX-License-Identifier: MIT */
#include "trial.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/shrink.h"
#include "tests/unit/need.h"

enum {
	SECONDS = 30, /* of processor time; a run takes less than 1 s */
};

/* Run the storm in a child process. A storm that breaks a rule ends the child,
 * and a limit on processor time ends a child that runs forever. */
static bool fails(void *arg, const void *faults, size_t n)
{
	struct trial *trial = arg;
	pid_t child = fork();
	int status;

	if (!child) {
		const struct rlimit limit = { SECONDS, SECONDS + 1 };

		need(!setrlimit(RLIMIT_CPU, &limit));
		if (trial->silent)
			need(freopen("/dev/null", "w", stderr) &&
			     freopen("/dev/null", "w", stdout));
		trial->run(trial, faults, n);
		_exit(0);
	}
	need_equal(waitpid(child, &status, 0), child);
	if (!trial->silent && WIFSIGNALED(status) &&
	    WTERMSIG(status) == SIGXCPU)
		fprintf(stderr, "no end after %d s of the processor\n",
			SECONDS);
	if (status && !trial->silent && trial->failed)
		trial->failed(trial, status);
	return status;
}

/* Find the fewest faults with which the storm fails, print the faults, run the
 * storm with them once more, and write them to a script. */
static void explain(struct trial *trial)
{
	const unsigned long long seed = trial->seed;
	const size_t all = trial->n;
	char script[32], *path;
	FILE *out;

	/* The search may take long. */
	fprintf(stderr,
		"%s --seed %llu fails; are there faults that it does not "
		"take?\n",
		storm_program, seed);
	trial->silent = true;
	trial->n = sim_shrink(trial->faults, all, trial->size, fails, trial);
	trial->silent = false;
	trial->last = true;
	fprintf(stderr,
		"seed %llu fails with %zu of its %zu faults, and no fewer:\n",
		seed, trial->n, all);
	trial->print(trial->faults, trial->n, stderr);
	fails(trial, trial->faults, trial->n);
	snprintf(script, sizeof(script), "storm-%llu.faults", seed);
	out = fopen(script, "w");
	need(out);
	trial->print(trial->faults, trial->n, out);
	fclose(out);
	if (trial->traces)
		fprintf(stderr, "its trace: storm-%llu.pcapng\n", seed);
	path = realpath(script, NULL);
	need(path);
	fprintf(stderr, "again: %s --seed %llu --faults %s\n", storm_program,
		seed, path);
	free(path);
}

void trial(struct trial *trial)
{
	trial->last = storm_script;
	if (!fails(trial, trial->faults, trial->n))
		return;
	if (!storm_quick && !storm_script)
		explain(trial);
	exit(1);
}
