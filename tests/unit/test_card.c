/* SPDX-License-Identifier: MIT */
/* The card core: messages between cards, without and with faults. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "card_world.h"

static const uint64_t MS = 1000000, SECOND = 1000000000;

START_TEST(hello_world)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct world *world = world_new(&config);
	struct world_port *a = world_port_open(world, 0, 1);
	struct world_port *b = world_port_open(world, 1, 2);
	struct bcl_completion entry;
	uint32_t node = world_connect(world, 0, 1);

	ck_assert_uint_ne(node, BCL_NODE_NONE);
	ck_assert(world_send(a, node, 2, "hello", 5, 77));
	world_run_for(world, 10 * MS);
	ck_assert(world_received(b, &entry));
	ck_assert_int_eq(entry.kind, BCL_CQ_SYSTEM);
	ck_assert_uint_eq(entry.length, 5);
	ck_assert_uint_eq(entry.targ64, 77);
	ck_assert_uint_eq(entry.src_port, 1);
	ck_assert_uint_eq(entry.card, world_card_id(world, 0));
	ck_assert_mem_eq(world_block(b, &entry), "hello", 5);
	ck_assert(world_sent(a, &entry));
	ck_assert_uint_eq(entry.cookie, 77);
	ck_assert_int_eq(entry.status, BCL_OK);
	ck_assert(!world_sent(a, &entry));
	ck_assert(!world_received(b, &entry));
	world_free(world);
}
END_TEST

/* Damage the payload of every second frame of card 0 with a message. */
static bool strike(struct world *world, struct world_frame *frame)
{
	unsigned *seen = world->filter_arg;

	if (frame->from == 0 && frame->length == BCL_HEADERS_SIZE + 8 &&
	    ++*seen % 2)
		frame->bytes[BCL_HEADERS_SIZE + 3] ^= 1;
	return true;
}

/* The card may copy a payload into a block before the checksum shows the
 * damage. The retransmitted message lands in the same block. */
START_TEST(broken_payload)
{
	struct world_config config = { .seed = 1, .pending = _i, .blocks = 8 };
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *to = world_port_open(world, 1, 2);
	uint32_t node = world_connect(world, 0, 1);
	struct bcl_completion entry;
	unsigned seen = 0;
	uint64_t i;

	world_run_for(world, MS);
	world->filter = strike;
	world->filter_arg = &seen;
	for (i = 0; i < 20; i++) {
		ck_assert(world_send(from, node, 2, &i, sizeof(i), i));
		world_run_for(world, 100 * MS);
		ck_assert(world_received(to, &entry));
		ck_assert_uint_eq(entry.targ64, i);
		ck_assert_uint_eq(entry.index, i % 8);
		ck_assert_mem_eq(world_block(to, &entry), &i, sizeof(i));
		world_block_free(to, entry.index);
		ck_assert(world_sent(from, &entry));
		ck_assert(!world_received(to, &entry));
	}
	ck_assert_uint_eq(world_counter(world, 1, BCL_CARD_dropped_pcrc), 20);
	world_free(world);
}
END_TEST

/* ---- everything at once ---- */

enum {
	FLOWS = 4, /* two ports on each side, both directions */
};

/* Length and bytes of message k of a flow follow from k and the flow. */
static uint32_t length_of(unsigned flow, uint32_t k)
{
	static const uint32_t lengths[] = { 8, 0, 40, 160, 64, 1, 16, 100 };

	return lengths[(k + flow) % 8];
}

static void pattern(uint8_t *to, unsigned flow, uint32_t k)
{
	for (uint32_t i = 0; i < 160; i++)
		to[i] = (uint8_t)(flow * 31 + k * 7 + i);
}

struct flow {
	struct world_port *from, *to;
	uint32_t node, sent, done, received;
};

static void pump(struct world *world, struct flow *flow, uint32_t n)
{
	struct bcl_completion entry;
	uint8_t bytes[160];

	for (unsigned f = 0; f < FLOWS; f++) {
		while (flow[f].sent < n) {
			pattern(bytes, f, flow[f].sent);
			if (!world_send(flow[f].from, flow[f].node,
					flow[f].to->number, bytes,
					length_of(f, flow[f].sent),
					(uint64_t)f << 32 | flow[f].sent))
				break;
			flow[f].sent++;
		}
		while (world_sent(flow[f].from, &entry)) {
			ck_assert_int_eq(entry.status, BCL_OK);
			flow[entry.cookie >> 32].done++;
		}
		while (world_received(flow[f].to, &entry)) {
			unsigned g = (unsigned)(entry.targ64 >> 32);
			uint32_t k = (uint32_t)entry.targ64;

			ck_assert_ptr_eq(flow[g].to, flow[f].to);
			ck_assert_uint_eq(k, flow[g].received);
			ck_assert_uint_eq(entry.length, length_of(g, k));
			pattern(bytes, g, k);
			ck_assert_mem_eq(world_block(flow[f].to, &entry), bytes,
					 entry.length);
			flow[g].received++;
			world_block_free(flow[f].to, entry.index);
		}
	}
	(void)world;
}

static void exchange(const struct world_config *config, uint32_t n)
{
	struct world *world = world_new(config);
	struct world_port *port[2][2];
	struct flow flow[FLOWS] = { 0 };
	uint32_t node[2];
	unsigned done;
	uint64_t end;

	for (unsigned c = 0; c < 2; c++)
		for (unsigned p = 0; p < 2; p++)
			port[c][p] =
				world_port_open(world, c, (uint16_t)(p + 1));
	node[0] = world_connect(world, 0, 1);
	node[1] = world_connect(world, 1, 0);
	for (unsigned f = 0; f < FLOWS; f++) {
		flow[f].from = port[f & 1][f >> 1];
		flow[f].to = port[!(f & 1)][f >> 1];
		flow[f].node = node[f & 1];
	}
	end = world->now + 60 * SECOND;
	do {
		pump(world, flow, n);
		world_run_for(world, 50000);
		for (done = 0; done < FLOWS; done++)
			if (flow[done].done < n || flow[done].received < n)
				break;
	} while (done < FLOWS && world->now < end);
	if (done < FLOWS)
		world_dump(world);
	for (unsigned f = 0; f < FLOWS; f++) {
		ck_assert_uint_eq(flow[f].received, n);
		ck_assert_uint_eq(flow[f].done, n);
	}
	if (config->drop) {
		ck_assert_uint_gt(world->dropped, 0);
		ck_assert_uint_gt(
			world_counter(world, 0, BCL_CARD_retransmitted), 0);
	}
	world_free(world);
}

START_TEST(exactly_once_in_order)
{
	unsigned seeds = world_seeds(40);

	for (unsigned i = 0; i < seeds; i++) {
		struct world_config config = {
			.seed = world_seed(i),
			.pending = world_seed(i) % 2,
			.rails = 1 + world_seed(i) / 2 % 3,
			.drop = 200,
			.duplicate = 200,
			.reorder = 200,
			.corrupt = 200,
			.busy = world_seed(i) % 3 ? 0 : 50,
			.wrap = true,
			.blocks = world_seed(i) % 5 ? 64 : 8,
		};

		world_note(config.seed);
		exchange(&config, 250);
		world_note(0);
	}
}
END_TEST

START_TEST(no_faults)
{
	struct world_config config = { .seed = 1, .pending = _i };

	exchange(&config, 1000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card");
	TCase *tcase = tcase_create("card");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, hello_world, 0, 2);
	tcase_add_loop_test(tcase, broken_payload, 0, 2);
	tcase_add_loop_test(tcase, no_faults, 0, 2);
	tcase_add_test(tcase, exactly_once_in_order);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
