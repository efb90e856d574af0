/* SPDX-License-Identifier: MIT */
/* Memory for remote access, and the table of memories of a context. */
#ifndef BCL_MEMORY_H
#define BCL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcl/bcl.h>

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

/*
 * Returns the address of [offset, offset + length) in the memory that the
 * handle names. NULL: no such handle, out of bounds, or without these rights.
 * Valid while the caller holds the card's lock or memory_lock:
 * bcl_memory_release() takes both.
 */
void *bcl_memory_check(struct bcl_context *context, uint32_t handle,
		       uint64_t offset, uint64_t length, unsigned rights);
/* The same for another node, whose `number` counts from the memory's base. */
void *bcl_memory_reach(struct bcl_context *context, uint32_t handle,
		       uint64_t number, uint64_t length, unsigned rights);

/* ---- for the transport itself ---- */

/* Enters the memory in the table and sets its handle and base; and removes it.
 * NOMEM: no room. */
enum bcl_status bcl_memory_enter(struct bcl_memory *memory);
void bcl_memory_remove(struct bcl_memory *memory);
void bcl_memory_table_free(struct bcl_context *context);

void bcl_memories_free(struct bcl_context *context);
/* env->share() gave nothing: logs the reason, from errno. Returns NOMEM or
 * SYSTEM. */
enum bcl_status bcl_memory_refused(struct bcl_context *context, size_t length);

#endif
