/* SPDX-License-Identifier: MIT */
/*
 * The description of a simulated cluster: nodes, the costs of hosts and cards,
 * switches and cables. It is read from a text, bcl-cluster(5), in which each of
 * the usual shapes is a line.
 */
#ifndef SIM_CLUSTER_H
#define SIM_CLUSTER_H

#include <stdio.h>

#include "sim/costs.h"
#include "sim/fabric.h"
#include "sim/statement.h"

enum {
	SIM_RAILS_MAX = 4,
	SIM_NAME_SIZE = 48, /* of the name of a port or switch */
};

struct sim_cluster_switch {
	char name[SIM_NAME_SIZE];
	struct sim_switch config;
	uint32_t ports; /* 0: as many as there are cables */
};

struct sim_cluster_cable {
	uint32_t a, b; /* ports and switches, by the numbers of the fabric */
	struct sim_cable config;
};

/* Measured times of messages: ns, and ps per byte. */
struct sim_measured {
	uint64_t message; /* a short message; 0: not measured */
	uint64_t send;	  /* part of `message` on the sender's processor */
	uint64_t gap;	  /* between two messages */
	uint64_t byte;
};

struct sim_cluster {
	uint32_t nodes, ranks, rails; /* ranks and rails of each node */
	struct sim_costs costs;
	struct sim_measured inside, between; /* messages inside a node, and
					      * between nodes */
	struct sim_cluster_switch *switches;
	struct sim_cluster_cable *cables;
	uint32_t nswitches, ncables;
};

/* Returns false on an error: *error holds the reason, and there is nothing to
 * free. */
bool sim_cluster_read(struct sim_cluster *cluster, const char *name, FILE *in,
		      char error[SIM_ERROR_SIZE]);
void sim_cluster_free(struct sim_cluster *cluster);

/*
 * Makes the network of the cluster, routes included. Returns NULL if a route
 * leads through more than SIM_WAY_MAX switches; sim_cluster_read() refuses
 * clusters with such routes. `arrived` gets all frames; frame->to is the port.
 */
struct sim_fabric *
sim_cluster_fabric(const struct sim_cluster *cluster, struct sim_clock *clock,
		   void (*arrived)(void *arg, struct sim_frame *frame),
		   void *arg);

/* Ports of the fabric are numbered rail by rail, and switches follow. Cable i
 * is the links 2 i, from a to b, and 2 i + 1. */
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

/* The name of a port or switch: "node5", or "node5.1" if nodes have several
 * rails, or the name of the switch. */
void sim_cluster_name(const struct sim_cluster *cluster, uint32_t number,
		      char name[SIM_NAME_SIZE]);

#endif
