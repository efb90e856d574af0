/* SPDX-License-Identifier: MIT */
/*
 * Leaves the trace of a simulated job: simulated SEED FILE. Eight ranks on four
 * nodes with two rails exchange messages of all sizes, one of them reads late
 * and has a ring of 16 blocks, and some hundred frames are harmed, as the seed
 * decides. Each message is compared with what was sent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"
#include "sim/inject.h"
#include "sim/job.h"
#include "sim/random.h"

enum {
	ROUNDS = 3,
	EACH = 12, /* messages to each rank in a round */
	RANKS = 8,
	LONGEST = 60000,
	LATE = 20 * 1000 * 1000, /* ns */
	FAULTS = 400,
	EVERY = 12, /* frames, on the average */
};

static const uint64_t LIMIT = 600000000000; /* ns */

static const char text[] =
	"cluster nodes=4 ranks=2 rails=2\n"
	"host send=1.1us receive=0.9us trap=2us pio-write=0.13us "
	"copy=1GB/s\n"
	"card mtu=4KB buffers=16 frame-sent=1.3us frame-received=1.7us "
	"read-start=2.3us read=250MB/s write-start=2.9us write=500MB/s\n"
	"wire w bandwidth=200MB/s latency=50ns\n"
	"crossbar x latency=700ns queue=1MB forwarding=cut-through\n"
	"star switch crossbar=x wire=w\n";

struct batch {
	struct bcl_adi_request *requests[2 * RANKS * EACH];
	uint8_t *out[RANKS][EACH], *in[RANKS][EACH];
};

static uint64_t seed;

/* Most are short. */
static size_t length_of(unsigned round, unsigned from, unsigned to, unsigned i)
{
	uint64_t state =
		seed + ((round * RANKS + from) * RANKS + to) * EACH + i;
	uint64_t random = sim_random(&state);

	return random % 16 ? random / 16 % 6000 : random / 16 % LONGEST;
}

static void fill(uint8_t *bytes, size_t length, unsigned from, unsigned i)
{
	uint64_t state = from * 1000 + i;
	size_t at;

	for (at = 0; at < length; at++)
		bytes[at] = (uint8_t)sim_random(&state);
}

static void begin(struct bcl_adi *adi, unsigned me, unsigned round,
		  struct batch *batch)
{
	unsigned peer, i, n = 0;

	for (i = 0; i < EACH; i++)
		for (peer = 0; peer < RANKS; peer++) {
			size_t in = length_of(round, peer, me, i);
			size_t out = length_of(round, me, peer, i);

			batch->in[peer][i] = sim_need(malloc(in + 1));
			batch->out[peer][i] = sim_need(malloc(out + 1));
			fill(batch->out[peer][i], out, me, i);
			sim_check(!bcl_adi_irecv(adi, batch->in[peer][i], in,
						 (int)peer, (int)round, 0,
						 &batch->requests[n++]) &&
					  !bcl_adi_isend(
						  adi, batch->out[peer][i], out,
						  (int)peer, (int)round, 0,
						  &batch->requests[n++]),
				  "isend or irecv");
		}
}

static void end(struct bcl_adi *adi, unsigned me, unsigned round,
		struct batch *batch)
{
	static uint8_t expected[LONGEST];
	unsigned peer, i;

	sim_check(
		!bcl_adi_waitall(adi, batch->requests, 2 * RANKS * EACH, NULL),
		"waitall");
	for (peer = 0; peer < RANKS; peer++)
		for (i = 0; i < EACH; i++) {
			size_t length = length_of(round, peer, me, i);

			fill(expected, length, peer, i);
			sim_check(!memcmp(batch->in[peer][i], expected, length),
				  "another message than was sent");
			free(batch->in[peer][i]);
			free(batch->out[peer][i]);
		}
}

static void run(struct sim_rank *rank)
{
	struct batch *batch = sim_need(calloc(1, sizeof(*batch)));
	unsigned round, me = rank->boot.rank;
	struct bcl_adi *adi;

	sim_check(!sim_rank_join(rank, &adi), "join");
	for (round = 0; round < ROUNDS; round++) {
		begin(adi, me, round, batch);
		if (me == 0)
			sim_compute(sim_job_world(rank->job), LATE);
		end(adi, me, round, batch);
	}
	sim_rank_leave(adi);
	free(batch);
}

static void harm(struct sim_fault faults[FAULTS])
{
	static const enum sim_fault_kind kinds[] = {
		SIM_FAULT_DROP,	   SIM_FAULT_DROP,    SIM_FAULT_DUPLICATE,
		SIM_FAULT_REORDER, SIM_FAULT_CORRUPT, SIM_FAULT_DELAY,
	};
	uint64_t state = seed;
	uint32_t nth = 0;
	unsigned i;

	for (i = 0; i < FAULTS; i++) {
		nth += 1 + (uint32_t)(sim_random(&state) % (2 * EVERY));
		faults[i] = (struct sim_fault){
			.kind = kinds[sim_random(&state) %
				      (sizeof(kinds) / sizeof(*kinds))],
			.from = SIM_ANY,
			.to = SIM_ANY,
			.nth = nth,
			.count = 1,
			.behind = 1 + (uint32_t)(sim_random(&state) % 4),
			.bit = (uint32_t)sim_random(&state),
			.by = sim_random(&state) % 1000000,
		};
	}
}

static void simulate(struct sim_cluster *cluster, const char *file)
{
	struct sim_fault fault[FAULTS];
	const struct sim_faults faults = { fault, FAULTS };
	struct sim_job *job = sim_job_open(cluster, seed);
	struct sim_world *world = sim_job_world(job);
	struct sim_injector *injector;

	sim_world_set(world, "BCL_TRACE", file);
	sim_world_set(world, "BCL_BLOCKS", "16");
	sim_world_set(world, "BCL_REQUESTS", "16");
	harm(fault);
	injector = sim_inject(&faults, cluster, sim_job_fabric(job),
			      sim_world_clock(world), NULL, NULL);
	sim_check(!sim_job_run(job, run, NULL, LIMIT), "a rank waits for ever");
	sim_check(sim_injector_count(injector, SIM_FAULT_DROP), "no faults");
	sim_injector_close(injector);
	sim_job_close(job);
}

int main(int argc, char **argv)
{
	char error[SIM_ERROR_SIZE];
	struct sim_cluster cluster;
	FILE *in = fmemopen((void *)text, sizeof(text) - 1, "r");

	if (argc != 3) {
		fprintf(stderr, "usage: simulated SEED FILE\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 10);
	sim_check(in && sim_cluster_read(&cluster, "cluster", in, error),
		  "cluster");
	fclose(in);
	simulate(&cluster, argv[2]);
	sim_cluster_free(&cluster);
	return 0;
}
