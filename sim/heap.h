/* SPDX-License-Identifier: MIT */
/* Memory of an owner that may die: memory not given back is freed with the
 * heap. */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include <stddef.h>

struct sim_piece;

/* All zeroes: empty. */
struct sim_heap {
	struct sim_piece *first;
};

/* Returns zeroed memory, NULL if there is none. Large pieces take no memory
 * where they are not touched. `align` is a power of two. */
void *sim_heap_take(struct sim_heap *heap, size_t align, size_t size);
/* NULL: does nothing. */
void sim_heap_give(void *memory);
void sim_heap_clear(struct sim_heap *heap);

#endif
