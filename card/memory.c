/* SPDX-License-Identifier: MIT */
/* Looks memories up, for those that copy for a peer; see memory.h. */
#include "card/memory.h"

const struct bcl_memory *bcl_memory_find(const struct bcl_memory_table *table,
					 uint32_t handle)
{
	unsigned slot = handle & 0xffff;
	const struct bcl_memory *memory =
		slot < table->size ? table->memories[slot] : NULL;

	return memory && memory->handle == handle ? memory : NULL;
}

static void *part_of_memory(const struct bcl_memory *memory, uint64_t offset,
			    uint64_t length, unsigned rights)
{
	if ((memory->rights & rights) != rights || offset > memory->length ||
	    length > memory->length - offset)
		return NULL;
	return (char *)memory->address + offset;
}

void *bcl_memory_check(const struct bcl_memory_table *table, uint32_t handle,
		       uint64_t offset, uint64_t length, unsigned rights)
{
	const struct bcl_memory *memory = bcl_memory_find(table, handle);

	return memory ? part_of_memory(memory, offset, length, rights) : NULL;
}

void *bcl_memory_reach(const struct bcl_memory_table *table, uint32_t handle,
		       uint64_t number, uint64_t length, unsigned rights)
{
	const struct bcl_memory *memory = bcl_memory_find(table, handle);

	return memory ? part_of_memory(memory, number - memory->base, length,
				       rights)
		      : NULL;
}
