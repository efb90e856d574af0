/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong over any wire between side 0 and side 1. A message carries a
 * sequence number. Number 0 is a hello, with which each side finds the peer.
 */
#ifndef BCL_BENCH_PINGPONG_H
#define BCL_BENCH_PINGPONG_H

#include "ref.h"

struct wire {
	/* Sends a message of `size` bytes (at least 16) with the number. */
	void (*say)(struct ref *ref, uint64_t sequence, size_t size);
	/* Takes a message. Returns 0 if there is none. */
	int (*hear)(struct ref *ref, uint64_t *sequence);
};

/* For open(): returns when each side has a hello of the peer. */
void pingpong_meet(struct ref *ref, const struct wire *wire);

/*
 * Plays a round, with the parameters "samples", "iterations" (round trips in a
 * sample) and "size". A sample is the ns of one way.
 */
void pingpong_play(struct ref *ref, const struct wire *wire);

#endif
