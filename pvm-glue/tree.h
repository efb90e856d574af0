/* SPDX-License-Identifier: MIT */
/*
 * Trees over the members of a group. Places count from the root, which has 0;
 * written with digits below the tree's radix, a place hangs on the one that has
 * 0 for its lowest digit that is not. So the places below one follow it.
 */
#ifndef BCL_PVM_TREE_H
#define BCL_PVM_TREE_H

enum {
	TREE_RADIX_MAX = 8,
	TREE_DIGITS = 10, /* of a place: tids have 30 bits */
	TREE_CHILDREN = TREE_DIGITS * (TREE_RADIX_MAX - 1),
};

/* A subtree. */
struct branch {
	int member; /* its top */
	int place;
	int width; /* places, the top among them */
};

struct tree {
	int parent;	    /* a member; the root has none: -1 */
	struct branch self; /* all below, and itself */
	int count;
	struct branch children[TREE_CHILDREN]; /* by their places */
};

/* As a member sees it. */
struct tree tree_make(int size, int root, int member, int radix);

#endif
