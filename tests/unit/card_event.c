/* SPDX-License-Identifier: MIT */
#include "card_event.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool sooner(const struct world_event *a, const struct world_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void world_event_push(struct world *world, struct world_event *event)
{
	size_t at = world->nevents++;

	event->order = world->order++;
	if (at == world->room) {
		world->room = world->room ? 2 * world->room : 64;
		world->events =
			realloc(world->events, world->room * sizeof(event));
		assert(world->events);
	}
	while (at > 0 && sooner(event, world->events[(at - 1) / 2])) {
		world->events[at] = world->events[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	world->events[at] = event;
}

struct world_event *world_event_pop(struct world *world)
{
	struct world_event *first = world->events[0], *last;
	size_t at = 0, child;

	last = world->events[--world->nevents];
	while ((child = 2 * at + 1) < world->nevents) {
		if (child + 1 < world->nevents &&
		    sooner(world->events[child + 1], world->events[child]))
			child++;
		if (!sooner(world->events[child], last))
			break;
		world->events[at] = world->events[child];
		at = child;
	}
	world->events[at] = last;
	return first;
}

struct world_event *world_event_new(struct world_card *card, uint64_t delay,
				    enum event_kind kind)
{
	struct world_event *event = calloc(1, sizeof(*event));

	assert(event);
	event->at = card->world->now + delay;
	event->kind = kind;
	event->card = card->index;
	event->incarnation = card->incarnation;
	return event;
}

void world_event_free(struct world_event *event)
{
	free(event->frame);
	free(event);
}

void world_event_carry(struct world_event *event,
		       const struct world_frame *frame)
{
	event->frame = malloc(sizeof(*frame));
	assert(event->frame);
	memcpy(event->frame, frame,
	       offsetof(struct world_frame, bytes) + frame->length);
}
