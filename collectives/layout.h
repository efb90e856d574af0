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
	/*
	 * Each node has so many ranks, which follow one another: what a rank
	 * knows of a large job does not grow with it. 0: there are tables.
	 */
	unsigned even;
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
/* `even` ranks on each node; `size` is a multiple. */
void bcl_layout_init_even(struct bcl_layout *layout, unsigned size,
			  unsigned even);
void bcl_layout_fini(struct bcl_layout *layout);

static inline unsigned bcl_layout_node(const struct bcl_layout *layout,
				       unsigned rank)
{
	return layout->even ? rank / layout->even : layout->node[rank];
}

/* The rank at a place in the order of nodes; and its place. */
static inline unsigned bcl_layout_rank(const struct bcl_layout *layout,
				       unsigned place)
{
	return layout->even ? place : layout->order[place];
}

static inline unsigned bcl_layout_place(const struct bcl_layout *layout,
					unsigned rank)
{
	return layout->even ? rank : layout->place[rank];
}

/* Where a node begins; nnodes: where the last one ends. */
static inline unsigned bcl_layout_first(const struct bcl_layout *layout,
					unsigned node)
{
	return layout->even ? node * layout->even : layout->first[node];
}

static inline unsigned bcl_layout_members(const struct bcl_layout *layout,
					  unsigned node)
{
	return bcl_layout_first(layout, node + 1) -
	       bcl_layout_first(layout, node);
}

/* The member that speaks for a node. */
static inline unsigned bcl_layout_leader(const struct bcl_layout *layout,
					 unsigned node)
{
	return bcl_layout_rank(layout, bcl_layout_first(layout, node));
}

#endif
