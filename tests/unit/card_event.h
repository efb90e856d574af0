/* SPDX-License-Identifier: MIT */
/* Future events in a world of cards, in the order of time. */
#ifndef BCL_TESTS_CARD_EVENT_H
#define BCL_TESTS_CARD_EVENT_H

#include "card_world.h"

enum event_kind {
	EVENT_FRAME,
	EVENT_DMA,
	EVENT_READY,
};

struct world_event {
	uint64_t at, order;
	enum event_kind kind;
	unsigned card, rail;
	uint64_t incarnation;
	/* dma */
	enum bcl_dma_direction direction;
	uint32_t cookie, length;
	void *card_memory, *host_memory;
	enum bcl_dma_result result;
	struct world_frame *frame;
};

static inline bool world_chance(struct world *world, unsigned per_mille)
{
	return per_mille && world_random(world, 1000) < per_mille;
}

/* A new event of the card, due `delay` ns from now. */
struct world_event *world_event_new(struct world_card *card, uint64_t delay,
				    enum event_kind kind);
void world_event_free(struct world_event *event);
void world_event_carry(struct world_event *event,
		       const struct world_frame *frame);
void world_event_push(struct world *world, struct world_event *event);
/* Removes the earliest event. The world must have an event. */
struct world_event *world_event_pop(struct world *world);

/* card_host.c: the functions that the host offers to each card. */
extern const struct bcl_hal world_hal;

#endif
