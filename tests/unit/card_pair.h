/* SPDX-License-Identifier: MIT */
/* Two cards in the world of cards, and messages between their memories. */
#ifndef BCL_TESTS_CARD_PAIR_H
#define BCL_TESTS_CARD_PAIR_H

#include <stdlib.h>

#include "card_world.h"
#include "unit.h"

static const uint64_t MS = 1000000, SECOND = 1000000000;

enum {
	BIG = 1 << 20,
};

/* Two cards, each with a port and memory. */
struct pair {
	struct world *world;
	struct world_port *a, *b;
	uint32_t to_b, to_a; /* nodes */
	uint8_t *memory[2];
	uint32_t handle[2];
};

static inline struct pair make_pair(const struct world_config *config)
{
	struct pair pair = { .world = world_new(config) };

	pair.a = world_port_open(pair.world, 0, 1);
	pair.b = world_port_open(pair.world, 1, 2);
	pair.to_b = world_connect(pair.world, 0, 1);
	pair.to_a = world_connect(pair.world, 1, 0);
	for (unsigned i = 0; i < 2; i++) {
		pair.memory[i] = calloc(1, BIG);
		pair.handle[i] = world_memory(
			pair.world, i, (uint16_t)(i + 1), pair.memory[i], BIG,
			BCL_MEM_REMOTE_READ | BCL_MEM_REMOTE_WRITE |
				BCL_MEM_REMOTE_ATOMIC);
	}
	return pair;
}

static inline void free_pair(struct pair *pair)
{
	world_free(pair->world);
	free(pair->memory[0]);
	free(pair->memory[1]);
}

static inline struct bcl_request *
request(struct world_port *port, uint32_t node, uint8_t op, uint32_t target)
{
	struct bcl_request *request = world_request(port);

	ck_assert_ptr_nonnull(request);
	request->op = op;
	request->node = node;
	request->dst_port = port->number == 1 ? 2 : 1;
	request->target = target;
	return request;
}

/* `length` bytes of local memory as the first reference. */
static inline void refer(struct bcl_request *request, uint32_t handle,
			 uint64_t offset, uint32_t length)
{
	request->refs[0] = (struct bcl_memref){ offset, handle, length };
	request->nref = 1;
	request->length = length;
}

static inline enum bcl_status finish(struct pair *pair, struct world_port *port)
{
	struct bcl_completion entry;
	uint64_t end = pair->world->now + 60 * SECOND;

	while (!world_sent(port, &entry) && pair->world->now < end)
		world_run_for(pair->world, MS / 10);
	ck_assert_uint_lt(pair->world->now, end);
	return entry.status;
}

static inline void fill(uint8_t *at, uint32_t length, uint32_t seed)
{
	for (uint32_t i = 0; i < length; i++)
		at[i] = (uint8_t)(seed + i * 7 + (i >> 8));
}

/* A POST of memory[1] from byte 1000 on, to be completed by the caller. */
static inline struct bcl_control posting(const struct pair *pair,
					 unsigned channel, uint16_t generation,
					 bool reading, uint64_t length)
{
	return (struct bcl_control){
		.op = BCL_CTL_POST,
		.channel = { .port = 2,
			     .number = channel,
			     .generation = generation,
			     .reading = reading,
			     .handle = pair->handle[1],
			     .offset = 1000,
			     .length = length },
	};
}

static inline enum bcl_status unpost(struct pair *pair, unsigned channel)
{
	const struct bcl_control control = {
		.op = BCL_CTL_UNPOST,
		.channel = { .port = 2, .number = channel },
	};

	return world_control(pair->world, 1, &control, NULL);
}

static inline void send_channel(struct pair *pair, uint32_t target,
				uint32_t length)
{
	struct bcl_request *r =
		request(pair->a, pair->to_b, BCL_REQ_CHANNEL, target);

	refer(r, pair->handle[0], 0, length);
	world_submit(pair->a, r);
}

#endif
