/* SPDX-License-Identifier: MIT */
/*
 * The processors of this process, from hwloc: the affinity mask, and how many
 * cores, packages and memories the mask covers. Reads much of /sys, so only
 * set-up and tools call it.
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
	bool bound;	   /* the mask does not have all processors of the
			    * machine */
	char mask[64];	   /* as a list, e.g. "0-3,8"; cut if it is longer */
};

/* Errors: SYSTEM (hwloc cannot read the machine). */
enum bcl_status bcl_topology_read(struct bcl_topology *topology);

#endif
