/* SPDX-License-Identifier: MIT */
/*
 * A node's segment in virtual time: coll_segment.c has the functions of
 * collectives/node.h, phase for phase and piece for piece, but moves no data.
 * It says who writes and reads how much when; the two functions below, which
 * its user has, say what that takes. Places are always free to be written.
 */
#ifndef BCL_TESTS_COLL_SEGMENT_H
#define BCL_TESTS_COLL_SEGMENT_H

#include "collectives/node.h"

enum {
	COLL_SEGMENT_PHASES = 1024, /* that a member may be ahead of another */
	COLL_SEGMENT_MEMBERS = 8,
};

/* What bcl_node_init() takes for the memory. */
struct coll_segment {
	struct {
		uint64_t phase, time;
	} ready[COLL_SEGMENT_PHASES][COLL_SEGMENT_MEMBERS];
};

/* The own member writes so many bytes in a phase. */
void coll_segment_write(const struct bcl_node *node, uint64_t phase,
			size_t bytes);
/* It reads so many that another wrote; false: not yet, it is to be called
 * again when that has happened. */
bool coll_segment_read(const struct bcl_node *node, unsigned from,
		       uint64_t phase, size_t bytes);

#endif
