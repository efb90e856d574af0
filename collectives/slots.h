/* SPDX-License-Identifier: MIT */
/*
 * Broadcasts of a few bytes inside a node (node.h): a row of lines for each
 * root, in each of which a phase's number lies beside its data. Nobody but
 * who is far behind is waited for, and readers say rarely how far they are.
 * To be inlined, as flags.h.
 */
#ifndef BCL_COLLECTIVES_SLOTS_H
#define BCL_COLLECTIVES_SLOTS_H

#include <string.h>

#include "collectives/flags.h"

enum {
	/* Phases that others may know of late, unless they wait. */
	BCL_SLOT_LAG = BCL_NODE_SLOTS / 4,
};

struct bcl_node_slot {
	_Atomic uint64_t ready; /* phase in which it was written */
	_Atomic uint64_t payload[BCL_NODE_SLOT_WORDS];
};

static inline struct bcl_node_slot *bcl_slot_of(const struct bcl_node *node,
						unsigned member, uint64_t phase)
{
	struct bcl_node_slot *slots = (struct bcl_node_slot *)node->slots;

	return &slots[(size_t)member * BCL_NODE_SLOTS + phase % BCL_NODE_SLOTS];
}

/* The next phase, a broadcast's, begins. False: not yet, no slot is free. */
static inline bool bcl_slot_begin(struct bcl_node *node, unsigned root,
				  const void *send, size_t length)
{
	uint64_t words[BCL_NODE_SLOT_WORDS] = { 0 };
	uint64_t before = node->phase, phase = before + 1;

	if (node->me == root) {
		struct bcl_node_slot *slot = bcl_slot_of(node, root, phase);

		if (!bcl_flag_free(node, phase, BCL_NODE_SLOTS))
			return false;
		memcpy(words, send, length);
		bcl_flag_put(slot->payload, words, bcl_flag_words(length));
		/* pairs with bcl_flag_load() in bcl_slot_take() */
		atomic_store_explicit(&slot->ready, phase,
				      memory_order_release);
		node->cast = phase;
	}
	if (before >= node->left + BCL_SLOT_LAG &&
	    before >= node->written + BCL_SLOT_LAG)
		bcl_flag_left(node, before);
	node->phase = phase;
	return true;
}

/* What the root has written in this phase. False: nothing yet. */
static inline bool bcl_slot_take(struct bcl_node *node, unsigned root,
				 void *receive, size_t length, unsigned polls)
{
	const struct bcl_node_slot *slot = bcl_slot_of(node, root, node->phase);
	uint64_t words[BCL_NODE_SLOT_WORDS];

	if (node->me == root)
		return true;
	while (bcl_flag_load(&slot->ready) != node->phase) {
		if (!polls--) {
			/* Who has caught up is not to be waited for. */
			bcl_flag_left(node, node->phase - 1);
			return false;
		}
		bcl_spin_hint();
	}
	bcl_flag_get(slot->payload, words, bcl_flag_words(length));
	memcpy(receive, words, length);
	return true;
}

#endif
