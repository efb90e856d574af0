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
	/* `ready` is a phase, and before it the bytes beside it. */
	BCL_SLOT_LENGTH = 6, /* bits */

	/* Phases that others may know of late, unless they wait. */
	BCL_SLOT_LAG = BCL_NODE_SLOTS / 4,
};

struct bcl_node_slot {
	_Atomic uint64_t ready; /* bcl_slot_ready() */
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

/* The root has written another number of bytes than are due. */
static inline void bcl_slot_differ(struct bcl_node *node, unsigned root,
				   uint64_t ready)
{
	node->differs = root + 1;
	node->theirs = ready % (1 << BCL_SLOT_LENGTH);
}

/* What the root has written in this phase. False: nothing yet. */
static inline bool bcl_slot_take(struct bcl_node *node, unsigned root,
				 void *receive, size_t length, unsigned polls)
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
