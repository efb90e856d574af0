/* SPDX-License-Identifier: MIT */
/*
 * How fast collective operations can be at best, on a cluster of nodes of
 * several ranks each, in the LogGP model (A. Alexandrov, M. Ionescu,
 * K. Schauser, C. Scheiman, SPAA 1995). Formulas, proofs and sources are in
 * doc/bounds.md.
 */
#ifndef SIM_BOUND_H
#define SIM_BOUND_H

#include <stddef.h>

/* Times in us. */
struct sim_loggp {
	double latency; /* L, from card to card, or processor to processor */
	double send, receive; /* o, of the processor */
	double gap;	      /* g, between messages of a card */
	double byte;	      /* G, of each byte beyond the first */
};

struct sim_machine {
	unsigned nodes, ranks;	  /* so many on each node */
	struct sim_loggp inside;  /* messages inside a node */
	struct sim_loggp between; /* between nodes, by the node's one card */
	/* For links between switches, cut.h: */
	double framing; /* bytes on a link for each of a message, with headers
			 */
	double passing; /* us of a short message that its bytes take there */
};

enum sim_operation {
	SIM_BARRIER,
	SIM_BROADCAST,
	SIM_REDUCE,
	SIM_ALLREDUCE,
	SIM_SCATTER,
	SIM_GATHER,
	SIM_SHIFT, /* everyone sends a block to the next rank */
	SIM_ALLTOALL,
	SIM_OPERATIONS
};

/* us of one message. */
double sim_bound_message(const struct sim_loggp *net, size_t length);

/* us until the last of n messages is there that a node sends by its card, one
 * after another; with one node, of those that go on at once inside. */
double sim_bound_stream(const struct sim_machine *machine, unsigned n,
			size_t length);

/*
 * us until n processors have a message of one of them: the optimal tree of
 * R. Karp, A. Sahay, E. Santos, K. Schauser, SPAA 1993.
 */
double sim_bound_tree(const struct sim_loggp *net, unsigned n, size_t length);

/* us that no algorithm can do without; length: of the vector, or of a block
 * for each rank. */
double sim_bound(const struct sim_machine *machine,
		 enum sim_operation operation, size_t length);

/*
 * us that no broadcast or reduction can do without that cuts the vector into
 * equal pieces and sends each message for one of them (A. Bar-Noy, S. Kipnis,
 * Discrete Applied Mathematics 55, 1994), at best: with as many pieces as are
 * best. Never less than sim_bound().
 */
double sim_bound_pieces(const struct sim_machine *machine, size_t length);

#endif
