/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong over any wire between side 0 and side 1. A message carries a
 * sequence number; 0 is a hello, by which the sides find one another.
 */
#ifndef BCL_BENCH_PINGPONG_H
#define BCL_BENCH_PINGPONG_H

#include "ref.h"

struct wire {
	/* Sends a message of size bytes (at least 16) with that number. */
	void (*say)(struct ref *ref, uint64_t sequence, size_t size);
	/* Takes a message if one is there; returns whether one was. */
	int (*hear)(struct ref *ref, uint64_t *sequence);
};

/* Returns when both sides have heard each other; for open(). */
void pingpong_meet(struct ref *ref, const struct wire *wire);

/*
 * A round; the parameters "samples", "iterations" (round trips in a sample)
 * and "size" apply. Samples are ns for one way.
 */
void pingpong_play(struct ref *ref, const struct wire *wire);

#endif
