/* SPDX-License-Identifier: MIT */
/*
 * The flag lines of a node's members (node.h). What is measured as the latency
 * of collectives is these functions, so they are to be inlined.
 */
#ifndef BCL_COLLECTIVES_FLAGS_H
#define BCL_COLLECTIVES_FLAGS_H

#include <stdatomic.h>

#include "collectives/node.h"
#include "transport/env/prefetch.h"

enum {
	/* Pauses, of 10 ns each: the time in which a line that has come is
	 * written to. */
	BCL_FLAG_PATIENCE = 3,
};

struct bcl_flag {
	_Atomic uint64_t ready;
	_Atomic uint64_t done;
	_Atomic uint64_t payload[];
};

static inline struct bcl_flag *bcl_flag_of(const struct bcl_node *node,
					   unsigned member)
{
	return (struct bcl_flag *)(node->flags + (size_t)member * node->stride);
}

/* Pairs with the release stores of bcl_flag_ready() and bcl_flag_left(). */
static inline uint64_t bcl_flag_load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_acquire);
}

/* The own member has written in this phase. */
static inline void bcl_flag_ready(struct bcl_node *node, uint64_t phase)
{
	/* pairs with bcl_flag_load() */
	atomic_store_explicit(&node->mine->ready, phase, memory_order_release);
	node->written = phase;
}

/* The own member has left this phase. */
static inline void bcl_flag_left(struct bcl_node *node, uint64_t phase)
{
	if (node->left >= phase)
		return;
	node->left = phase;
	/* pairs with bcl_flag_load() */
	atomic_store_explicit(&node->mine->done, phase, memory_order_release);
}

/*
 * The own member is about to read in a phase in which it does not write.
 * Whoever writes says with it that it has left the phase before, so only who
 * does not need say it. If it wrote in the phase before it may keep silent in
 * this one, since nobody needs to know before the next; the line's transfer
 * would cost as much as all the rest.
 */
static inline void bcl_flag_only_read(struct bcl_node *node)
{
	if (node->written != node->phase)
		bcl_flag_left(node, node->phase);
}

/*
 * The line that two members share is the other's turn: a look now would find
 * nothing new, and take the line away from who is about to write to it.
 */
static inline void bcl_flag_cede_line(void)
{
	unsigned i;

	for (i = 0; i < BCL_FLAG_PATIENCE; i++)
		bcl_spin_hint();
}

/* Has the member written in this phase? */
static inline bool bcl_flag_arrived(const struct bcl_node *node,
				    unsigned member, uint64_t phase,
				    unsigned polls)
{
	const struct bcl_flag *flag = bcl_flag_of(node, member);
	bool share_line = node->members == 2 && polls;

	/* What the other waits for was written a moment ago. */
	if (share_line && node->written == phase - 1)
		bcl_flag_cede_line();
	if (bcl_flag_load(&flag->ready) >= phase)
		return true;
	/* The line came for the own store, without the other's. */
	if (share_line && node->written == phase)
		bcl_flag_cede_line();
	while (polls--) {
		bcl_spin_hint();
		if (bcl_flag_load(&flag->ready) >= phase)
			return true;
	}
	return false;
}

/* What lies beside a phase's number, in words. */
static inline unsigned bcl_flag_words(size_t length)
{
	return (unsigned)(length + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

static inline void bcl_flag_put(_Atomic uint64_t *place, const uint64_t *words,
				unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		atomic_store_explicit(&place[i], words[i],
				      memory_order_relaxed);
}

static inline void bcl_flag_get(const _Atomic uint64_t *place, uint64_t *words,
				unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		words[i] =
			atomic_load_explicit(&place[i], memory_order_relaxed);
}

/*
 * May the own place of this phase, one of so many that are used in turn, be
 * written: have all left the phase whose it was? Others who kept silent may
 * wait for the same here.
 */
static inline bool bcl_flag_free(struct bcl_node *node, uint64_t phase,
				 unsigned places)
{
	uint64_t before = phase - places, least = phase - 1;
	unsigned i;

	if (phase <= places || node->consumed >= before)
		return true;
	for (i = 0; i < node->members; i++) {
		const struct bcl_flag *flag = bcl_flag_of(node, i);
		uint64_t done;

		if (i == node->me)
			continue;
		done = bcl_flag_load(&flag->done);
		if (done < before) {
			uint64_t ready = bcl_flag_load(&flag->ready);

			if (ready <= before) {
				bcl_flag_left(node, phase - 1);
				return false;
			}
			done = ready - 1;
		}
		if (done < least)
			least = done;
	}
	node->consumed = least;
	return true;
}

#endif
