/* SPDX-License-Identifier: MIT */
/* Changes the table of a context's memories (card/memory.h). */
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
	struct bcl_memory **memories = context->memories.memories;
	uint16_t *generations = context->memories.generations;
	unsigned size = context->memories.size;

	if (size) {
		memcpy(change->memories, memories, size * sizeof(*memories));
		memcpy(change->generations, generations,
		       size * sizeof(*generations));
	}
	context->memories.memories = change->memories;
	context->memories.generations = change->generations;
	context->memories.size = change->size;
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
		.size = context->memories.size ? 2 * context->memories.size
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

	bcl_assert(slot < context->memories.size &&
		   !context->memories.memories[slot]);
	change->memory->handle |=
		(uint32_t)++context->memories.generations[slot] << 16;
	context->memories.memories[slot] = change->memory;
}

static void run_remove(struct change *change)
{
	struct bcl_context *context = change->context;
	unsigned slot = change->memory->handle & 0xffff;

	bcl_assert(slot < context->memories.size &&
		   context->memories.memories[slot] == change->memory);
	context->memories.memories[slot] = NULL;
}

/* Slot 0 stays free, so that no memory has the handle BCL_HANDLE_SELF. */
static unsigned find_slot(const struct bcl_context *context)
{
	unsigned slot = 1;

	while (slot < context->memories.size &&
	       context->memories.memories[slot])
		slot++;
	return slot;
}

/* Take the memory out of the table. Its handle may be another memory's then. */
static void leave_table(struct bcl_memory *memory)
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

/* Tell the host of the card, if it does not read the table. Without a lock,
 * since the host may take long: nobody knows the handle yet. */
static enum bcl_status tell_host(const struct bcl_memory *memory)
{
	struct bcl_host *host = memory->context->card;

	return host && host->ops->memory_add
		       ? host->ops->memory_add(host, memory)
		       : BCL_OK;
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
	if (memory->handle >= context->memories.size)
		status = grow_tables(context);
	if (!status) {
		memory->handle = find_slot(context);
		apply_change(&change);
	}
	pthread_mutex_unlock(&context->memory_lock);
	if (status)
		bcl_log(&context->config, BCL_LOG_ERROR, "memory",
			"no room for more than %u memories",
			context->memories.size - 1);
	if (status)
		return status;
	status = tell_host(memory);
	if (status)
		leave_table(memory);
	return status;
}

void bcl_memory_remove(struct bcl_memory *memory)
{
	struct bcl_host *host = memory->context->card;

	/* The host first: the handle is free once the table has lost it. */
	if (host && host->ops->memory_remove)
		host->ops->memory_remove(host, memory->handle);
	leave_table(memory);
}

void bcl_memory_table_free(struct bcl_context *context)
{
	release_tables(context, context->memories.memories,
		       context->memories.generations, context->memories.size);
}
