/* SPDX-License-Identifier: MIT */
/* bcl-perf: measures the library beside references of the machine. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcl/version.h>

#include "bench/perf_rank.h"
#include "bench/perf_report.h"
#include "bench/perf_run.h"

enum {
	ROUNDS = 15,
	PATH = 4096,
};

static const struct option options[] = {
	{ "rounds", required_argument, NULL, 'r' },
	{ "only", required_argument, NULL, 'o' },
	{ "csv", required_argument, NULL, 'c' },
	{ "json", required_argument, NULL, 'j' },
	{ "bars", no_argument, NULL, 'b' },
	{ "virtual", no_argument, NULL, 'v' },
	{ "list", no_argument, NULL, 'l' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

struct settings {
	const char *csv, *json;
	bool virtual, list;
};

static void usage(void)
{
	printf("usage: bcl-perf [OPTION]...\n"
	       "Measures the library beside references of this machine.\n"
	       "  -r, --rounds=N   rounds of each figure (%d)\n"
	       "  -o, --only=TEXT  figures and sections whose name has TEXT\n"
	       "  -c, --csv=FILE   write a table, too (- is standard output)\n"
	       "  -j, --json=FILE  write everything, each sample too\n"
	       "  -b, --bars       which figures reach their bar, too\n"
	       "  -v, --virtual    no namespaces: nodes over loopback\n"
	       "  -l, --list       print the names of the figures\n"
	       "  -h, --help  -V, --version\n",
	       ROUNDS);
}

static void refuse(const char *what, const char *text, const char *why)
	__attribute__((noreturn));

static void refuse(const char *what, const char *text, const char *why)
{
	fprintf(stderr, "bcl-perf: %s: \"%s\" %s; see bcl-perf --help\n", what,
		text, why);
	exit(2);
}

/* Returns 0 if the text is no number from 1 to 1000000. */
static unsigned int parse_number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	return *end || value < 1 || value > 1000000 ? 0 : (unsigned int)value;
}

/* Fails now rather than after minutes of measuring. */
static void can_write(const char *name)
{
	FILE *out;

	if (!name || !strcmp(name, "-"))
		return;
	out = fopen(name, "a");
	if (!out) {
		fprintf(stderr, "bcl-perf: %s: %s\n", name, strerror(errno));
		exit(2);
	}
	fclose(out);
}

static void parse_options(int argc, char **argv, struct perf_run *run,
			  struct settings *settings)
{
	int option;

	while ((option = getopt_long(argc, argv, "r:o:c:j:bvlhV", options,
				     NULL)) != -1)
		switch (option) {
		case 'r':
			run->rounds = parse_number(optarg);
			if (!run->rounds)
				refuse("--rounds", optarg,
				       "is not a number from 1 to 1000000");
			break;
		case 'o':
			run->only = optarg;
			break;
		case 'c':
			settings->csv = optarg;
			break;
		case 'j':
			settings->json = optarg;
			break;
		case 'b':
			run->bars = true;
			break;
		case 'v':
			settings->virtual = true;
			break;
		case 'l':
			settings->list = true;
			break;
		case 'h':
			usage();
			exit(0);
		case 'V':
			printf("bcl-perf %s\n", bcl_version());
			exit(0);
		default:
			fprintf(stderr, "bcl-perf: see bcl-perf --help\n");
			exit(2);
		}
	if (optind < argc)
		refuse("the arguments", argv[optind], "is not an option");
	can_write(settings->csv);
	can_write(settings->json);
}

/* Finds the file of this program and the directory of the references. */
static void find_files(char self[PATH], char programs[PATH])
{
	ssize_t n = readlink("/proc/self/exe", self, PATH - 1);
	char file[PATH + 16];
	char *name;

	self[n < 0 ? 0 : n] = 0;
	name = strrchr(self, '/');
	/* In the build tree; if the references are not there, as installed. */
	snprintf(programs, PATH, "%.*s/ref/", (int)(name ? name - self : 0),
		 self);
	snprintf(file, sizeof(file), "%sref-line", programs);
	if (access(file, X_OK))
		snprintf(programs, PATH, "%s/", PKGLIBEXECDIR);
}

/* The index after the last line of the section that begins at `first`. */
static unsigned int section_end(const struct perf_run *run, unsigned int first)
{
	const char *section = run->line[first].row->section;
	unsigned int end = first;

	while (end < run->lines &&
	       !strcmp(run->line[end].row->section, section))
		end++;
	return end;
}

static bool write_file(const char *name, const struct perf_run *run,
		       void (*print)(FILE *out, const struct perf_run *run))
{
	FILE *out;

	if (!name)
		return true;
	out = strcmp(name, "-") ? fopen(name, "w") : stdout;
	if (!out) {
		fprintf(stderr, "bcl-perf: %s: %s\n", name, strerror(errno));
		return false;
	}
	print(out, run);
	if (!ferror(out) && (out == stdout ? !fflush(out) : !fclose(out)))
		return true;
	fprintf(stderr, "bcl-perf: %s: %s\n", name, strerror(errno));
	return false;
}

static void list_figures(struct perf_run *run)
{
	unsigned int i;

	perf_run_plan(run);
	for (i = 0; i < run->lines; i++)
		printf("%s\n", run->line[i].figure);
	perf_run_free(run);
}

/* Returns true if all figures of ours that may run here did. */
static bool measure_sections(struct perf_run *run)
{
	unsigned int first, end, i;
	bool good = true;

	perf_text_head(stdout, run);
	for (first = 0; first < run->lines; first = end) {
		end = section_end(run, first);
		perf_run_section(run, first, end);
		for (i = first; i < end; i++) {
			perf_judge(&run->line[i]);
			good &= !*run->line[i].failure || run->line[i].skipped;
		}
		perf_text_section(stdout, run, first, end);
	}
	perf_text_end(stdout, run);
	return good;
}

int main(int argc, char **argv)
{
	struct perf_run run = { .rounds = ROUNDS };
	char self[PATH], programs[PATH];
	struct settings settings = { 0 };
	struct perf_given given;
	int status;
	bool good;

	if (argc > 1 && !strcmp(argv[1], "rank"))
		return perf_rank_main(NULL, argc - 1, argv + 1);
	parse_options(argc, argv, &run, &settings);
	if (settings.list) {
		list_figures(&run);
		return 0;
	}
	find_files(self, programs);
	run.self = self;
	run.programs = programs;
	if (perf_launched(&given, &status))
		return status;
	if (given.ranks[0])
		run.given = &given;
	else
		perf_places_enter(programs, self, settings.virtual, argv);
	perf_places_find(&run.places);
	perf_run_plan(&run);
	if (!run.lines)
		refuse("--only", run.only,
		       "is in no name of a figure that there is here (--list)");
	signal(SIGPIPE, SIG_IGN);
	good = measure_sections(&run);
	if (run.given)
		perf_source_stop(&given.source);
	good &= write_file(settings.csv, &run, perf_csv);
	good &= write_file(settings.json, &run, perf_json);
	perf_run_free(&run);
	return good ? 0 : 1;
}
