/* SPDX-License-Identifier: MIT */
/*
 * Builders: the building blocks from which several operations are put together.
 * A builder adds to a schedule the steps of the calling member's part in a
 * group. Each builder starts and ends at the border of a round.
 */
#ifndef BCL_COLLECTIVES_BUILDERS_H
#define BCL_COLLECTIVES_BUILDERS_H

#include <string.h>

#include "base/base.h"
#include "card/ops.h"
#include "collectives/attached.h"
#include "collectives/call.h"
#include "collectives/group.h"
#include "collectives/postal.h"
#include "collectives/radix.h"
#include "collectives/schedule.h"
#include "collectives/team.h"
#include "env/env.h"

/* True if cards have processors of their own (card/ops.h:
 * autonomous). */
static inline bool bcl_cards_work_alone(const struct bcl_team *team)
{
	const struct bcl_host_ops *card = bcl_adi_env(team->adi)->card;

	return card && card->autonomous;
}

/* ceil(log2(n)); 0 for n < 2 */
static inline unsigned bcl_log2_up(unsigned n)
{
	return n > 1 ? 32 - __builtin_clz(n - 1) : 0;
}

/* ---- rounds that overlap ---------------------------------------------------
 * The messages that a member receives in a round have a lane of their own.
 * Before a member sends in a round, the messages of the round BCL_ROUND_LAG
 * before have arrived. */

enum {
	BCL_ROUND_LAG = 2,
	BCL_ROUND_LANES = 4, /* used in turn, from lane 1 on */
};

static inline unsigned bcl_round_lane(unsigned round)
{
	return 1 + round % BCL_ROUND_LANES;
}

/* ---- intranode.c: the own node, by its segment if there is one -------------
 * root is a rank on this node. */

/* True if the node has a segment that can do the operation. The steps inside
 * the node then run beside the messages of the round that they end. */
bool bcl_intranode_pipelines(const struct bcl_team *team,
			     const struct bcl_reduction *reduction);
void bcl_intranode_broadcast(struct bcl_schedule *schedule, unsigned root,
			     void *buffer, size_t length);
/* The same with one of many pieces of a vector, for a node that pipelines. */
void bcl_intranode_broadcast_piece(struct bcl_schedule *schedule, unsigned root,
				   void *buffer, size_t length);
/* receive: at the root only */
void bcl_intranode_reduce(struct bcl_schedule *schedule, unsigned root,
			  const void *send, void *receive, size_t length,
			  const struct bcl_reduction *reduction);
/* The same with one of many pieces of a vector, for a node that pipelines and a
 * commutative operator. */
void bcl_intranode_reduce_piece(struct bcl_schedule *schedule, unsigned root,
				const void *send, void *receive, size_t length,
				const struct bcl_reduction *reduction);
/* receive: at the root only, blocks in the order of members */
void bcl_intranode_gather(struct bcl_schedule *schedule, unsigned root,
			  const void *send, size_t length, void *receive);
/* send: at the root only, blocks in the order of members */
void bcl_intranode_scatter(struct bcl_schedule *schedule, unsigned root,
			   const void *send, void *receive, size_t length);

/* send and receive: blocks in the order of members, at all members */
void bcl_intranode_alltoall(struct bcl_schedule *schedule, const void *send,
			    void *receive, size_t length);

/* Each member owns a slice of the vector (bcl_block_begin()). The first
 * function reduces each slice to its owner, the second one gives all slices to
 * all members. */
void bcl_intranode_reduce_scatter(struct bcl_schedule *schedule,
				  const void *send, void *receive,
				  size_t length,
				  const struct bcl_reduction *reduction);
/* Blocks in the order of members, of `length` bytes each: each member gets the
 * reduction of its block. receive: not in `send`. */
void bcl_intranode_reduce_blocks(struct bcl_schedule *schedule,
				 const void *send, void *receive, size_t length,
				 const struct bcl_reduction *reduction);
void bcl_intranode_gather_slices(struct bcl_schedule *schedule, void *buffer,
				 size_t length, size_t element);

enum {
	/* Bytes of the longest message that is sent without a grant where
	 * processors move the data: the default eager limit. */
	BCL_UNGRANTED_MAX = 4096,
};

/* ---- by messages; root is a place in the group -------------------------- */

/*
 * tree.c: the tree of the leaders of nodes by which the blocks of all ranks are
 * gathered and scattered. Places in the tree count the nodes from the root's
 * node on. A leader's buffer has the blocks of its subtree in this order.
 */
struct bcl_leader_tree {
	const struct bcl_team *team;
	size_t length; /* of a block */
	struct bcl_group leaders;
	unsigned root_node;
	unsigned speaker; /* the rank that leads the own node */
	/* Only at the speaker: */
	unsigned me;	    /* the own place */
	size_t begin, size; /* bytes: of the own subtree among all blocks */
	struct bcl_postal plan;
};

/* root: a rank, which leads its node. ahead: see postal.h. */
void bcl_leader_tree_init(struct bcl_leader_tree *tree,
			  const struct bcl_team *team, unsigned root,
			  size_t length, unsigned ahead);
/* Returns the rank that leads the node at this place. */
unsigned bcl_leader_tree_rank(const struct bcl_leader_tree *tree,
			      unsigned place);
/* Returns the bytes of the i-th child's subtree. *at: where they begin in the
 * own buffer. */
size_t bcl_leader_tree_child(const struct bcl_leader_tree *tree, unsigned i,
			     size_t *at);

/* tree.c: broadcast down a tree. ahead: see postal.h. */
void bcl_build_broadcast_tree(struct bcl_schedule *schedule,
			      const struct bcl_group *group, unsigned root,
			      void *buffer, size_t length, unsigned ahead);
/* Reduce up the same tree, in the order of the group. */
void bcl_build_reduce_tree(struct bcl_schedule *schedule,
			   const struct bcl_group *group, unsigned root,
			   const void *send, void *receive, size_t length,
			   const struct bcl_reduction *reduction,
			   unsigned ahead);
/* allgather.c: the leaders exchange the blocks of their nodes. At the start
 * `blocks` begins with the blocks of the own node: one for each rank, or one
 * for the node if `by_node`. At the end `blocks` holds the blocks of all nodes,
 * the own node's first. ahead: see dissemination.h. */
void bcl_build_bruck(struct bcl_schedule *schedule,
		     const struct bcl_group *leaders, unsigned char *blocks,
		     size_t length, bool by_node, unsigned ahead);
enum {
	BCL_HALVING_PIECES = 8,	  /* of a round, at most */
	BCL_HALVING_PIECE = 8192, /* bytes of the shortest piece, at least */
};
/* How halving spares thin links between members that are far apart. */
enum bcl_halving_way {
	BCL_HALVING_PLAIN,
	/* The vectors have two parts. In the last round down and the first one
	 * up (FAR_2: the last two and the first two) one part travels between
	 * far members while the other part travels between near ones. */
	BCL_HALVING_FAR_1,
	BCL_HALVING_FAR_2,
	BCL_HALVING_RING, /* half of the members go either way: halving_plan.h
			   */
};
/* halving.c: allreduce for a commutative operator. With `by_node` the members
 * of the group are leaders and act for their nodes: all ranks of a node that
 * pipelines call the function, with their own `send` and `receive`; of another
 * node only the leader calls, with the node's sum. */
void bcl_build_halving(struct bcl_schedule *schedule,
		       const struct bcl_group *group, bool by_node,
		       const void *send, void *receive, size_t length,
		       const struct bcl_reduction *reduction,
		       enum bcl_halving_way way);
/*
 * pipeline.c: the leaders pass a long vector on in pieces of `piece` bytes, by
 * a circulant schedule (circulant.h). The pieces are longer if the vector would
 * have too many. The steps inside the nodes run beside the messages. The
 * operator of the reduction is commutative.
 */
enum {
	BCL_PIPELINE_PIECES = 256,
};
/* Bytes of a piece in whole elements: about `piece`, or more if the vector
 * would have more than BCL_PIPELINE_PIECES pieces. */
static inline size_t bcl_pipeline_piece(size_t length, size_t piece,
					size_t element)
{
	size_t least = length / BCL_PIPELINE_PIECES;

	if (piece < least)
		piece = least;
	return piece > element ? piece - piece % element : element;
}
void bcl_build_broadcast_pipeline(struct bcl_schedule *schedule,
				  const struct bcl_call *call, unsigned piece);
void bcl_build_reduce_pipeline(struct bcl_schedule *schedule,
			       const struct bcl_call *call, unsigned piece);
/* direct.c: one message between the root and each member. The root has the
 * blocks in the order of the group. */
void bcl_build_gather_direct(struct bcl_schedule *schedule,
			     const struct bcl_group *group, unsigned root,
			     const void *send, void *receive, size_t length);
void bcl_build_scatter_direct(struct bcl_schedule *schedule,
			      const struct bcl_group *group, unsigned root,
			      const void *send, void *receive, size_t length);
/* gatherv.c: a scatterv by one message between the root and each other rank. */
void bcl_build_scatterv(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned parameter);
struct bcl_rounds {
	struct bcl_radix digits; /* digits of up to 5 bits */
	bool nodes; /* the group: one of each node; or else all ranks */
	bool up;    /* from the lowest digit on; or else from the highest */
	struct bcl_share share;
	/* NULL, or a function that adds steps while the messages of the highest
	 * digit are in flight; called only with two digits or more. Blocks stay
	 * if their highest digit is 0. Without `up` the function brings the
	 * blocks that stay into `blocks`; with `up` it takes them out of
	 * `other`. */
	void (*meanwhile)(const void *arg);
	const void *arg;
};
/*
 * radix.c: alltoall by the digits of distances (radix.h). At the start block i
 * in `blocks` is for the member i places on; at the end it is from the member i
 * places before. If the member has a share, only the blocks of the share are
 * there, one after another. `other` has the same size.
 */
void bcl_build_radix(struct bcl_schedule *schedule,
		     const struct bcl_group *group,
		     const struct bcl_rounds *rounds, unsigned char *blocks,
		     unsigned char *other, size_t length);
enum {
	BCL_PAIRS_LAG = 3, /* rounds that overlap */
};
/* pairs.c: one message to and one from each other member. With `by_rank` the
 * blocks lie in the order of ranks, or else by distance: places on in `send`,
 * places before in `receive`. The own block is not moved. */
void bcl_build_pairs(struct bcl_schedule *schedule,
		     const struct bcl_group *group, const unsigned char *send,
		     unsigned char *receive, size_t length, bool by_rank);
/*
 * reduce_blocks.c: member i of the group gets the reduction of block i of the
 * vector (bcl_block_begin()) in `result`, and `result` may be that block of
 * `send`.
 */
void bcl_build_reduce_scatter(struct bcl_schedule *schedule,
			      const struct bcl_group *group, const void *send,
			      void *result, size_t length,
			      const struct bcl_reduction *reduction);
/* The same with blocks that begin at these bytes; begin[size]: the end. */
void bcl_build_reduce_scatterv(struct bcl_schedule *schedule,
			       const struct bcl_group *group, const void *send,
			       void *result, const size_t *begin,
			       const struct bcl_reduction *reduction);

/* Offset in bytes of block i of the n blocks of a vector. Blocks begin at whole
 * elements. i = n: the end of the vector. */
static inline size_t bcl_block_begin(size_t length, size_t element, unsigned n,
				     unsigned i)
{
	size_t count = length / element;

	if (i == n)
		return length;
	return (count / n * i + count % n * i / n) * element;
}

/*
 * ring.c: allgather. Each member has one block of the vector at `base` and gets
 * the blocks of all members. The member at place p of the group begins with
 * block (p - turn) mod size.
 */
void bcl_build_ring(struct bcl_schedule *schedule,
		    const struct bcl_group *group, unsigned turn, void *base,
		    size_t length, size_t element);
/* The same with blocks of `length` bytes in the order of ranks. */
void bcl_build_ring_by_rank(struct bcl_schedule *schedule,
			    const struct bcl_group *group, void *base,
			    size_t length);

/* ---- the algorithms of each operation; the last entry has no name ------- */

extern const struct bcl_algorithm bcl_barrier_algorithms[];
extern const struct bcl_algorithm bcl_broadcast_algorithms[];
extern const struct bcl_algorithm bcl_reduce_algorithms[];
extern const struct bcl_algorithm bcl_allreduce_algorithms[];
extern const struct bcl_algorithm bcl_gather_algorithms[];
extern const struct bcl_algorithm bcl_scatter_algorithms[];
extern const struct bcl_algorithm bcl_allgather_algorithms[];
extern const struct bcl_algorithm bcl_alltoall_algorithms[];
extern const struct bcl_algorithm bcl_alltoallv_algorithms[];
extern const struct bcl_algorithm bcl_reduce_scatter_algorithms[];
extern const struct bcl_algorithm bcl_scan_algorithms[];
extern const struct bcl_algorithm bcl_exscan_algorithms[];
extern const struct bcl_algorithm bcl_gatherv_algorithms[];
extern const struct bcl_algorithm bcl_scatterv_algorithms[];
extern const struct bcl_algorithm bcl_allgatherv_algorithms[];
extern const struct bcl_algorithm bcl_reduce_scatterv_algorithms[];
extern const struct bcl_algorithm bcl_shift_algorithms[];
extern const struct bcl_algorithm bcl_exchange_algorithms[];

/* ---- orders of blocks ---- */

/* In a step that reorders blocks of step->length bytes: copies block `from` of
 * step->from to block `to` of step->to. */
static inline void bcl_step_block(const struct bcl_step *step, size_t to,
				  size_t from)
{
	memcpy((unsigned char *)step->to + to * step->length,
	       (const unsigned char *)step->from + from * step->length,
	       step->length);
}

/* ---- reorder.c ----------------------------------------------------------- */

/* Offset at which the blocks of a node begin if blocks lie in the order of
 * nodes, from `node` on. The node is `turn` places after `node`; turn = number
 * of nodes: the end of all blocks. length: bytes of a block. */
size_t bcl_node_offset(const struct bcl_team *team, unsigned node,
		       unsigned turn, size_t length);

/*
 * Reorder blocks: from the order of nodes, beginning with `node`, to the order
 * of ranks, and back.
 */
void bcl_step_to_ranks(struct bcl_schedule *schedule, void *to,
		       const void *from, size_t length, unsigned node);
void bcl_step_to_nodes(struct bcl_schedule *schedule, void *to,
		       const void *from, size_t length, unsigned node);

#endif
