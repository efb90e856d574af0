/* SPDX-License-Identifier: MIT */
/*
 * Memory pool for unexpected messages and copies of packets. Blocks of a few
 * sizes come from slabs that the pool keeps until it is closed, so a steady
 * state allocates nothing. Longer blocks come straight from env.
 */
#ifndef BCL_ADI_POOL_H
#define BCL_ADI_POOL_H

#include <stddef.h>

#include "env/env.h"

enum {
	BCL_POOL_SIZES = 3,
};

struct bcl_pool_slab;
struct bcl_pool_block;

/* The part of a slab that was not handed out yet. */
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

/* Bytes that a block for `size` bytes takes. */
size_t bcl_pool_size(size_t size);

/* At least `size` bytes, not zeroed, 64-byte aligned. NULL: no memory. */
void *bcl_pool_get(struct bcl_pool *pool, size_t size);
/* Gives a block back; NULL: does nothing. `size` as in bcl_pool_get(). */
void bcl_pool_put(struct bcl_pool *pool, void *block, size_t size);

#endif
