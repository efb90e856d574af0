/* SPDX-License-Identifier: MIT */
/*
 * The oracle checks the rules for a flow: messages, puts and additions from a
 * port of a card to a port of another card. The rules hold whatever happens to
 * the cards:
 *
 *  - a message is delivered at most once, in the order of its flow, unchanged;
 *    if the sender was told of the delivery, the message was delivered;
 *  - the messages of a connection reach only one life of the receiver;
 *  - additions happen as often as the senders were told; puts stay;
 *  - every operation ends.
 */
#ifndef BCL_TESTS_ORACLE_H
#define BCL_TESTS_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include <bcl/status.h>

enum {
	ORACLE_MESSAGE_MOST = 160, /* bytes */
	ORACLE_SLOT = 12000,	   /* bytes of the longest put */
	ORACLE_SLOTS = 4,	   /* places for the puts of a flow */
	ORACLE_ADDS = 512, /* additions of a flow to a memory, at most */
};

enum oracle_kind {
	ORACLE_MESSAGE,
	ORACLE_PUT,
	ORACLE_ADD,
};

/* The numbers of a receiver's life: of the card and of the port. */
struct oracle_life {
	unsigned card, port;
};

/* The k-th operation of a flow. */
struct oracle_ask {
	enum oracle_kind kind;
	struct oracle_life to; /* when the operation was requested */
	unsigned connection;   /* of the request; 0: none */
	uint32_t length;
	unsigned slot;
	bool ended, delivered;
	enum bcl_status status; /* with which the operation ended */
};

/* The state of the memory that a flow uses at the receiver. The outcome of
 * "unsure" operations is unknown. */
struct oracle_memory {
	uint32_t adds, adds_unsure;
	bool seen[ORACLE_ADDS]; /* by the value before the addition */
	bool busy[ORACLE_SLOTS], unsure[ORACLE_SLOTS];
	uint32_t holds[ORACLE_SLOTS]; /* 1 + k of the put; 0: none */
};

struct oracle_flow {
	unsigned number;
	struct oracle_ask *ask;
	uint32_t n, room;
	uint32_t next;	     /* the lowest k that may still be delivered */
	unsigned connection; /* of the last delivery by a connection */
	unsigned card_life;  /* of the receiver at this delivery */
	struct oracle_memory memory;
};

/* A rule is broken: prints how, and ends the process. */
void __attribute__((noreturn, format(printf, 2, 3)))
oracle_broken(const struct oracle_flow *flow, const char *how, ...);

/* Fills in the bytes of the k-th operation. */
void oracle_fill(const struct oracle_flow *flow, uint32_t k, uint8_t *to,
		 uint32_t length);

/* Adds an operation to the flow, with number flow->n - 1. */
struct oracle_ask *oracle_ask(struct oracle_flow *flow);
/*
 * The sender learns that the k-th operation has ended. there: the slots at the
 * receiver; NULL if the receiver has begun another life since the request, or
 * has no slots. old: the value that an addition found.
 */
void oracle_end(struct oracle_flow *flow, uint32_t k, enum bcl_status status,
		const uint8_t *there, uint64_t old);
/* The k-th operation, a message, has come to this life of the receiver. */
void oracle_deliver(struct oracle_flow *flow, uint32_t k,
		    struct oracle_life life, const uint8_t *bytes,
		    uint32_t length);
/* The sender is gone and will not learn of any more ends. */
void oracle_forget(struct oracle_flow *flow);
/* The memory at the receiver is gone. Operations that have not ended count as
 * unsure. */
void oracle_new_memory(struct oracle_flow *flow);
/* Returns the number of operations that have not ended. */
unsigned oracle_waiting(const struct oracle_flow *flow);
/* Prints the operations that have not ended. */
void oracle_print_waiting(const struct oracle_flow *flow);
/* All operations have ended, and all messages were read. life, slots, sum: the
 * life and the memory of the receiver. */
void oracle_settle(const struct oracle_flow *flow, struct oracle_life life,
		   const uint8_t *slots, uint64_t sum);

#endif
