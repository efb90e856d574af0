/* SPDX-License-Identifier: MIT */
/*
 * How much memory there is to take. The system gives more than it has, and ends
 * processes when that is used: so what is long is asked about before.
 */
#ifndef BCL_ENV_ROOM_H
#define BCL_ENV_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* One part in so many of what is available is left to others. */
	BCL_ROOM_LEAVE = 8,
	BCL_ROOM_PIECE = 64 << 20, /* bytes taken between two questions */
};

/*
 * Bytes that are available without swapping, in the host and in each memory
 * control group (version 1 or 2) around this process: what is free, and what
 * caches of files give back. UINT64_MAX: the system does not say. Files are
 * looked up below `root`, "" for the system's own.
 */
uint64_t bcl_room(const char *root);

/* May `size` bytes be taken, so that BCL_ROOM_LEAVE is left? */
bool bcl_room_for(size_t size);

#endif
