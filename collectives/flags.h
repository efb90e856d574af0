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

	/* `ready` is a phase, and before it what was written in it and in some
	 * phases before it, so many bits of each: bytes that lie beside it. */
	BCL_FLAG_KIND = 5,
	BCL_FLAG_PHASES = 4,
	BCL_FLAG_KINDS = BCL_FLAG_KIND * BCL_FLAG_PHASES,
	BCL_FLAG_CHUNK = (1 << BCL_FLAG_KIND) - 1, /* what is in a chunk */
	BCL_FLAG_NOTHING = BCL_FLAG_CHUNK - 1,	   /* or in a slot */

	/* Of a head, from the highest on: bits of the phase, of the kind of
	 * operation, of its length. */
	BCL_HEAD_PHASE = 18,
	BCL_HEAD_KIND = 4,
	BCL_HEAD_LENGTH = 64 - BCL_HEAD_PHASE - BCL_HEAD_KIND,
};

struct bcl_flag {
	_Atomic uint64_t ready; /* bcl_flag_phase() */
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

static inline uint64_t bcl_flag_phase(uint64_t ready)
{
	return ready >> BCL_FLAG_KINDS;
}

/* What the flag says of this phase, and of those since it was written last, in
 * which nothing was. */
static inline uint32_t bcl_flag_shift(uint32_t kinds, uint64_t since)
{
	while (since-- > 1)
		kinds = kinds << BCL_FLAG_KIND | BCL_FLAG_NOTHING;
	return (kinds << BCL_FLAG_KIND) & ((1u << BCL_FLAG_KINDS) - 1);
}

/* The own member has written in this phase: so many bytes beside its flag, or
 * BCL_FLAG_CHUNK. */
static inline void bcl_flag_ready(struct bcl_node *node, uint64_t phase,
				  unsigned kind)
{
	uint64_t since = phase - node->written;

	if (since > BCL_FLAG_PHASES)
		since = BCL_FLAG_PHASES;
	node->kinds = bcl_flag_shift(node->kinds, since) | kind;
	/* pairs with bcl_flag_load() */
	atomic_store_explicit(&node->mine->ready,
			      phase << BCL_FLAG_KINDS | node->kinds,
			      memory_order_release);
	node->written = phase;
}

/* Has a member, whose flag says this, written so many bytes in this phase? Of
 * one that is far ahead it is not known. */
static inline bool bcl_flag_agrees(uint64_t ready, uint64_t phase,
				   uint64_t length)
{
	uint64_t since = bcl_flag_phase(ready) - phase;

	return since >= BCL_FLAG_PHASES ||
	       (ready >> since * BCL_FLAG_KIND & BCL_FLAG_CHUNK) == length;
}

/* The head of a chunk that the member writes in this phase. A line for each, as
 * one is written while another one is read. */
static inline _Atomic uint64_t *bcl_head_of(const struct bcl_node *node,
					    unsigned member, uint64_t phase)
{
	size_t line =
		(size_t)member * BCL_NODE_HALVES + phase % BCL_NODE_HALVES;

	return (_Atomic uint64_t *)(node->heads + line * BCL_NODE_LINE);
}

/* What it says of an operation. */
static inline uint64_t bcl_head(uint64_t phase, enum bcl_node_kind kind,
				uint64_t length)
{
	return phase << (64 - BCL_HEAD_PHASE) |
	       (uint64_t)kind << BCL_HEAD_LENGTH |
	       (length & ((UINT64_C(1) << BCL_HEAD_LENGTH) - 1));
}

/* A member has written something else in this phase than is due here: if it is
 * known, what. */
static inline void bcl_flag_differ(struct bcl_node *node, unsigned member,
				   uint64_t phase)
{
	uint64_t head = atomic_load_explicit(bcl_head_of(node, member, phase),
					     memory_order_relaxed);
	uint64_t ready = bcl_flag_load(&bcl_flag_of(node, member)->ready);
	unsigned length;

	node->differs = member + 1;
	node->theirs = UINT64_MAX;
	if (head >> (64 - BCL_HEAD_PHASE) == phase % (1 << BCL_HEAD_PHASE))
		node->theirs = head & ((UINT64_C(1) << BCL_HEAD_LENGTH) - 1);
	for (length = 0; length < BCL_FLAG_NOTHING; length++)
		if (bcl_flag_phase(ready) - phase < BCL_FLAG_PHASES &&
		    bcl_flag_agrees(ready, phase, length))
			node->theirs = length;
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

/* What the flag says; 0 if its phase has not come, or is one that cannot be. */
static inline uint64_t bcl_flag_reached(const struct bcl_flag *flag,
					uint64_t phase)
{
	uint64_t ready = bcl_flag_load(&flag->ready);

	return bcl_flag_phase(ready) - phase < BCL_NODE_AHEAD ? ready : 0;
}

/* Has the member written in this phase? What its flag says, or 0. */
static inline uint64_t bcl_flag_arrived(const struct bcl_node *node,
					unsigned member, uint64_t phase,
					unsigned polls)
{
	const struct bcl_flag *flag = bcl_flag_of(node, member);
	bool share_line = node->members == 2 && polls;
	uint64_t ready;

	/* What the other waits for was written a moment ago. */
	if (share_line && node->written == phase - 1)
		bcl_flag_cede_line();
	ready = bcl_flag_reached(flag, phase);
	if (ready)
		return ready;
	/* The line came for the own store, without the other's. */
	if (share_line && node->written == phase)
		bcl_flag_cede_line();
	while (polls--) {
		bcl_spin_hint();
		ready = bcl_flag_reached(flag, phase);
		if (ready)
			return ready;
	}
	return 0;
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
			uint64_t ready =
				bcl_flag_phase(bcl_flag_load(&flag->ready));

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
