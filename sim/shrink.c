/* SPDX-License-Identifier: MIT */
/* Delta debugging (Zeller, Hildebrandt, 2002); see shrink.h. */
#include "sim/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"

size_t sim_shrink(void *items, size_t n, size_t size,
		  bool (*fails)(void *arg, const void *items, size_t n),
		  void *arg)
{
	char *all = items, *rest = sim_need(malloc(n * size + 1));
	size_t chunk = n, at, taken;
	bool shorter;

	while (chunk) {
		shorter = false;
		for (at = 0; at < n;) {
			size_t end = at + chunk < n ? at + chunk : n;

			memcpy(rest, all, at * size);
			memcpy(rest + at * size, all + end * size,
			       (n - end) * size);
			taken = end - at;
			if (fails(arg, rest, n - taken)) {
				n -= taken;
				memcpy(all, rest, n * size);
				shorter = true;
			} else {
				at = end;
			}
		}
		/* With chunks of 1: repeat, as an item may have become needless
		 * by the removal of a later item. */
		if (!shorter || chunk > 1)
			chunk /= 2;
	}
	free(rest);
	return n;
}
