/* SPDX-License-Identifier: MIT */
/*
 * Two trees over the same members, so that a vector is everywhere after each
 * has sent about as much as it has received: half of the pieces go down either
 * tree, and who passes on those of one is a leaf of the other. P. Sanders,
 * J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast,
 * reduction and scan", Parallel Computing 35 (2009). Backwards it is a
 * reduction.
 *
 * Subtrees are of members that follow one another. So where a network is
 * divided, by switches say, and members are numbered along its parts, few edges
 * lead from one part to another; where the circulant (circulant.h) has all
 * members send half of them on at a time.
 */
#ifndef BCL_COLLECTIVES_TREES_H
#define BCL_COLLECTIVES_TREES_H

enum {
	BCL_TREES_NONE = -1, /* no member */
};

struct bcl_tree_place {
	int parent;	 /* NONE: the root's */
	int children[2]; /* or NONE; the root has one */
	unsigned height; /* of edges below it */
};

/* The root is member 0. */
struct bcl_trees {
	unsigned trees; /* two, if there are members for them */
	unsigned height;
	struct bcl_tree_place place[2];
};

/* size: 2 or more */
void bcl_trees_init(struct bcl_trees *plan, unsigned size, unsigned me);

#endif
