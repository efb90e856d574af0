/* SPDX-License-Identifier: MIT */
/*
 * All consistent graphs, each once: the algorithm TruSt (Kokologiannakis et
 * al., "Truly stateless, optimal dynamic partial order reduction", 2022). A
 * graph grows by the next event of a thread:
 *
 *  a read   takes its value from each consistent write in turn
 *  a write  takes each consistent place in modification order. Also, each
 *	     earlier read on which the write does not depend may take its value
 *	     from the write. Then the events after the read are dropped and done
 *	     again, except the events on which the write depends. The algorithm
 *	     does this only if the dropped events took the choice that is tried
 *	     first anyway: no graph is made twice.
 */
#ifndef WEAK_GROW_H
#define WEAK_GROW_H

#include "tests/weak/graph.h"

/* Add the event with number `index` of a thread, in the way that is tried
 * first. Leave the graphs of all other ways aside. Returns false if the first
 * way is not consistent. */
bool grow_graph(struct graph *graph, unsigned thread, unsigned index,
		const struct graph_request *request);

/* Go on with a graph that was left aside. Returns false if there is none. */
bool grow_next(struct graph *graph);

#endif
