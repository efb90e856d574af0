/* SPDX-License-Identifier: MIT */
/* Adds switches and cables to a cluster and checks that they fit;
 * see wiring.h. */
#include "sim/wiring.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"

enum {
	SWITCHES_MAX = 16384, /* a byte for each pair of switches: 256 MB */
};

/* A new port or switch: no cables, a network of its own. */
static void add_place(struct sim_wiring *wiring, uint32_t number)
{
	wiring->cables = sim_grow(wiring->cables, number, sizeof(uint32_t));
	wiring->other = sim_grow(wiring->other, number, sizeof(uint32_t));
	wiring->cables[number] = 0;
	wiring->other[number] = number;
}

void sim_wiring_open(struct sim_wiring *wiring, struct sim_cluster *cluster,
		     struct sim_statement *statement)
{
	uint32_t ports = sim_cluster_ports(cluster), i;

	*wiring = (struct sim_wiring){ .cluster = cluster,
				       .statement = statement };
	for (i = 0; i < ports; i++)
		add_place(wiring, i);
}

void sim_wiring_close(struct sim_wiring *wiring)
{
	free(wiring->cables);
	free(wiring->other);
}

static bool find_switch(const struct sim_cluster *cluster, const char *name,
			uint32_t *number)
{
	uint32_t i;

	for (i = 0; i < cluster->nswitches; i++)
		if (!strcmp(cluster->switches[i].name, name)) {
			*number = sim_cluster_ports(cluster) + i;
			return true;
		}
	return false;
}

bool sim_wiring_find(struct sim_wiring *wiring, const char *name,
		     uint32_t *number)
{
	return find_switch(wiring->cluster, name, number) ||
	       sim_statement_refuse(wiring->statement,
				    "expected a switch, not \"%s\"", name);
}

bool sim_wiring_switch(struct sim_wiring *wiring,
		       const struct sim_crossbar *crossbar, uint32_t *number,
		       const char *name, ...)
{
	struct sim_cluster *cluster = wiring->cluster;
	struct sim_cluster_switch added = { .config = crossbar->config,
					    .ports = crossbar->ports };
	va_list list;
	int length;

	va_start(list, name);
	length = vsnprintf(added.name, sizeof(added.name), name, list);
	va_end(list);
	if ((size_t)length >= sizeof(added.name))
		return sim_statement_refuse(
			wiring->statement,
			"expected a name of less than %d characters",
			SIM_NAME_SIZE);
	if (!strncmp(added.name, "node", 4))
		return sim_statement_refuse(
			wiring->statement,
			"expected a name that does not begin with \"node\"");
	if (cluster->nswitches == SWITCHES_MAX)
		return sim_statement_refuse(wiring->statement,
					    "expected at most %d switches",
					    SWITCHES_MAX);
	if (find_switch(cluster, added.name, number))
		return sim_statement_refuse(
			wiring->statement,
			"expected another name, switch \"%s\" exists",
			added.name);
	cluster->switches = sim_grow(cluster->switches, cluster->nswitches,
				     sizeof(*cluster->switches));
	cluster->switches[cluster->nswitches] = added;
	*number = sim_cluster_ports(cluster) + cluster->nswitches++;
	add_place(wiring, *number);
	return true;
}

/* The representative of the network to which `of` belongs. */
static uint32_t network_of(struct sim_wiring *wiring, uint32_t of)
{
	uint32_t *other = wiring->other;

	while (other[of] != of)
		of = other[of] = other[other[of]];
	return of;
}

static bool has_room(struct sim_wiring *wiring, uint32_t at, uint32_t count)
{
	const struct sim_cluster *cluster = wiring->cluster;
	uint32_t nports = sim_cluster_ports(cluster);
	uint32_t ports = at < nports ? 1 : cluster->switches[at - nports].ports;
	char name[SIM_NAME_SIZE];

	if (!ports || count <= ports - wiring->cables[at])
		return true;
	sim_cluster_name(cluster, at, name);
	return sim_statement_refuse(wiring->statement,
				    "expected at most %u cable%s at %s", ports,
				    ports > 1 ? "s" : "", name);
}

bool sim_wiring_cables(struct sim_wiring *wiring, uint32_t a, uint32_t b,
		       const struct sim_cable *wire, uint32_t count)
{
	struct sim_cluster *cluster = wiring->cluster;
	uint32_t i;

	if (a == b)
		return sim_statement_refuse(wiring->statement,
					    "expected two different ends");
	if (!has_room(wiring, a, count) || !has_room(wiring, b, count))
		return false;
	for (i = 0; i < count; i++) {
		cluster->cables = sim_grow(cluster->cables, cluster->ncables,
					   sizeof(*cluster->cables));
		cluster->cables[cluster->ncables++] =
			(struct sim_cluster_cable){ a, b, *wire };
	}
	wiring->cables[a] += count;
	wiring->cables[b] += count;
	wiring->other[network_of(wiring, a)] = network_of(wiring, b);
	return true;
}

bool sim_wiring_complete(struct sim_wiring *wiring)
{
	const struct sim_cluster *cluster = wiring->cluster;
	char name[SIM_NAME_SIZE], first_name[SIM_NAME_SIZE];
	uint32_t i, first = 0;

	for (i = 0; i < sim_cluster_ports(cluster); i++) {
		sim_cluster_name(cluster, i, name);
		if (!wiring->cables[i])
			return sim_statement_refuse(wiring->statement,
						    "expected a cable at %s",
						    name);
		if (sim_cluster_node(cluster, i) == 0)
			first = i;
		sim_cluster_name(cluster, first, first_name);
		if (network_of(wiring, i) != network_of(wiring, first))
			return sim_statement_refuse(
				wiring->statement,
				"expected a way from %s to %s", first_name,
				name);
	}
	return true;
}
