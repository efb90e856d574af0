/* SPDX-License-Identifier: MIT */
/* The least that still fails, of what was seen to fail. */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * n items of `size` bytes fail. Take away as many as possible, halves first,
 * so that the rest, which keeps its order, still does: how many are left.
 * Without any one of them it does not fail (delta debugging: Zeller,
 * Hildebrandt, 2002).
 */
size_t sim_shrink(void *items, size_t n, size_t size,
		  bool (*fails)(void *arg, const void *items, size_t n),
		  void *arg);

#endif
