/* SPDX-License-Identifier: MIT */
/*
 * The table of a context's memories, in which the paths check handle, bounds
 * and rights.
 */
#include <string.h>

#include "transport/card/card.h"
#include "transport/context.h"
#include "transport/memory.h"

enum {
	FIRST_SLOTS = 64,
	SLOTS_MAX = 0xffff, /* a handle has 16 bits for the slot */
};

/*
 * A change of the table. It is made while no thread is inside the card and with
 * memory_lock held, so either lock is enough to read the table.
 */
struct change {
	struct bcl_context *context;
	void (*run)(struct change *change);
	struct bcl_memory *memory;
	struct bcl_memory **memories; /* new, larger tables; after the change
				       * the old ones */
	uint16_t *generations;
	unsigned size;
};

static void run_change(void *arg)
{
	struct change *change = arg;

	change->run(change);
}

/* Makes the change. The caller holds memory_lock. */
static void apply_change(struct change *change)
{
	bcl_assert(bcl_is_locked(&change->context->memory_lock));
	if (change->context->card)
		bcl_host_exclusive(change->context, NULL, run_change, change);
	else
		run_change(change);
}

static void run_grow(struct change *change)
{
	struct bcl_context *context = change->context;
	struct bcl_memory **memories = context->memories;
	uint16_t *generations = context->generations;
	unsigned size = context->nmemories;

	if (size) {
		memcpy(change->memories, memories, size * sizeof(*memories));
		memcpy(change->generations, generations,
		       size * sizeof(*generations));
	}
	context->memories = change->memories;
	context->generations = change->generations;
	context->nmemories = change->size;
	change->memories = memories;
	change->generations = generations;
	change->size = size;
}

static void release_tables(struct bcl_context *context,
			   struct bcl_memory **memories, uint16_t *generations,
			   unsigned size)
{
	const struct bcl_env *env = context->env;

	if (memories)
		env->release(env->world, memories, size * sizeof(*memories));
	if (generations)
		env->release(env->world, generations,
			     size * sizeof(*generations));
}

static enum bcl_status grow_tables(struct bcl_context *context)
{
	const struct bcl_env *env = context->env;
	struct change change = {
		.context = context,
		.run = run_grow,
		.size = context->nmemories ? 2 * context->nmemories
					   : FIRST_SLOTS,
	};

	if (change.size > SLOTS_MAX + 1)
		return BCL_ERR_NOMEM;
	change.memories = env->allocate(env->world,
					change.size * sizeof(*change.memories));
	change.generations = env->allocate(
		env->world, change.size * sizeof(*change.generations));
	if (!change.memories || !change.generations) {
		release_tables(context, change.memories, change.generations,
			       change.size);
		return BCL_ERR_NOMEM;
	}
	apply_change(&change);
	release_tables(context, change.memories, change.generations,
		       change.size);
	return BCL_OK;
}

static void run_enter(struct change *change)
{
	struct bcl_context *context = change->context;
	unsigned slot = change->memory->handle & 0xffff;

	bcl_assert(slot < context->nmemories && !context->memories[slot]);
	change->memory->handle |= (uint32_t)++context->generations[slot] << 16;
	context->memories[slot] = change->memory;
}

static void run_remove(struct change *change)
{
	struct bcl_context *context = change->context;
	unsigned slot = change->memory->handle & 0xffff;

	bcl_assert(slot < context->nmemories &&
		   context->memories[slot] == change->memory);
	context->memories[slot] = NULL;
}

/* Slot 0 stays free, so that no memory has the handle BCL_HANDLE_SELF. */
static unsigned find_slot(const struct bcl_context *context)
{
	unsigned slot = 1;

	while (slot < context->nmemories && context->memories[slot])
		slot++;
	return slot;
}

enum bcl_status bcl_memory_enter(struct bcl_memory *memory)
{
	struct bcl_context *context = memory->context;
	const struct bcl_env *env = context->env;
	struct change change = {
		.context = context,
		.run = run_enter,
		.memory = memory,
	};
	enum bcl_status status = BCL_OK;

	memory->base = (env->random(env->world) & ~UINT64_C(7)) |
		       (uintptr_t)memory->address % 8;
	pthread_mutex_lock(&context->memory_lock);
	memory->handle = find_slot(context);
	if (memory->handle >= context->nmemories)
		status = grow_tables(context);
	if (!status) {
		memory->handle = find_slot(context);
		apply_change(&change);
	}
	pthread_mutex_unlock(&context->memory_lock);
	if (status)
		bcl_log(&context->config, BCL_LOG_ERROR, "memory",
			"no room for more than %u memories",
			context->nmemories - 1);
	return status;
}

void bcl_memory_remove(struct bcl_memory *memory)
{
	struct bcl_context *context = memory->context;
	struct change change = {
		.context = context,
		.run = run_remove,
		.memory = memory,
	};

	pthread_mutex_lock(&context->memory_lock);
	apply_change(&change);
	pthread_mutex_unlock(&context->memory_lock);
}

static const struct bcl_memory *find_memory(const struct bcl_context *context,
					    uint32_t handle)
{
	unsigned slot = handle & 0xffff;
	const struct bcl_memory *memory =
		slot < context->nmemories ? context->memories[slot] : NULL;

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

void *bcl_memory_check(struct bcl_context *context, uint32_t handle,
		       uint64_t offset, uint64_t length, unsigned rights)
{
	const struct bcl_memory *memory = find_memory(context, handle);

	return memory ? part_of_memory(memory, offset, length, rights) : NULL;
}

void *bcl_memory_reach(struct bcl_context *context, uint32_t handle,
		       uint64_t number, uint64_t length, unsigned rights)
{
	const struct bcl_memory *memory = find_memory(context, handle);

	return memory ? part_of_memory(memory, number - memory->base, length,
				       rights)
		      : NULL;
}

void bcl_memory_table_free(struct bcl_context *context)
{
	release_tables(context, context->memories, context->generations,
		       context->nmemories);
}
