/* SPDX-License-Identifier: MIT */
/*
 * Layout of a team: the members of each node. A node is a host or, where memory
 * cannot be shared, a group of processes that acts as a host. Nodes are
 * numbered in the order of their lowest members.
 */
#ifndef BCL_COLLECTIVES_LAYOUT_H
#define BCL_COLLECTIVES_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <bcl/status.h>

struct bcl_layout {
	unsigned size, nnodes;
	/*
	 * Ranks of each node, if all nodes have the same number and the ranks
	 * of a node follow one another: then the memory that a rank needs does
	 * not grow with the job. 0: there are tables.
	 */
	unsigned even;
	uint32_t *node;	 /* [size] by rank */
	uint32_t *order; /* [size] ranks in the order of nodes, then of ranks */
	uint32_t *place; /* [size] by rank: its place in `order` */
	uint32_t *first; /* [nnodes + 1] place of a node's first rank */
	/* `order` is 0, 1, 2, ...: the ranks of a node follow one another */
	bool contiguous;
};

/* hosts[rank]: equal for ranks of one node. Returns NOMEM if there is no
 * memory. */
enum bcl_status bcl_layout_init(struct bcl_layout *layout,
				const uint64_t *hosts, unsigned size);
/* The layout with `even` ranks on each node; `size` is a multiple of `even`. */
void bcl_layout_init_even(struct bcl_layout *layout, unsigned size,
			  unsigned even);
void bcl_layout_fini(struct bcl_layout *layout);

static inline unsigned bcl_layout_node(const struct bcl_layout *layout,
				       unsigned rank)
{
	return layout->even ? rank / layout->even : layout->node[rank];
}

/* The rank at a place in the order of nodes, and the place of a rank. */
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

/* The place of a node's first rank. node = nnodes: the end of the last node. */
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

/* The member that acts for a node: its lowest. */
static inline unsigned bcl_layout_leader(const struct bcl_layout *layout,
					 unsigned node)
{
	return bcl_layout_rank(layout, bcl_layout_first(layout, node));
}

#endif
