/* SPDX-License-Identifier: MIT */
/*
 * Two trees over the same members for a pipelined broadcast: half of the pieces
 * go down either tree, and a member that passes on pieces in one tree is a leaf
 * in the other. So each member sends about as much as it receives. P. Sanders,
 * J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast,
 * reduction and scan", Parallel Computing 35 (2009). Run backwards, the
 * broadcast is a reduction.
 *
 * The members of a subtree follow one another. So in a network of parts, by
 * switches for example, with members numbered along the parts, few edges lead
 * from one part to another. In the circulant schedule (circulant.h), by
 * contrast, there are rounds in which all members send to the member half of
 * the members away.
 */
#ifndef BCL_COLLECTIVES_NIC_TREES_H
#define BCL_COLLECTIVES_NIC_TREES_H

enum {
	BCL_TREES_NONE = -1, /* no member */
};

struct bcl_tree_place {
	int parent;	 /* NONE: this is the root */
	int children[2]; /* or NONE; the root has one child */
	unsigned height; /* edges down to the lowest leaf */
};

/* The two trees as one member sees them. The root is member 0. */
struct bcl_trees {
	unsigned trees; /* two, if there are members enough */
	unsigned height;
	struct bcl_tree_place place[2];
};

/* size: 2 or more */
void bcl_trees_init(struct bcl_trees *plan, unsigned size, unsigned me);

#endif
