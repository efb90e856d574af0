/* SPDX-License-Identifier: MIT */
/* Makes a fabric from a cluster description, and names ports and switches. */
#include "sim/cluster.h"

#include <stdlib.h>

void sim_cluster_free(struct sim_cluster *cluster)
{
	free(cluster->switches);
	free(cluster->cables);
	*cluster = (struct sim_cluster){ 0 };
}

struct sim_fabric *
sim_cluster_fabric(const struct sim_cluster *cluster, struct sim_clock *clock,
		   void (*arrived)(void *arg, struct sim_frame *frame),
		   void *arg)
{
	struct sim_fabric *fabric = sim_fabric_open(clock);
	uint32_t i;

	for (i = 0; i < sim_cluster_ports(cluster); i++)
		sim_fabric_port(fabric, arrived, arg);
	for (i = 0; i < cluster->nswitches; i++)
		sim_fabric_switch(fabric, &cluster->switches[i].config);
	for (i = 0; i < cluster->ncables; i++) {
		const struct sim_cluster_cable *cable = &cluster->cables[i];

		sim_fabric_wire(fabric, cable->a, cable->b, &cable->config);
	}
	if (sim_fabric_route(fabric))
		return fabric;
	sim_fabric_close(fabric);
	return NULL;
}

void sim_cluster_name(const struct sim_cluster *cluster, uint32_t number,
		      char name[SIM_NAME_SIZE])
{
	uint32_t ports = sim_cluster_ports(cluster);

	if (number >= ports)
		snprintf(name, SIM_NAME_SIZE, "%s",
			 cluster->switches[number - ports].name);
	else if (cluster->rails == 1)
		snprintf(name, SIM_NAME_SIZE, "node%u", number);
	else
		snprintf(name, SIM_NAME_SIZE, "node%u.%u",
			 sim_cluster_node(cluster, number),
			 sim_cluster_rail(cluster, number));
}
