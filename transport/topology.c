/* SPDX-License-Identifier: MIT */
/* Reads the topology by hwloc; see topology.h. */
#include "transport/topology.h"

#include <hwloc.h>

static unsigned count_objects(hwloc_topology_t hwloc, hwloc_const_bitmap_t mask,
			      hwloc_obj_type_t type)
{
	hwloc_obj_t object = NULL;
	unsigned n = 0;

	while ((object = hwloc_get_next_obj_by_type(hwloc, type, object)))
		n += object->cpuset &&
		     hwloc_bitmap_intersects(object->cpuset, mask);
	return n;
}

static void describe_topology(hwloc_topology_t hwloc, hwloc_const_bitmap_t mask,
			      struct bcl_topology *topology)
{
	hwloc_const_bitmap_t machine =
		hwloc_topology_get_topology_cpuset(hwloc);

	topology->machine_processors = (unsigned)hwloc_bitmap_weight(machine);
	topology->processors = (unsigned)hwloc_bitmap_weight(mask);
	topology->cores = count_objects(hwloc, mask, HWLOC_OBJ_CORE);
	topology->packages = count_objects(hwloc, mask, HWLOC_OBJ_PACKAGE);
	topology->memories = count_objects(hwloc, mask, HWLOC_OBJ_NUMANODE);
	topology->bound = !hwloc_bitmap_isincluded(machine, mask);
	hwloc_bitmap_list_snprintf(topology->mask, sizeof(topology->mask),
				   mask);
}

enum bcl_status bcl_topology_read(struct bcl_topology *topology)
{
	enum bcl_status status = BCL_ERR_SYSTEM;
	hwloc_topology_t hwloc;
	hwloc_bitmap_t mask;

	if (hwloc_topology_init(&hwloc))
		return status;
	mask = hwloc_bitmap_alloc();
	/* processors that a container hides do not count as the machine's */
	if (mask && !hwloc_topology_load(hwloc) &&
	    !hwloc_get_cpubind(hwloc, mask, HWLOC_CPUBIND_THREAD)) {
		hwloc_bitmap_and(mask, mask,
				 hwloc_topology_get_topology_cpuset(hwloc));
		describe_topology(hwloc, mask, topology);
		status = BCL_OK;
	}
	hwloc_bitmap_free(mask);
	hwloc_topology_destroy(hwloc);
	return status;
}
