/* SPDX-License-Identifier: MIT */
/*
 * The parts from which algorithms compute their costs, by the LogGP model (A.
 * Alexandrov et al., SPAA 1995) with the overhead of each message counted in
 * its latency. For p ranks and vectors of n bytes the formulas of the
 * algorithms are from R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
 * collective communication operations in MPICH", IJHPCA 19 (2005): an allreduce
 * by rings takes 2 (p - 1) messages, for example, and each rank sends
 * 2 (p - 1) / p n bytes.
 */
#ifndef BCL_COLLECTIVES_COST_H
#define BCL_COLLECTIVES_COST_H

#include <bcl/wire.h>

#include "collectives/select.h"

/* A message of `length` bytes between nodes. */
struct bcl_cost bcl_cost_between(const struct bcl_model *model, double length);
/* A message inside a node. */
struct bcl_cost bcl_cost_intranode(const struct bcl_model *model,
				   double length);
/* A message among all ranks, on the same node or not. */
struct bcl_cost bcl_cost_flat(const struct bcl_model *model, double length);

/* A message where each member sends one and receives another at the same time.
 * Inside a node both members copy each long message together, so two messages
 * take twice as long. Between nodes, if the processor does the card's work, the
 * processor limits both directions and does the work twice. */
struct bcl_cost bcl_cost_exchange(const struct bcl_model *model, double length);

/* A message that is put into a window of the receiver, with the grant
 * included. */
struct bcl_cost bcl_cost_granted(const struct bcl_model *model, double length);

/* us from a message to the next one of a close sequence, where the processor
 * sends one message and receives one. */
double bcl_cost_gap(const struct bcl_model *model, const struct bcl_cost *cost);

static inline double bcl_larger(double a, double b)
{
	return a > b ? a : b;
}

/* us that links are busy if each node sends `bytes` bytes in `messages`
 * messages. byte: us per byte, as `across` or `around` of the model. */
static inline double bcl_cost_links(double byte, double bytes, double messages)
{
	return byte * (bytes + messages * BCL_HEADERS_SIZE);
}

/* us until all nodes have heard from all nodes (dissemination.h). length: bytes
 * about one node. */
double bcl_cost_dissemination(const struct bcl_model *model, double length,
			      unsigned ahead);

/* us down a tree of the nodes (postal.h), or up, with `work` us for each byte
 * received. */
double bcl_cost_postal(const struct bcl_model *model, double length,
		       unsigned ahead, double work);

/* us from a message of a node to the next, where `members` members send. work:
 * us of a processor for each message. */
double bcl_cost_next(const struct bcl_model *model, double members,
		     double work);

/* us that the links between the two halves of the nodes are busy, where each
 * node has `all` bytes in `messages` messages for all nodes together. */
static inline double bcl_cost_across(const struct bcl_model *model, double all,
				     double messages)
{
	return bcl_cost_links(model->across[0], all / 2, messages / 2);
}

/* us where a member of a node fetches so many blocks of `length` bytes out of
 * the memory of others (attached.h); 0: a block of each other member. */
double bcl_cost_attached(const struct bcl_model *model, double length,
			 unsigned blocks);

/* us of messages to all other nodes, where cards and processors take `us`.
 * Messages to near nodes go first, and links between the halves are idle
 * meanwhile. */
double bcl_cost_direct(const struct bcl_model *model, double us, double all,
		       double messages);

/* The number of pieces of `piece` bytes, or of longer ones. */
double bcl_cost_pieces(double length, double piece);

/* us for the phases in a node's segment that `length` bytes need. */
double bcl_cost_phases(const struct bcl_model *model, double length);
/* us until the first of `length` bytes in a node's segment can be read. From
 * then on the members that write and the members that read work at the same
 * time. With several nodes nothing overlaps: the leaders wait for messages. */
double bcl_cost_first_piece(const struct bcl_model *model, double length);
/* Of an allgather through the segment of a node, with blocks of `length` bytes
 * on average. A member writes the own block and reads the others. For tables of
 * algorithms, whose parameter is not used. */
double bcl_cost_allgather_inside(const struct bcl_model *model, double length,
				 unsigned parameter);
/* The same of a gather: the root reads while the others write. */
double bcl_cost_gather_inside(const struct bcl_model *model, double length,
			      unsigned parameter);

/*
 * us for a vector in pieces of `piece` bytes from node to node (pipeline.c),
 * with `work` us for each byte received. inside: us of a piece inside a node;
 * if cards work alone, this part overlaps with the next pieces.
 */
double bcl_cost_pipeline(const struct bcl_model *model, double length,
			 double piece, double work,
			 double (*inside)(const struct bcl_model *model,
					  double length, unsigned parameter));

/* ---- gather and scatter: both directions cost the same ------------------ */

/* us up or down a tree of nodes, as above. Messages longer than `at_once` bytes
 * do not overlap. inside: us of the part inside a node. */
double bcl_cost_rooted_tree(const struct bcl_model *model, double length,
			    unsigned ahead, double at_once, double inside);
/* us for a message between the root and each other rank. */
double bcl_cost_rooted_direct(const struct bcl_model *model, double length,
			      unsigned parameter);

#endif
