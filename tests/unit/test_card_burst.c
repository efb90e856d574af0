/* SPDX-License-Identifier: MIT */
/* The card core: frames of a long message that arrive in one call. */
#include "unit.h"

#include <string.h>

#include <bcl/wire.h>

#include "card_world.h"

enum {
	LENGTH = 100000,
	PAYLOAD = 1392,
	FRAMES = (LENGTH + PAYLOAD - 1) / PAYLOAD,
};

static const uint64_t MS = 1000000;

struct pair {
	struct world *world;
	struct world_port *a, *b;
	uint32_t to_b, to_a;
	uint32_t here, there; /* memory of a, of b */
	uint8_t out[LENGTH], in[LENGTH];
};

static void pair_open(struct pair *pair, const struct world_config *config)
{
	uint32_t seed = 1;

	pair->world = world_new(config);
	pair->a = world_port_open(pair->world, 0, 1);
	pair->b = world_port_open(pair->world, 1, 2);
	pair->to_b = world_connect(pair->world, 0, 1);
	pair->to_a = world_connect(pair->world, 1, 0);
	pair->here = world_memory(pair->world, 0, 1, pair->out, LENGTH,
				  BCL_MEM_REMOTE_READ);
	pair->there = world_memory(pair->world, 1, 2, pair->in, LENGTH,
				   BCL_MEM_REMOTE_WRITE);
	for (size_t i = 0; i < LENGTH; i++) {
		seed = seed * 1664525 + 1013904223;
		pair->out[i] = (uint8_t)(seed >> 24);
	}
	memset(pair->in, 0, LENGTH);
	world_run_for(pair->world, MS);
}

static void start_put(struct pair *pair)
{
	struct bcl_request *r = world_request(pair->a);

	r->op = BCL_REQ_PUT;
	r->node = pair->to_b;
	r->dst_port = 2;
	r->target = pair->there;
	r->nref = 1;
	r->refs[0] = (struct bcl_memref){ 0, pair->here, LENGTH };
	r->length = LENGTH;
	world_submit(pair->a, r);
}

static void finish(struct pair *pair, struct world_port *port)
{
	struct bcl_completion entry;

	while (!world_sent(port, &entry))
		world_step(pair->world);
	ck_assert_int_eq(entry.status, BCL_OK);
	ck_assert_mem_eq(pair->in, pair->out, LENGTH);
}

static uint64_t count(const struct pair *pair, unsigned card, unsigned counter)
{
	return world_counter(pair->world, card, counter);
}

/* The card checks only the first frame of a call in full, and stores the
 * payloads of the next frames together. */
START_TEST(followers)
{
	const struct world_config config = { .seed = 1, .together = 100000 };
	static struct pair pair;
	uint64_t sent, received;

	pair_open(&pair, &config);
	sent = count(&pair, 0, BCL_CARD_frames_sent);
	received = count(&pair, 1, BCL_CARD_frames_received);
	start_put(&pair);
	finish(&pair, pair.a);
	ck_assert_uint_ge(pair.world->card[1].stores,
			  FRAMES - FRAMES / WORLD_TOGETHER - 4);
	ck_assert_uint_eq(count(&pair, 0, BCL_CARD_frames_sent) - sent, FRAMES);
	ck_assert_uint_eq(count(&pair, 1, BCL_CARD_frames_received) - received,
			  FRAMES);
	ck_assert_uint_eq(count(&pair, 0, BCL_CARD_retransmitted), 0);
	world_free(pair.world);
}
END_TEST

/* Offset of the damaged byte in a frame, and the counter of the drop. */
static const struct damage {
	size_t at;
	enum bcl_card_counter counter;
} damages[] = {
	{ offsetof(struct bcl_frame_header, seq), BCL_CARD_dropped_hcrc },
	{ offsetof(struct bcl_frame_header, ack), BCL_CARD_dropped_hcrc },
	{ 40 + offsetof(struct bcl_segment_header, offset),
	  BCL_CARD_dropped_hcrc },
	{ 40 + offsetof(struct bcl_segment_header, msg),
	  BCL_CARD_dropped_hcrc },
	{ 40 + offsetof(struct bcl_segment_header, targ64),
	  BCL_CARD_dropped_hcrc },
	{ offsetof(struct bcl_frame_header, pcrc), BCL_CARD_dropped_pcrc },
	{ BCL_HEADERS_SIZE, BCL_CARD_dropped_pcrc },
	{ BCL_HEADERS_SIZE + PAYLOAD - 1, BCL_CARD_dropped_pcrc },
};

struct hit {
	size_t at;
	unsigned left; /* frames until the damage */
};

static bool strike(struct world *world, struct world_frame *frame)
{
	struct hit *hit = world->filter_arg;

	if (frame->length == BCL_HEADERS_SIZE + PAYLOAD && hit->left &&
	    --hit->left == 0)
		frame->bytes[hit->at] ^= 1;
	return true;
}

START_TEST(one_is_damaged)
{
	const struct world_config config = { .seed = 1, .together = 100000 };
	const struct damage *damage = &damages[_i];
	struct hit hit = { damage->at, 6 };
	static struct pair pair;

	pair_open(&pair, &config);
	pair.world->filter = strike;
	pair.world->filter_arg = &hit;
	start_put(&pair);
	finish(&pair, pair.a);
	ck_assert_uint_eq(hit.left, 0);
	ck_assert_uint_eq(count(&pair, 1, damage->counter), 1);
	ck_assert_uint_eq(count(&pair, 0, BCL_CARD_retransmitted), 1);
	world_free(pair.world);
}
END_TEST

enum {
	PUTS = 4, /* in progress at once */
	LOST = PUTS * (FRAMES - 1) / 2,
};

static bool lose_every_second(struct world *world, struct world_frame *frame)
{
	unsigned *seen = world->filter_arg;

	return frame->length != BCL_HEADERS_SIZE + PAYLOAD ||
	       *seen >= 2 * LOST || ++*seen % 2;
}

static void put_all(struct pair *pair)
{
	unsigned i;

	memset(pair->in, 0, LENGTH);
	for (i = 0; i < PUTS; i++)
		start_put(pair);
	for (i = 0; i < PUTS; i++)
		finish(pair, pair->a);
}

/* The card sends only the lost frames of a run again. Without enough flights to
 * split the run the card sends more. */
START_TEST(runs_are_parted)
{
	const struct world_config config = { .seed = 1,
					     .burst = 44,
					     .window = 1 << 20,
					     .messages = _i ? 16 : 0 };
	unsigned seen = 0;
	static struct pair pair;
	uint64_t again;

	pair_open(&pair, &config);
	put_all(&pair); /* the window opens */
	ck_assert_uint_ge(pair.world->card[0].burst_most, 30);
	ck_assert_uint_eq(count(&pair, 0, BCL_CARD_retransmitted), 0);
	pair.world->filter = lose_every_second;
	pair.world->filter_arg = &seen;
	put_all(&pair);
	ck_assert_uint_eq(seen, 2 * LOST);
	again = count(&pair, 0, BCL_CARD_retransmitted);
	if (_i)
		ck_assert_uint_gt(again, LOST);
	else
		ck_assert_uint_eq(again, LOST);
	world_free(pair.world);
}
END_TEST

/* The wire has faults, and every byte still reaches its place. */
START_TEST(bad_wire)
{
	const struct world_config config = {
		.seed = world_seed((unsigned)_i),
		.together = 3000,
		.drop = 20,
		.duplicate = 20,
		.reorder = 20,
		.corrupt = 20,
	};
	static struct pair pair;

	world_note(config.seed);
	pair_open(&pair, &config);
	for (unsigned i = 0; i < 4; i++) {
		memset(pair.in, 0, LENGTH);
		start_put(&pair);
		finish(&pair, pair.a);
	}
	ck_assert_uint_gt(pair.world->card[1].stores, 0);
	world_free(pair.world);
	world_note(0);
}
END_TEST

static void start_get(struct pair *pair)
{
	struct bcl_request *r = world_request(pair->b);

	r->op = BCL_REQ_GET;
	r->node = pair->to_a;
	r->dst_port = 1;
	r->target = pair->here;
	r->nref = 1;
	r->refs[0] = (struct bcl_memref){ 0, pair->there, LENGTH };
	r->length = LENGTH;
	world_submit(pair->b, r);
}

/* The reader's program may not call its card soon, so the card acknowledges the
 * last frame of the reply at once. */
START_TEST(last_reply_is_acknowledged)
{
	const struct world_config config = { .seed = 1 };
	struct bcl_completion entry;
	static struct pair pair;
	uint64_t acks;

	pair_open(&pair, &config);
	start_get(&pair);
	acks = 0;
	while (!world_sent(pair.b, &entry)) {
		acks = count(&pair, 1, BCL_CARD_acks_sent);
		world_step(pair.world);
	}
	ck_assert_int_eq(entry.status, BCL_OK);
	ck_assert_mem_eq(pair.in, pair.out, LENGTH);
	ck_assert_uint_eq(count(&pair, 1, BCL_CARD_acks_sent), acks + 1);
	world_free(pair.world);
}
END_TEST

struct said {
	uint32_t reply, done; /* message number; last `done` of card 1 */
};

static bool listen(struct world *world, struct world_frame *frame)
{
	const struct bcl_frame_header *header = (void *)frame->bytes;
	const struct bcl_segment_header *segment = (void *)(frame->bytes + 40);
	struct said *said = world->filter_arg;

	if (frame->from == 1)
		said->done = bcl_get32(header->done);
	else if (segment->op == BCL_SEG_GET_REPLY)
		said->reply = bcl_get32(segment->msg);
	return true;
}

/* The reader's card soon tells the sender of the reply, by `done`, that the
 * reply is delivered. The sender need not wait for a delayed acknowledgement,
 * even if the reader's card stores the last frame by a slow DMA. */
START_TEST(last_reply_is_settled)
{
	const struct world_config config = { .seed = 1, .pending = _i };
	struct said said = { 0 };
	struct bcl_completion entry;
	static struct pair pair;

	pair_open(&pair, &config);
	pair.world->filter = listen;
	pair.world->filter_arg = &said;
	start_get(&pair);
	while (!world_sent(pair.b, &entry))
		world_step(pair.world);
	ck_assert_int_eq(entry.status, BCL_OK);
	world_run_for(pair.world, pair.world->card[1].config.ack_delay / 4);
	ck_assert_uint_ne(said.reply, 0);
	ck_assert_uint_eq(said.done, said.reply + 1);
	world_free(pair.world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card bursts");
	TCase *tcase = tcase_create("bursts");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, followers);
	tcase_add_loop_test(tcase, one_is_damaged, 0,
			    sizeof(damages) / sizeof(damages[0]));
	tcase_add_loop_test(tcase, runs_are_parted, 0, 2);
	tcase_add_loop_test(tcase, bad_wire, 0, (int)world_seeds(20));
	tcase_add_test(tcase, last_reply_is_acknowledged);
	tcase_add_loop_test(tcase, last_reply_is_settled, 0, 2);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
