/* SPDX-License-Identifier: MIT */
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/inject.h"
#include "sim/random.h"
#include "sim/shrink.h"
#include "tests/unit/need.h"
#include "tools/check/rules.h"

enum {
	FAULTS = 60, /* at most */
	BROKEN = 3,  /* exit status */
};

const char *const storm_counts[] = {
	[CLUSTER_RAN] = "ranks",
	[CLUSTER_CHECKED] = "frames checked",
	[CLUSTER_HARMED] = "harmed",
	[CLUSTER_CUT] = "links cut",
	[CLUSTER_SLOWED] = "nodes slowed",
	[CLUSTER_UNPLUGGED] = "unplugged",
	[CLUSTER_CRASHED] = "crashed",
	[CLUSTER_ISOLATED] = "isolated",
};

/* Of virtual time: a job takes some 20 ms, and a time-out 200. */
static const uint64_t LIMIT = UINT64_C(2000) * CLUSTER_MS;
static const uint64_t PATIENCE = UINT64_C(1000) * CLUSTER_MS;

/* Two or three nodes with up to two ranks and rails, at all speeds. */
static void make_cluster(struct sim_cluster *cluster, uint64_t seed)
{
	char text[1024], error[SIM_ERROR_SIZE];
	uint64_t random = seed;
	int length = snprintf(
		text, sizeof(text),
		"cluster nodes=%u ranks=%u rails=%u\n"
		"host send=0.2us receive=0.2us trap=%uns copy=2GB/s\n"
		"card mtu=%uB buffers=%u frame-sent=%uns frame-received=%uns "
		"read-start=%uns read=1GB/s write-start=%uns write=1GB/s\n"
		"wire w bandwidth=%uMB/s latency=%uns\n"
		"crossbar x latency=300ns queue=%uKB forwarding=cut-through\n"
		"star switch crossbar=x wire=w\n",
		2 + (unsigned)(sim_random(&random) % 2),
		1 + (unsigned)(sim_random(&random) % 2),
		1 + (unsigned)(sim_random(&random) % 2),
		(unsigned)(sim_random(&random) % 2000),
		1024u << sim_random(&random) % 3, 8u << sim_random(&random) % 4,
		(unsigned)(sim_random(&random) % 1000),
		(unsigned)(sim_random(&random) % 1000),
		(unsigned)(sim_random(&random) % 2000),
		(unsigned)(sim_random(&random) % 2000),
		100u << sim_random(&random) % 6,
		(unsigned)(sim_random(&random) % 2000),
		64u << sim_random(&random) % 4);
	FILE *in = fmemopen(text, (size_t)length, "r");

	need(sim_cluster_read(cluster, "cluster", in, error));
	fclose(in);
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

/* False: it breaks a rule, which was said. */
static bool keeps_rules(char *trace, struct storm_log *log)
{
	struct check_world *rules = calloc(1, sizeof(*rules));
	bool kept;

	rules->patience = PATIENCE;
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
	};
	unsigned kind;

	for (kind = 0; kind < SIM_FAULT_KINDS; kind++)
		log->count[counts[kind]] += sim_injector_count(injector, kind);
}

/* Returns if all went well. */
static void run(uint64_t seed, const struct sim_cluster *cluster,
		const struct sim_faults *faults, char *trace,
		struct storm_log *log)
{
	unsigned ranks = cluster->nodes * cluster->ranks, left;
	struct scene scene = { cluster, sim_job_open(cluster, seed) };
	struct sim_world *world = sim_job_world(scene.job);
	struct sim_injector *injector;

	sim_world_set(world, "BCL_TRACE", trace);
	sim_world_set(world, "BCL_PEER_TIMEOUT", "200ms");
	sim_world_log(world, NULL);
	cluster_play.begin(scene.job, ranks, seed);
	injector = sim_inject(faults, cluster, sim_job_fabric(scene.job),
			      sim_world_clock(world), befalls, &scene);
	left = sim_job_run(scene.job, cluster_play.rank, NULL, LIMIT);
	if (left) {
		fprintf(stderr, "%u ranks do not end\n", left);
		exit(1);
	}
	log->count[CLUSTER_RAN] += ranks;
	count(injector, log);
	cluster_play.end();
	sim_injector_close(injector);
	sim_job_close(scene.job);
	if (!keeps_rules(trace, log))
		exit(BROKEN);
}

struct trial {
	uint64_t seed;
	const struct sim_cluster *cluster;
	struct storm_log *log; /* shared with the processes of trials */
	bool silent;
	char trace[32];
};

/* In a process of its own: what breaks a rule does not come back. */
static bool fails(void *arg, const void *items, size_t n)
{
	struct trial *trial = arg;
	const struct sim_faults faults = { (struct sim_fault *)(uintptr_t)items,
					   n };
	pid_t child = fork();
	int status;

	if (!child) {
		if (trial->silent)
			need(freopen("/dev/null", "w", stderr) &&
			     freopen("/dev/null", "w", stdout));
		run(trial->seed, trial->cluster, &faults, trial->trace,
		    trial->log);
		_exit(0);
	}
	need_equal(waitpid(child, &status, 0), child);
	/* It came to an end before its trace was looked at. */
	if (status && !trial->silent &&
	    !(WIFEXITED(status) && WEXITSTATUS(status) == BROKEN))
		keeps_rules(trial->trace, trial->log);
	return status;
}

static void __attribute__((noreturn))
explain(struct trial *trial, struct sim_faults *faults)
{
	trial->silent = true;
	faults->n = sim_shrink(faults->fault, faults->n, sizeof(*faults->fault),
			       fails, trial);
	snprintf(trial->trace, sizeof(trial->trace), "storm-%llu.pcapng",
		 (unsigned long long)trial->seed);
	fails(trial, faults->fault, faults->n);
	fprintf(stderr,
		"seed %llu fails with these faults, and no fewer; see %s:\n",
		(unsigned long long)trial->seed, trial->trace);
	sim_faults_print(faults, stderr);
	exit(1);
}

void storm(uint64_t seed, struct storm_log *log)
{
	struct sim_cluster cluster;
	struct sim_faults faults;
	struct trial trial = { seed, &cluster, log, false, "" };
	int memory = memfd_create("trace", 0);

	snprintf(trial.trace, sizeof(trial.trace), "/proc/self/fd/%d", memory);
	make_cluster(&cluster, seed);
	draw_faults(&faults, &cluster, seed);
	if (fails(&trial, faults.fault, faults.n)) {
		if (storm_quick)
			exit(1);
		explain(&trial, &faults);
	}
	sim_faults_free(&faults);
	sim_cluster_free(&cluster);
	close(memory);
}
