/* SPDX-License-Identifier: MIT */
/*
 * The segment of a team's node: memory that all members of the node have
 * mapped. Behind the memory of the team itself (node.h) the segment of the
 * job's team has areas, which teams that are derived borrow (loan.h). All teams
 * of the node share the areas, so their number bounds the memory.
 *
 * A word has a bit for each area that is lent. A member of a new team sets the
 * bit of a free area for the whole team. Each member leaves the area when the
 * member frees the team, and the last one clears the bit. So nobody uses an
 * area of another team, however late a member frees its side. An area of which
 * a member has died stays lent.
 */
#ifndef BCL_COLLECTIVES_SEGMENT_H
#define BCL_COLLECTIVES_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>

#include <bcl/adi.h>

enum {
	BCL_SEGMENT_AREAS = 8,
	/* Ranks of a node; of a larger node no area is lent. */
	BCL_SEGMENT_LENDERS = 512,
};

struct bcl_segment {
	unsigned users;	  /* teams of this process */
	unsigned members; /* of the node */
	bool lends;	  /* has areas */
	bool can_sleep;	  /* all members can (park.h) */
	unsigned char *address;
	struct bcl_memory *memory; /* at the leader */
	struct bcl_peer *peer;	   /* at the others: the leader */
	unsigned char key[BCL_KEY_MAX];
};

/* Bytes of a segment. */
size_t bcl_segment_size(unsigned members, bool lends);

/* A further team uses the segment. Lock held. NULL is permitted, here and
 * below. */
struct bcl_segment *bcl_segment_use(struct bcl_segment *segment);
/* A team does not use the segment any more; after the last one the process
 * unmaps it. Lock not held. */
void bcl_segment_leave(struct bcl_adi *adi, struct bcl_segment *segment);

/*
 * Take an area for this many members, on behalf of all of them, and zero it.
 * The caller tells the others the number. 0: none is free. Else each member
 * calls bcl_area_leave() once.
 */
unsigned bcl_area_take(const struct bcl_segment *segment, unsigned members);
/* The memory of an area, as BCL_NODE_LENT. NULL: there is no such area. */
void *bcl_area_memory(const struct bcl_segment *segment, unsigned area);
void bcl_area_leave(const struct bcl_segment *segment, unsigned area);

#endif
