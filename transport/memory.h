/* SPDX-License-Identifier: MIT */
/* Memory for remote access: the table of memories of a context (card/memory.h),
 * as the library changes it. */
#ifndef BCL_MEMORY_H
#define BCL_MEMORY_H

#include <bcl/bcl.h>

#include "card/memory.h"

/* Enters the memory in the table and sets its handle and base; and removes it.
 * Tells the host of the card, which may need to know. NOMEM: no room; or a
 * status of bcl_host_ops.memory_add. */
enum bcl_status bcl_memory_enter(struct bcl_memory *memory);
void bcl_memory_remove(struct bcl_memory *memory);
void bcl_memory_table_free(struct bcl_context *context);

void bcl_memories_free(struct bcl_context *context);
/* env->share() gave nothing: logs the reason, from errno. Returns NOMEM or
 * SYSTEM. */
enum bcl_status bcl_memory_refused(struct bcl_context *context, size_t length);

#endif
