/* SPDX-License-Identifier: MIT */
/*
 * Allgather around a ring: the block of each member travels once around the
 * group. In node order each link between nodes carries one block at a time. As
 * in R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective
 * communication operations in MPICH", IJHPCA 19 (2005). Among four members,
 * turn = 0:
 *
 *   to member   0  1  2  3
 *   round 0     3  0  1  2    the block of the member before
 *   round 1     2  3  0  1
 *   round 2     1  2  3  0
 */
#include "collectives/builders.h"

struct ring {
	const struct bcl_group *group;
	unsigned turn;
	size_t length, element;
	bool by_rank;
};

/* Offset and length in bytes of the block that the member at `place` begins
 * with. */
static void block(const struct ring *ring, unsigned place, size_t *offset,
		  size_t *length)
{
	unsigned n = ring->group->size;
	unsigned i = (place + n - ring->turn) % n;

	if (ring->by_rank) {
		*offset = bcl_group_rank(ring->group, place) * ring->length;
		*length = ring->length;
		return;
	}
	*offset = bcl_block_begin(ring->length, ring->element, n, i);
	*length = bcl_block_begin(ring->length, ring->element, n, i + 1) -
		  *offset;
}

static void build_ring(struct bcl_schedule *schedule, const struct ring *ring,
		       unsigned char *base)
{
	const struct bcl_group *group = ring->group;
	unsigned n = group->size, me = group->me, k;
	unsigned next = bcl_group_rank(group, (me + 1) % n);
	unsigned previous = bcl_group_rank(group, (me + n - 1) % n);

	for (k = 0; k + 1 < n; k++) {
		size_t offset, length;

		block(ring, (me + n - k) % n, &offset, &length);
		if (length)
			bcl_step_send(schedule, next, base + offset, length);
		block(ring, (me + n - k - 1) % n, &offset, &length);
		if (length)
			bcl_step_receive(schedule, previous, base + offset,
					 length);
		bcl_step_round(schedule);
	}
}

void bcl_build_ring(struct bcl_schedule *schedule,
		    const struct bcl_group *group, unsigned turn, void *base,
		    size_t length, size_t element)
{
	const struct ring ring = {
		.group = group,
		.turn = turn,
		.length = length,
		.element = element,
	};

	build_ring(schedule, &ring, base);
}

void bcl_build_ring_by_rank(struct bcl_schedule *schedule,
			    const struct bcl_group *group, void *base,
			    size_t length)
{
	const struct ring ring = {
		.group = group,
		.length = length,
		.by_rank = true,
	};

	build_ring(schedule, &ring, base);
}
