/* SPDX-License-Identifier: MIT */
/*
 * What must hold for a flow (a port of one card to a port of another),
 * whatever happens to them:
 *
 *  - a message is delivered at most once, in the order of its flow, as it was
 *    sent; and it was if its sender was told so;
 *  - what was asked by one connection reaches one life of the receiver only;
 *  - additions happen as often as their senders were told; puts stay;
 *  - all that was asked ends.
 */
#ifndef BCL_TESTS_ORACLE_H
#define BCL_TESTS_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include <bcl/status.h>

enum {
	ORACLE_MESSAGE_MOST = 160, /* bytes */
	ORACLE_SLOT = 12000,	   /* bytes of a put, at most */
	ORACLE_SLOTS = 4,	   /* for puts of one flow */
	ORACLE_ADDS = 512,	   /* to one memory by one flow, at most */
};

enum oracle_kind {
	ORACLE_MESSAGE,
	ORACLE_PUT,
	ORACLE_ADD,
};

/* Of a receiver: its card's and its port's. */
struct oracle_life {
	unsigned card, port;
};

/* The k-th thing that was asked in a flow. */
struct oracle_ask {
	enum oracle_kind kind;
	struct oracle_life to; /* when it was asked */
	unsigned connection;   /* by which it was asked; 0: there was none */
	uint32_t length;
	unsigned slot;
	bool ended, delivered;
	enum bcl_status status; /* of its end */
};

/* The memory of the receiver that a flow works on. */
struct oracle_memory {
	uint32_t adds, adds_unsure;
	bool seen[ORACLE_ADDS]; /* by old value */
	bool busy[ORACLE_SLOTS], unsure[ORACLE_SLOTS];
	uint32_t holds[ORACLE_SLOTS]; /* 1 + k; 0: nothing */
};

struct oracle_flow {
	unsigned number;
	struct oracle_ask *ask;
	uint32_t n, room;
	uint32_t next;	     /* no k below it may be delivered any more */
	unsigned connection; /* of the last delivery that had one, ... */
	unsigned card_life;  /* ... and what it came to */
	struct oracle_memory memory;
};

/* A rule was broken, and how: ends the process. */
void __attribute__((noreturn, format(printf, 2, 3)))
oracle_broken(const struct oracle_flow *flow, const char *how, ...);

/* The bytes of the k-th thing. */
void oracle_fill(const struct oracle_flow *flow, uint32_t k, uint8_t *to,
		 uint32_t length);

/* One more thing is asked: number flow->n - 1. */
struct oracle_ask *oracle_ask(struct oracle_flow *flow);
/*
 * The sender is told that the k-th has ended. `there`: the receiver's slots, if
 * it is in the life in which it was asked; `old`: what an addition has found.
 */
void oracle_end(struct oracle_flow *flow, uint32_t k, enum bcl_status status,
		const uint8_t *there, uint64_t old);
/* The k-th came to this life of its receiver. */
void oracle_deliver(struct oracle_flow *flow, uint32_t k,
		    struct oracle_life life, const uint8_t *bytes,
		    uint32_t length);
/* The sender is gone: nobody will be told any more. */
void oracle_forget(struct oracle_flow *flow);
/* The receiver's memory is gone, with whatever is on its way there. */
void oracle_new_memory(struct oracle_flow *flow);
/* How many wait for their end. */
unsigned oracle_waiting(const struct oracle_flow *flow);
/* Those, for people. */
void oracle_print_waiting(const struct oracle_flow *flow);
/* All have ended, all is read: life and memory of the receiver. */
void oracle_settle(const struct oracle_flow *flow, struct oracle_life life,
		   const uint8_t *slots, uint64_t sum);

#endif
