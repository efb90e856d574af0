/* SPDX-License-Identifier: MIT */
/* Memory of somebody who may die: what was not given back goes then. */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include <stddef.h>

struct sim_piece;

/* All zeroes: empty. */
struct sim_heap {
	struct sim_piece *first;
};

/* Zeroed; NULL: there is none. Large pieces take no memory where they are not
 * touched. align: a power of two. */
void *sim_heap_take(struct sim_heap *heap, size_t align, size_t size);
/* NULL: nothing is done. */
void sim_heap_give(void *memory);
void sim_heap_clear(struct sim_heap *heap);

#endif
