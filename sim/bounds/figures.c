/* SPDX-License-Identifier: MIT */
/* Computes the LogGP figures of a cluster from the costs in the description;
 * see figures.h. */
#include "sim/bounds/figures.h"

#include <math.h>

#include <bcl/wire.h>

/* ---- the network ---- */

static void drop_frame(void *arg, struct sim_frame *frame)
{
	(void)arg;
	sim_frame_free(frame);
}

/* ns of `length` bytes from a node to the next node, for the nearest pair. */
static uint64_t shortest_time(const struct sim_cluster *cluster, unsigned nodes,
			      uint32_t length)
{
	struct sim_clock clock;
	struct sim_fabric *fabric;
	uint64_t least = UINT64_MAX, start;
	unsigned i;

	sim_clock_open(&clock, 0);
	fabric = sim_cluster_fabric(cluster, &clock, drop_frame, NULL);
	for (i = 0; i + 1 < nodes; i++) {
		start = clock.now;
		sim_fabric_send(sim_frame_new(fabric, i, i + 1, length));
		while (sim_clock_next(&clock) != UINT64_MAX)
			sim_clock_step(&clock);
		if (least > clock.now - start)
			least = clock.now - start;
	}
	sim_fabric_close(fabric);
	sim_clock_close(&clock);
	return least;
}

/* ps per byte over all rails of a node together, by the fastest cable. */
static double fastest_rate(const struct sim_cluster *cluster)
{
	uint64_t least = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < cluster->ncables; i++) {
		const struct sim_cluster_cable *cable = &cluster->cables[i];

		if ((cable->a < sim_cluster_ports(cluster) ||
		     cable->b < sim_cluster_ports(cluster)) &&
		    cable->config.ps_per_byte < least)
			least = cable->config.ps_per_byte;
	}
	return (double)least / cluster->rails;
}

/* ---- messages ---- */

/* Sets figures in us from costs in ns. */
static void set_between(const struct sim_cluster *cluster,
			struct sim_machine *machine)
{
	const struct sim_host_costs *host = &cluster->costs.host;
	const struct sim_card_costs *card = &cluster->costs.card;
	double link = fastest_rate(cluster), frame = card->mtu;
	double request = (double)sim_costs_request(host) / 1000;
	uint64_t way = shortest_time(cluster, machine->nodes, BCL_HEADERS_SIZE);
	struct sim_loggp *net = &machine->between;

	/*
	 * A trap serves all messages that are ready, and while a rank writes a
	 * request, the remaining ranks of the node write theirs. Only time that
	 * delays the next message counts as `send`; the rest is latency.
	 */
	net->send = (request - (double)host->trap / 1000) / machine->ranks;
	net->receive = (double)host->receive / 1000;
	/* The card writes either the payload to the host, or an event. */
	net->latency = (double)(card->frame_sent + way + card->frame_received +
				card->write.start) /
			       1000 +
		       request - net->send;
	net->gap = fmax(fmax((double)card->frame_sent,
			     (double)card->frame_received),
			link * BCL_HEADERS_SIZE / 1000) /
		   1000;
	machine->framing = frame / (frame - BCL_HEADERS_SIZE);
	machine->passing =
		(double)(way - shortest_time(cluster, machine->nodes, 0)) /
		1000;
	net->byte = fmax(fmax((double)card->read.ps_per_byte,
			      (double)card->write.ps_per_byte),
			 link * machine->framing) /
		    1e6;
}

/* A rank writes a flag or a piece and another rank reads it: there is no
 * message, and both sides copy, half of the bytes each. */
static void set_inside(const struct sim_host_costs *host, struct sim_loggp *net)
{
	net->latency = (double)host->line / 1000;
	net->byte = (double)host->copy / 2 / 1e6;
}

void sim_figures(const struct sim_cluster *cluster, unsigned nodes,
		 unsigned ranks, struct sim_machine *machine)
{
	*machine = (struct sim_machine){ .nodes = nodes, .ranks = ranks };
	set_inside(&cluster->costs.host, &machine->inside);
	if (nodes > 1)
		set_between(cluster, machine);
}

static struct sim_loggp loggp_of(const struct sim_measured *measured)
{
	return (struct sim_loggp){
		.send = (double)measured->send / 1000,
		.latency = (double)(measured->message - measured->send) / 1000,
		.gap = (double)measured->gap / 1000,
		.byte = (double)measured->byte / 1e6,
	};
}

bool sim_figures_measured(const struct sim_cluster *cluster, unsigned nodes,
			  unsigned ranks, struct sim_machine *machine)
{
	*machine = (struct sim_machine){
		.nodes = nodes,
		.ranks = ranks,
		.inside = loggp_of(&cluster->inside),
		.between = loggp_of(&cluster->between),
		.framing = 1,
		.passing = (double)cluster->between.byte / 1e6,
	};
	return (nodes == 1 || cluster->between.message) &&
	       (ranks == 1 || cluster->inside.message);
}
