/* SPDX-License-Identifier: MIT */
/*
 * The flag lines of a node's members (node.h), and the operations that are
 * short enough to go through them alone. What is measured as the latency of
 * collectives is these functions, so they are to be inlined.
 */
#ifndef BCL_COLLECTIVES_FLAGS_H
#define BCL_COLLECTIVES_FLAGS_H

#include <stdatomic.h>
#include <string.h>

#include <bcl/coll.h>

#include "collectives/node.h"
#include "transport/env/relax.h"

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

/* Has the member written in this phase? */
static inline bool bcl_flag_arrived(const struct bcl_node *node,
				    unsigned member, uint64_t phase,
				    unsigned polls)
{
	const struct bcl_flag *flag = bcl_flag_of(node, member);

	while (bcl_flag_load(&flag->ready) < phase) {
		if (!polls--)
			return false;
		bcl_relax();
	}
	return true;
}

/*
 * May the own place of this phase be written: have all left the last but one,
 * whose it was? Others who kept silent may wait for the same here.
 */
static inline bool bcl_flag_free(struct bcl_node *node, uint64_t phase)
{
	uint64_t before = phase - 2;
	unsigned i;

	if (phase <= 2 || node->consumed >= before)
		return true;
	for (i = 0; i < node->members; i++) {
		const struct bcl_flag *flag = bcl_flag_of(node, i);

		if (i == node->me || bcl_flag_load(&flag->done) >= before ||
		    bcl_flag_load(&flag->ready) > before)
			continue;
		bcl_flag_left(node, phase - 1);
		return false;
	}
	node->consumed = before;
	return true;
}

/* ---- short operations -----------------------------------------------------
 */

static inline unsigned bcl_short_words(size_t length)
{
	return (unsigned)(length + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

static inline _Atomic uint64_t *bcl_short_place(const struct bcl_node *node,
						unsigned member, uint64_t phase)
{
	return bcl_flag_of(node, member)->payload + (phase & 1) * node->words;
}

static inline void bcl_short_store(const struct bcl_node *node, uint64_t phase,
				   const void *from, size_t length)
{
	_Atomic uint64_t *place = bcl_short_place(node, node->me, phase);
	uint64_t words[BCL_NODE_WORDS_MAX] = { 0 };
	unsigned n = bcl_short_words(length), i;

	memcpy(words, from, length);
	for (i = 0; i < n; i++)
		atomic_store_explicit(&place[i], words[i],
				      memory_order_relaxed);
}

static inline void bcl_short_load(const struct bcl_node *node, unsigned member,
				  uint64_t *words, size_t length)
{
	const _Atomic uint64_t *place =
		bcl_short_place(node, member, node->phase);
	unsigned n = bcl_short_words(length), i;

	for (i = 0; i < n; i++)
		words[i] =
			atomic_load_explicit(&place[i], memory_order_relaxed);
}

/* Are its elements as well aligned in words as they must be? */
static inline bool bcl_short_reduces(const struct bcl_reduction *reduction)
{
	return !reduction || reduction->element <= sizeof(uint64_t);
}

/* The operation's only phase begins. False: not yet, the place is not free. */
static inline bool bcl_short_write(struct bcl_node *node,
				   enum bcl_node_kind kind, unsigned root,
				   const void *send, size_t length)
{
	uint64_t phase = node->phase + 1;

	if (kind == BCL_NODE_BROADCAST && node->me != root) {
		bcl_flag_only_read(node);
	} else {
		if (length && !bcl_flag_free(node, phase))
			return false;
		if (length == sizeof(uint64_t))
			bcl_short_store(node, phase, send, sizeof(uint64_t));
		else if (length)
			bcl_short_store(node, phase, send, length);
		bcl_flag_ready(node, phase);
	}
	node->phase = phase;
	return true;
}

/* Does the own member read what others write? */
static inline bool bcl_short_reads(const struct bcl_node *node,
				   enum bcl_node_kind kind, unsigned root)
{
	switch (kind) {
	case BCL_NODE_BROADCAST:
		return node->me != root;
	case BCL_NODE_REDUCE:
	case BCL_NODE_GATHER:
		return node->me == root;
	default:
		return true;
	}
}

/*
 * Has all come that the own member reads? `*next`, the number of members at
 * first, says on whom to go on waiting.
 */
static inline bool bcl_short_arrived(struct bcl_node *node,
				     enum bcl_node_kind kind, unsigned root,
				     unsigned *next, unsigned polls)
{
	if (!bcl_short_reads(node, kind, root))
		return true;
	if (kind == BCL_NODE_BROADCAST)
		return bcl_flag_arrived(node, root, node->phase, polls);
	for (; *next > 0; --*next)
		if (*next - 1 != node->me &&
		    !bcl_flag_arrived(node, *next - 1, node->phase, polls))
			return false;
	/* Whoever has written in this phase had left the one before. */
	node->consumed = node->phase - 1;
	return true;
}

/* Elements; a division costs as much as the rest. */
static inline size_t bcl_short_count(size_t length,
				     const struct bcl_reduction *reduction)
{
	return length == reduction->element ? 1 : length / reduction->element;
}

/* Members are combined from the last to the first: `in` is the lower. */
static inline void bcl_short_combine(const struct bcl_node *node, void *receive,
				     size_t length,
				     const struct bcl_reduction *reduction)
{
	uint64_t words[BCL_NODE_WORDS_MAX], sum[BCL_NODE_WORDS_MAX];
	size_t count = bcl_short_count(length, reduction);
	unsigned i = node->members - 1;

	bcl_short_load(node, i, sum, length);
	while (i-- > 0) {
		bcl_short_load(node, i, words, length);
		reduction->apply(words, sum, count, reduction->arg);
	}
	memcpy(receive, sum, length);
}

static inline void bcl_short_take(const struct bcl_node *node, unsigned member,
				  void *to, size_t length)
{
	uint64_t words[BCL_NODE_WORDS_MAX];

	bcl_short_load(node, member, words, length);
	memcpy(to, words, length);
}

static inline void bcl_short_read_as(const struct bcl_node *node,
				     enum bcl_node_kind kind, unsigned root,
				     void *receive, size_t length,
				     const struct bcl_reduction *reduction)
{
	unsigned i;

	if (kind == BCL_NODE_BROADCAST)
		bcl_short_take(node, root, receive, length);
	else if (reduction)
		bcl_short_combine(node, receive, length, reduction);
	else
		for (i = 0; i < node->members; i++)
			bcl_short_take(node, i,
				       (unsigned char *)receive + i * length,
				       length);
}

/* Take what has come. */
static inline void bcl_short_read(const struct bcl_node *node,
				  enum bcl_node_kind kind, unsigned root,
				  void *receive, size_t length,
				  const struct bcl_reduction *reduction)
{
	if (!length || !bcl_short_reads(node, kind, root))
		return;
	/* A word is what matters most: copied without a call, no loop. */
	if (length == sizeof(uint64_t))
		bcl_short_read_as(node, kind, root, receive, sizeof(uint64_t),
				  reduction);
	else
		bcl_short_read_as(node, kind, root, receive, length, reduction);
}

/*
 * The shortest of those that move data: one word of each of two members,
 * combined by both. What is read is the word written a moment ago and the
 * other's, which came with its flag. False: it has not come; *written as from
 * bcl_short_write().
 */
static inline bool bcl_short_pair(struct bcl_node *node, const void *send,
				  void *receive,
				  const struct bcl_reduction *reduction,
				  unsigned polls, bool *written)
{
	const struct bcl_flag *other = bcl_flag_of(node, !node->me);
	uint64_t phase = node->phase + 1, words[2];

	*written = bcl_flag_free(node, phase);
	if (!*written)
		return false;
	memcpy(&words[node->me], send, sizeof(uint64_t));
	atomic_store_explicit(&node->mine->payload[phase & 1], words[node->me],
			      memory_order_relaxed);
	bcl_flag_ready(node, phase);
	node->phase = phase;
	if (!bcl_flag_arrived(node, !node->me, phase, polls))
		return false;
	node->consumed = phase - 1;
	words[!node->me] = atomic_load_explicit(&other->payload[phase & 1],
						memory_order_relaxed);
	reduction->apply(&words[0], &words[1],
			 bcl_short_count(sizeof(uint64_t), reduction),
			 reduction->arg);
	memcpy(receive, &words[1], sizeof(uint64_t));
	return true;
}

#endif
