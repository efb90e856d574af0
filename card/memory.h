/* SPDX-License-Identifier: MIT */
/*
 * The memories of a program that peers, and the card, may reach: whoever copies
 * for a peer checks handle, bounds and rights here. The library changes the
 * table (transport/memory_table.c).
 */
#ifndef BCL_CARD_MEMORY_H
#define BCL_CARD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcl_context;

struct bcl_memory {
	struct bcl_context *context;
	void *address;
	size_t length;
	uint64_t base;	 /* as in struct bcl_key */
	uint32_t handle; /* slot | generation << 16 */
	unsigned rights;
	bool allocated; /* by bcl_memory_allocate() */
	int fd;		/* memfd of the memory, else -1 */
};

/* By slot. A change needs the card's lock and the context's memory_lock, so
 * either lock is enough to read the table. */
struct bcl_memory_table {
	struct bcl_memory **memories; /* NULL: the slot is free */
	uint16_t *generations;	      /* of the handles */
	unsigned size;
};

/* Returns the memory that the handle names, or NULL. Here and below the caller
 * holds one of the locks above. */
const struct bcl_memory *bcl_memory_find(const struct bcl_memory_table *table,
					 uint32_t handle);
/* Returns the address of [offset, offset + length) in the memory that the
 * handle names. NULL: no such handle, out of bounds, or without these
 * rights. */
void *bcl_memory_check(const struct bcl_memory_table *table, uint32_t handle,
		       uint64_t offset, uint64_t length, unsigned rights);
/* The same for another node, whose `number` counts from the memory's base. */
void *bcl_memory_reach(const struct bcl_memory_table *table, uint32_t handle,
		       uint64_t number, uint64_t length, unsigned rights);

#endif
