/* SPDX-License-Identifier: MIT */
/*
 * What a simulated cluster consists of: nodes, what their hosts and cards cost,
 * switches and cables. It is read from a text, bcl-cluster(5), in which the
 * usual shapes are one line each.
 */
#ifndef SIM_CLUSTER_H
#define SIM_CLUSTER_H

#include <stdio.h>

#include "sim/costs.h"
#include "sim/fabric.h"
#include "sim/statement.h"

enum {
	SIM_RAILS_MAX = 4,
	SIM_NAME_SIZE = 48, /* of a port or switch */
};

struct sim_cluster_switch {
	char name[SIM_NAME_SIZE];
	struct sim_switch config;
	uint32_t ports; /* 0: as many as there are cables */
};

struct sim_cluster_cable {
	uint32_t a, b; /* ports and switches, by the fabric's numbers */
	struct sim_cable config;
};

/* What messages were measured to take; ns, and ps per byte. */
struct sim_measured {
	uint64_t message; /* a short one; 0: not measured */
	uint64_t send;	  /* its sender's processor, of that */
	uint64_t gap;	  /* from one to the next */
	uint64_t byte;
};

struct sim_cluster {
	uint32_t nodes, ranks, rails; /* ranks and rails of each node */
	struct sim_costs costs;
	struct sim_measured inside, between; /* inside a node, between nodes */
	struct sim_cluster_switch *switches;
	struct sim_cluster_cable *cables;
	uint32_t nswitches, ncables;
};

/* False: *error says why; there is nothing to be freed. */
bool sim_cluster_read(struct sim_cluster *cluster, const char *name, FILE *in,
		      char error[SIM_ERROR_SIZE]);
void sim_cluster_free(struct sim_cluster *cluster);

/*
 * The cluster's network, with its ways; NULL: one of them leads through more
 * than SIM_WAY_MAX switches, which no cluster has that was read. All frames
 * come to `arrived`; to which port, the frame says.
 */
struct sim_fabric *
sim_cluster_fabric(const struct sim_cluster *cluster, struct sim_clock *clock,
		   void (*arrived)(void *arg, struct sim_frame *frame),
		   void *arg);

/* The fabric's ports are numbered rail by rail; behind them come the switches.
 * Cable i is the links 2 i, from a to b, and 2 i + 1. */
static inline uint32_t sim_cluster_port(const struct sim_cluster *cluster,
					uint32_t node, uint32_t rail)
{
	return rail * cluster->nodes + node;
}

static inline uint32_t sim_cluster_ports(const struct sim_cluster *cluster)
{
	return cluster->rails * cluster->nodes;
}

static inline uint32_t sim_cluster_node(const struct sim_cluster *cluster,
					uint32_t port)
{
	return port % cluster->nodes;
}

static inline uint32_t sim_cluster_rail(const struct sim_cluster *cluster,
					uint32_t port)
{
	return port / cluster->nodes;
}

/* What a port or switch is called: "node5", or "node5.1" where there are
 * several rails, or the switch's name. */
void sim_cluster_name(const struct sim_cluster *cluster, uint32_t number,
		      char name[SIM_NAME_SIZE]);

#endif
