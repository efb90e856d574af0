/* SPDX-License-Identifier: MIT */
/*
 * An execution graph: the atomic accesses and fences of all threads ("events",
 * in the order of their addition), for each read the write from which the read
 * takes its value, and the order of writes to each word ("modification order").
 *
 * A graph is consistent if RC11 (Lahav et al., "Repairing sequential
 * consistency in C/C++11") allows it, with three differences:
 *  - release sequences are those of C++20: read-modify-writes only;
 *  - a weak compare-and-swap does not fail without reason;
 *  - light and heavy fences (weak.h) are added.
 */
#ifndef WEAK_GRAPH_H
#define WEAK_GRAPH_H

#include "tests/weak/weak.h"

enum {
	GRAPH_EVENTS = 250, /* of all threads */
	GRAPH_WORDS = 64,
	GRAPH_START = -1, /* in place of a write: the value at the start */
};

enum graph_operation {
	GRAPH_READ,
	GRAPH_WRITE,
	GRAPH_SWAP,
	GRAPH_ADD,
	GRAPH_SUB,
	GRAPH_AND,
	GRAPH_OR,
	GRAPH_XOR,
	GRAPH_COMPARE, /* and swap */
	GRAPH_FENCE,
	GRAPH_LIGHT,
	GRAPH_HEAVY,
};

/* An event that a thread asks for. */
struct graph_request {
	uint8_t operation;	     /* enum graph_operation */
	uint8_t order, order_failed; /* __ATOMIC_... */
	bool plain;   /* a plain access to a word that has atomic accesses */
	uint8_t word; /* index */
	uint64_t operand, expected;
	const void *where; /* in the code */
};

/* A number of events, by thread. */
struct graph_clock {
	uint8_t of[WEAK_THREADS];
};

struct graph_event {
	struct graph_request request;
	uint8_t thread, index; /* in the thread */
	bool reads, writes;
	int16_t from;	/* reads: the write, or GRAPH_START */
	uint16_t place; /* writes: in modification order, from 1 */
	uint64_t read, written;
	/* events up to and including this event */
	struct graph_clock causes;  /* by program order and reads */
	struct graph_clock happens; /* happens-before */
	struct graph_clock relaxed; /* joins `happens` at an acquire fence */
	struct graph_clock fenced;  /* `happens` of the last release fence */
	struct graph_clock sync;    /* joins `happens` of an acquiring read */
};

struct graph {
	unsigned n;
	struct graph_event events[GRAPH_EVENTS];
};

/* An atomic word, the same in all graphs of an exploration. */
struct graph_word {
	void *address;
	unsigned size;
	uint64_t start; /* value */
};
extern struct graph_word graph_words[GRAPH_WORDS];
extern unsigned graph_nwords;

uint64_t graph_load(const struct graph_word *word);
void graph_store(const struct graph_word *word, uint64_t value);
/* Applies the operation to a value. Returns false if nothing is written. */
bool graph_apply(const struct graph_request *request, unsigned size,
		 uint64_t value, uint64_t *result);

/* Returns the number of the event of a thread, or -1. */
int graph_find(const struct graph *graph, unsigned thread, unsigned index);

/* Add the next event of the thread. A read takes its value from `from`; a write
 * has no place yet. */
struct graph_event *graph_add(struct graph *graph, unsigned thread,
			      const struct graph_request *request, int from);
/* Let a read take its value from another write. */
void graph_redirect(struct graph *graph, struct graph_event *event, int from);
/* Put a write into the modification order; take the write out. */
void graph_place(struct graph *graph, struct graph_event *event,
		 unsigned place);
void graph_unplace(struct graph *graph, struct graph_event *event);
/* Drop the events that are not kept; numbers change. */
void graph_restrict(struct graph *graph, const bool *keep);

static inline bool graph_includes(const struct graph_clock *clock,
				  const struct graph_event *event)
{
	return clock->of[event->thread] > event->index;
}

static inline bool graph_is_on(const struct graph_event *event, unsigned word)
{
	return event->request.word == word && (event->reads || event->writes);
}

/* The place of a write; GRAPH_START has place 0. The place of the write that an
 * event makes or reads. */
unsigned graph_place_of(const struct graph *graph, int write);
unsigned graph_position(const struct graph *graph,
			const struct graph_event *event);
/* The last place on a word. The newest place that the next event of a thread
 * knows: the event can only read from this place on, and write after the
 * place. */
unsigned graph_last(const struct graph *graph, unsigned word);
unsigned graph_newest(const struct graph *graph, unsigned thread,
		      unsigned index, unsigned word);
/* Returns the read-modify-write, except `not`, that reads from a write; or
 * NULL. */
const struct graph_event *graph_updater(const struct graph *graph,
					unsigned word, int write,
					const struct graph_event * not );

/* True if the seq_cst fences and accesses can be ordered: sequential.c. */
bool graph_sequential(const struct graph *graph);

#endif
