/* SPDX-License-Identifier: MIT */
/*
 * All consistent graphs, each once: the algorithm TruSt (Kokologiannakis et
 * al., "Truly stateless, optimal dynamic partial order reduction", 2022). A
 * graph grows by what one thread does next:
 *
 *  a read   takes its value from each write that is consistent
 *  a write  takes each place in modification order that is consistent; and
 *	     each read that it does not depend on may take its value from it.
 *	     What was added after that read, and the write does not depend on,
 *	     is dropped and done again; only if it is what would be done first
 *	     anyway, so that no graph is made twice.
 */
#ifndef WEAK_GROW_H
#define WEAK_GROW_H

#include "tests/weak/graph.h"

/* Add what a thread asks for, its event `index`, in the way that is tried
 * first, and leave the graphs aside that all other ways make. False: the first
 * is not consistent. */
bool grow_graph(struct graph *graph, unsigned thread, unsigned index,
		const struct graph_request *request);

/* Go on with one of those left aside. False: there are none. */
bool grow_next(struct graph *graph);

#endif
