/* SPDX-License-Identifier: MIT */
/*
 * Pieces of algorithms that several operations are built from. Each adds
 * steps to a schedule, beginning and ending at the border of a round, for the
 * part of the calling member in a group.
 */
#ifndef BCL_COLLECTIVES_BUILDERS_H
#define BCL_COLLECTIVES_BUILDERS_H

#include "collectives/call.h"
#include "collectives/radix.h"
#include "collectives/schedule.h"
#include "collectives/team.h"

static inline size_t bcl_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* ceil(log2(n)) */
static inline unsigned bcl_log2_up(unsigned n)
{
	return n > 1 ? 32 - __builtin_clz(n - 1) : 0;
}

/* ---- rounds that overlap ---------------------------------------------------
 * What comes in a round has a lane of its own; what came BCL_ROUND_LAG rounds
 * before must be there before anything is sent. */

enum {
	BCL_ROUND_LAG = 2,
	BCL_ROUND_LANES = 4, /* from lane 1 on */
};

static inline unsigned bcl_round_lane(unsigned round)
{
	return 1 + round % BCL_ROUND_LANES;
}

/* ---- intranode.c: the own node, by its segment if it has one ----------------
 * root is a rank on this node. */

/* By a segment: beside the messages of the round that ends with it. */
bool bcl_intranode_pipelines(const struct bcl_team *team,
			     const struct bcl_reduction *reduction);
void bcl_intranode_broadcast(struct bcl_schedule *schedule, unsigned root,
			     void *buffer, size_t length);
/* The same with one of many pieces of a vector, where it pipelines. */
void bcl_intranode_broadcast_piece(struct bcl_schedule *schedule, unsigned root,
				   void *buffer, size_t length);
/* receive only at the root */
void bcl_intranode_reduce(struct bcl_schedule *schedule, unsigned root,
			  const void *send, void *receive, size_t length,
			  const struct bcl_reduction *reduction);
/* The same with one of many pieces of a vector, where it pipelines and the
 * operator is commutative. */
void bcl_intranode_reduce_piece(struct bcl_schedule *schedule, unsigned root,
				const void *send, void *receive, size_t length,
				const struct bcl_reduction *reduction);
/* receive only at the root: blocks by member */
void bcl_intranode_gather(struct bcl_schedule *schedule, unsigned root,
			  const void *send, size_t length, void *receive);
/* send only at the root: blocks by member */
void bcl_intranode_scatter(struct bcl_schedule *schedule, unsigned root,
			   const void *send, void *receive, size_t length);

/* Blocks by member, at all of them. */
void bcl_intranode_alltoall(struct bcl_schedule *schedule, const void *send,
			    void *receive, size_t length);

/* A slice of the vector for each member, bcl_block_begin(): reduce to their
 * owners; give to all. */
void bcl_intranode_reduce_scatter(struct bcl_schedule *schedule,
				  const void *send, void *receive,
				  size_t length,
				  const struct bcl_reduction *reduction);
void bcl_intranode_gather_slices(struct bcl_schedule *schedule, void *buffer,
				 size_t length, size_t element);

enum {
	/* What goes without a grant if processors move it: the eager limit
	 * unless it is set. */
	BCL_UNGRANTED_MAX = 4096,
};

/* ---- by messages; root is a place in the group --------------------------- */

/* broadcast.c: a tree; ahead: see postal.h. */
void bcl_build_broadcast_tree(struct bcl_schedule *schedule,
			      const struct bcl_group *group, unsigned root,
			      void *buffer, size_t length, unsigned ahead);
/* reduce.c: the same, upwards, in the order of the group. */
void bcl_build_reduce_tree(struct bcl_schedule *schedule,
			   const struct bcl_group *group, unsigned root,
			   const void *send, void *receive, size_t length,
			   const struct bcl_reduction *reduction,
			   unsigned ahead);
/* allgather.c: at the beginning of `blocks` lie those of the own node, one for
 * each rank or one `by_node`; then those of all, beginning with its. ahead: see
 * dissemination.h. */
void bcl_build_bruck(struct bcl_schedule *schedule,
		     const struct bcl_group *leaders, unsigned char *blocks,
		     size_t length, bool by_node, unsigned ahead);
enum {
	BCL_HALVING_PIECES = 8,	  /* of a round, at most */
	BCL_HALVING_PIECE = 8192, /* bytes of the shortest, or more */
};
/* What is done where links between far members are thin. */
enum bcl_halving_way {
	BCL_HALVING_PLAIN,
	/* In the last round down and the first one up, or in two of each, they
	 * carry one part of the vectors while the other one goes near. */
	BCL_HALVING_FAR_1,
	BCL_HALVING_FAR_2,
	BCL_HALVING_RING, /* half of the members go either way: halving_plan.h
			   */
};
/* halving.c: the reduction of all vectors at all members. The operator is
 * commutative. If members are to speak for their nodes, `by_node`, all ranks of
 * nodes that pipeline send and receive. */
void bcl_build_halving(struct bcl_schedule *schedule,
		       const struct bcl_group *group, bool by_node,
		       const void *send, void *receive, size_t length,
		       const struct bcl_reduction *reduction,
		       enum bcl_halving_way way);
/*
 * pipeline.c: long vectors in pieces of so many bytes, or more if there would
 * be too many, by a circulant schedule of the leaders; inside the nodes beside
 * it. The operator of the reduction is commutative.
 */
enum {
	BCL_PIPELINE_PIECES = 256,
};
/* What a piece has, in whole elements, if it was to have `piece` bytes. */
static inline size_t bcl_pipeline_piece(size_t length, size_t piece,
					size_t element)
{
	size_t least = length / BCL_PIPELINE_PIECES;

	if (piece < least)
		piece = least;
	return piece > element ? piece - piece % element : element;
}
void bcl_build_broadcast_pipeline(struct bcl_schedule *schedule,
				  const struct bcl_call *call, size_t piece);
void bcl_build_reduce_pipeline(struct bcl_schedule *schedule,
			       const struct bcl_call *call, size_t piece);
enum {
	/* Two frames of 1 KB with their headers, one longer one, or half. */
	BCL_TREES_PIECE = 1856,
};
/* two_trees.c: the same by two trees of the leaders. */
void bcl_build_broadcast_trees(struct bcl_schedule *schedule,
			       const struct bcl_call *call, size_t piece);
void bcl_build_reduce_trees(struct bcl_schedule *schedule,
			    const struct bcl_call *call, size_t piece);
/* direct.c: blocks in the order of the group, at the root only. */
void bcl_build_gather_direct(struct bcl_schedule *schedule,
			     const struct bcl_group *group, unsigned root,
			     const void *send, void *receive, size_t length);
void bcl_build_scatter_direct(struct bcl_schedule *schedule,
			      const struct bcl_group *group, unsigned root,
			      const void *send, void *receive, size_t length);
struct bcl_rounds {
	struct bcl_radix digits; /* of up to 5 bits */
	bool nodes; /* the group has one of each, or else all ranks */
	bool up;    /* from the lowest digit on, or else from the highest */
	struct bcl_share share;
	/* NULL, or: adds what is to be done when the messages of the highest
	 * digit, of two or more, are on their way. It brings the blocks that
	 * stay into `blocks`, if they come from there; or takes them, with
	 * `up`, out of `other`. */
	void (*meanwhile)(const void *arg);
	const void *arg;
};
/*
 * radix.c: block i is for the member i places on (radix.h), then from the one
 * i places before, in `blocks`; of a share only its blocks lie there, one after
 * another. `other` is as large.
 */
void bcl_build_radix(struct bcl_schedule *schedule,
		     const struct bcl_group *group,
		     const struct bcl_rounds *rounds, unsigned char *blocks,
		     unsigned char *other, size_t length);
/*
 * alltoall_multileader.c: everyone's blocks to everyone where all nodes have as
 * many members. Digits have so many bits.
 */
void bcl_build_multileader(struct bcl_schedule *schedule,
			   const struct bcl_call *call, unsigned bits);
enum {
	BCL_PAIRS_LAG = 3, /* rounds that overlap */
};
/* pairs.c: blocks to and from all others, which lie by rank or, as above, by
 * how many places on or before they are. The own one stays where it is. */
void bcl_build_pairs(struct bcl_schedule *schedule,
		     const struct bcl_group *group, const unsigned char *send,
		     unsigned char *receive, size_t length, bool by_rank);
/*
 * reduce_scatter.c: member i of the group gets the reduction of block i of
 * the vector (bcl_block_begin()) in `result`, which may be that block of
 * `send`.
 */
void bcl_build_reduce_scatter(struct bcl_schedule *schedule,
			      const struct bcl_group *group, const void *send,
			      void *result, size_t length,
			      const struct bcl_reduction *reduction);

/* Where block i of n of a vector begins, in bytes: at whole elements, but for
 * the end, i = n. */
static inline size_t bcl_block_begin(size_t length, size_t element, unsigned n,
				     unsigned i)
{
	size_t count = length / element;

	if (i == n)
		return length;
	return (count / n * i + count % n * i / n) * element;
}

/*
 * ring.c: everyone has one block of `base` and gets the others'. The member
 * at place p of the group begins with block (p - turn) mod size of a vector.
 */
void bcl_build_ring(struct bcl_schedule *schedule,
		    const struct bcl_group *group, unsigned turn, void *base,
		    size_t length, size_t element);
/* The same with blocks of `length` bytes in the order of ranks. */
void bcl_build_ring_by_rank(struct bcl_schedule *schedule,
			    const struct bcl_group *group, void *base,
			    size_t length);

/* ---- the algorithms of each operation; the last has no name ---------------
 */

/* Those of build_NAME() and cost_NAME() with a number as their last argument.
 */
#define BCL_VARIANT(name, number)                                           \
	static void build_##name##_##number(struct bcl_schedule *schedule,  \
					    const struct bcl_call *call)    \
	{                                                                   \
		build_##name(schedule, call, number);                       \
	}                                                                   \
	static double cost_##name##_##number(const struct bcl_model *model, \
					     double length)                 \
	{                                                                   \
		return cost_##name(model, length, number);                  \
	}

extern const struct bcl_algorithm bcl_barrier_algorithms[];
extern const struct bcl_algorithm bcl_broadcast_algorithms[];
extern const struct bcl_algorithm bcl_reduce_algorithms[];
extern const struct bcl_algorithm bcl_allreduce_algorithms[];
extern const struct bcl_algorithm bcl_gather_algorithms[];
extern const struct bcl_algorithm bcl_scatter_algorithms[];
extern const struct bcl_algorithm bcl_allgather_algorithms[];
extern const struct bcl_algorithm bcl_alltoall_algorithms[];
extern const struct bcl_algorithm bcl_alltoallv_algorithms[];

/* ---- reorder.c ----------------------------------------------------------- */

/* Where the blocks of the node `turn` (0..number of nodes) places after `node`
 * begin, if those of `node` are at 0. */
size_t bcl_node_offset(const struct bcl_team *team, unsigned node,
		       unsigned turn, size_t length);

/*
 * Between blocks in the order of nodes, beginning with `node`, and blocks in
 * the order of ranks.
 */
void bcl_step_to_ranks(struct bcl_schedule *schedule, void *to,
		       const void *from, size_t length, unsigned node);
void bcl_step_to_nodes(struct bcl_schedule *schedule, void *to,
		       const void *from, size_t length, unsigned node);

#endif
