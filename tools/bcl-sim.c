/* SPDX-License-Identifier: MIT */
/* bcl-sim: runs collectives and traffic patterns on a simulated cluster. */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "env/config.h"
#include "sim/inject.h"
#include "tools/sim.h"
#include "wire/pcapng.h"

enum {
	REPEAT = 10,
	SIM_ABOVE_MAX = 1000000000, /* ns */
	BUSIEST = 5,
	FAULTS = 20, /* random faults, unless given */
	FAULTS_MAX = 100000,
	FAULT_FRAMES = 1000,   /* largest `nth` of a class between two nodes */
	FAULT_TIME = 10000000, /* ns within which links and nodes fail */
	SLICE = 10000,	       /* ns of virtual time between looks at the wall
				* clock */
	PROGRESS = 5,	       /* s between lines of progress */
	PATH = 4096,
	MESSAGES = 256,	   /* pending per rank, as in real jobs */
	MAPPED = 16 << 10, /* bytes from which malloc() maps zeroed pages */
};

enum {
	ALL = (1 << SIM_FAULT_KINDS) - 1,
	/* Faults that a job may not survive. */
	FATAL = 1 << SIM_FAULT_UNPLUG | 1 << SIM_FAULT_CRASH |
		1 << SIM_FAULT_ISOLATE,
};

/* Kinds of random faults, by the word before the seed. */
static const struct chance {
	const char *name;
	unsigned kinds;
} chances[] = {
	{ "random:", ALL & ~FATAL },
	{ "fatal:", ALL },
	{ NULL, 0 },
};

struct settings {
	const char *cluster, *pattern, *faults, *trace, *plot;
	uint64_t seed, limit;
	unsigned busiest;
	struct sim_series series;
};

struct run {
	struct sim_cluster cluster;
	struct sim_faults faults;
	struct sim_job *job;
	struct sim_clock *clock;
	uint64_t start;
	double began; /* wall clock, by wall_seconds() */
	struct sim_injector *injector;
	unsigned left; /* ranks that have not returned */
};

static const struct option options[] = {
	{ "nodes", required_argument, NULL, 'n' },
	{ "ranks", required_argument, NULL, 'k' },
	{ "above", required_argument, NULL, 'a' },
	{ "repeat", required_argument, NULL, 'r' },
	{ "together", no_argument, NULL, 'g' },
	{ "algorithm", required_argument, NULL, 'A' },
	{ "seed", required_argument, NULL, 's' },
	{ "limit", required_argument, NULL, 'l' },
	{ "busiest", required_argument, NULL, 'b' },
	{ "faults", required_argument, NULL, 'f' },
	{ "trace", required_argument, NULL, 't' },
	{ "plot", required_argument, NULL, 'p' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int help(void)
{
	printf("usage: bcl-sim [OPTION]... CLUSTER PATTERN [BYTES]...\n"
	       "CLUSTER is a description, bcl-cluster(5), or the name of an "
	       "installed one.\n"
	       "PATTERN is one of\n");
	sim_pattern_list(stdout);
	printf("  -n, --nodes=N      only the first N nodes take part\n"
	       "  -k, --ranks=N      only the first N ranks of each node do\n"
	       "  -a, --above=TIME   what a message costs above ports (0)\n"
	       "  -r, --repeat=N     rounds of each size (%d)\n"
	       "  -g, --together     all begin each round at the same "
	       "moment\n"
	       "  -A, --algorithm=NAME\n"
	       "                     of the operation, instead of the one that "
	       "the library\n"
	       "                     chooses\n"
	       "  -s, --seed=N       of all that is left to chance (1)\n"
	       "  -l, --limit=TIME   of the simulated cluster (100s)\n"
	       "  -b, --busiest=N    links that are shown by themselves (%d)\n"
	       "  -f, --faults=FILE  a script, bcl-faults(5); random:SEED or "
	       "random:SEED:N:\n"
	       "                     N faults by chance (%d); fatal:SEED, "
	       "fatal:SEED:N: also\n"
	       "                     such as may end the job\n"
	       "  -t, --trace=FILE   what cards do, for bcl-check(1)\n"
	       "  -p, --plot=FILE    draw time and load, as PNG\n",
	       REPEAT, BUSIEST, FAULTS);
	return 0;
}

/* The caller has printed what is wrong. */
static int refer_to_help(void)
{
	fprintf(stderr, "bcl-sim: see bcl-sim --help\n");
	return 2;
}

/* ---- arguments ---- */

static bool parse_number(const char *text, enum bcl_config_kind kind,
			 uint64_t max, uint64_t *value)
{
	return !bcl_config_parse(kind, text, value) && *value <= max;
}

/* Prints why the value of the option is wrong. */
static void refuse_value(int option)
{
	fprintf(stderr, "bcl-sim: -%c: \"%s\" is not ", option, optarg);
	switch (option) {
	case 'a':
	case 'l':
		fprintf(stderr, "a time%s, such as 2.5us\n",
			option == 'a' ? " up to 1s" : "");
		break;
	case 'r':
		fprintf(stderr, "a number from 1 to %d\n", SIM_REPEAT_MAX);
		break;
	case 's':
	case 'b':
		fprintf(stderr, "a number\n");
		break;
	default:
		fprintf(stderr, "a number from 1 on\n");
	}
}

static bool take_option(struct settings *settings, int option)
{
	uint64_t value;

	switch (option) {
	case 'n':
	case 'k':
		if (!parse_number(optarg, BCL_CONFIG_INTEGER, UINT32_MAX,
				  &value) ||
		    !value)
			return false;
		if (option == 'n')
			settings->series.nodes = (unsigned)value;
		else
			settings->series.ranks = (unsigned)value;
		return true;
	case 'a':
		return parse_number(optarg, BCL_CONFIG_TIME, SIM_ABOVE_MAX,
				    &settings->series.above);
	case 'r':
		if (!parse_number(optarg, BCL_CONFIG_INTEGER, SIM_REPEAT_MAX,
				  &value) ||
		    !value)
			return false;
		settings->series.repeat = (unsigned)value;
		return true;
	case 'g':
		settings->series.together = true;
		return true;
	case 'A':
		settings->series.algorithm = optarg;
		return true;
	case 's':
		return parse_number(optarg, BCL_CONFIG_INTEGER, UINT64_MAX,
				    &settings->seed);
	case 'l':
		return parse_number(optarg, BCL_CONFIG_TIME, UINT64_MAX / 2,
				    &settings->limit);
	case 'b':
		if (!parse_number(optarg, BCL_CONFIG_INTEGER, UINT32_MAX,
				  &value))
			return false;
		settings->busiest = (unsigned)value;
		return true;
	case 'f':
		settings->faults = optarg;
		return true;
	case 't':
		settings->trace = optarg;
		return true;
	case 'p':
		settings->plot = optarg;
		return true;
	}
	return false;
}

/* Finds the operation of the pattern and checks that it has the algorithm. */
static bool find_algorithm(struct sim_series *series)
{
	const char *name = series->pattern->name;
	const struct bcl_algorithm *algorithm;
	enum bcl_operation operation = bcl_operation_find(name, strlen(name));

	if (!series->algorithm)
		return true;
	/* the pattern consists of messages, it is not bcl_shift() */
	if (operation == BCL_OPERATION_SHIFT)
		operation = BCL_OPERATIONS;
	if (operation == BCL_OPERATIONS) {
		fprintf(stderr, "bcl-sim: %s has no algorithms\n", name);
		return false;
	}
	series->forced = operation;
	for (algorithm = bcl_algorithms[operation]; algorithm->name;
	     algorithm++)
		if (!strcmp(algorithm->name, series->algorithm))
			return true;
	fprintf(stderr, "bcl-sim: %s has no algorithm \"%s\", but:", name,
		series->algorithm);
	for (algorithm = bcl_algorithms[operation]; algorithm->name;
	     algorithm++)
		fprintf(stderr, " %s", algorithm->name);
	fputc('\n', stderr);
	return false;
}

static bool take_arguments(struct settings *settings, int argc, char **argv)
{
	struct sim_series *series = &settings->series;
	uint64_t size;
	int i;

	if (argc < 2 || argc > 2 + SIM_SIZES) {
		fprintf(stderr,
			"bcl-sim: expected a cluster, a pattern and at most %d "
			"sizes\n",
			SIM_SIZES);
		return false;
	}
	settings->cluster = argv[0];
	settings->pattern = argv[1];
	series->pattern = sim_pattern_find(argv[1]);
	if (!series->pattern) {
		fprintf(stderr, "bcl-sim: there is no pattern \"%s\"\n",
			argv[1]);
		return false;
	}
	if (!find_algorithm(series))
		return false;
	series->size[0] = 8;
	series->nsizes = 1;
	for (i = 2; i < argc; i++) {
		if (!parse_number(argv[i], BCL_CONFIG_SIZE, 1u << 30, &size)) {
			fprintf(stderr,
				"bcl-sim: \"%s\" is no size, or above 1G\n",
				argv[i]);
			return false;
		}
		if (series->pattern->brief && size >= SIM_PORT_LONG) {
			fprintf(stderr,
				"bcl-sim: %s takes less than %d bytes, not "
				"%s\n",
				series->pattern->name, SIM_PORT_LONG, argv[i]);
			return false;
		}
		series->nsizes = (unsigned)i - 1;
		series->size[i - 2] = size;
	}
	return true;
}

/* ---- input files ---- */

/* Opens the file, or the installed cluster of that name; *path is the last path
 * tried. */
static FILE *open_cluster(const char *name, char path[PATH])
{
	FILE *in = fopen(name, "r");

	snprintf(path, PATH, "%s", name);
	if (!in && errno == ENOENT && !strchr(name, '/')) {
		snprintf(path, PATH, "%s/clusters/%s.cluster", PKGDATADIR,
			 name);
		in = fopen(path, "r");
	}
	return in;
}

static bool read_cluster(const struct settings *settings, struct run *run)
{
	char path[PATH], error[SIM_ERROR_SIZE];
	FILE *in = open_cluster(settings->cluster, path);
	bool good;

	if (!in) {
		fprintf(stderr, "bcl-sim: %s: %s\n", settings->cluster,
			strerror(errno));
		if (strcmp(path, settings->cluster) != 0)
			fprintf(stderr, "bcl-sim: nor is there %s\n", path);
		return false;
	}
	good = sim_cluster_read(&run->cluster, path, in, error);
	fclose(in);
	if (!good)
		fprintf(stderr, "bcl-sim: %s\n", error);
	return good;
}

static bool read_script(const char *name, struct run *run)
{
	char error[SIM_ERROR_SIZE];
	FILE *in = fopen(name, "r");
	bool good;

	if (!in) {
		fprintf(stderr, "bcl-sim: %s: %s\n", name, strerror(errno));
		return false;
	}
	good = sim_faults_read(&run->faults, &run->cluster, name, in, error);
	fclose(in);
	if (!good)
		fprintf(stderr, "bcl-sim: %s\n", error);
	return good;
}

static bool draw_faults(const struct chance *chance, const char *text,
			struct run *run)
{
	struct sim_fault_mix mix = {
		.faults = FAULTS,
		.kinds = chance->kinds,
		.frames = FAULT_FRAMES,
		.duration = FAULT_TIME,
	};
	unsigned long long seed;
	int length = 0;

	if (*text < '0' || *text > '9' ||
	    sscanf(text, "%llu%n:%9u%n", &seed, &length, &mix.faults, &length) <
		    1 ||
	    text[length] || mix.faults > FAULTS_MAX) {
		fprintf(stderr,
			"bcl-sim: %s%s: expected %sSEED or %sSEED:N, N at most "
			"%d\n",
			chance->name, text, chance->name, chance->name,
			FAULTS_MAX);
		return false;
	}
	mix.seed = seed;
	sim_faults_random(&run->faults, &run->cluster, &mix);
	return true;
}

static bool read_faults(const struct settings *settings, struct run *run)
{
	const char *name = settings->faults;
	const struct chance *chance;

	if (!name)
		return true;
	for (chance = chances; chance->name; chance++)
		if (!strncmp(name, chance->name, strlen(chance->name)))
			return draw_faults(chance, name + strlen(chance->name),
					   run);
	return read_script(name, run);
}

/* ---- the run ---- */

static uint64_t virtual_time(const struct run *run)
{
	return run->clock->now - run->start;
}

static void show_progress(const struct settings *settings,
			  const struct run *run)
{
	fprintf(stderr,
		"bcl-sim: %.3f ms simulated, %u of %u rounds, %u ranks left\n",
		(double)virtual_time(run) * 1e-6, settings->series.done,
		sim_series_total(&settings->series), run->left);
}

static void run_job(struct settings *settings, struct run *run)
{
	struct sim_world *world = sim_job_world(run->job);
	time_t shown = time(NULL);

	run->left =
		sim_job_run(run->job, sim_series_run, &settings->series, SLICE);
	while (run->left && virtual_time(run) < settings->limit) {
		uint64_t next = sim_clock_next(run->clock);

		if (next == UINT64_MAX)
			break; /* the ranks wait for events that will not
				* happen */
		/* Goes at least to the next event. */
		run->left =
			sim_world_run(world, next - run->clock->now + SLICE);
		if (time(NULL) - shown >= PROGRESS) {
			shown = time(NULL);
			show_progress(settings, run);
		}
	}
}

static unsigned ranks_of(const struct run *run)
{
	return run->cluster.nodes * run->cluster.ranks;
}

/* True if all ranks have finished all rounds. */
static bool is_whole(const struct settings *settings, const struct run *run)
{
	return settings->series.complete == ranks_of(run);
}

static void print_faults(const struct run *run)
{
	unsigned kind;

	if (!run->faults.n)
		return;
	printf("\nfaults\n");
	sim_faults_print(&run->faults, stdout);
	printf("\nhappened");
	for (kind = 0; kind < SIM_FAULT_KINDS; kind++) {
		uint64_t n = sim_injector_count(run->injector, kind);

		if (n)
			printf(" %s %llu", sim_fault_name(kind),
			       (unsigned long long)n);
	}
	putchar('\n');
}

/* Prints resources of the cluster that the run used, besides time. */
static void print_use(const struct sim_series *series, const struct run *run)
{
	struct bcl_card_peaks peaks;
	struct sim_load_thin thin;

	sim_job_peaks(run->job, &peaks);
	printf("card of a node, at most: %.1f KB of memory, %u messages to be "
	       "sent, %u held\n",
	       peaks.memory / 1024., peaks.sending, peaks.held);
	sim_load_thin(&series->load, &thin);
	if (thin.name)
		printf("thin links %s: %.1f %% of their bandwidth, from %.1f "
		       "to "
		       "%.1f\n",
		       thin.name, thin.busy, thin.least, thin.most);
}

static void print_all(const struct settings *settings, const struct run *run)
{
	const struct sim_series *series = &settings->series;
	const struct sim_cluster *cluster = &run->cluster;

	printf("%s on %s: %u nodes of %u ranks and %u rails, seed %llu\n\n",
	       settings->pattern, settings->cluster, cluster->nodes,
	       cluster->ranks, cluster->rails,
	       (unsigned long long)settings->seed);
	if (is_whole(settings, run)) {
		sim_series_print(series, stdout);
		putchar('\n');
		sim_load_print(&series->load, settings->busiest, stdout);
		putchar('\n');
		print_use(series, run);
	}
	printf("%.3f ms simulated, %llu frames sent again\n",
	       (double)virtual_time(run) * 1e-6,
	       (unsigned long long)series->again);
	print_faults(run);
	fflush(stdout);
}

/* On the wall clock. */
static double wall_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Prints what the simulation itself cost: to stderr, as the values vary from
 * run to run. */
static void print_effort(const struct run *run)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr,
		"bcl-sim: %ld KB of memory per rank, %.1f s, %.1f s of the "
		"processor\n",
		usage.ru_maxrss / (long)ranks_of(run),
		wall_seconds() - run->began,
		(double)usage.ru_utime.tv_sec +
			(double)usage.ru_utime.tv_usec * 1e-6);
}

/* Returns false, after a message, if an output could not be written. */
static bool is_written(const struct settings *settings, const struct run *run)
{
	if (ferror(stdout)) {
		fprintf(stderr, "bcl-sim: not all of the output could be "
				"written\n");
		return false;
	}
	if (settings->trace && !sim_job_traced(run->job)) {
		fprintf(stderr, "bcl-sim: %s: not all could be written\n",
			settings->trace);
		return false;
	}
	return true;
}

static int plot_series(const struct settings *settings)
{
	char title[256];

	if (!settings->plot)
		return 0;
	snprintf(title, sizeof(title), "%s on %s", settings->pattern,
		 settings->cluster);
	if (sim_plot(settings->plot, title, &settings->series))
		return 0;
	fprintf(stderr, "bcl-sim: gnuplot does not draw %s\n", settings->plot);
	return 1;
}

static int report_failures(const struct settings *settings,
			   const struct run *run)
{
	const struct sim_series *series = &settings->series;
	unsigned crashed =
		ranks_of(run) - series->complete - series->failed - run->left;

	if (crashed)
		fprintf(stderr, "bcl-sim: %u ranks have crashed\n", crashed);
	if (series->failed)
		fprintf(stderr, "bcl-sim: %u ranks had to give up: %s\n",
			series->failed, bcl_strstatus(series->status));
	if (run->left)
		fprintf(stderr,
			"bcl-sim: %u ranks have not come to their end%s\n",
			run->left,
			virtual_time(run) < settings->limit
				? ""
				: " within the time (--limit)");
	return !is_whole(settings, run);
}

static bool can_trace(const char *name)
{
	struct bcl_pcapng file;

	if (bcl_pcapng_open(&file, name)) {
		bcl_pcapng_close(&file);
		return true;
	}
	fprintf(stderr, "bcl-sim: %s: %s\n", name, strerror(errno));
	return false;
}

/* Uses all, unless the user wants fewer. */
static bool take_part(unsigned *wished, unsigned all, const char *what)
{
	if (!*wished)
		*wished = all;
	if (*wished <= all)
		return true;
	fprintf(stderr, "bcl-sim: there are only %u %s, not %u\n", all, what,
		*wished);
	return false;
}

static int simulate_series(struct settings *settings, struct run *run)
{
	struct sim_series *series = &settings->series;
	int failed;

	if (!take_part(&series->nodes, run->cluster.nodes, "nodes") ||
	    !take_part(&series->ranks, run->cluster.ranks, "ranks a node") ||
	    (settings->trace && !can_trace(settings->trace)))
		return 1;
	run->job = sim_job_open(&run->cluster, settings->seed);
	sim_job_messages(run->job, MESSAGES);
	run->clock = sim_world_clock(sim_job_world(run->job));
	run->start = run->clock->now;
	if (settings->trace)
		sim_world_set(sim_job_world(run->job), "BCL_TRACE",
			      settings->trace);
	series->cluster = &run->cluster;
	sim_series_open(series, settings->seed);
	run->injector = sim_inject(&run->faults, &run->cluster,
				   sim_job_fabric(run->job), run->clock,
				   sim_job_befalls, run->job);
	series->leave = settings->trace || settings->faults;
	run_job(settings, run);
	if (is_whole(settings, run) && !series->leave)
		sim_job_stop(run->job);
	print_all(settings, run);
	print_effort(run);
	failed = report_failures(settings, run) || !is_written(settings, run) ||
		 plot_series(settings);
	if (!is_whole(settings, run) || !series->leave)
		exit(failed); /* without a close: objects that ranks have left
			       * behind would be in the way */
	sim_injector_close(run->injector);
	sim_series_close(series);
	sim_job_close(run->job);
	return failed;
}

int main(int argc, char **argv)
{
	struct settings settings = {
		.seed = 1,
		.limit = 100000000000,
		.busiest = BUSIEST,
		.series.repeat = REPEAT,
	};
	struct run run = { .began = wall_seconds() };
	int option, failed;

	/* Set explicitly, as freeing mapped memory raises a threshold that is
	 * not set. */
	mallopt(M_MMAP_THRESHOLD, MAPPED);
	while ((option = getopt_long(argc, argv, "n:k:a:r:gA:s:l:b:f:t:p:h",
				     options, NULL)) != -1) {
		if (option == 'h')
			return help();
		if (!take_option(&settings, option)) {
			if (option != '?')
				refuse_value(option);
			return refer_to_help();
		}
	}
	if (!take_arguments(&settings, argc - optind, argv + optind))
		return refer_to_help();
	if (!read_cluster(&settings, &run))
		return 1;
	failed = !read_faults(&settings, &run) ||
		 simulate_series(&settings, &run);
	sim_faults_free(&run.faults);
	sim_cluster_free(&run.cluster);
	return failed;
}
