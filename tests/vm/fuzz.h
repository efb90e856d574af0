/* SPDX-License-Identifier: MIT */
/*
 * The fuzzer of the kernel module bcl.ko, as a program of a guest. A seed
 * determines all that each process does; the system determines who is faster.
 */
#ifndef BCL_VM_FUZZ_H
#define BCL_VM_FUZZ_H

#include <bcl/card_device.h>

#include "sim/random.h"

enum {
	FUZZ_CARDS = 8,
	FUZZ_INTERFACES = 2,
};

struct fuzz_dice {
	uint64_t state;
};

static inline struct fuzz_dice fuzz_dice_of(uint64_t seed)
{
	/* Neighbours begin far apart in the one row of numbers. */
	return (struct fuzz_dice){ sim_random(&seed) };
}

static inline uint64_t fuzz_next(struct fuzz_dice *dice)
{
	return sim_random(&dice->state);
}

/* 0..n-1 */
static inline uint32_t fuzz_below(struct fuzz_dice *dice, uint32_t n)
{
	return (uint32_t)((fuzz_next(dice) >> 20) % n);
}

/* True in one of n cases. */
static inline int fuzz_one_in(struct fuzz_dice *dice, uint32_t n)
{
	return fuzz_below(dice, n) == 0;
}

/* Change some bytes. */
static inline void fuzz_spoil(struct fuzz_dice *dice, void *memory, size_t size)
{
	uint32_t n = 1 + fuzz_below(dice, 4);

	while (n--)
		((uint8_t *)memory)[fuzz_next(dice) % size] ^=
			(uint8_t)(1u << fuzz_below(dice, 8));
}

/* Shared memory of all processes of the fuzzer, without locks. */
struct fuzz_table {
	struct {
		uint64_t card;
		struct bcl_device_end end;
	} cards[FUZZ_CARDS];
	uint64_t calls[FUZZ_CARDS]; /* by the result: status, or 7: errno */
	uint64_t sent, received;    /* events of messages that went well */
	uint64_t frames;
};

struct fuzz_job {
	struct fuzz_table *table;
	const char *interface[FUZZ_INTERFACES];
	uint32_t place; /* of the process's first card in the table */
	uint64_t seed;
};

/* Make random calls until killed, or until the end that the dice want. */
void fuzz_calls(const struct fuzz_job *job);
/* Send random frames until killed. Needs privilege. */
void fuzz_frames(const struct fuzz_job *job);

#endif
