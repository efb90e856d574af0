/* SPDX-License-Identifier: MIT */
/*
 * Operations inside a node whose data is short enough for the flag lines, or
 * slots, alone: one phase, with the data beside the flags. The functions are
 * inlined where the compiler knows the kind of operation.
 */
#ifndef BCL_COLLECTIVES_SHORT_H
#define BCL_COLLECTIVES_SHORT_H

#include <string.h>

#include <bcl/coll.h>

#include "collectives/slots.h"

static inline _Atomic uint64_t *bcl_short_place(const struct bcl_node *node,
						unsigned member, uint64_t phase)
{
	return bcl_flag_of(node, member)->payload + (phase & 1) * node->words;
}

static bcl_always_inline void bcl_short_store(const struct bcl_node *node,
					      uint64_t phase, const void *from,
					      size_t length)
{
	uint64_t words[BCL_NODE_WORDS_MAX] = { 0 };

	memcpy(words, from, length);
	bcl_flag_put(bcl_short_place(node, node->me, phase), words,
		     bcl_flag_words(length));
}

static bcl_always_inline void bcl_short_load(const struct bcl_node *node,
					     unsigned member, uint64_t *words,
					     size_t length)
{
	bcl_flag_get(bcl_short_place(node, member, node->phase), words,
		     bcl_flag_words(length));
}

/* True if the elements are aligned in words as they must be. */
static inline bool bcl_short_reduces(const struct bcl_reduction *reduction)
{
	return !reduction || reduction->element <= sizeof(uint64_t);
}

/* Scans do not hear of all members. */
static inline bool bcl_short_scans(const struct bcl_node_op *op)
{
	return op->kind == BCL_NODE_SCAN || op->kind == BCL_NODE_EXSCAN;
}

/* The number of members, counted from the first, whose data the own member
 * combines. */
static bcl_always_inline unsigned
bcl_short_combined(const struct bcl_node *node, const struct bcl_node_op *op)
{
	if (bcl_short_scans(op))
		return node->me + (op->kind == BCL_NODE_SCAN);
	return node->members;
}

/* True if a member has a block for each member: two members, and one block goes
 * to the other. */
static inline bool bcl_short_fans(const struct bcl_node_op *op)
{
	return op->kind == BCL_NODE_ALLTOALL ||
	       op->kind == BCL_NODE_REDUCE_SCATTER;
}

/* Begin the operation's only phase. Returns false if the place is not free
 * yet. */
static bcl_always_inline bool bcl_short_write(struct bcl_node *node,
					      struct bcl_node_op *op)
{
	const unsigned char *from = op->send;
	uint64_t phase = node->phase + 1;
	size_t length = bcl_node_bytes(op, node->me);

	/* a member that swaps nothing must not run far ahead */
	if ((length || op->kind == BCL_NODE_SWAP) &&
	    !bcl_flag_free(node, phase, BCL_NODE_PAYLOADS))
		return false;
	if (bcl_short_fans(op))
		from += !node->me * length;
	if (length == sizeof(uint64_t))
		bcl_short_store(node, phase, from, sizeof(uint64_t));
	else if (length)
		bcl_short_store(node, phase, from, length);
	bcl_flag_ready(node, phase, (unsigned)length);
	node->phase = phase;
	op->phase = phase;
	op->next = bcl_short_combined(node, op);
	return true;
}

/* True if the own member reads the data of other members. */
static bcl_always_inline bool bcl_short_reads(const struct bcl_node *node,
					      const struct bcl_node_op *op)
{
	switch (op->kind) {
	case BCL_NODE_REDUCE:
	case BCL_NODE_GATHER:
		return node->me == op->root;
	case BCL_NODE_SWAP:
		return op->lengths[!node->me];
	default:
		return true;
	}
}

/* True if all data that the own member reads has arrived. */
static bcl_always_inline bool
bcl_short_arrived(struct bcl_node *node, struct bcl_node_op *op, unsigned polls)
{
	if (!bcl_short_reads(node, op))
		return true;
	for (; op->next > 0; op->next--) {
		unsigned member = op->next - 1;
		uint64_t ready;

		if (member == node->me)
			continue;
		ready = bcl_flag_arrived(node, member, op->phase, polls);
		if (!ready)
			return false;
		if (!bcl_flag_agrees(ready, op->phase,
				     bcl_node_bytes(op, member))) {
			bcl_flag_differ(node, member, op->phase);
			return false;
		}
	}
	/* a member that has written in this phase had left the phase before */
	if (!bcl_short_scans(op))
		node->consumed = op->phase - 1;
	return true;
}

/* The number of elements. A division costs as much as the rest of the
 * operation. */
static inline size_t bcl_short_count(size_t length,
				     const struct bcl_reduction *reduction)
{
	return length == reduction->element ? 1 : length / reduction->element;
}

/* Combine from the last of the first n members to the first: `in` is the lower
 * member. */
static bcl_always_inline void
bcl_short_combine(const struct bcl_node *node, unsigned n, void *receive,
		  size_t length, const struct bcl_reduction *reduction)
{
	uint64_t words[BCL_NODE_WORDS_MAX], sum[BCL_NODE_WORDS_MAX];
	size_t count = bcl_short_count(length, reduction);
	unsigned i = n - 1;

	if (!n)
		return;
	bcl_short_load(node, i, sum, length);
	while (i-- > 0) {
		bcl_short_load(node, i, words, length);
		reduction->apply(words, sum, count, reduction->arg);
	}
	memcpy(receive, sum, length);
}

/* Combine the own block with the one that the other of two members wrote. */
static bcl_always_inline void
bcl_short_combine_mine(const struct bcl_node *node,
		       const struct bcl_node_op *op, size_t length)
{
	uint64_t words[2][BCL_NODE_WORDS_MAX];
	size_t count = bcl_short_count(length, op->reduction);

	memcpy(words[node->me], op->send + node->me * length, length);
	bcl_short_load(node, !node->me, words[!node->me], length);
	op->reduction->apply(words[0], words[1], count, op->reduction->arg);
	memcpy(op->receive, words[1], length);
}

static bcl_always_inline void bcl_short_take(const struct bcl_node *node,
					     unsigned member, void *to,
					     size_t length)
{
	uint64_t words[BCL_NODE_WORDS_MAX];

	bcl_short_load(node, member, words, length);
	memcpy(to, words, length);
}

static bcl_always_inline void bcl_short_read_as(const struct bcl_node *node,
						const struct bcl_node_op *op,
						size_t length)
{
	unsigned me = node->me, i;

	if (op->kind == BCL_NODE_REDUCE_SCATTER) {
		bcl_short_combine_mine(node, op, length);
	} else if (op->reduction) {
		bcl_short_combine(node, bcl_short_combined(node, op),
				  op->receive, length, op->reduction);
	} else if (op->kind == BCL_NODE_ALLTOALL) {
		if (op->receive != op->send)
			memcpy(op->receive + me * length,
			       op->send + me * length, length);
		bcl_short_take(node, !me, op->receive + !me * length, length);
	} else {
		for (i = 0; i < node->members; i++)
			bcl_short_take(node, i, op->receive + i * length,
				       length);
	}
}

/* Take a block that has a length of its own. */
static bcl_always_inline void bcl_short_read_part(const struct bcl_node *node,
						  const struct bcl_node_op *op,
						  unsigned member)
{
	size_t length = op->lengths[member];

	if (length == sizeof(uint64_t))
		bcl_short_take(node, member, op->receive + op->offsets[member],
			       sizeof(uint64_t));
	else if (length)
		bcl_short_take(node, member, op->receive + op->offsets[member],
			       length);
}

static bcl_always_inline void bcl_short_read_parts(const struct bcl_node *node,
						   const struct bcl_node_op *op)
{
	unsigned i;

	if (op->kind == BCL_NODE_SWAP)
		bcl_short_read_part(node, op, !node->me);
	else
		for (i = 0; i < node->members; i++)
			bcl_short_read_part(node, op, i);
}

/* Take the data that has arrived. */
static bcl_always_inline void bcl_short_read(const struct bcl_node *node,
					     const struct bcl_node_op *op)
{
	if (!op->length || !bcl_short_reads(node, op))
		return;
	/* A single word matters most: copied without a call, no loop. */
	if (op->lengths)
		bcl_short_read_parts(node, op);
	else if (op->length == sizeof(uint64_t))
		bcl_short_read_as(node, op, sizeof(uint64_t));
	else
		bcl_short_read_as(node, op, op->length);
}

/* A scatter of two members is a broadcast of the other member's block. Returns
 * the data that the root writes; the root keeps its own block. */
static bcl_always_inline const unsigned char *
bcl_short_cast(const struct bcl_node *node, const struct bcl_node_op *op)
{
	size_t own = node->me * op->length, other = op->length - own;

	if (op->kind != BCL_NODE_SCATTER || node->me != op->root)
		return op->send;
	if (op->length && op->receive != op->send + own)
		memcpy(op->receive, op->send + own, op->length);
	return op->send + other;
}

static bcl_always_inline bool bcl_short_broadcast(struct bcl_node *node,
						  struct bcl_node_op *op,
						  unsigned polls)
{
	if (!op->phase && !bcl_slot_begin(node, op->root,
					  bcl_short_cast(node, op), op->length))
		return false;
	op->phase = node->phase;
	return bcl_slot_take(node, op->root, op->receive, op->length, polls);
}

/* As bcl_node_advance(), for a short operation. */
static bcl_always_inline bool
bcl_short_advance(struct bcl_node *node, struct bcl_node_op *op, unsigned polls)
{
	if (op->kind == BCL_NODE_BROADCAST || op->kind == BCL_NODE_SCATTER)
		return bcl_short_broadcast(node, op, polls);
	if (!op->phase && !bcl_short_write(node, op))
		return false;
	if (!bcl_short_arrived(node, op, polls))
		return false;
	bcl_short_read(node, op);
	return true;
}

#endif
