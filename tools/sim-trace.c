/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include <bcl/wire.h>

#include "sim/fail.h"
#include "tools/sim.h"
#include "transport/wire/pcapng.h"

struct sim_trace {
	struct bcl_pcapng file;
	struct sim_job *job;
	const struct sim_cluster *cluster;
	bool whole;
};

/* What a frame would have before it on Ethernet. */
struct ethernet {
	uint8_t to[6], from[6], type[2];
	struct bcl_ether_prefix prefix;
};

/* Of a port: locally administered. */
static void put_address(uint8_t address[6], uint32_t rail, uint32_t node)
{
	address[0] = 2;
	address[1] = (uint8_t)(node >> 24);
	address[2] = (uint8_t)(node >> 16);
	address[3] = (uint8_t)(node >> 8);
	address[4] = (uint8_t)node;
	address[5] = (uint8_t)rail;
}

static void write_frame(void *arg, const struct sim_frame *frame)
{
	struct sim_trace *trace = arg;
	const struct sim_cluster *cluster = trace->cluster;
	uint64_t now = sim_world_clock(sim_job_world(trace->job))->now;
	uint32_t rail = sim_cluster_rail(cluster, frame->to);
	struct ethernet header = {
		.type = { BCL_ETHERTYPE >> 8, BCL_ETHERTYPE & 0xff },
		.prefix = { .length = bcl_put16((uint16_t)frame->length),
			    .to = (uint8_t)frame->target,
			    .from = (uint8_t)frame->source },
	};
	const struct iovec pieces[] = {
		{ &header, sizeof(header) },
		{ (void *)(uintptr_t)frame->bytes, frame->length },
	};

	if (frame->refusal)
		return; /* no card has made it */
	put_address(header.to, rail, sim_cluster_node(cluster, frame->to));
	put_address(header.from, sim_cluster_rail(cluster, frame->from),
		    sim_cluster_node(cluster, frame->from));
	trace->whole &= bcl_pcapng_packet(&trace->file, rail, now,
					  BCL_PCAPNG_INBOUND, pieces, 2);
}

struct sim_trace *sim_trace_open(const char *path, struct sim_job *job,
				 const struct sim_cluster *cluster)
{
	struct sim_trace *trace = sim_need(calloc(1, sizeof(*trace)));
	char name[BCL_PCAPNG_TEXT];
	uint32_t rail;

	trace->job = job;
	trace->cluster = cluster;
	if (!bcl_pcapng_open(&trace->file, path)) {
		free(trace);
		return NULL;
	}
	trace->whole = true;
	for (rail = 0; rail < cluster->rails; rail++) {
		snprintf(name, sizeof(name), "rail %u", rail);
		trace->whole &= bcl_pcapng_interface(
			&trace->file, BCL_PCAPNG_ETHERNET, name,
			"frames as they come to cards");
	}
	sim_fabric_tap(sim_job_fabric(job), write_frame, trace);
	return trace;
}

bool sim_trace_close(struct sim_trace *trace)
{
	bool whole = trace->whole;

	sim_fabric_tap(sim_job_fabric(trace->job), NULL, NULL);
	bcl_pcapng_close(&trace->file);
	free(trace);
	return whole;
}
