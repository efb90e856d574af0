/* SPDX-License-Identifier: MIT */
/*
 * For tests of the card path from the public interface down to frames: two
 * sides on two nodes, each with a context, a port and the other one as its
 * peer, in virtual time.
 */
#ifndef BCL_TESTS_CARD_SIDES_H
#define BCL_TESTS_CARD_SIDES_H

#include <stdbool.h>

#include <bcl/bcl.h>

#include "sim/world.h"

struct side {
	unsigned number;
	const uint8_t *key; /* job key, or NULL */
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peer;
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;
	bool done;
};

extern struct sim_world *sides_world;
extern struct side sides[2];
extern bool sides_apart;     /* the peer is not expected to come up */
extern bool sides_wrong_key; /* the other's address is used with another key */

/* Before and after each test. */
void sides_open(void);
void sides_close(void);

/* Both sides do `what`. */
void sides_play(void (*what)(struct side *side));

struct side *side_other(struct side *side);
void side_let_others(void); /* have their turn */
uint64_t side_counter(struct side *side, const char *name);

/* The next event, whatever it is; or, but for peers that come up, of a kind. */
void side_next(struct side *side, struct bcl_event *event);
void side_expect(struct side *side, enum bcl_event_kind kind,
		 struct bcl_event *event);
void side_expect_ok(struct side *side, enum bcl_event_kind kind,
		    uint64_t cookie);

/* A message whose immediate is its length. */
void side_say(struct side *side, unsigned type, const void *data,
	      size_t length);
void side_hear(struct side *side, unsigned type, void *data, size_t length);

/* Let some of the other side's reading happen. */
void side_until_sent(struct side *side, uint64_t bytes);

/* Bytes that tell where they belong. */
void side_fill(uint8_t *bytes, size_t length, unsigned seed);
void side_check(const uint8_t *bytes, size_t length, unsigned seed);

#endif
