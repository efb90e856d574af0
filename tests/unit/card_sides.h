/* SPDX-License-Identifier: MIT */
/*
 * For tests of the card path from the public interface down to frames: two
 * sides on two nodes, in virtual time. Each side has a context, a port, and a
 * peer for the opposite side.
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
extern bool sides_apart;     /* sides do not wait until peers are up */
extern bool sides_wrong_key; /* sides alter the key in the peer's address */

/* For the setup and the teardown of each test. */
void sides_open(void);
void sides_close(void);

/* Runs the function at both sides. */
void sides_play(void (*what)(struct side *side));

struct side *side_other(struct side *side);
void side_let_others(void); /* yields to the opposite side */
uint64_t side_counter(struct side *side, const char *name);

/* side_next() waits for the next event. side_expect() does the same, but skips
 * peers that come up, and fails if the event is of a different kind. */
void side_next(struct side *side, struct bcl_event *event);
void side_expect(struct side *side, enum bcl_event_kind kind,
		 struct bcl_event *event);
void side_expect_ok(struct side *side, enum bcl_event_kind kind,
		    uint64_t cookie);

/* side_say() sends a message with the length as immediate value. side_hear()
 * expects the message of side_say() as the next event. */
void side_say(struct side *side, unsigned type, const void *data,
	      size_t length);
void side_hear(struct side *side, unsigned type, void *data, size_t length);

/* Yields until the card of this side has sent `bytes` more bytes, which the
 * peer pulls. The port must not have an event meanwhile. */
void side_until_sent(struct side *side, uint64_t bytes);

/* Fills and checks memory with bytes that depend on their offset and on the
 * seed. */
void side_fill(uint8_t *bytes, size_t length, unsigned seed);
void side_check(const uint8_t *bytes, size_t length, unsigned seed);

#endif
