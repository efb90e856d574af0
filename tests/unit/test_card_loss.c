/* SPDX-License-Identifier: MIT */
/* The card core: how soon a sender notices the loss of frames. */
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

static uint8_t out[LENGTH], in[LENGTH];

/* Put all of `out` into `in`. */
static void put(void)
{
	struct bcl_request *r = world_request(from);

	memset(out, 7, LENGTH);
	memset(in, 0, LENGTH);
	r->op = BCL_REQ_PUT;
	r->node = node;
	r->dst_port = 2;
	r->target = world_memory(world, 1, 2, in, LENGTH, BCL_MEM_REMOTE_WRITE);
	r->nref = 1;
	r->refs[0].handle = world_memory(world, 0, 1, out, LENGTH, 0);
	r->refs[0].length = LENGTH;
	r->length = LENGTH;
	world_submit(from, r);
}

static void finish(void)
{
	struct bcl_completion entry;

	while (!world_sent(from, &entry))
		world_step(world);
	ck_assert_int_eq(entry.status, BCL_OK);
}

/* A fifth of all frames is lost, in both directions. The receiver acknowledges
 * a frame late if the frame before is lost. A late acknowledgement must not
 * count as a round trip. */
START_TEST(losses_do_not_look_like_a_long_way)
{
	uint64_t seed = world_seed((unsigned)_i);
	const struct world_config config = {
		.seed = seed,
		.pending = seed & 1,
		.drop = 200,
	};
	uint64_t start;

	open_world(&config);
	start = world->now;
	put();
	finish();
	ck_assert_mem_eq(in, out, LENGTH);
	ck_assert_uint_gt(world_counter(world, 0, BCL_CARD_timeouts), 10);
	/* 718 frames, hundreds of time-outs of 0.2 ms or 0.4 */
	ck_assert_uint_lt(world->now - start, 240 * MS);
	world_free(world);
}
END_TEST

/* The round trip takes longer than the first time-out. */
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

/* Number of bytes that put() sends behind the bytes of this frame. LENGTH: the
 * frame has no bytes of put(). */
static uint64_t behind(const struct world_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;
	const struct bcl_segment_header *segment =
		(const void *)(frame->bytes + sizeof(*header));
	unsigned kind = header->kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK);

	if (frame->to != 1 || kind != BCL_FRAME_DATA)
		return LENGTH;
	return LENGTH - bcl_get32(segment->offset) - bcl_get16(segment->length);
}

static bool delay_half(struct world *here, struct world_frame *frame)
{
	if (behind(frame) <= LENGTH / 2)
		here->config.delay = MS / 4;
	return true;
}

/* The round trip becomes longer than the time-out while many frames are in
 * flight, as when a queue grows before a thin link. The frames are late, not
 * lost. */
START_TEST(what_is_late_is_not_lost)
{
	const struct world_config config = { .seed = 6, .pending = _i };

	open_world(&config);
	put();
	finish();
	world->filter = delay_half;
	put();
	finish();
	ck_assert_mem_eq(in, out, LENGTH);
	ck_assert_uint_gt(world_counter(world, 0, BCL_CARD_timeouts), 0);
	ck_assert_uint_lt(world_counter(world, 0, BCL_CARD_retransmitted), 8);
	world_free(world);
}
END_TEST

enum {
	TAIL = 20000, /* bytes */
};

struct tail {
	unsigned lost;		/* frames */
	uint64_t retransmitted; /* before the tail: frames overtaken by far */
};

/* Lose the last TAIL bytes of put(), once. */
static bool lose_tail(struct world *here, struct world_frame *frame)
{
	uint64_t left = behind(frame);
	struct tail *tail = here->filter_arg;

	if (left > TAIL)
		return true;
	if (tail->lost++ == 0)
		tail->retransmitted =
			world_counter(here, 0, BCL_CARD_retransmitted);
	if (!left)
		here->filter = NULL;
	return false;
}

/* No later frame shows the loss of the tail. At the time-out the sender sends
 * the last frame again, and the answer shows which frames are lost. The lost
 * frames follow in a window half as large, without a second time-out. */
START_TEST(a_tail_needs_one_time_out)
{
	const struct world_config config = { .seed = 1, .pending = _i };
	struct tail tail = { 0 };

	open_world(&config);
	world->filter = lose_tail;
	world->filter_arg = &tail;
	put();
	finish();
	ck_assert_mem_eq(in, out, LENGTH);
	ck_assert_uint_gt(tail.lost, 10);
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_timeouts), 1);
	ck_assert_uint_le(world_counter(world, 0, BCL_CARD_retransmitted) -
				  tail.retransmitted,
			  tail.lost + 1);
	world_free(world);
}
END_TEST

/* Lose the first frame with messages to card 1. */
static bool lose_one(struct world *here, struct world_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;

	if (frame->to != 1 ||
	    (header->kind & ~BCL_FRAME_PCRC) != BCL_FRAME_DATA)
		return true;
	here->filter = NULL;
	return false;
}

/* Send n messages, each in a frame of its own. */
static void say(uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++) {
		ck_assert(world_send(from, node, 2, "", 0, i));
		world_run_for(world, 1000);
	}
}

static void hear(uint64_t first, uint64_t n)
{
	struct bcl_completion entry;

	world_run_for(world, 100 * MS);
	for (uint64_t i = first; i < first + n; i++) {
		ck_assert(world_received(to, &entry));
		ck_assert_uint_eq(entry.targ64, i);
		world_block_free(to, entry.index);
	}
	ck_assert(!world_received(to, &entry));
}

/* A card takes memory to note early frames, but only after the first early
 * frame. */
START_TEST(order_takes_no_memory)
{
	const struct world_config config = { .seed = 1, .pending = _i };
	uint32_t left;

	open_world(&config);
	say(0, 5);
	hear(0, 5);
	left = bcl_card_free(world->card[1].card);
	say(5, 5);
	hear(5, 5);
	ck_assert_uint_eq(bcl_card_free(world->card[1].card), left);
	world->filter = lose_one;
	say(10, 5);
	hear(10, 5);
	ck_assert_uint_lt(bcl_card_free(world->card[1].card), left);
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_retransmitted), 1);
	world_free(world);
}
END_TEST

/* Open ports until no memory of the card is left. */
static void fill_memory(unsigned card)
{
	struct bcl_control control = {
		.op = BCL_CTL_PORT_OPEN,
		.port = { .number = 100,
			  .nrequests = 1,
			  .nreceives = 1,
			  .nblocks = 1,
			  .nchannels = 100 },
	};
	uint32_t result;

	for (; control.port.nchannels; control.port.number++)
		if (world_control(world, card, &control, &result))
			control.port.nchannels--;
}

/* Without memory a card accepts frames only in order. The sender repeats the
 * early frames. */
START_TEST(no_memory_for_what_comes_early)
{
	const struct world_config config = { .seed = 1, .pending = true };

	open_world(&config);
	say(0, 1);
	hear(0, 1);
	fill_memory(1);
	world->filter = lose_one;
	say(1, 10);
	hear(1, 10);
	ck_assert_uint_gt(world_counter(world, 1, BCL_CARD_dropped_arena), 5);
	world_free(world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card loss");
	TCase *tcase = tcase_create("loss");

	tcase_add_loop_test(tcase, losses_do_not_look_like_a_long_way, 0, 10);
	tcase_add_loop_test(tcase, a_long_way_is_learnt, 0, 2);
	tcase_add_loop_test(tcase, what_is_late_is_not_lost, 0, 2);
	tcase_add_loop_test(tcase, a_tail_needs_one_time_out, 0, 2);
	tcase_add_loop_test(tcase, order_takes_no_memory, 0, 2);
	tcase_add_test(tcase, no_memory_for_what_comes_early);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
