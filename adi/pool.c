/* SPDX-License-Identifier: MIT */
/* Pool of memory blocks, see pool.h. */
#include "adi/pool.h"

#include <bcl/bcl.h>

/* The largest block holds a whole system message and the data kept with it. */
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

/* Index in sizes[], or BCL_POOL_SIZES if the block does not come from a
 * slab. */
static unsigned size_index(size_t size)
{
	unsigned i = 0;

	while (i < BCL_POOL_SIZES && size > sizes[i])
		i++;
	return i;
}

static void refill(struct bcl_pool *pool, struct bcl_pool_fresh *fresh)
{
	const struct bcl_env *env = pool->env;
	struct bcl_pool_slab *slab = env->allocate(env->world, SLAB_SIZE);

	if (!slab)
		return;
	slab->next = pool->slabs;
	pool->slabs = slab;
	*fresh = (struct bcl_pool_fresh){
		.first = (char *)slab + SLAB_HEAD,
		.end = (char *)slab + SLAB_SIZE,
	};
}

/* Takes a block that was never used. The memory may not have been touched
 * yet. */
static void *take_fresh(struct bcl_pool *pool, unsigned i)
{
	struct bcl_pool_fresh *fresh = &pool->fresh[i];
	char *block;

	if ((size_t)(fresh->end - fresh->first) < sizes[i])
		refill(pool, fresh);
	block = fresh->first;
	if ((size_t)(fresh->end - block) < sizes[i])
		return NULL;
	fresh->first += sizes[i];
	return block;
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
	block = pool->blocks[i];
	if (!block)
		return take_fresh(pool, i);
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
