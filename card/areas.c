/* SPDX-License-Identifier: MIT */
/* Makes and releases the areas of a port. See areas.h. */
#include "card/areas.h"

#include "env/env.h"

/* The bytes that an area takes: the next area begins on a cache line. */
static size_t room_of(size_t length)
{
	return (length + 63) & ~(size_t)63;
}

enum bcl_status bcl_areas_make(const struct bcl_env *env,
			       const struct bcl_control *open,
			       struct bcl_host_area areas[BCL_AREAS])
{
	size_t size = 0;
	uint8_t *memory;
	unsigned i;

	for (i = 0; i < BCL_AREAS; i++) {
		areas[i].length = bcl_area_size(open, i);
		size += room_of(areas[i].length);
	}
	memory = env->allocate(env->world, size);
	if (!memory)
		return BCL_ERR_NOMEM;
	for (i = 0; i < BCL_AREAS; i++) {
		areas[i].address = memory;
		memory += room_of(areas[i].length);
	}
	return BCL_OK;
}

void bcl_areas_release(const struct bcl_env *env,
		       const struct bcl_host_area areas[BCL_AREAS])
{
	size_t size = 0;
	unsigned i;

	for (i = 0; i < BCL_AREAS; i++)
		size += room_of(areas[i].length);
	env->release(env->world, areas[0].address, size);
}
