/* SPDX-License-Identifier: MIT */
/* Puts a job together: the world, fabric, cards and ranks, and a bootstrap by a
 * table in memory; see job.h. */
#include "sim/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"
#include "sim/host.h"
#include "transport/context.h"

enum {
	MESSAGES = 32, /* pending per rank; cards have room for twice as many */
	CHANNELS = 1024, /* of all ports of a rank */
};

struct sim_boot_value {
	struct sim_boot_value *next;
	char name[BCL_BOOT_NAME_MAX];
	size_t length;
	uint8_t bytes[];
};

struct sim_job {
	const struct sim_cluster *cluster;
	struct sim_world *world;
	struct sim_fabric *fabric;
	struct sim_card *cards;
	struct sim_hosts hosts;
	struct sim_rank *ranks;
	uint32_t nranks;
	uint32_t living, fenced; /* ranks; `fenced`: those of them in the
				  * fence */
	void (*run)(struct sim_rank *rank);
	char requests[16]; /* text of a variable */
};

/* ---- bootstrap ---- */

static struct sim_boot_value **place_of(struct sim_rank *rank, const char *name)
{
	struct sim_boot_value **place = &rank->values;

	while (*place && strcmp((*place)->name, name))
		place = &(*place)->next;
	return place;
}

static void forget_value(struct sim_boot_value **place)
{
	struct sim_boot_value *value = *place;

	*place = value->next;
	free(value);
}

static enum bcl_status put_value(struct bcl_boot *boot, const char *name,
				 const void *bytes, size_t length)
{
	struct sim_rank *rank = boot->state;
	struct sim_boot_value **place = place_of(rank, name), *value;

	if (*place) /* put by an earlier incarnation */
		forget_value(place);
	value = sim_need(malloc(sizeof(*value) + length));
	value->next = rank->values;
	value->length = length;
	memcpy(value->name, name, strlen(name) + 1);
	memcpy(value->bytes, bytes, length);
	rank->values = value;
	return BCL_OK;
}

static enum bcl_status get_value(struct bcl_boot *boot, unsigned number,
				 const char *name, void *bytes, size_t size,
				 size_t *length)
{
	const struct sim_rank *rank = boot->state;
	const struct sim_boot_value *value =
		*place_of(&rank->job->ranks[number], name);

	if (!value)
		return BCL_ERR_EMPTY;
	if (value->length > size)
		return BCL_ERR_TRUNCATED;
	memcpy(bytes, value->bytes, value->length);
	*length = value->length;
	return BCL_OK;
}

/* Ends the fence if all living ranks have entered it. */
static void end_fence(struct sim_job *job)
{
	const struct bcl_env *env = sim_world_env(job->world);
	uint32_t i;

	if (!job->fenced || job->fenced < job->living)
		return;
	job->fenced = 0;
	for (i = 0; i < job->nranks; i++) {
		if (!job->ranks[i].fencing)
			continue;
		job->ranks[i].fencing = false;
		env->wake(env->world, job->ranks[i].object);
	}
}

static enum bcl_status fence_ranks(struct bcl_boot *boot)
{
	struct sim_rank *rank = boot->state;
	struct sim_job *job = rank->job;
	const struct bcl_env *env = sim_world_env(job->world);

	rank->fencing = true;
	job->fenced++;
	end_fence(job);
	while (rank->fencing)
		env->wait(env->world, rank->object, UINT64_MAX);
	env->clear(env->world, rank->object);
	return BCL_OK;
}

static const struct bcl_boot_kind boot_kind = {
	.name = "sim",
	.put = put_value,
	.get = get_value,
	.fence = fence_ranks,
};

/* ---- ranks ---- */

static void begin_rank(struct sim_rank *rank)
{
	rank->living = true;
	rank->job->living++;
}

static void end_rank(struct sim_rank *rank)
{
	struct sim_job *job = rank->job;

	job->living -= rank->living;
	job->fenced -= rank->fencing;
	rank->living = rank->fencing = false;
	end_fence(job);
}

static void run_rank(void *arg)
{
	struct sim_rank *rank = arg;

	rank->job->run(rank);
	end_rank(rank);
}

enum bcl_status sim_rank_open(struct sim_rank *rank,
			      struct bcl_context **context)
{
	const struct bcl_context_options options = {
		.struct_size = sizeof(options),
		.local_ranks = rank->job->cluster->ranks,
	};

	return bcl_context_open(rank->env, &options, -1, context);
}

enum bcl_status sim_rank_join(struct sim_rank *rank, struct bcl_adi **adi)
{
	struct bcl_adi_options options = { .struct_size = sizeof(options),
					   .boot = &rank->boot };
	enum bcl_status status;

	status = sim_rank_open(rank, &options.context);
	if (status)
		return status;
	status = bcl_adi_open(&options, adi);
	if (status)
		bcl_close(options.context);
	return status;
}

void sim_rank_leave(struct bcl_adi *adi)
{
	struct bcl_context *context = bcl_adi_context(adi);

	bcl_adi_close(adi);
	bcl_close(context);
}

static void open_ranks(struct sim_job *job)
{
	const struct bcl_env *env = sim_world_env(job->world);
	uint32_t i;

	job->ranks = sim_need(calloc(job->nranks, sizeof(*job->ranks)));
	for (i = 0; i < job->nranks; i++)
		job->ranks[i] = (struct sim_rank){
			.job = job,
			.env = env,
			.boot = { .kind = &boot_kind,
				  .rank = i,
				  .size = job->nranks,
				  .local_ranks = job->cluster->ranks,
				  .config = { .env = env },
				  .state = &job->ranks[i] },
			.object = env->object_open(env->world),
		};
}

unsigned sim_job_run(struct sim_job *job, void (*what)(struct sim_rank *rank),
		     void *arg, uint64_t limit)
{
	uint32_t i;

	job->run = what;
	for (i = 0; i < job->nranks; i++) {
		job->ranks[i].arg = arg;
		begin_rank(&job->ranks[i]);
		sim_world_spawn_on(job->world, i / job->cluster->ranks,
				   run_rank, &job->ranks[i]);
	}
	return sim_world_run(job->world, limit);
}

void sim_job_stop(struct sim_job *job)
{
	uint32_t i;

	for (i = 0; i < job->nranks; i++)
		sim_hosts_crash(&job->hosts, i);
	for (i = 0; i < job->cluster->nodes; i++)
		sim_card_power(&job->cards[i], false);
}

/* ---- faults of nodes ---- */

static void crash_node(struct sim_job *job, uint32_t node)
{
	uint32_t ranks = job->cluster->ranks, i;

	for (i = node * ranks; i < (node + 1) * ranks; i++)
		sim_hosts_crash(&job->hosts, i);
	sim_world_kill(job->world, node);
	for (i = node * ranks; i < (node + 1) * ranks; i++)
		end_rank(&job->ranks[i]);
	sim_card_power(&job->cards[node], false);
}

static void come_back(struct sim_job *job, uint32_t node)
{
	const struct bcl_env *env = sim_world_env(job->world);
	uint32_t ranks = job->cluster->ranks, i;

	sim_card_power(&job->cards[node], true);
	for (i = node * ranks; i < (node + 1) * ranks; i++) {
		job->ranks[i].life++;
		env->clear(env->world, job->ranks[i].object);
		begin_rank(&job->ranks[i]);
		sim_world_restart(job->world, i);
	}
}

static void slow_node(struct sim_job *job, uint32_t node, uint32_t times)
{
	uint32_t ranks = job->cluster->ranks, i;

	job->cards[node].times = times;
	for (i = node * ranks; i < (node + 1) * ranks; i++)
		sim_world_slow(job->world, i, times);
}

static void stall_node(struct sim_job *job, uint32_t node, uint64_t lasts)
{
	uint64_t now = sim_world_clock(job->world)->now;
	uint32_t ranks = job->cluster->ranks, i;

	for (i = node * ranks; i < (node + 1) * ranks; i++)
		sim_world_stall(job->world, i,
				lasts ? now + lasts : UINT64_MAX);
}

void sim_job_befalls(void *arg, const struct sim_fault *fault, bool begins)
{
	struct sim_job *job = arg;

	switch (fault->kind) {
	case SIM_FAULT_UNPLUG:
		sim_card_plug(&job->cards[fault->node], fault->rail, !begins);
		break;
	case SIM_FAULT_CRASH:
		if (begins)
			crash_node(job, fault->node);
		else
			come_back(job, fault->node);
		break;
	case SIM_FAULT_ISOLATE:
		sim_hosts_isolate(&job->hosts, fault->node, begins);
		break;
	case SIM_FAULT_SLOW:
		slow_node(job, fault->node, begins ? fault->times : 1);
		break;
	case SIM_FAULT_STALL:
		if (begins)
			stall_node(job, fault->node, fault->lasts);
		break;
	default: /* the network handles the fault */
		break;
	}
}

/* ---- the cluster ---- */

static void frame_arrived(void *arg, struct sim_frame *frame)
{
	struct sim_job *job = arg;

	sim_card_arrived(&job->cards[sim_cluster_node(job->cluster, frame->to)],
			 frame);
}

static void open_cards(struct sim_job *job)
{
	const struct sim_cluster *cluster = job->cluster;
	struct sim_clock *clock = sim_world_clock(job->world);
	uint32_t node, rail;

	job->fabric = sim_cluster_fabric(cluster, clock, frame_arrived, job);
	job->cards = sim_need(calloc(cluster->nodes, sizeof(*job->cards)));
	for (node = 0; node < cluster->nodes; node++) {
		sim_card_open(&job->cards[node], clock, job->fabric,
			      &cluster->costs.card, cluster->ranks);
		for (rail = 0; rail < cluster->rails; rail++)
			sim_card_rail(&job->cards[node],
				      sim_cluster_port(cluster, node, rail));
	}
}

/* A waiting rank stands for a polling rank. So the calls themselves take no
 * time; the costs of the host pay for their work. */
static const struct sim_call_costs calls = { .yield = 200, .exact = true };

static void share_memory(struct sim_job *job)
{
	const struct sim_host_costs *host = &job->cluster->costs.host;
	const struct sim_memory_costs memory = {
		.line = host->line,
		.send = host->send,
		.receive = host->receive,
		.attach = host->trap,
		.copy = host->copy,
	};

	sim_world_share(job->world, &memory);
	sim_world_set(job->world, "BCL_RING_SLOTS", "256");
}

struct sim_job *sim_job_open(const struct sim_cluster *cluster, uint64_t seed)
{
	struct sim_job *job = sim_need(calloc(1, sizeof(*job)));

	job->cluster = cluster;
	job->nranks = cluster->nodes * cluster->ranks;
	job->hosts = (struct sim_hosts){
		.cluster = cluster,
		.firmware = sim_need(
			calloc(job->nranks, sizeof(*job->hosts.firmware))),
		.limits.channels = CHANNELS,
	};
	sim_job_peers(job, job->nranks);
	sim_hosts_open(&job->hosts);
	job->world = sim_world_open(seed, &job->hosts.ops, NULL);
	sim_world_costs(job->world, &calls);
	if (cluster->ranks > 1)
		share_memory(job);
	sim_job_messages(job, MESSAGES);
	sim_world_set(job->world, "BCL_BLOCKS", "16");
	open_cards(job);
	job->hosts.world = job->world;
	job->hosts.cards = job->cards;
	open_ranks(job);
	return job;
}

void sim_job_peers(struct sim_job *job, uint32_t peers)
{
	job->hosts.limits.nodes = peers;
	job->hosts.limits.connections = peers;
}

void sim_job_messages(struct sim_job *job, uint32_t messages)
{
	snprintf(job->requests, sizeof(job->requests), "%u", messages);
	sim_world_set(job->world, "BCL_REQUESTS", job->requests);
	job->hosts.limits.messages = 2 * messages;
}

/* Lets frames and transfers in flight finish. */
static void finish_transfers(struct sim_job *job)
{
	struct sim_clock *clock = sim_world_clock(job->world);

	while (sim_clock_next(clock) != UINT64_MAX)
		sim_clock_step(clock);
}

void sim_job_close(struct sim_job *job)
{
	const struct bcl_env *env = sim_world_env(job->world);
	uint32_t i;

	finish_transfers(job);
	for (i = 0; i < job->nranks; i++) {
		while (job->ranks[i].values)
			forget_value(&job->ranks[i].values);
		env->object_close(env->world, job->ranks[i].object);
	}
	sim_hosts_close(&job->hosts);
	for (i = 0; i < job->cluster->nodes; i++)
		sim_card_close(&job->cards[i]);
	sim_fabric_close(job->fabric);
	sim_world_close(job->world);
	free(job->hosts.firmware);
	free(job->cards);
	free(job->ranks);
	free(job);
}

static void keep_most(uint32_t *most, uint32_t value)
{
	if (*most < value)
		*most = value;
}

bool sim_job_traced(const struct sim_job *job)
{
	return !job->hosts.trace.broken;
}

void sim_job_peaks(const struct sim_job *job, struct bcl_card_peaks *most)
{
	uint32_t i;

	*most = (struct bcl_card_peaks){ 0 };
	for (i = 0; i < job->cluster->nodes; i++) {
		const struct bcl_card_peaks *peaks = &job->cards[i].peaks;

		keep_most(&most->memory, peaks->memory);
		keep_most(&most->sending, peaks->sending);
		keep_most(&most->held, peaks->held);
	}
}

struct sim_world *sim_job_world(struct sim_job *job)
{
	return job->world;
}

struct sim_fabric *sim_job_fabric(struct sim_job *job)
{
	return job->fabric;
}
