/* SPDX-License-Identifier: MIT */
/*
 * Lower bounds on the time of collective operations on a cluster of nodes with
 * several ranks each, in the LogGP model (A. Alexandrov, M. Ionescu, K.
 * Schauser, C. Scheiman, SPAA 1995). Formulas, proofs and sources are in
 * doc/bounds.md.
 */
#ifndef SIM_BOUND_H
#define SIM_BOUND_H

#include <stddef.h>

/* Times in us. */
struct sim_loggp {
	double latency; /* L, from card to card, or processor to processor */
	double send, receive; /* o, of the sending and of the receiving
			       * processor */
	double gap;	      /* g, between messages of a card */
	double byte;	      /* G, of each byte after the first */
};

struct sim_machine {
	unsigned nodes, ranks;	  /* ranks on each node */
	struct sim_loggp inside;  /* messages inside a node */
	struct sim_loggp between; /* between nodes, by the node's one card */
	/* Used for links between switches (cut.h): */
	double framing; /* bytes on a link per byte of a message, headers
			 * included */
	double passing; /* us that the bytes of a short message take on the
			 * links */
};

enum sim_operation {
	SIM_BARRIER,
	SIM_BROADCAST,
	SIM_REDUCE,
	SIM_ALLREDUCE,
	SIM_SCATTER,
	SIM_GATHER,
	SIM_SHIFT, /* each rank sends a block to the next rank */
	SIM_ALLTOALL,
	SIM_OPERATIONS
};

/* us of a message. */
double sim_bound_message(const struct sim_loggp *net, size_t length);

/*
 * us until the last of n messages has arrived that a node sends by its card in
 * sequence. With a single node the messages go at the same time, inside the
 * node.
 */
double sim_bound_stream(const struct sim_machine *machine, unsigned n,
			size_t length);

/*
 * us until n processors have a message that a processor started with: the
 * optimal tree of R. Karp, A. Sahay, E. Santos, K. Schauser, SPAA 1993.
 */
double sim_bound_tree(const struct sim_loggp *net, unsigned n, size_t length);

/* us that every algorithm needs at least. `length` is the length of the vector,
 * or of the block for each rank. */
double sim_bound(const struct sim_machine *machine,
		 enum sim_operation operation, size_t length);

/*
 * us that a broadcast or reduction needs at least if it cuts the vector into
 * equal pieces and each message carries a single piece (A. Bar-Noy, S. Kipnis,
 * Discrete Applied Mathematics 55, 1994), with the best number of pieces. Never
 * less than sim_bound().
 */
double sim_bound_pieces(const struct sim_machine *machine, size_t length);

#endif
