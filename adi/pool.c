/* SPDX-License-Identifier: MIT */
#include "adi/pool.h"

#include <bcl/bcl.h>

/* The last holds a whole system message and what is kept with it. */
static const size_t sizes[BCL_POOL_SIZES] = { 256, 1024,
					      BCL_MESSAGE_MAX + 256 };

_Static_assert((BCL_MESSAGE_MAX + 256) % 64 == 0, "alignment of blocks");

enum {
	SLAB_SIZE = 1 << 16,
	SLAB_HEAD = 64, /* keeps the blocks aligned */
};

struct bcl_pool_slab {
	struct bcl_pool_slab *next;
};

struct bcl_pool_block {
	struct bcl_pool_block *next;
};

/* The index in sizes[], or BCL_POOL_SIZES. */
static unsigned size_index(size_t size)
{
	unsigned i = 0;

	while (i < BCL_POOL_SIZES && size > sizes[i])
		i++;
	return i;
}

static void refill(struct bcl_pool *pool, unsigned i)
{
	const struct bcl_env *env = pool->env;
	struct bcl_pool_slab *slab = env->allocate(env->world, SLAB_SIZE);
	struct bcl_pool_block *block;
	size_t offset;

	if (!slab)
		return;
	slab->next = pool->slabs;
	pool->slabs = slab;
	for (offset = SLAB_HEAD; offset + sizes[i] <= SLAB_SIZE;
	     offset += sizes[i]) {
		block = (void *)((char *)slab + offset);
		block->next = pool->blocks[i];
		pool->blocks[i] = block;
	}
}

size_t bcl_pool_size(size_t size)
{
	unsigned i = size_index(size);

	return i < BCL_POOL_SIZES ? sizes[i] : size;
}

void *bcl_pool_get(struct bcl_pool *pool, size_t size)
{
	unsigned i = size_index(size);
	struct bcl_pool_block *block;

	if (i == BCL_POOL_SIZES)
		return pool->env->allocate(pool->env->world, size);
	if (!pool->blocks[i])
		refill(pool, i);
	block = pool->blocks[i];
	if (block)
		pool->blocks[i] = block->next;
	return block;
}

void bcl_pool_put(struct bcl_pool *pool, void *memory, size_t size)
{
	unsigned i = size_index(size);
	struct bcl_pool_block *block = memory;

	if (!memory)
		return;
	if (i == BCL_POOL_SIZES) {
		pool->env->release(pool->env->world, memory, size);
		return;
	}
	block->next = pool->blocks[i];
	pool->blocks[i] = block;
}

void bcl_pool_open(struct bcl_pool *pool, const struct bcl_env *env)
{
	*pool = (struct bcl_pool){ .env = env };
}

void bcl_pool_close(struct bcl_pool *pool)
{
	struct bcl_pool_slab *slab, *next;

	for (slab = pool->slabs; slab; slab = next) {
		next = slab->next;
		pool->env->release(pool->env->world, slab, SLAB_SIZE);
	}
}
