/* SPDX-License-Identifier: MIT */
/*
 * What this process runs on, from hwloc: which processors it may use and what
 * they have in common. Reads much of /sys: for set-up and tools.
 */
#ifndef BCL_TOPOLOGY_H
#define BCL_TOPOLOGY_H

#include <stdbool.h>

#include <bcl/status.h>

struct bcl_topology {
	/* of the machine */
	unsigned machine_processors;
	/* in the affinity mask of the process */
	unsigned processors; /* hardware threads */
	unsigned cores;
	unsigned packages;
	unsigned memories; /* NUMA nodes */
	bool bound;	   /* the mask leaves some of the machine out */
	char mask[64];	   /* as a list, e.g. "0-3,8"; cut if it is longer */
};

/* SYSTEM: hwloc cannot read the machine. */
enum bcl_status bcl_topology_read(struct bcl_topology *topology);

#endif
