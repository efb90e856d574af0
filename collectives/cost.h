/* SPDX-License-Identifier: MIT */
/*
 * What the costs of the algorithms are made of: LogGP (A. Alexandrov et al.,
 * SPAA 1995) with each message's overhead in its latency. For p ranks and
 * vectors of n bytes the formulas of the algorithms are those of R. Thakur,
 * R. Rabenseifner, W. Gropp, "Optimization of collective communication
 * operations in MPICH", IJHPCA 19 (2005), e.g. 2 (p - 1) messages and
 * 2 (p - 1) / p n bytes sent by each for an allreduce by rings.
 */
#ifndef BCL_COLLECTIVES_COST_H
#define BCL_COLLECTIVES_COST_H

#include <bcl/wire.h>

#include "collectives/select.h"

/* Messages of so many bytes between nodes. */
struct bcl_cost bcl_cost_between(const struct bcl_model *model, double length);
/* The same inside a node. */
struct bcl_cost bcl_cost_intranode(const struct bcl_model *model,
				   double length);
/* The same among all ranks, of whichever node. */
struct bcl_cost bcl_cost_flat(const struct bcl_model *model, double length);

/* The same where each sends one and receives another: between nodes its
 * processor, if it does the card's work, limits both and has twice as much. */
struct bcl_cost bcl_cost_exchange(const struct bcl_model *model, double length);

/* The same if it is put where its receiver has said, the grant included. */
struct bcl_cost bcl_cost_granted(const struct bcl_model *model, double length);

/* What such a message costs that closely follows another, if the processor has
 * to do both: it sends it and receives one. */
double bcl_cost_gap(const struct bcl_model *model, const struct bcl_cost *cost);

static inline double bcl_larger(double a, double b)
{
	return a > b ? a : b;
}

/* us that links are busy, where each node sends so many bytes in so many
 * messages; `byte` as in the model: across, around. */
static inline double bcl_cost_links(double byte, double bytes, double messages)
{
	return byte * (bytes + messages * BCL_HEADERS_SIZE);
}

/* us: all nodes hear from each other (dissemination.h); length: what there is
 * to tell of one. */
double bcl_cost_dissemination(const struct bcl_model *model, double length,
			      unsigned ahead);

/* us: down a tree of the nodes (postal.h), or up, with `work` us for each byte
 * that comes. */
double bcl_cost_postal(const struct bcl_model *model, double length,
		       unsigned ahead, double work);

/* us: as many phases in a node's segment as so many bytes need. */
double bcl_cost_phases(const struct bcl_model *model, double length);

/*
 * A vector in pieces from node to node (pipeline.c), with `work` us for each
 * byte that comes, and what a piece costs inside a node, beside the next ones
 * if the processor is free for it.
 */
double bcl_cost_pipeline(const struct bcl_model *model, double length,
			 double piece, double work,
			 double (*inside)(const struct bcl_model *model,
					  double length));

/* The same by two trees (two_trees.c), which only cards that work alone can
 * keep busy. */
double bcl_cost_trees(const struct bcl_model *model, double length,
		      double piece, double work,
		      double (*inside)(const struct bcl_model *model,
				       double length));

/* ---- gather and scatter: what goes one way costs as much the other way --- */

/* Up or down a tree of nodes, as above; messages of more than `at_once` bytes
 * go one after another; `inside`: the part inside a node. */
double bcl_cost_rooted_tree(const struct bcl_model *model, double length,
			    unsigned ahead, double at_once, double inside);
/* Between the root and each other rank. */
double bcl_cost_rooted_direct(const struct bcl_model *model, double length);

#endif
