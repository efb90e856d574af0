/* SPDX-License-Identifier: MIT */
/*
 * Memory for what comes and goes: messages that wait, copies of packets.
 * Blocks of a few sizes from slabs that are kept until the pool is closed, so
 * that a steady state allocates nothing; longer ones straight from env.
 */
#ifndef BCL_ADI_POOL_H
#define BCL_ADI_POOL_H

#include <stddef.h>

#include "transport/env/env.h"

enum {
	BCL_POOL_SIZES = 3,
};

struct bcl_pool_slab;
struct bcl_pool_block;

/* The rest of a slab. */
struct bcl_pool_fresh {
	char *first, *end;
};

struct bcl_pool {
	const struct bcl_env *env;
	struct bcl_pool_slab *slabs;
	struct bcl_pool_block *blocks[BCL_POOL_SIZES]; /* given back */
	struct bcl_pool_fresh fresh[BCL_POOL_SIZES];
};

void bcl_pool_open(struct bcl_pool *pool, const struct bcl_env *env);
void bcl_pool_close(struct bcl_pool *pool);

/* What a block for `size` bytes takes. */
size_t bcl_pool_size(size_t size);

/* At least `size` bytes, not zeroed, 64-byte aligned; NULL: no memory. */
void *bcl_pool_get(struct bcl_pool *pool, size_t size);
/* `size` as in bcl_pool_get(). */
void bcl_pool_put(struct bcl_pool *pool, void *block, size_t size);

#endif
