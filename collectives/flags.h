/* SPDX-License-Identifier: MIT */
/*
 * The flag lines of a node's members (node.h). The latency of a short
 * collective is the time that these functions take, so they are inlined.
 */
#ifndef BCL_COLLECTIVES_FLAGS_H
#define BCL_COLLECTIVES_FLAGS_H

#include <stdatomic.h>

#include "collectives/node.h"
#include "env/prefetch.h"

/* Of a function that all its callers inline, however many they are. */
#define bcl_always_inline inline __attribute__((always_inline))

enum {
	/* Pauses, of 10 ns each, before a member looks again at a line that
	 * another member is about to write: the time in which the line arrives
	 * there and is written. */
	BCL_FLAG_PATIENCE = 3,

	/* `ready` holds a phase in the high bits and kinds in the low
	 * BCL_FLAG_KINDS bits. There is a kind of BCL_FLAG_KIND bits for the
	 * phase itself (lowest) and for each phase before, BCL_FLAG_PHASES in
	 * all. A kind says how many bytes the member wrote beside its flag, or
	 * is one of the two values below. */
	BCL_FLAG_KIND = 5,
	BCL_FLAG_PHASES = 4,
	BCL_FLAG_KINDS = BCL_FLAG_KIND * BCL_FLAG_PHASES,
	BCL_FLAG_CHUNK = (1 << BCL_FLAG_KIND) - 1, /* the data is in a chunk */
	BCL_FLAG_NOTHING = BCL_FLAG_CHUNK - 1, /* no data, or data in a slot */

	/* Fields of a head, from the highest bits on: the phase, the kind of
	 * operation, the length. */
	BCL_HEAD_PHASE = 18,
	BCL_HEAD_KIND = 4,
	BCL_HEAD_LENGTH = 64 - BCL_HEAD_PHASE - BCL_HEAD_KIND,
};

struct bcl_flag {
	_Atomic uint64_t ready; /* see bcl_flag_phase() */
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

/* Make room for the kind of this phase, which is `since` phases after the last
 * write. The phases between get BCL_FLAG_NOTHING. */
static inline uint32_t bcl_flag_shift(uint32_t kinds, uint64_t since)
{
	while (since-- > 1)
		kinds = kinds << BCL_FLAG_KIND | BCL_FLAG_NOTHING;
	return (kinds << BCL_FLAG_KIND) & ((1u << BCL_FLAG_KINDS) - 1);
}

/* The own member has written in this phase: `kind` bytes beside its flag, or
 * data in a chunk (BCL_FLAG_CHUNK). Publishes the phase to all members. */
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

/* ready: a member's flag. Returns true if the member wrote `length` bytes in
 * this phase, or if the flag does not tell any more, because the member is
 * BCL_FLAG_PHASES or more phases ahead. */
static inline bool bcl_flag_agrees(uint64_t ready, uint64_t phase,
				   uint64_t length)
{
	uint64_t since = bcl_flag_phase(ready) - phase;

	return since >= BCL_FLAG_PHASES ||
	       (ready >> since * BCL_FLAG_KIND & BCL_FLAG_CHUNK) == length;
}

/* The number among all chunks of the chunk that a member writes in this
 * phase. */
static inline size_t bcl_chunk_number(const struct bcl_node *node,
				      unsigned member, uint64_t phase)
{
	return (size_t)member * node->places + (phase & (node->places - 1));
}

/* The head of the chunk that a member writes in this phase. Each head has a
 * line, since one head is written while another one is read. */
static inline _Atomic uint64_t *bcl_head_of(const struct bcl_node *node,
					    unsigned member, uint64_t phase)
{
	size_t line = bcl_chunk_number(node, member, phase);

	return (_Atomic uint64_t *)(node->heads + line * BCL_NODE_LINE);
}

/* The value of a head. */
static inline uint64_t bcl_head(uint64_t phase, enum bcl_node_kind kind,
				uint64_t length)
{
	return phase << (64 - BCL_HEAD_PHASE) |
	       (uint64_t)kind << BCL_HEAD_LENGTH |
	       (length & ((UINT64_C(1) << BCL_HEAD_LENGTH) - 1));
}

/* A member has written data of another length in this phase than the operation
 * here expects. Stores the member in node->differs and the length, if the head
 * or the flag still tells, in node->theirs. */
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

/* The own member has left this phase: it will not read data of this phase any
 * more. */
static inline void bcl_flag_left(struct bcl_node *node, uint64_t phase)
{
	if (node->left >= phase)
		return;
	node->left = phase;
	/* pairs with bcl_flag_load() */
	atomic_store_explicit(&node->mine->done, phase, memory_order_release);
}

/*
 * To be called before a phase begins in which the own member does not write. A
 * write in a phase also says that the writer has left the phase before, so only
 * a member that does not write must store `done`. Even then a member that wrote
 * in the phase before stays silent in this phase: no member needs to know
 * before the next phase, and the transfer of the line would cost as much as the
 * rest of the operation.
 */
static inline void bcl_flag_only_read(struct bcl_node *node)
{
	if (node->written != node->phase)
		bcl_flag_left(node, node->phase);
}

/*
 * Pause while the other of two members has its turn with the line that both
 * share. A look now would find nothing new, and would take the line away from
 * the member that is about to write there.
 */
static inline void bcl_flag_cede_line(void)
{
	unsigned i;

	for (i = 0; i < BCL_FLAG_PATIENCE; i++)
		bcl_spin_hint();
}

/* Returns the flag. 0: the phase is not reached, or is too far ahead to be
 * true. */
static inline uint64_t bcl_flag_reached(const struct bcl_flag *flag,
					uint64_t phase)
{
	uint64_t ready = bcl_flag_load(&flag->ready);

	return bcl_flag_phase(ready) - phase < BCL_NODE_AHEAD ? ready : 0;
}

/* Wait for a member to write in this phase, for at most `polls` looks more
 * after the first. Returns the member's flag. 0: not yet. */
static inline uint64_t bcl_flag_arrived(const struct bcl_node *node,
					unsigned member, uint64_t phase,
					unsigned polls)
{
	const struct bcl_flag *flag = bcl_flag_of(node, member);
	bool share_line = node->members == 2 && polls;
	uint64_t ready;

	/* the other member waits for data that was written a moment ago */
	if (share_line && node->written == phase - 1)
		bcl_flag_cede_line();
	ready = bcl_flag_reached(flag, phase);
	if (ready)
		return ready;
	/* the own store fetched the line, before the other member's store */
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

/* Words of payload that `length` bytes take. */
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
 * The own place for this phase is one of `places` that are used in turn.
 * Returns true if the member may write there: all members have left the phase
 * of the last write. If not, the own member says that it has left the phase
 * before, because other silent members may be waiting here for the same.
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
