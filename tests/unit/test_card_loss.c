/* SPDX-License-Identifier: MIT */
/* The card core: how long it takes to notice that frames are lost. */
#include "unit.h"

#include <string.h>

#include "card_world.h"

enum {
	LENGTH = 1000000,
	MESSAGES = 50,
};

static const uint64_t MS = 1000000;

static struct world *world;
static struct world_port *from, *to;
static uint32_t node;

static void open_world(const struct world_config *config)
{
	world = world_new(config);
	from = world_port_open(world, 0, 1);
	to = world_port_open(world, 1, 2);
	node = world_connect(world, 0, 1);
	world_run_for(world, 100 * MS);
}

static void finish(void)
{
	struct bcl_completion entry;

	while (!world_sent(from, &entry))
		world_step(world);
	ck_assert_int_eq(entry.status, BCL_OK);
}

/* A fifth of all frames is lost, in both directions: what was sent once and
 * acknowledged late, because the frame before it was lost, says nothing of the
 * round trip. */
START_TEST(losses_do_not_look_like_a_long_way)
{
	uint64_t seed = world_seed((unsigned)_i);
	const struct world_config config = {
		.seed = seed,
		.pending = seed & 1,
		.drop = 200,
	};
	static uint8_t out[LENGTH], in[LENGTH];
	struct bcl_request *r;
	uint64_t start;

	open_world(&config);
	memset(out, 7, LENGTH);
	memset(in, 0, LENGTH);
	r = world_request(from);
	r->op = BCL_REQ_PUT;
	r->node = node;
	r->dst_port = 2;
	r->target = world_memory(world, 1, 2, in, LENGTH, BCL_MEM_REMOTE_WRITE);
	r->nref = 1;
	r->refs[0].handle = world_memory(world, 0, 1, out, LENGTH, 0);
	r->refs[0].length = LENGTH;
	r->length = LENGTH;
	start = world->now;
	world_submit(from, r);
	finish();
	ck_assert_mem_eq(in, out, LENGTH);
	ck_assert_uint_gt(world_counter(world, 0, BCL_CARD_timeouts), 10);
	/* 718 frames, hundreds of time-outs of 0.2 ms or 0.4 */
	ck_assert_uint_lt(world->now - start, 240 * MS);
	world_free(world);
}
END_TEST

/* A round trip that takes longer than the first time-out. */
START_TEST(a_long_way_is_learnt)
{
	const struct world_config config = {
		.seed = 1,
		.pending = _i,
		.delay = MS,
	};

	open_world(&config);
	for (unsigned i = 0; i < MESSAGES; i++) {
		ck_assert(world_send(from, node, 2, "", 0, i));
		finish();
	}
	ck_assert_uint_gt(world_counter(world, 0, BCL_CARD_timeouts), 0);
	ck_assert_uint_lt(world_counter(world, 0, BCL_CARD_timeouts), 10);
	ck_assert_uint_lt(world_counter(world, 0, BCL_CARD_retransmitted), 10);
	world_free(world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card loss");
	TCase *tcase = tcase_create("loss");

	tcase_add_loop_test(tcase, losses_do_not_look_like_a_long_way, 0, 10);
	tcase_add_loop_test(tcase, a_long_way_is_learnt, 0, 2);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
