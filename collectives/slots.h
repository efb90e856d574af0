/* SPDX-License-Identifier: MIT */
/*
 * Broadcasts of a few bytes inside a node (node.h). Each root has a row of
 * lines, used in turn, and in each line the number of a phase lies beside the
 * data. The root waits only for a member that is far behind, and readers seldom
 * say how far they are. The functions are inlined, as in flags.h.
 */
#ifndef BCL_COLLECTIVES_SLOTS_H
#define BCL_COLLECTIVES_SLOTS_H

#include <string.h>

#include "collectives/flags.h"

enum {
	/* `ready` holds a phase and, in the low bits, the bytes of the data. */
	BCL_SLOT_LENGTH = 6, /* bits */

	/* Phases that a reader may have left without saying so, unless the
	 * reader waits. */
	BCL_SLOT_LAG = BCL_NODE_SLOTS / 4,
};

struct bcl_node_slot {
	_Atomic uint64_t ready; /* see bcl_slot_ready() */
	_Atomic uint64_t payload[BCL_NODE_SLOT_WORDS];
};

static inline struct bcl_node_slot *bcl_slot_of(const struct bcl_node *node,
						unsigned member, uint64_t phase)
{
	struct bcl_node_slot *slots = (struct bcl_node_slot *)node->slots;

	return &slots[(size_t)member * BCL_NODE_SLOTS + phase % BCL_NODE_SLOTS];
}

static inline uint64_t bcl_slot_ready(uint64_t phase, size_t length)
{
	return phase << BCL_SLOT_LENGTH | length;
}

/* Begin the next phase, a broadcast; the root writes its data. Returns false if
 * no slot is free yet. */
static bcl_always_inline bool bcl_slot_begin(struct bcl_node *node,
					     unsigned root, const void *send,
					     size_t length)
{
	uint64_t words[BCL_NODE_SLOT_WORDS] = { 0 };
	uint64_t before = node->phase, phase = before + 1;

	if (node->me == root) {
		struct bcl_node_slot *slot = bcl_slot_of(node, root, phase);

		if (!bcl_flag_free(node, phase, BCL_NODE_SLOTS))
			return false;
		if (length)
			memcpy(words, send, length);
		bcl_flag_put(slot->payload, words, bcl_flag_words(length));
		/* pairs with bcl_flag_load() in bcl_slot_take() */
		atomic_store_explicit(&slot->ready,
				      bcl_slot_ready(phase, length),
				      memory_order_release);
		node->cast = phase;
		node->casts[phase % BCL_NODE_SLOTS] =
			bcl_slot_ready(phase, length);
	}
	if (before >= node->left + BCL_SLOT_LAG &&
	    before >= node->written + BCL_SLOT_LAG)
		bcl_flag_left(node, before);
	node->phase = phase;
	return true;
}

/* The root has written another number of bytes than the operation here
 * expects. */
static inline void bcl_slot_differ(struct bcl_node *node, unsigned root,
				   uint64_t ready)
{
	node->differs = root + 1;
	node->theirs = ready % (1 << BCL_SLOT_LENGTH);
}

/* Take the data that the root has written in this phase. Returns false if the
 * data has not arrived. */
static bcl_always_inline bool bcl_slot_take(struct bcl_node *node,
					    unsigned root, void *receive,
					    size_t length, unsigned polls)
{
	const struct bcl_node_slot *slot = bcl_slot_of(node, root, node->phase);
	uint64_t due = bcl_slot_ready(node->phase, length), ready;
	uint64_t words[BCL_NODE_SLOT_WORDS];

	if (node->me == root)
		return true;
	while ((ready = bcl_flag_load(&slot->ready)) != due) {
		if (!polls--) {
			if (ready >> BCL_SLOT_LENGTH == node->phase)
				bcl_slot_differ(node, root, ready);
			/* no member is to wait for one that has caught up */
			bcl_flag_left(node, node->phase - 1);
			return false;
		}
		bcl_spin_hint();
	}
	bcl_flag_get(slot->payload, words, bcl_flag_words(length));
	if (length)
		memcpy(receive, words, length);
	return true;
}

#endif
