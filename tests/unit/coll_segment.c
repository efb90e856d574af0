/* SPDX-License-Identifier: MIT */
#include "tests/unit/coll_segment.h"

#include <bcl/coll.h>

enum stage {
	PIECE,
	READ,
};

size_t bcl_node_size(unsigned members)
{
	(void)members;
	return sizeof(struct coll_segment);
}

void bcl_node_init(struct bcl_node *node, unsigned me, unsigned members,
		   void *memory)
{
	*node = (struct bcl_node){
		.me = me,
		.members = members,
		.chunk = BCL_NODE_CHUNK_MAX,
		.flags = memory,
	};
}

bool bcl_node_able(const struct bcl_node *node, enum bcl_node_kind kind,
		   const struct bcl_reduction *reduction)
{
	(void)kind;
	return !reduction || reduction->element <= node->chunk / node->members;
}

size_t bcl_node_brief(const struct bcl_node *node, enum bcl_node_kind kind)
{
	(void)node;
	(void)kind;
	return 0;
}

static bool writes(const struct bcl_node *node, const struct bcl_node_op *op)
{
	switch (op->kind) {
	case BCL_NODE_BROADCAST:
	case BCL_NODE_SCATTER:
		return node->me == op->root;
	case BCL_NODE_GATHER:
	case BCL_NODE_REDUCE_CHAIN:
		return node->me != op->root;
	default:
		return true;
	}
}

static bool reads(const struct bcl_node *node, const struct bcl_node_op *op,
		  unsigned from)
{
	switch (op->kind) {
	case BCL_NODE_BROADCAST:
	case BCL_NODE_SCATTER:
		return from == op->root && node->me != from;
	case BCL_NODE_REDUCE:
	case BCL_NODE_GATHER:
		return node->me == op->root && node->me != from;
	case BCL_NODE_REDUCE_CHAIN:
		return from != op->root &&
		       from == (node->me + 1) % node->members;
	default:
		return node->me != from;
	}
}

/* Does a writer write a block for each member? */
static bool fans(const struct bcl_node_op *op)
{
	return op->kind == BCL_NODE_SCATTER || op->kind == BCL_NODE_ALLTOALL;
}

static void write_piece(const struct bcl_node *node,
			const struct bcl_node_op *op)
{
	if (writes(node, op))
		coll_segment_write(node, op->phase,
				   op->piece *
					   (fans(op) ? node->members - 1 : 1));
}

static void begin_piece(struct bcl_node *node, struct bcl_node_op *op)
{
	size_t most = node->chunk / (fans(op) ? node->members : 1);
	size_t left = op->length - op->offset;

	op->piece = left < most ? left : most;
	op->phase = ++node->phase;
	op->next = node->members;
	/* A member of a chain reads first, then writes. */
	if (op->kind != BCL_NODE_REDUCE_CHAIN)
		write_piece(node, op);
}

/* No foreign process writes to the simulated segment. */
void bcl_node_audit(struct bcl_node *node)
{
	(void)node;
}

bool bcl_node_advance(struct bcl_node *node, struct bcl_node_op *op,
		      unsigned polls)
{
	(void)polls;
	for (;;) {
		if (op->stage == PIECE)
			begin_piece(node, op);
		op->stage = READ;
		for (; op->next > 0; op->next--)
			if (reads(node, op, op->next - 1) &&
			    !coll_segment_read(node, op->next - 1, op->phase,
					       op->piece))
				return false;
		if (op->kind == BCL_NODE_REDUCE_CHAIN)
			write_piece(node, op);
		op->offset += op->piece;
		if (op->offset >= op->length)
			return true;
		op->stage = PIECE;
	}
}
