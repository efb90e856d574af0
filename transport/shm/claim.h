/* SPDX-License-Identifier: MIT */
/*
 * The claim word of an offer: says who copies which part of a large message.
 *
 * Sender and receiver copy at the same time: the sender takes chunks from the
 * start, the receiver from the end, each by a compare-and-swap on one word,
 * until all `n` are taken. If the sender feeds its bounce area (bounce.c), the
 * last chunk is empty, so that the receiver's first claim leaves all bytes to
 * the sender. The word lies in the table of the offering side:
 *
 *	63..48  generation: as in the token; if not, the token is stale
 *	47..24  front: chunks taken by the sender; CLOSED: no offer
 *	23..0   back: chunks taken by the receiver
 *
 *  state       word             next, by whom
 *  free        g, CLOSED, 0     offered: by the sender (next generation)
 *  offered     g, 0, 0          copying: by the receiver's first claim
 *                               free: the sender withdraws
 *  copying     g, f, b > 0      further claims by both; all claimed when
 *                               f + b == n, also when the receiver gives
 *                               up: back := n - f
 *  claimed     g, f, n - f      free: by the sender, when READ has come
 *
 * `done` counts the chunks that the sender has copied. The receiver waits until
 * done == f before it returns the memory to its user; of chunks in the bounce
 * area, until it has drained f of them. The receiver never waits for the sender
 * to begin.
 *
 * The receiver's claims acquire the data that the sender prepared (released
 * with the message that carried the token). The sender stores `done` with
 * release after the copy; the receiver loads it with acquire.
 */
#ifndef BCL_SHM_CLAIM_H
#define BCL_SHM_CLAIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	BCL_CLAIMS = 128,	  /* offers of a side at a time */
	BCL_CLAIM_MAX = 0xfffffe, /* chunks */
	BCL_CLAIM_CLOSED = 0xffffff,
	BCL_CLAIM_FRONT_SHIFT = 24,
	BCL_CLAIM_GENERATION_SHIFT = 48,
	BCL_CLAIM_FAILED = 1 << 24, /* in done: the sender could not copy */
};

struct bcl_claim {
	_Atomic uint64_t word;
	_Atomic uint32_t done;
	uint8_t spare[52]; /* each claim has a line of its own */
};

_Static_assert(sizeof(struct bcl_claim) == 64, "a claim is a line");

static inline uint64_t bcl_claim_word(uint16_t generation, uint32_t front,
				      uint32_t back)
{
	return (uint64_t)generation << BCL_CLAIM_GENERATION_SHIFT |
	       (uint64_t)front << BCL_CLAIM_FRONT_SHIFT | back;
}

static inline uint16_t bcl_claim_generation(uint64_t word)
{
	return word >> BCL_CLAIM_GENERATION_SHIFT;
}

static inline uint32_t bcl_claim_front(uint64_t word)
{
	return word >> BCL_CLAIM_FRONT_SHIFT & 0xffffff;
}

static inline uint32_t bcl_claim_back(uint64_t word)
{
	return word & 0xffffff;
}

/* True if the word is not that of an offer of this generation: the sender has
 * ended the offer. */
static inline bool bcl_claim_is_over(uint64_t word, uint16_t generation)
{
	return bcl_claim_front(word) == BCL_CLAIM_CLOSED ||
	       bcl_claim_generation(word) != generation;
}

/* The chunks of a message; the last chunk may be shorter. */
static inline uint32_t bcl_claim_chunks(uint64_t length, uint64_t chunk)
{
	return (uint32_t)((length + chunk - 1) / chunk);
}

static inline bool bcl_claim_swap(struct bcl_claim *claim, uint64_t from,
				  uint64_t to)
{
	return atomic_compare_exchange_strong_explicit(&claim->word, &from, to,
						       memory_order_acq_rel,
						       memory_order_acquire);
}

/* Sender: open the offer. The claim must be free. */
static inline void bcl_claim_open(struct bcl_claim *claim, uint16_t generation)
{
	atomic_store_explicit(&claim->done, 0, memory_order_relaxed);
	atomic_store_explicit(&claim->word, bcl_claim_word(generation, 0, 0),
			      memory_order_release);
}

/* Sender: the offer has ended. */
static inline void bcl_claim_free(struct bcl_claim *claim, uint16_t generation)
{
	atomic_store_explicit(&claim->word,
			      bcl_claim_word(generation, BCL_CLAIM_CLOSED, 0),
			      memory_order_release);
}

/* Sender: withdraw the offer. Returns false if the receiver has begun. */
static inline bool bcl_claim_withdraw(struct bcl_claim *claim,
				      uint16_t generation)
{
	return bcl_claim_swap(claim, bcl_claim_word(generation, 0, 0),
			      bcl_claim_word(generation, BCL_CLAIM_CLOSED, 0));
}

/* Receiver: begin with the last chunk. Returns false if the offer was withdrawn
 * or the token is stale. */
static inline bool bcl_claim_begin(struct bcl_claim *claim, uint16_t generation)
{
	return bcl_claim_swap(claim, bcl_claim_word(generation, 0, 0),
			      bcl_claim_word(generation, 0, 1));
}

/* True if a chunk of n is left. The word may hold anything. */
static inline bool bcl_claim_left(uint64_t word, uint16_t generation,
				  uint32_t n)
{
	uint32_t front = bcl_claim_front(word), back = bcl_claim_back(word);

	return bcl_claim_generation(word) == generation && front < n &&
	       back < n - front;
}

/*
 * Take a chunk of n. `step` is bcl_claim_word(0, 1, 0) for the sender and
 * bcl_claim_word(0, 0, 1) for the receiver. Returns true if a chunk was taken;
 * *word is then the word before: the sender has chunk front, the receiver chunk
 * n - 1 - back.
 */
static inline bool bcl_claim_take(struct bcl_claim *claim, uint16_t generation,
				  uint32_t n, uint64_t step, uint64_t *word)
{
	*word = atomic_load_explicit(&claim->word, memory_order_acquire);
	while (bcl_claim_left(*word, generation, n))
		if (atomic_compare_exchange_weak_explicit(
			    &claim->word, word, *word + step,
			    memory_order_acq_rel, memory_order_acquire))
			return true;
	return false;
}

/* Receiver: take half of the n chunks that are left, at most `most`. Returns
 * how many were taken; 0: none was left, or the offer has ended. */
static inline uint32_t bcl_claim_take_half(struct bcl_claim *claim,
					   uint16_t generation, uint32_t n,
					   uint32_t most)
{
	uint64_t word =
		atomic_load_explicit(&claim->word, memory_order_acquire);
	uint32_t half;

	while (bcl_claim_left(word, generation, n)) {
		half = (n - bcl_claim_front(word) - bcl_claim_back(word) + 1) /
		       2;
		if (half > most)
			half = most;
		if (atomic_compare_exchange_weak_explicit(
			    &claim->word, &word, word + half,
			    memory_order_acq_rel, memory_order_acquire))
			return half;
	}
	return 0;
}

/* Receiver: take all chunks that are left. Returns how many chunks the sender
 * has taken. */
static inline uint32_t bcl_claim_close(struct bcl_claim *claim,
				       uint16_t generation, uint32_t n)
{
	uint64_t word =
		atomic_load_explicit(&claim->word, memory_order_acquire);

	while (bcl_claim_left(word, generation, n))
		if (atomic_compare_exchange_weak_explicit(
			    &claim->word, &word,
			    bcl_claim_word(generation, bcl_claim_front(word),
					   n - bcl_claim_front(word)),
			    memory_order_acq_rel, memory_order_acquire))
			break;
	return bcl_claim_front(word);
}

#endif
