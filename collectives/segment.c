/* SPDX-License-Identifier: MIT */
/* The segment of a node, its users in this process, and its areas. See
 * segment.h. */
#include "collectives/segment.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "adi/internal.h"
#include "collectives/node.h"

/* In front of the areas, in a line of its own. */
struct areas {
	_Atomic uint64_t lent; /* a bit for each area */
};

/* In front of each area, in a line of its own. */
struct area {
	_Atomic uint32_t members; /* that have not left */
};

/* An area has room for the members of any team of the node, not only for the
 * largest: fewer members have longer chunks. */
static size_t area_size(unsigned members)
{
	size_t most = 0, size;

	for (; members > 1; members--) {
		size = bcl_node_size(members, BCL_NODE_LENT);
		if (size > most)
			most = size;
	}
	return BCL_NODE_LINE + most;
}

size_t bcl_segment_size(unsigned members, bool lends)
{
	size_t size = bcl_node_size(members, BCL_NODE_OWN);

	if (lends)
		size += BCL_NODE_LINE + BCL_SEGMENT_AREAS * area_size(members);
	return size;
}

struct bcl_segment *bcl_segment_use(struct bcl_segment *segment)
{
	if (segment)
		segment->users++;
	return segment;
}

void bcl_segment_leave(struct bcl_adi *adi, struct bcl_segment *segment)
{
	bool last;

	if (!segment)
		return;
	bcl_adi_lock(adi);
	last = !--segment->users;
	bcl_adi_unlock(adi);
	if (!last)
		return;
	if (segment->peer)
		bcl_memory_unmap(segment->peer, segment->key);
	if (segment->memory)
		bcl_memory_release(segment->memory);
	free(segment);
}

static struct areas *areas_of(const struct bcl_segment *segment)
{
	size_t own = bcl_node_size(segment->members, BCL_NODE_OWN);

	return (struct areas *)(segment->address + own);
}

/* area: from 1 on */
static struct area *area_of(const struct bcl_segment *segment, unsigned area)
{
	unsigned char *first =
		(unsigned char *)areas_of(segment) + BCL_NODE_LINE;

	return (struct area *)(first +
			       (area - 1) * area_size(segment->members));
}

static void *memory_of(struct area *area)
{
	return (unsigned char *)area + BCL_NODE_LINE;
}

unsigned bcl_area_take(const struct bcl_segment *segment, unsigned members)
{
	struct areas *areas = areas_of(segment);
	unsigned i;

	for (i = 0; i < BCL_SEGMENT_AREAS; i++) {
		uint64_t bit = UINT64_C(1) << i;
		struct area *area;

		/* acquire: pairs with the release in bcl_area_leave() */
		if (atomic_fetch_or_explicit(&areas->lent, bit,
					     memory_order_acquire) &
		    bit)
			continue;
		area = area_of(segment, i + 1);
		bcl_node_wipe(memory_of(area), members, BCL_NODE_LENT);
		atomic_store_explicit(&area->members, members,
				      memory_order_relaxed);
		return i + 1;
	}
	return 0;
}

void *bcl_area_memory(const struct bcl_segment *segment, unsigned area)
{
	if (!area || area > BCL_SEGMENT_AREAS)
		return NULL;
	return memory_of(area_of(segment, area));
}

void bcl_area_leave(const struct bcl_segment *segment, unsigned area)
{
	uint64_t bit = UINT64_C(1) << (area - 1);

	/* acq_rel: pairs with itself; the last member has what the others did
	 * in the area behind it */
	if (atomic_fetch_sub_explicit(&area_of(segment, area)->members, 1,
				      memory_order_acq_rel) > 1)
		return;
	/* release: pairs with the acquire in bcl_area_take() */
	atomic_fetch_and_explicit(&areas_of(segment)->lent, ~bit,
				  memory_order_release);
}
