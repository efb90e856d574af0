/* SPDX-License-Identifier: MIT */
/*
 * A node's segment in virtual time. coll_segment.c replaces the functions of
 * collectives/node.h, phase for phase and piece for piece, but moves no data.
 * The file only reports when a member writes or reads how many bytes. The two
 * functions below, which the user of the file defines, add the time. Places in
 * the segment are always free to be written.
 */
#ifndef BCL_TESTS_COLL_SEGMENT_H
#define BCL_TESTS_COLL_SEGMENT_H

#include "collectives/node.h"

enum {
	COLL_SEGMENT_PHASES = 1024, /* phases that a member may be ahead */
	COLL_SEGMENT_MEMBERS = 8,
};

/* The memory that bcl_node_init() gets. */
struct coll_segment {
	struct {
		uint64_t phase, time;
	} ready[COLL_SEGMENT_PHASES][COLL_SEGMENT_MEMBERS];
};

/* The member of `node` writes `bytes` bytes in a phase. */
void coll_segment_write(const struct bcl_node *node, uint64_t phase,
			size_t bytes);
/*
 * The member of `node` reads `bytes` bytes that the member `from` wrote. false:
 * `from` has not written yet, and the caller must call again after the write.
 */
bool coll_segment_read(const struct bcl_node *node, unsigned from,
		       uint64_t phase, size_t bytes);

#endif
