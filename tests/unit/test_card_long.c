/* SPDX-License-Identifier: MIT */
/* The card core: messages to the system channel that take a long block. */
#include "unit.h"

#include <string.h>

#include "card_world.h"

static const uint64_t MS = 1000000, SECOND = 1000000000;

enum {
	MOST = 4 * BCL_LONG_SIZE, /* bytes of memory */
};

/* Port 1 of card 0 sends to port 2 of card 1. */
struct pair {
	struct world *world;
	struct world_port *a, *b;
	uint32_t node;
	uint8_t *memory;
	uint32_t handle;
};

static struct pair make_pair(const struct world_config *config)
{
	struct pair pair = { .world = world_new(config) };

	pair.a = world_port_open(pair.world, 0, 1);
	pair.b = world_port_open(pair.world, 1, 2);
	pair.node = world_connect(pair.world, 0, 1);
	pair.memory = malloc(MOST);
	for (uint32_t i = 0; i < MOST; i++)
		pair.memory[i] = (uint8_t)(i * 7 + (i >> 8) + (i >> 16));
	pair.handle = world_memory(pair.world, 0, 1, pair.memory, MOST, 0);
	world_run_for(pair.world, 10 * MS);
	return pair;
}

static void free_pair(struct pair *pair)
{
	world_free(pair->world);
	free(pair->memory);
}

/* `front` bytes lie in the request, the rest in n adjacent pieces of memory. */
static void send_from(struct pair *pair, struct world_port *port,
		      uint32_t handle, uint32_t length, uint32_t front,
		      unsigned n, uint64_t number)
{
	struct bcl_request *request = world_request(port);
	uint32_t at = front;

	ck_assert_ptr_nonnull(request);
	request->op = BCL_REQ_SYSTEM;
	request->node = pair->node;
	request->dst_port = 2;
	request->targ64 = number;
	request->length = length;
	memcpy(request->inlined, pair->memory, front);
	request->inline_len = (uint16_t)front;
	request->nref = (uint16_t)n;
	for (unsigned i = 0; i < n; i++) {
		uint32_t left = length - at;

		request->refs[i] = (struct bcl_memref){
			.offset = at,
			.handle = handle,
			.length = i + 1 < n ? left / 3 : left,
		};
		at += request->refs[i].length;
	}
	world_submit(port, request);
}

static void send_pieces(struct pair *pair, uint32_t length, uint32_t front,
			unsigned n, uint64_t number)
{
	send_from(pair, pair->a, pair->handle, length, front, n, number);
}

/* Wait until n sends have ended, at most 60 s. */
static void hear(struct pair *pair, unsigned n, enum bcl_status status)
{
	uint64_t end = pair->world->now + 60 * SECOND;
	struct bcl_completion entry;

	while (n) {
		ck_assert_uint_lt(pair->world->now, end);
		if (!world_sent(pair->a, &entry)) {
			world_run_for(pair->world, MS / 10);
			continue;
		}
		ck_assert_int_eq(entry.status, status);
		n--;
	}
}

/* Wait for message `number`, check the bytes, and free the block. */
static void take(struct pair *pair, uint32_t length, uint64_t number)
{
	uint64_t end = pair->world->now + 60 * SECOND;
	struct bcl_completion entry;

	while (!world_received(pair->b, &entry)) {
		ck_assert_uint_lt(pair->world->now, end);
		world_run_for(pair->world, MS / 10);
	}
	ck_assert_int_eq(entry.kind, BCL_CQ_SYSTEM);
	ck_assert_uint_eq(entry.targ64, number);
	ck_assert_uint_eq(entry.length, length);
	ck_assert_mem_eq(world_block(pair->b, &entry), pair->memory, length);
	world_block_free_of(pair->b, &entry);
}

static const uint32_t lengths[] = {
	BCL_BLOCK_SIZE + 1, 8192, 16384, 40000, 65536, BCL_LONG_SIZE
};

/* Messages of any length arrive, in frames of any size, from any number of
 * pieces, and over a wire with faults. */
START_TEST(any_length)
{
	struct world_config config = {
		.seed = world_seed(_i),
		.rails = 1 + _i % 2,
		.stripe = _i % 4 == 3,
		.mtu = _i % 5 == 4 ? 9000 : 1472,
		.drop = _i % 3 ? 0 : 50,
		.duplicate = _i % 3 ? 0 : 50,
		.reorder = _i % 3 == 2 ? 100 : 0,
		.corrupt = _i % 3 ? 0 : 20,
		.busy = _i % 4 == 2 ? 300 : 0,
		.wrap = true,
		.longs = 4,
	};
	struct pair pair = make_pair(&config);
	uint64_t number = 0;

	for (unsigned l = 0; l < sizeof(lengths) / sizeof(*lengths); l++) {
		for (unsigned n = 1; n <= BCL_REQUEST_REFS; n++) {
			uint32_t front = n * BCL_REQUEST_INLINE / 3;

			send_pieces(&pair, lengths[l], n & 1 ? front : 0, n,
				    number);
			take(&pair, lengths[l], number++);
			hear(&pair, 1, BCL_OK);
		}
	}
	ck_assert_uint_eq(world_counter(pair.world, 1, BCL_CARD_refused_ring),
			  0);
	free_pair(&pair);
}
END_TEST

/* One transmit takes all frames, though front and memory are two pieces. */
START_TEST(a_front_leaves_in_the_same_burst)
{
	struct world_config config = { .seed = 1, .longs = 4, .burst = 44 };
	struct pair pair = make_pair(&config);
	uint64_t transmits;

	/* the window is small at first */
	for (unsigned i = 0; i < 4; i++) {
		send_pieces(&pair, 16384, 40, 1, i);
		take(&pair, 16384, i);
		hear(&pair, 1, BCL_OK);
	}
	transmits = pair.world->card[0].transmits;
	send_pieces(&pair, 16384, 40, 1, 4);
	ck_assert_uint_eq(pair.world->card[0].transmits, transmits + 1);
	take(&pair, 16384, 4);
	free_pair(&pair);
}
END_TEST

/* Short and long messages of a flow arrive in order. */
START_TEST(order_with_short_ones)
{
	struct world_config config = {
		.seed = world_seed(_i),
		.rails = 2,
		.drop = 30,
		.reorder = 100,
		.longs = 16,
	};
	struct pair pair = make_pair(&config);

	for (unsigned i = 0; i < 60; i++)
		send_pieces(&pair, i % 4 ? 100 : 9000, i % 4 ? 100 : 0,
			    i % 4 == 0, i);
	for (unsigned i = 0; i < 60; i++)
		take(&pair, i % 4 ? 100 : 9000, i);
	hear(&pair, 60, BCL_OK);
	free_pair(&pair);
}
END_TEST

/* Without a long block the receiver refuses a message and all messages behind
 * it. The refused messages arrive soon after a block is free, although the
 * program does not tell the card of the free block. Short messages of another
 * port pass. */
START_TEST(no_long_block)
{
	struct world_config config = { .seed = 1, .longs = 2, .blocks = 64 };
	struct pair pair = make_pair(&config);
	struct world_port *other = world_port_open(pair.world, 0, 3);
	struct bcl_completion entry;
	uint64_t begin;

	for (unsigned i = 0; i < 5; i++)
		send_pieces(&pair, 5000, 0, 1, i);
	send_pieces(&pair, 10, 10, 0, 5);
	/* long enough for the sender to retry rarely */
	world_run_for(pair.world, 300 * MS);
	ck_assert_uint_gt(world_counter(pair.world, 1, BCL_CARD_refused_ring),
			  0);
	ck_assert(world_send(other, pair.node, 2, "short", 5, 0));
	hear(&pair, 2, BCL_OK);
	world_run_for(pair.world, MS);
	ck_assert(world_sent(other, &entry));
	ck_assert_int_eq(entry.status, BCL_OK);
	take(&pair, 5000, 0);
	take(&pair, 5000, 1);
	ck_assert(world_received(pair.b, &entry)); /* from port 3 */
	ck_assert_uint_eq(entry.src_port, 3);
	world_block_free_of(pair.b, &entry);
	begin = pair.world->now;
	for (unsigned i = 2; i < 5; i++)
		take(&pair, 5000, i);
	take(&pair, 10, 5);
	ck_assert_uint_lt(pair.world->now - begin, 3 * MS);
	hear(&pair, 4, BCL_OK);
	free_pair(&pair);
}
END_TEST

/* A port without long blocks refuses a long message. A message longer than any
 * block is an error of the caller. */
START_TEST(too_long)
{
	struct world_config config = { .seed = 1, .longs = _i ? 2 : 0 };
	struct pair pair = make_pair(&config);

	if (_i) {
		send_pieces(&pair, BCL_LONG_SIZE + 1, 0, 1, 0);
		hear(&pair, 1, BCL_ERR_ARG);
	} else {
		send_pieces(&pair, BCL_BLOCK_SIZE + 1, 0, 1, 0);
		hear(&pair, 1, BCL_ERR_TRUNCATED);
	}
	send_pieces(&pair, BCL_BLOCK_SIZE, 0, 1, 1);
	take(&pair, BCL_BLOCK_SIZE, 1);
	free_pair(&pair);
}
END_TEST

/* If the sender withdraws a message in progress, the next message gets the long
 * block. */
START_TEST(given_up_blocks_are_used)
{
	struct world_config config = { .seed = 1, .longs = 2, .rails = 1 };
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;
	unsigned came = 0;

	for (unsigned i = 0; i < 20; i++) {
		struct world_port *port = world_port_open(pair.world, 0, 7);

		send_from(&pair, port,
			  world_memory(pair.world, 0, 7, pair.memory, MOST, 0),
			  60000, 0, 1, i);
		world_run_for(pair.world, 3000);
		world_port_close(port);
		send_pieces(&pair, 5000, 0, 1, i);
		world_run_for(pair.world, 50 * MS);
		while (world_received(pair.b, &entry)) {
			came += entry.src_port == 7;
			ck_assert(entry.targ64 == i);
			world_block_free_of(pair.b, &entry);
		}
		hear(&pair, 1, BCL_OK);
	}
	ck_assert_uint_lt(came, 20);
	ck_assert_uint_gt(world_counter(pair.world, 1, BCL_CARD_cancelled), 0);
	free_pair(&pair);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("long messages of the system channel");
	TCase *tcase = tcase_create("long");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, any_length, 0, 20);
	tcase_add_test(tcase, a_front_leaves_in_the_same_burst);
	tcase_add_loop_test(tcase, order_with_short_ones, 0, 10);
	tcase_add_test(tcase, no_long_block);
	tcase_add_loop_test(tcase, too_long, 0, 2);
	tcase_add_test(tcase, given_up_blocks_are_used);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
