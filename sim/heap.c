/* SPDX-License-Identifier: MIT */
/* Memory that is freed when the owner dies; see heap.h. */
#include "sim/heap.h"

#include <stdint.h>
#include <stdlib.h>

/* The header in front of the memory that the caller gets. */
struct sim_piece {
	struct sim_piece *next, **place;
	void *whole;
};

void *sim_heap_take(struct sim_heap *heap, size_t align, size_t size)
{
	char *whole = calloc(1, sizeof(struct sim_piece) + align + size);
	struct sim_piece *piece;
	char *memory;

	if (!whole)
		return NULL;
	memory = whole + sizeof(*piece);
	memory += -(uintptr_t)memory % align;
	piece = (struct sim_piece *)(void *)memory - 1;
	*piece = (struct sim_piece){ heap->first, &heap->first, whole };
	if (piece->next)
		piece->next->place = &piece->next;
	heap->first = piece;
	return memory;
}

void sim_heap_give(void *memory)
{
	struct sim_piece *piece;

	if (!memory)
		return;
	piece = (struct sim_piece *)memory - 1;
	*piece->place = piece->next;
	if (piece->next)
		piece->next->place = piece->place;
	free(piece->whole);
}

void sim_heap_clear(struct sim_heap *heap)
{
	while (heap->first)
		sim_heap_give(heap->first + 1);
}
