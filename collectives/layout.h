/* SPDX-License-Identifier: MIT */
/*
 * Which members of a team are on which node. A node is a host or, where
 * memory cannot be shared, what behaves as one; nodes are numbered by their
 * lowest member.
 */
#ifndef BCL_COLLECTIVES_LAYOUT_H
#define BCL_COLLECTIVES_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <bcl/status.h>

struct bcl_layout {
	unsigned size, nnodes;
	uint32_t *node;	 /* [size] by rank */
	uint32_t *order; /* [size] ranks, by node, then by rank */
	uint32_t *place; /* [size] by rank: where it is in `order` */
	uint32_t *first; /* [nnodes + 1] where a node begins in `order` */
	/* `order` is 0, 1, 2, ...: a node's ranks follow one another */
	bool contiguous;
};

/* hosts[rank]: equal for ranks of one node. NOMEM. */
enum bcl_status bcl_layout_init(struct bcl_layout *layout,
				const uint64_t *hosts, unsigned size);
void bcl_layout_fini(struct bcl_layout *layout);

static inline unsigned bcl_layout_members(const struct bcl_layout *layout,
					  unsigned node)
{
	return layout->first[node + 1] - layout->first[node];
}

/* The member that speaks for a node. */
static inline unsigned bcl_layout_leader(const struct bcl_layout *layout,
					 unsigned node)
{
	return layout->order[layout->first[node]];
}

#endif
