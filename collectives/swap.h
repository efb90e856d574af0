/* SPDX-License-Identifier: MIT */
/*
 * A gatherv, scatterv or alltoallv of two members of a node goes through the
 * node's segment. The segment takes operations whose lengths all members know.
 * In a larger team a member knows only the lengths of its own blocks. Of two
 * members each knows the lengths of both blocks between the members. A scatterv
 * is a broadcast of the other member's block, which lets the root run ahead.
 */
#ifndef BCL_COLLECTIVES_SWAP_H
#define BCL_COLLECTIVES_SWAP_H

#include <string.h>

#include "collectives/call.h"

struct bcl_swap {
	const unsigned char *send; /* the block for the other member */
	unsigned char *receive;
	/* Not of a scatterv: bytes that each member gives to the other. The
	 * other member's bytes go to an offset in `receive`. */
	size_t lengths[2], offsets[2];
	/* The own block, if not at its place yet. */
	const unsigned char *from;
	unsigned char *to;
	size_t own;
};

struct bcl_swap bcl_swap_of(const struct bcl_team *team,
			    const struct bcl_call *call);

/* Copies the own block to its place. */
static inline void bcl_swap_copy_own(const struct bcl_swap *swap)
{
	if (swap->own)
		memcpy(swap->to, swap->from, swap->own);
}

/* Begin the operation inside the node. *swap stays valid. */
static inline void bcl_swap_begin(const struct bcl_swap *swap,
				  struct bcl_node_op *op)
{
	bcl_node_begin_blocks(op, BCL_NODE_SWAP, swap->send, swap->receive,
			      swap->lengths, swap->offsets, 2);
}

static inline void bcl_swap_begin_scatter(const struct bcl_swap *swap,
					  const struct bcl_call *call,
					  struct bcl_node_op *op)
{
	bcl_node_begin(op, BCL_NODE_BROADCAST, call->root, swap->send,
		       swap->receive, call->length, NULL);
}

#endif
