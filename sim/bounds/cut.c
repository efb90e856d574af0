/* SPDX-License-Identifier: MIT */
/* Finds cuts of a cluster's network and their capacity, as maximum flows over
 * the cables of shortest routes; see cut.h. */
#include "sim/bounds/cut.h"

#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"
#include "sim/bounds/flow.h"

enum {
	NONE = 0xffffffff,
	ALIKE = 4, /* parts tried per size */
};

static const uint64_t PS_PER_S = 1000000000000;

/* The network of a cluster. Places are ports and switches, by the numbers of
 * the fabric. */
struct network {
	const struct sim_cluster *cluster;
	unsigned nodes; /* nodes that take part */
	uint32_t places;
	uint32_t *first; /* [place]: an end of a cable there; ends of cable i
			  * are 2 i and 2 i + 1 */
	uint32_t *next;	 /* [end]: next end at the same place */
	bool *used;	 /* [cable]: part of a shortest route */
	uint32_t *group; /* [node]: nodes of the same switch share a number */
	uint32_t groups;
};

/* ---- cables that frames can take ---- */

static void *allocate_array(size_t n, size_t size)
{
	return sim_need(malloc((n + 1) * size));
}

static uint32_t *none_yet(size_t n)
{
	return memset(allocate_array(n, sizeof(uint32_t)), 0xff,
		      n * sizeof(uint32_t));
}

static uint32_t other_end(const struct network *net, uint32_t end)
{
	const struct sim_cluster_cable *cable = &net->cluster->cables[end / 2];

	return end % 2 ? cable->a : cable->b;
}

static bool takes_part(const struct network *net, uint32_t place)
{
	return place < sim_cluster_ports(net->cluster) &&
	       sim_cluster_node(net->cluster, place) < net->nodes;
}

/* The switch to which a port is connected. */
static uint32_t switch_of(const struct network *net, uint32_t port)
{
	return other_end(net, net->first[port]);
}

static void list_ends(struct network *net)
{
	uint32_t end;

	net->first = none_yet(net->places);
	net->next = none_yet(2 * (size_t)net->cluster->ncables);
	for (end = 0; end < 2 * net->cluster->ncables; end++) {
		uint32_t place = other_end(net, end ^ 1);

		net->next[end] = net->first[place];
		net->first[place] = end;
	}
}

/* Marks the cables of shortest routes from a place to nodes that take part. */
static void mark_ways(struct network *net, uint32_t from, uint32_t *queue,
		      bool *leads)
{
	uint32_t *hops = none_yet(net->places), head = 0, tail = 0, at, to, end;

	hops[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		at = queue[head++];
		for (end = net->first[at]; end != NONE; end = net->next[end]) {
			to = other_end(net, end);
			if (hops[to] != NONE)
				continue;
			hops[to] = hops[at] + 1;
			queue[tail++] = to;
		}
	}
	/* Farthest places first: `leads` is true if a route from the place
	 * reaches a node that takes part. */
	while (tail) {
		at = queue[--tail];
		leads[at] = takes_part(net, at);
		for (end = net->first[at]; end != NONE; end = net->next[end]) {
			to = other_end(net, end);
			if (hops[to] != hops[at] + 1 || !leads[to])
				continue;
			leads[at] = net->used[end / 2] = true;
		}
	}
	free(hops);
}

static void find_ways(struct network *net)
{
	uint32_t *queue = allocate_array(net->places, sizeof(*queue)), port;
	bool *leads = allocate_array(net->places, sizeof(*leads));
	bool *done = sim_need(calloc(net->places, sizeof(*done)));

	net->used = sim_need(calloc(net->cluster->ncables, sizeof(bool)));
	for (port = 0; port < sim_cluster_ports(net->cluster); port++) {
		uint32_t from = switch_of(net, port);

		if (!takes_part(net, port) || done[from])
			continue;
		done[from] = true;
		mark_ways(net, from, queue, leads);
	}
	free(queue);
	free(leads);
	free(done);
}

/* ---- cuts ---- */

/* Groups are numbered in the order of their first nodes. */
static void group_nodes(struct network *net)
{
	uint32_t *of = none_yet(net->places), node;

	net->group = allocate_array(net->nodes, sizeof(*net->group));
	for (node = 0; node < net->nodes; node++) {
		uint32_t port = sim_cluster_port(net->cluster, node, 0);
		uint32_t *number = &of[switch_of(net, port)];

		if (*number == NONE)
			*number = net->groups++;
		net->group[node] = *number;
	}
	free(of);
}

/* True if the node is in one of n groups from `first` on. */
static bool is_inside(const struct network *net, unsigned node, uint32_t first,
		      uint32_t n)
{
	return net->group[node] - first < n;
}

/* Bytes per second, rounded up, so that no bound is too large. */
static uint64_t cable_capacity(const struct sim_cable *cable)
{
	return (PS_PER_S + cable->ps_per_byte - 1) / cable->ps_per_byte;
}

static double cut_rate(const struct network *net, uint32_t first, uint32_t n)
{
	const struct sim_cluster *cluster = net->cluster;
	uint32_t from = net->places, to = net->places + 1, i;
	struct sim_flow *flow = sim_flow_open(net->places + 2);
	uint64_t most;

	for (i = 0; i < cluster->ncables; i++)
		if (net->used[i])
			sim_flow_link(
				flow, cluster->cables[i].a,
				cluster->cables[i].b,
				cable_capacity(&cluster->cables[i].config));
	for (i = 0; i < sim_cluster_ports(cluster); i++)
		if (takes_part(net, i))
			sim_flow_link(flow, i,
				      is_inside(net,
						sim_cluster_node(cluster, i),
						first, n)
					      ? from
					      : to,
				      SIM_FLOW_ANY);
	most = sim_flow_most(flow, from, to);
	sim_flow_close(flow);
	return (double)most / 1e6;
}

static struct sim_cut make_cut(const struct network *net, unsigned distance,
			       uint32_t first, uint32_t n)
{
	struct sim_cut made = { .rate = cut_rate(net, first, n) };
	bool near = is_inside(net, 0, first, n);
	unsigned i;

	for (i = 0; i < net->nodes; i++) {
		unsigned to = (i + distance) % net->nodes;

		if (is_inside(net, i, first, n) != near) {
			made.far++;
			continue;
		}
		made.near++;
		made.shifted += is_inside(net, to, first, n) != near;
	}
	return made;
}

void sim_cuts_find(const struct sim_cluster *cluster, unsigned nodes,
		   unsigned distance, struct sim_cuts *cuts)
{
	struct network net = {
		.cluster = cluster,
		.nodes = nodes,
		.places = sim_cluster_ports(cluster) + cluster->nswitches,
	};
	uint32_t n, i;

	cuts->n = 0;
	list_ends(&net);
	find_ways(&net);
	group_nodes(&net);
	for (n = net.groups / 2; n; n /= 2)
		for (i = 0; i < ALIKE && (i + 1) * n <= net.groups; i++)
			cuts->cut[cuts->n++] =
				make_cut(&net, distance, i * n, n);
	free(net.first);
	free(net.next);
	free(net.used);
	free(net.group);
}

/* ---- bytes that have to cross a cut ---- */

/* In one direction. */
static double bytes_over(const struct sim_cut *cut, double ranks,
			 enum sim_operation operation, double length)
{
	switch (operation) {
	case SIM_BROADCAST:
	case SIM_REDUCE:
	case SIM_ALLREDUCE:
		return length;
	case SIM_SCATTER:
	case SIM_GATHER:
		return ranks * cut->far * length;
	case SIM_SHIFT:
		return ranks * cut->shifted * length;
	case SIM_ALLTOALL:
		return ranks * cut->near * ranks * cut->far * length;
	default:
		return 0;
	}
}

double sim_cuts_bound(const struct sim_cuts *cuts,
		      const struct sim_machine *machine,
		      enum sim_operation operation, size_t length,
		      const struct sim_cut **cut)
{
	double most = 0;
	unsigned i;

	*cut = NULL;
	for (i = 0; i < cuts->n; i++) {
		double bytes = bytes_over(&cuts->cut[i], machine->ranks,
					  operation, (double)length);
		double us = bytes * machine->framing / cuts->cut[i].rate;

		if (us <= most)
			continue;
		most = us;
		*cut = &cuts->cut[i];
	}
	if (!*cut)
		return 0;
	return sim_bound_message(&machine->between, 1) - machine->passing +
	       most;
}
