/* SPDX-License-Identifier: MIT */
/* Reduces a failing input to a minimal failing input. */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The n items of `size` bytes fail. Removes as many items as possible, halves
 * first; the rest stays in order and still fails. Returns the number of items
 * left. The rest without any single item does not fail (delta debugging:
 * Zeller, Hildebrandt, 2002).
 */
size_t sim_shrink(void *items, size_t n, size_t size,
		  bool (*fails)(void *arg, const void *items, size_t n),
		  void *arg);

#endif
