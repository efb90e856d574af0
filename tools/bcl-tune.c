/* SPDX-License-Identifier: MIT */
/*
 * bcl-tune: measures the algorithms of collective operations in a job of the
 * user's shape, says where the cost model's choice is not the fastest, and
 * keeps the fastest ones in a file for BCL_COLL_FILE (collectives/tuned.c).
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectives/call.h"
#include "tools/failed.h"
#include "tools/measure.h"

static const size_t lengths[] = { 8, 64, 512, 4096, 32768, 262144, 1048576 };

enum {
	LENGTHS = sizeof(lengths) / sizeof(*lengths),
	MEMORY = 32 << 20, /* bytes of all blocks of a rank, at most */
	BAR = 30,	   /* characters of the progress bar */
	LIST_MAX = 1 << 14,
};

/* A choice that takes longer than this times the fastest one is replaced. */
static const double margin = 1.1;

struct tuning {
	struct bcl_team *team;
	unsigned ranks, nodes;
	unsigned done, all;  /* operations times lengths */
	char list[LIST_MAX]; /* as in BCL_COLL: what replaces the choices */
};

static int usage(FILE *to)
{
	fprintf(to, "usage: mpiexec -n RANKS bcl-tune [--output=FILE] "
		    "[OPERATION...]\n");
	return to == stdout ? 0 : 2;
}

static bool is_first(const struct tuning *tuning)
{
	return bcl_team_rank(tuning->team) == 0;
}

static void show_progress(const struct tuning *tuning, const char *what)
{
	unsigned at = BAR * tuning->done / tuning->all, i;

	if (!is_first(tuning) || !isatty(STDERR_FILENO))
		return;
	fputs("\r[", stderr);
	for (i = 0; i < BAR; i++)
		fputc(i < at ? '#' : '.', stderr);
	fprintf(stderr, "] %3u %% %-16s", 100 * tuning->done / tuning->all,
		what);
	if (tuning->done == tuning->all)
		fputs("\n", stderr);
}

static unsigned fastest(const double us[MEASURE_ALGORITHMS_MAX], unsigned usual)
{
	unsigned best = usual, i;

	for (i = 0; i < MEASURE_ALGORITHMS_MAX; i++)
		if (us[i] < us[best])
			best = i;
	return us[usual] > margin * us[best] ? best : usual;
}

static void report(enum bcl_operation operation, size_t length,
		   const double us[MEASURE_ALGORITHMS_MAX], unsigned usual,
		   unsigned best)
{
	const struct bcl_algorithm *rows = bcl_algorithms[operation];

	printf("%-15s %8zu  %-18s %12.2f us", bcl_operation_names[operation],
	       length, rows[usual].name, us[usual]);
	if (best != usual)
		printf("  %-18s %12.2f us, %.2f times", rows[best].name,
		       us[best], us[best] / us[usual]);
	putchar('\n');
}

/* Appends to the list, unless the row is in use from a shorter length on.
 * *used: the row that the list names last; -1: none. */
static void keep(struct tuning *tuning, enum bcl_operation operation,
		 size_t length, unsigned usual, unsigned best, int *used)
{
	if (*used < 0 ? best == usual : best == (unsigned)*used)
		return;
	bcl_append(tuning->list, sizeof(tuning->list), "%s%s:%s@%zu",
		   *tuning->list ? "," : "", bcl_operation_names[operation],
		   bcl_algorithms[operation][best].name, length);
	*used = (int)best;
}

static enum bcl_status tune(struct tuning *tuning, enum bcl_operation operation)
{
	const struct bcl_team *team = tuning->team;
	enum bcl_status status = BCL_OK;
	int used = -1;
	unsigned i;

	for (i = 0; i < LENGTHS && status == BCL_OK; i++, tuning->done++) {
		unsigned usual =
			(unsigned)(bcl_choice(&team->choices, operation, false,
					      lengths[i]) -
				   bcl_algorithms[operation]);
		double us[MEASURE_ALGORITHMS_MAX];
		unsigned best;

		show_progress(tuning, bcl_operation_names[operation]);
		if (lengths[i] * tuning->ranks > MEMORY)
			continue;
		status = measure_algorithms(tuning->team, operation, lengths[i],
					    us);
		if (status != BCL_OK || !is_first(tuning))
			continue;
		best = fastest(us, usual);
		report(operation, lengths[i], us, usual, best);
		keep(tuning, operation, lengths[i], usual, best, &used);
	}
	return status;
}

/* True if bcl-tune chooses among several rows, and can measure them. */
static bool is_tuned(enum bcl_operation operation)
{
	return operation != BCL_OPERATION_BARRIER && measure_can(operation) &&
	       bcl_algorithms[operation][1].name;
}

static enum bcl_status tune_all(struct tuning *tuning, char **names, int n)
{
	enum bcl_status status = BCL_OK;
	bool wanted[BCL_OPERATIONS];
	unsigned i;
	int k;

	for (i = 0; i < BCL_OPERATIONS; i++) {
		wanted[i] = !n && is_tuned((enum bcl_operation)i);
		for (k = 0; k < n; k++)
			wanted[i] |= i == bcl_operation_find(names[k],
							     strlen(names[k]));
		tuning->all += wanted[i] ? LENGTHS : 0;
	}
	for (i = 0; i < BCL_OPERATIONS && status == BCL_OK; i++)
		if (wanted[i])
			status = tune(tuning, (enum bcl_operation)i);
	show_progress(tuning, "");
	return status;
}

/* Copies the lines of other shapes from the file, if there is one. */
static void copy_others(const struct tuning *tuning, const char *name, FILE *to)
{
	FILE *from = fopen(name, "re");
	char shape[32], *line = NULL;
	size_t size = 0;

	snprintf(shape, sizeof(shape), "%ux%u ", tuning->ranks, tuning->nodes);
	while (from && getline(&line, &size, from) >= 0)
		if (strncmp(line, shape, strlen(shape)))
			fputs(line, to);
	free(line);
	if (from)
		fclose(from);
}

/* Replaces the file as a whole, so that a job that begins meanwhile reads the
 * old file or the new one. */
static int write_file(const struct tuning *tuning, const char *name)
{
	char *next;
	FILE *file;
	bool right;

	if (asprintf(&next, "%s.new", name) < 0)
		return tool_failed("name the file", BCL_ERR_NOMEM);
	file = fopen(next, "we");
	right = file;
	if (file) {
		copy_others(tuning, name, file);
		fprintf(file, "%ux%u %s\n", tuning->ranks, tuning->nodes,
			tuning->list);
		right = !ferror(file);
		right &= !fclose(file);
	}
	if (right)
		right = !rename(next, name);
	if (!right)
		fprintf(stderr, "bcl-tune: %s: %s\n", name, strerror(errno));
	else
		printf("BCL_COLL_FILE=%s makes jobs of %u ranks on %u nodes "
		       "use these choices\n",
		       name, tuning->ranks, tuning->nodes);
	free(next);
	return right ? 0 : 1;
}

static int run(struct bcl_team *team, const char *output, char **names, int n)
{
	struct tuning tuning = {
		.team = team,
		.ranks = bcl_team_size(team),
		.nodes = team->layout.nnodes,
	};
	enum bcl_status status = tune_all(&tuning, names, n);

	if (status != BCL_OK)
		return tool_failed("measure", status);
	return is_first(&tuning) ? write_file(&tuning, output) : 0;
}

static int run_job(const char *output, char **names, int n)
{
	struct bcl_team *team;
	struct bcl_adi *adi;
	enum bcl_status status = bcl_adi_open(NULL, &adi);
	int result;

	if (status != BCL_OK)
		return tool_failed("join the job", status);
	status = bcl_team_world(adi, &team);
	if (status == BCL_OK) {
		result = run(team, output, names, n);
		bcl_team_free(team);
	} else {
		result = tool_failed("make the team of all ranks", status);
	}
	bcl_adi_close(adi);
	return result;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *output = "bcl-coll.tuned";
	int option, i;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option != 'o')
			return usage(option == 'h' ? stdout : stderr);
		output = optarg;
	}
	for (i = optind; i < argc; i++)
		if (bcl_operation_find(argv[i], strlen(argv[i])) ==
		    BCL_OPERATIONS) {
			fprintf(stderr, "bcl-tune: \"%s\" is no operation\n",
				argv[i]);
			return usage(stderr);
		}
	/* the choices to be held against are those of the cost model */
	unsetenv("BCL_COLL");
	unsetenv("BCL_COLL_FILE");
	return run_job(output, argv + optind, argc - optind);
}
