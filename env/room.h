/* SPDX-License-Identifier: MIT */
/*
 * Memory and descriptors that are available. The system promises more memory
 * than it has, and kills processes when the promised memory is used. So the
 * library checks before it takes much. Descriptors that only spare time must
 * not take the place of those that the program cannot do without.
 */
#ifndef BCL_ENV_ROOM_H
#define BCL_ENV_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* One part in 8 of the available memory stays free for other
	 * programs. */
	BCL_ROOM_LEAVE = 8,
	BCL_ROOM_PIECE = 64 << 20, /* bytes taken between two checks */
};

/*
 * Returns the bytes available without swapping, in the host and in each memory
 * control group (version 1 or 2) around this process: free memory, and memory
 * that file caches give back. UINT64_MAX: the system does not say. Files are
 * read below `root`; "": the system's own.
 */
uint64_t bcl_room(const char *root);

/* True if `size` bytes may be taken and BCL_ROOM_LEAVE is still left. */
bool bcl_room_for(size_t size);

/*
 * Returns how many descriptors with a larger number than `fd` this process may
 * have. The system gives the smallest free number, so at least `fd`
 * descriptors are in use if the system has just given `fd`.
 */
uint64_t bcl_descriptors_above(int fd);

#endif
