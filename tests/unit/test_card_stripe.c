/* SPDX-License-Identifier: MIT */
/* The card core: long messages over several rails at once. */
#include "unit.h"

#include <string.h>

#include <bcl/wire.h>

#include "card_world.h"

enum {
	LENGTH = 4 << 20,
	PACE = 8192, /* ns for 1 KB: 125 MB/s */
};

static const uint64_t MS = 1000000;

struct pair {
	struct world *world;
	struct world_port *a, *b;
	uint32_t to_b, here, there;
	uint8_t *out, *in;
};

static unsigned frames[BCL_RAILS_MAX];

static bool count(struct world *world, struct world_frame *frame)
{
	(void)world;
	if ((frame->bytes[3] & 0x3f) == BCL_FRAME_DATA && frame->from == 0)
		frames[frame->rail]++;
	return true;
}

static struct pair open_pair(const struct world_config *config)
{
	struct pair pair = { .world = world_new(config) };
	uint32_t seed = 1;

	pair.a = world_port_open(pair.world, 0, 1);
	pair.b = world_port_open(pair.world, 1, 2);
	pair.to_b = world_connect(pair.world, 0, 1);
	pair.out = malloc(LENGTH);
	pair.in = calloc(1, LENGTH);
	for (size_t i = 0; i < LENGTH; i++) {
		seed = seed * 1664525 + 1013904223;
		pair.out[i] = (uint8_t)(seed >> 24);
	}
	pair.here = world_memory(pair.world, 0, 1, pair.out, LENGTH, 0);
	pair.there = world_memory(pair.world, 1, 2, pair.in, LENGTH,
				  BCL_MEM_REMOTE_WRITE);
	memset(frames, 0, sizeof(frames));
	pair.world->filter = count;
	world_run_for(pair.world, 100 * MS);
	return pair;
}

static void close_pair(struct pair *pair)
{
	world_free(pair->world);
	free(pair->out);
	free(pair->in);
}

static void put(struct pair *pair, uint32_t offset, uint32_t length)
{
	struct bcl_request *r = world_request(pair->a);

	r->op = BCL_REQ_PUT;
	r->node = pair->to_b;
	r->dst_port = 2;
	r->target = pair->there;
	r->targ64 = offset;
	r->nref = 1;
	r->refs[0] = (struct bcl_memref){ offset, pair->here, length };
	r->length = length;
	world_submit(pair->a, r);
}

/* Wait until n sends are done. */
static void finish(struct pair *pair, unsigned n)
{
	const uint64_t end = pair->world->now + 60000 * MS;
	struct bcl_completion entry;

	while (n && pair->world->now < end) {
		world_step(pair->world);
		while (world_sent(pair->a, &entry)) {
			ck_assert_int_eq(entry.status, BCL_OK);
			n--;
		}
	}
	ck_assert_uint_eq(n, 0);
	ck_assert_mem_eq(pair->in, pair->out, LENGTH);
}

static void put_all(struct pair *pair, uint32_t length)
{
	for (uint32_t offset = 0; offset < LENGTH; offset += length)
		put(pair, offset, length);
	finish(pair, LENGTH / length);
}

/* The virtual time, in ns, of a row of long messages. An earlier row has opened
 * the windows. */
static uint64_t time_of_row(const struct world_config *config, uint32_t length)
{
	struct pair pair = open_pair(config);
	uint64_t begun;

	put_all(&pair, length);
	memset(pair.in, 0, LENGTH);
	memset(frames, 0, sizeof(frames));
	begun = pair.world->now;
	put_all(&pair, length);
	begun = pair.world->now - begun;
	close_pair(&pair);
	return begun;
}

static uint64_t time_of(const struct world_config *config)
{
	return time_of_row(config, LENGTH);
}

/* Two equal rails reach nearly twice the bandwidth of one, four rails nearly
 * four times. */
START_TEST(equal)
{
	struct world_config config = { .seed = 1,
				       .rails = 1,
				       .stripe = true,
				       .pending = _i,
				       .pace = { PACE, PACE, PACE, PACE } };
	uint64_t one = time_of(&config);

	config.rails = 2;
	ck_assert_uint_le(time_of(&config) * 190, one * 100);
	ck_assert_uint_le(frames[0] * 95, frames[1] * 100);
	ck_assert_uint_le(frames[1] * 95, frames[0] * 100);
	config.rails = 4;
	ck_assert_uint_le(time_of(&config) * 360, one * 100);
}
END_TEST

/* A fast and a slow rail together reach nearly the sum of both bandwidths, and
 * each carries its share. Either rail may be the slow one. */
START_TEST(unequal)
{
	const unsigned slow = (unsigned)_i / 2;
	struct world_config config = { .seed = 1,
				       .rails = 1,
				       .stripe = true,
				       .pending = _i & 1,
				       .pace = { PACE } };
	uint64_t one = time_of(&config);

	config.rails = 2;
	config.pace[slow] = 3 * PACE;
	config.pace[!slow] = PACE;
	ck_assert_uint_le(time_of(&config) * 125, one * 100);
	ck_assert_uint_ge(frames[slow] * 100, (frames[0] + frames[1]) * 20);
	ck_assert_uint_le(frames[slow] * 100, (frames[0] + frames[1]) * 30);
}
END_TEST

/* Rows of long messages over a fast and a slow rail reach nearly the sum of
 * both bandwidths, and never take longer than over the fast rail alone. Either
 * rail may be the slow one. */
START_TEST(no_harm)
{
	static const uint32_t times[] = { 2, 10, 30 };
	const uint32_t by = times[_i / 2], length = LENGTH / (_i & 1 ? 4 : 64);
	struct world_config config = {
		.seed = 1, .rails = 1, .stripe = true, .pace = { PACE }
	};
	uint64_t one = time_of_row(&config, length), both;

	config.rails = 2;
	for (unsigned slow = 0; slow < 2; slow++) {
		config.pace[slow] = by * PACE;
		config.pace[!slow] = PACE;
		both = time_of_row(&config, length);
		ck_assert_uint_lt(both, one);
		ck_assert_uint_le(both * (by + 1) * 100, one * by * 103);
		ck_assert_uint_gt(frames[slow], 0);
	}
}
END_TEST

/* A rail a hundred times as slow does no harm. */
START_TEST(hardly_any)
{
	struct world_config config = { .seed = 1,
				       .rails = 1,
				       .stripe = true,
				       .pending = _i,
				       .pace = { PACE, 100 * PACE } };
	uint64_t one = time_of(&config);

	config.rails = 2;
	ck_assert_uint_le(time_of(&config) * 100, one * 105);
}
END_TEST

/* The card stores the frames of a call together, wherever in the message the
 * frames belong. */
START_TEST(bursts)
{
	struct world_config config = { .seed = 1,
				       .rails = 2,
				       .stripe = true,
				       .together = 10000,
				       .late = { 0, 20000 } };
	struct pair pair = open_pair(&config);

	put(&pair, 0, LENGTH);
	finish(&pair, 1);
	ck_assert_uint_gt(frames[0], 20);
	ck_assert_uint_gt(frames[1], 20);
	ck_assert_uint_gt(pair.world->card[1].stores * 2,
			  frames[0] + frames[1]);
	close_pair(&pair);
}
END_TEST

START_TEST(loss_on_one)
{
	struct world_config config = { .seed = (uint64_t)_i + 1,
				       .rails = 2,
				       .stripe = true,
				       .pending = _i & 1,
				       .drop = 20,
				       .duplicate = 20,
				       .reorder = 20,
				       .dropping = 1u << _i / 2 % 2,
				       .pace = { PACE, PACE } };
	struct pair pair = open_pair(&config);

	for (unsigned i = 0; i < 16; i++)
		put(&pair, i * (LENGTH / 16), LENGTH / 16);
	finish(&pair, 16);
	ck_assert_uint_gt(pair.world->dropped, 0);
	ck_assert_uint_gt(frames[0], 100);
	ck_assert_uint_gt(frames[1], 100);
	/* Each rail repeats its own lost frames: no message begins anew. */
	ck_assert_uint_eq(world_counter(pair.world, 0, BCL_CARD_withdrawn), 0);
	close_pair(&pair);
}
END_TEST

/* A rail dies amid a message, comes back, and carries frames again. */
START_TEST(down_in_the_middle)
{
	struct world_config config = { .seed = (uint64_t)_i + 1,
				       .rails = 2,
				       .stripe = true,
				       .pending = _i & 1,
				       .pace = { PACE, PACE } };
	struct pair pair = open_pair(&config);
	unsigned rail = (unsigned)_i / 2 % 2, at;

	put(&pair, 0, LENGTH / 2);
	put(&pair, LENGTH / 2, LENGTH / 2);
	world_run_for(pair.world, world_random(pair.world, 10 * MS));
	ck_assert_uint_gt(frames[0] + frames[1], 0);
	world_link(pair.world, 0, 1, rail, false);
	finish(&pair, 2);
	ck_assert_uint_eq(world_counter(pair.world, 0, BCL_CARD_rails_lost), 1);
	world_link(pair.world, 0, 1, rail, true);
	world_run_for(pair.world, 12000 * MS);
	at = frames[rail];
	memset(pair.in, 0, LENGTH);
	put(&pair, 0, LENGTH);
	finish(&pair, 1);
	ck_assert_uint_gt(frames[rail], at + 1000);
	close_pair(&pair);
}
END_TEST

/* The rail that dies, and the reports about its end (RAIL_DOWN). `missing`:
 * frames that did not arrive, by the receiver's first report. `silent`: all
 * reports are lost. */
static struct {
	unsigned rail;
	uint32_t next; /* number after the last frame by the rail */
	unsigned missing, answers;
	bool silent;
} dead;

static unsigned count_missing(uint32_t ack, uint32_t n, const uint8_t *bits)
{
	unsigned missing = dead.next - ack;

	for (uint32_t i = 0; i < n; i++)
		missing -= bits[i / 8] >> i % 8 & 1;
	return missing;
}

static bool watch(struct world *world, struct world_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;
	const struct bcl_segment_header *segment =
		(const void *)(frame->bytes + sizeof(*header));
	uint32_t seq = bcl_get32(header->seq);

	count(world, frame);
	if ((header->kind & 0x3f) == BCL_FRAME_DATA && frame->from == 0 &&
	    frame->rail == dead.rail && !bcl_before(seq, dead.next))
		dead.next = seq + 1;
	if (segment->op != BCL_SEG_RAIL_DOWN)
		return true;
	if (frame->from == 1 && dead.answers++ == 0)
		dead.missing =
			count_missing((uint32_t)bcl_get64(segment->targ64),
				      bcl_get32(segment->arg32),
				      frame->bytes + BCL_HEADERS_SIZE);
	return !dead.silent;
}

static struct pair open_watched(const struct world_config *config,
				unsigned rail, bool silent)
{
	struct pair pair = open_pair(config);

	memset(&dead, 0, sizeof(dead));
	dead.rail = rail;
	dead.silent = silent;
	dead.next = config->first;
	pair.world->filter = watch;
	return pair;
}

/* Begin a message over two rails, of which `rail` is to die. */
static struct pair on_its_way(const struct world_config *config, unsigned rail,
			      bool silent)
{
	struct pair pair = open_watched(config, rail, silent);

	put(&pair, 0, LENGTH);
	world_run_for(pair.world, 8 * MS);
	ck_assert_uint_gt(frames[rail], 500);
	return pair;
}

/* The receiver writes no byte twice, and the sender repeats only missing
 * frames. Some rerouted frames had not even left when the rail died, as the
 * card was still fetching the payload. */
static void only_what_was_missing(const struct pair *pair)
{
	const struct world *world = pair->world;
	uint64_t again = world_counter(world, 0, BCL_CARD_rerouted);

	ck_assert_uint_gt(dead.missing, 0);
	ck_assert_uint_ge(again, dead.missing);
	ck_assert_uint_le(again, dead.missing + world->card[0].config.buffers);
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_withdrawn), 0);
	ck_assert_uint_eq(world->card[1].written, LENGTH);
}

START_TEST(only_what_did_not_come_goes_again)
{
	struct world_config config = { .seed = (uint64_t)_i + 1,
				       .rails = 2,
				       .stripe = true,
				       .pending = _i & 1,
				       .first = 1000,
				       .window = 1 << 18,
				       .pace = { PACE, PACE } };
	struct pair pair = on_its_way(&config, (unsigned)_i / 2 % 2, false);

	world_link(pair.world, 0, 1, dead.rail, false);
	finish(&pair, 1);
	only_what_was_missing(&pair);
	close_pair(&pair);
}
END_TEST

/* The rail is only slow. Late frames arrive after the sender has repeated the
 * frames by the second rail. */
START_TEST(late_copies_are_dropped)
{
	struct world_config config = { .seed = (uint64_t)_i + 1,
				       .rails = 2,
				       .stripe = true,
				       .pending = _i & 1,
				       .together = _i & 4 ? 10000 : 0,
				       .first = 1000,
				       .window = 1 << 18,
				       .pace = { PACE, PACE } };
	struct pair pair = open_watched(&config, (unsigned)_i / 2 % 2, false);

	put(&pair, 0, LENGTH);
	finish(&pair, 1);
	memset(pair.in, 0, LENGTH);
	pair.world->card[1].written = 0;
	pair.world->config.late[dead.rail] = 400 * MS;
	put(&pair, 0, LENGTH);
	finish(&pair, 1);
	only_what_was_missing(&pair);
	world_run_for(pair.world, 1000 * MS);
	ck_assert_uint_gt(world_counter(pair.world, 1, BCL_CARD_dropped_state),
			  0);
	ck_assert_uint_eq(pair.world->card[1].written, LENGTH);
	close_pair(&pair);
}
END_TEST

/* Question and answer may be lost. The sender asks until an answer comes. */
START_TEST(asked_until_it_is_answered)
{
	struct world_config config = { .seed = (uint64_t)_i + 1,
				       .rails = 2,
				       .stripe = true,
				       .first = 1000,
				       .window = 1 << 18,
				       .pace = { PACE, PACE } };
	struct pair pair = on_its_way(&config, 0, true);

	world_link(pair.world, 0, 1, dead.rail, false);
	while (!world_counter(pair.world, 0, BCL_CARD_rails_lost))
		world_step(pair.world);
	world_run_for(pair.world, MS / 4);
	dead.silent = false;
	finish(&pair, 1);
	ck_assert_uint_gt(dead.answers, 0);
	only_what_was_missing(&pair);
	close_pair(&pair);
}
END_TEST

/* Without an answer the sender sends the whole message again. The dead rail
 * comes back later. */
START_TEST(nobody_answers)
{
	struct world_config config = { .seed = 1,
				       .rails = 2,
				       .stripe = true,
				       .pending = _i,
				       .first = 1000,
				       .window = 1 << 18,
				       .pace = { PACE, PACE } };
	struct pair pair = on_its_way(&config, 0, true);

	world_link(pair.world, 0, 1, dead.rail, false);
	finish(&pair, 1);
	ck_assert_uint_eq(world_counter(pair.world, 0, BCL_CARD_withdrawn), 1);
	world_link(pair.world, 0, 1, dead.rail, true);
	world_run_for(pair.world, 12000 * MS);
	frames[0] = 0;
	put(&pair, 0, LENGTH);
	finish(&pair, 1);
	ck_assert_uint_gt(frames[0], 500);
	close_pair(&pair);
}
END_TEST

/* Short messages take the rail for short messages, even if long messages go
 * over all rails. */
START_TEST(short_ones)
{
	struct world_config config = {
		.seed = 1, .rails = 3, .stripe = true, .pending = _i
	};
	struct pair pair = open_pair(&config);

	memcpy(pair.in, pair.out, LENGTH);
	for (unsigned i = 0; i < 50; i++) {
		put(&pair, i * 1000, 1000);
		finish(&pair, 1);
	}
	ck_assert_uint_gt(frames[0], 0);
	ck_assert_uint_eq(frames[1] + frames[2], 0);
	close_pair(&pair);
}
END_TEST

/* A rail for short messages only carries no part of a long message, even if the
 * rails for long messages are much slower. */
START_TEST(long_ones)
{
	struct world_config config = { .seed = 1,
				       .rails = (unsigned)_i / 2 + 2,
				       .pending = _i & 1,
				       .pace = { PACE, 10 * PACE, 10 * PACE } };
	struct pair pair = open_pair(&config);

	put_all(&pair, LENGTH / 16);
	ck_assert_uint_eq(frames[0], 0);
	ck_assert_uint_gt(frames[config.rails - 1], LENGTH / BCL_FRAME_MAX);
	close_pair(&pair);
}
END_TEST

/* A message of two frames takes the rail for short messages. A longer message
 * does not. */
START_TEST(of_two_frames)
{
	struct world_config config = { .seed = 1, .rails = 2, .pending = _i };
	struct pair pair = open_pair(&config);
	const uint32_t two = 2 * (pair.world->config.mtu - BCL_HEADERS_SIZE);

	memcpy(pair.in, pair.out, LENGTH);
	put(&pair, 0, two);
	finish(&pair, 1);
	ck_assert_uint_eq(frames[0], 2);
	ck_assert_uint_eq(frames[1], 0);
	put(&pair, 0, two + 1);
	finish(&pair, 1);
	ck_assert_uint_eq(frames[0], 2);
	ck_assert_uint_eq(frames[1], 3);
	close_pair(&pair);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card stripe");
	TCase *tcase = tcase_create("stripe");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, equal, 0, 2);
	tcase_add_loop_test(tcase, unequal, 0, 4);
	tcase_add_loop_test(tcase, no_harm, 0, 6);
	tcase_add_loop_test(tcase, hardly_any, 0, 2);
	tcase_add_test(tcase, bursts);
	tcase_add_loop_test(tcase, loss_on_one, 0, 8);
	tcase_add_loop_test(tcase, down_in_the_middle, 0, 16);
	tcase_add_loop_test(tcase, only_what_did_not_come_goes_again, 0, 8);
	tcase_add_loop_test(tcase, late_copies_are_dropped, 0, 8);
	tcase_add_loop_test(tcase, asked_until_it_is_answered, 0, 4);
	tcase_add_loop_test(tcase, nobody_answers, 0, 2);
	tcase_add_loop_test(tcase, short_ones, 0, 2);
	tcase_add_loop_test(tcase, long_ones, 0, 4);
	tcase_add_loop_test(tcase, of_two_frames, 0, 2);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
