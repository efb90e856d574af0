/* SPDX-License-Identifier: MIT */
#include "cluster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/inject.h"
#include "sim/random.h"
#include "tests/unit/need.h"
#include "tools/check/rules.h"
#include "trial.h"

enum {
	FAULTS = 60, /* at most */
	BROKEN = 3,  /* exit status */
};

const char *const storm_counts[] = {
	[CLUSTER_RAN] = "ranks",	   [CLUSTER_CHECKED] = "frames checked",
	[CLUSTER_HARMED] = "harmed",	   [CLUSTER_CUT] = "links cut",
	[CLUSTER_SLOWED] = "nodes slowed", [CLUSTER_STALLED] = "stalled",
	[CLUSTER_UNPLUGGED] = "unplugged", [CLUSTER_CRASHED] = "crashed",
	[CLUSTER_ISOLATED] = "isolated",
};

static unsigned draw(uint64_t *random, unsigned n)
{
	return (unsigned)(sim_random(random) % n);
}

/* Write a network for the rails that `which` selects. */
static void make_network(FILE *text, uint64_t *random, unsigned nodes,
			 const char *name, const char *which)
{
	switch (draw(random, 3)) {
	case 0:
		fprintf(text, "star %s", name);
		break;
	case 1:
		fprintf(text, "ring %s switches=%u cables=%u", name, nodes,
			1 + draw(random, 2));
		break;
	default:
		fprintf(text, "tree %s down=1,%u up=%u", name, nodes,
			1 + draw(random, 2));
	}
	fprintf(text, " crossbar=x wire=w%s\n", which);
}

/* Write a network for all rails, or a network per rail. */
static void make_networks(FILE *text, uint64_t *random, unsigned nodes,
			  unsigned rails)
{
	char name[] = "n0", which[] = " rail=0";
	unsigned rail;

	if (draw(random, 2)) {
		make_network(text, random, nodes, name, "");
		return;
	}
	for (rail = 0; rail < rails; rail++) {
		name[sizeof(name) - 2] = (char)('0' + rail);
		which[sizeof(which) - 2] = (char)('0' + rail);
		make_network(text, random, nodes, name, which);
	}
}

/* Two or three nodes with up to two ranks and four rails, at all speeds. */
static void make_cluster(struct sim_cluster *cluster, uint64_t seed)
{
	uint64_t random = seed;
	unsigned nodes = 2 + draw(&random, 2), ranks = 1 + draw(&random, 2);
	unsigned rails = 1 + draw(&random, BCL_RAILS_MAX);
	unsigned queue = 64u << draw(&random, 4), latency = draw(&random, 2000);
	unsigned bandwidth = 100u << draw(&random, 6);
	unsigned write = draw(&random, 2000), read = draw(&random, 2000);
	unsigned received = draw(&random, 1000), sent = draw(&random, 1000);
	unsigned buffers = 8u << draw(&random, 4);
	unsigned mtu = 1024u << draw(&random, 3), trap = draw(&random, 2000);
	char *bytes, error[SIM_ERROR_SIZE];
	size_t length;
	FILE *text = open_memstream(&bytes, &length);

	fprintf(text,
		"cluster nodes=%u ranks=%u rails=%u\n"
		"host send=0.2us receive=0.2us trap=%uns copy=2GB/s\n"
		"card mtu=%uB buffers=%u frame-sent=%uns frame-received=%uns "
		"read-start=%uns read=1GB/s write-start=%uns write=1GB/s\n"
		"wire w bandwidth=%uMB/s latency=%uns\n"
		"crossbar x latency=300ns queue=%uKB forwarding=cut-through\n",
		nodes, ranks, rails, trap, mtu, buffers, sent, received, read,
		write, bandwidth, latency, queue);
	make_networks(text, &random, nodes, rails);
	fclose(text);
	text = fmemopen(bytes, length, "r");
	need(sim_cluster_read(cluster, "cluster", text, error));
	fclose(text);
	free(bytes);
}

static void draw_faults(struct sim_faults *faults,
			const struct sim_cluster *cluster, uint64_t seed)
{
	const struct sim_fault_mix mix = {
		.seed = seed,
		.faults = (unsigned)(seed % FAULTS),
		.kinds = cluster_play.kinds,
		.frames = 400,
		.duration = CLUSTER_RAGE,
	};

	sim_faults_random(faults, cluster, &mix);
}

struct scene {
	const struct sim_cluster *cluster;
	struct sim_job *job;
};

/* Returns false if the trace breaks a rule; the rule has been printed. */
static bool keeps_rules(char *trace, struct storm_log *log)
{
	struct check_world *rules = calloc(1, sizeof(*rules));
	bool kept;

	rules->patience = 5 * CLUSTER_MS * (uint64_t)cluster_play.timeout;
	check_world_open(rules);
	kept = check_files(rules, &trace, 1) && !rules->complaints;
	log->count[CLUSTER_CHECKED] += rules->frames;
	check_world_close(rules);
	free(rules);
	return kept;
}

static void befalls(void *arg, const struct sim_fault *fault, bool begins)
{
	const struct scene *scene = arg;
	unsigned ranks = scene->cluster->ranks;

	if (fault->kind == SIM_FAULT_CRASH && !begins)
		cluster_play.crash(fault->node * ranks, ranks, begins);
	sim_job_befalls(scene->job, fault, begins);
	if (fault->kind == SIM_FAULT_CRASH && begins)
		cluster_play.crash(fault->node * ranks, ranks, begins);
}

static void count(const struct sim_injector *injector, struct storm_log *log)
{
	static const enum cluster_count counts[SIM_FAULT_KINDS] = {
		[SIM_FAULT_DROP] = CLUSTER_HARMED,
		[SIM_FAULT_DUPLICATE] = CLUSTER_HARMED,
		[SIM_FAULT_REORDER] = CLUSTER_HARMED,
		[SIM_FAULT_CORRUPT] = CLUSTER_HARMED,
		[SIM_FAULT_DELAY] = CLUSTER_HARMED,
		[SIM_FAULT_CUT] = CLUSTER_CUT,
		[SIM_FAULT_UNPLUG] = CLUSTER_UNPLUGGED,
		[SIM_FAULT_CRASH] = CLUSTER_CRASHED,
		[SIM_FAULT_ISOLATE] = CLUSTER_ISOLATED,
		[SIM_FAULT_SLOW] = CLUSTER_SLOWED,
		[SIM_FAULT_STALL] = CLUSTER_STALLED,
	};
	unsigned kind;

	for (kind = 0; kind < SIM_FAULT_KINDS; kind++)
		log->count[counts[kind]] += sim_injector_count(injector, kind);
}

struct setting {
	const struct sim_cluster *cluster;
	int trace; /* a file in memory */
};

/* The file of the trace: in memory, but for the last run. */
static void name_trace(const struct trial *trial, char name[32])
{
	const struct setting *setting = trial->arg;

	if (trial->last)
		snprintf(name, 32, "storm-%llu.pcapng",
			 (unsigned long long)trial->seed);
	else
		snprintf(name, 32, "/proc/self/fd/%d", setting->trace);
}

static void run(const struct trial *trial, const void *items, size_t n)
{
	const struct setting *setting = trial->arg;
	const struct sim_cluster *cluster = setting->cluster;
	const struct sim_faults faults = { (struct sim_fault *)(uintptr_t)items,
					   n };
	unsigned ranks = cluster->nodes * cluster->ranks, left;
	const uint64_t limit = 10 * CLUSTER_MS * (uint64_t)cluster_play.timeout;
	struct scene scene = { cluster, sim_job_open(cluster, trial->seed) };
	struct sim_world *world = sim_job_world(scene.job);
	struct sim_injector *injector;
	char timeout[16], trace[32];

	name_trace(trial, trace);
	snprintf(timeout, sizeof(timeout), "%ums", cluster_play.timeout);
	sim_world_set(world, "BCL_TRACE", trace);
	sim_world_set(world, "BCL_PEER_TIMEOUT", timeout);
	sim_world_log(world, NULL);
	cluster_play.begin(scene.job, ranks, trial->seed);
	injector = sim_inject(&faults, cluster, sim_job_fabric(scene.job),
			      sim_world_clock(world), befalls, &scene);
	left = sim_job_run(scene.job, cluster_play.rank, NULL, limit);
	if (left) {
		fprintf(stderr, "%u ranks do not end\n", left);
		exit(1);
	}
	trial->log->count[CLUSTER_RAN] += ranks;
	count(injector, trial->log);
	if (cluster_play.end)
		cluster_play.end();
	sim_injector_close(injector);
	sim_job_close(scene.job);
	if (!keeps_rules(trace, trial->log))
		exit(BROKEN);
}

/* The run failed. If it ended before it checked its trace, check the trace. */
static void failed(const struct trial *trial, int status)
{
	char trace[32];

	if (WIFEXITED(status) && WEXITSTATUS(status) == BROKEN)
		return;
	name_trace(trial, trace);
	keeps_rules(trace, trial->log);
}

static void print(const void *items, size_t n, FILE *to)
{
	const struct sim_faults faults = { (struct sim_fault *)(uintptr_t)items,
					   n };

	sim_faults_print(&faults, to);
}

static void read_faults(struct sim_faults *faults,
			const struct sim_cluster *cluster)
{
	char error[SIM_ERROR_SIZE];
	FILE *in = fopen(storm_script, "r");

	if (!in)
		snprintf(error, sizeof(error), "%s: %s", storm_script,
			 strerror(errno));
	if (!in || !sim_faults_read(faults, cluster, storm_script, in, error)) {
		fprintf(stderr, "%s\n", error);
		exit(1);
	}
	fclose(in);
}

void storm(uint64_t seed, struct storm_log *log)
{
	struct sim_cluster cluster;
	struct sim_faults faults;
	struct setting setting = { &cluster, memfd_create("trace", 0) };

	make_cluster(&cluster, seed);
	if (storm_script)
		read_faults(&faults, &cluster);
	else
		draw_faults(&faults, &cluster, seed);
	trial(&(struct trial){
		.seed = seed,
		.log = log,
		.faults = faults.fault,
		.n = faults.n,
		.size = sizeof(*faults.fault),
		.arg = &setting,
		.run = run,
		.failed = failed,
		.print = print,
		.traces = true,
	});
	sim_faults_free(&faults);
	sim_cluster_free(&cluster);
	close(setting.trace);
}
