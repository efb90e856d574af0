/* SPDX-License-Identifier: MIT */
/*
 * Algorithms that pay only where cards are autonomous (card/ops.h):
 * the cards, not the processors of the ranks, keep the links busy. Such cards
 * are simulated today. The algorithms run everywhere, so tests and BCL_COLL can
 * ask for them; the model never chooses them elsewhere (BCL_PAYS_AUTONOMOUS).
 */
#ifndef BCL_COLLECTIVES_NIC_NIC_H
#define BCL_COLLECTIVES_NIC_NIC_H

#include "collectives/builders.h"

enum {
	/* Bytes of a piece. With the headers a piece fills two frames of 1 KB,
	 * one longer frame, or half of a frame. */
	BCL_TREES_PIECE = 1856,
};
/* two_trees.c: broadcast and reduce in pieces as in pipeline.c, by two trees of
 * the leaders (trees.h). */
void bcl_build_broadcast_trees(struct bcl_schedule *schedule,
			       const struct bcl_call *call, unsigned piece);
void bcl_build_reduce_trees(struct bcl_schedule *schedule,
			    const struct bcl_call *call, unsigned piece);
/* As bcl_cost_pipeline(). */
double bcl_cost_trees(const struct bcl_model *model, double length,
		      double piece, double work,
		      double (*inside)(const struct bcl_model *model,
				       double length, unsigned parameter));

/*
 * multileader.c: alltoall for teams whose nodes all have the same number of
 * members. A digit has `values` values, a power of two.
 */
void bcl_build_multileader(struct bcl_schedule *schedule,
			   const struct bcl_call *call, unsigned values);
double bcl_cost_multileader(const struct bcl_model *model, double length,
			    unsigned values);

#endif
