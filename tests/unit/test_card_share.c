/* SPDX-License-Identifier: MIT */
/* The card core: when frames leave, how many, and with which contents. */
#include "unit.h"

#include <string.h>

#include "card_world.h"

static const uint64_t MS = 1000000, SECOND = 1000000000;

static void take_all(struct world_port *port)
{
	struct bcl_completion entry;

	while (world_sent(port, &entry))
		ck_assert_int_eq(entry.status, BCL_OK);
	while (world_received(port, &entry))
		world_block_free(port, entry.index);
}

/* One doorbell makes one frame. Acknowledgements travel in the answers. */
START_TEST(ping_pong)
{
	struct world_config config = { .seed = 1 };
	struct world *world = world_new(&config);
	struct world_port *a = world_port_open(world, 0, 1);
	struct world_port *b = world_port_open(world, 1, 2);
	uint32_t to_b = world_connect(world, 0, 1), to_a;
	struct bcl_completion entry;
	uint64_t frames[2], transmits;

	to_a = world_connect(world, 1, 0);
	world_run_for(world, 10 * MS);
	frames[0] = world->card[0].frames;
	frames[1] = world->card[1].frames;
	for (unsigned i = 0; i < 1000; i++) {
		transmits = world->card[0].transmits;
		ck_assert(world_send(a, to_b, 2, "ping", 4, i));
		ck_assert_uint_eq(world->card[0].transmits, transmits + 1);
		while (!world_received(b, &entry))
			world_step(world);
		world_block_free(b, entry.index);
		ck_assert(world_send(b, to_a, 1, "pong", 4, i));
		while (!world_received(a, &entry))
			world_step(world);
		world_block_free(a, entry.index);
		take_all(a);
		take_all(b);
	}
	ck_assert_uint_lt(world->card[0].frames - frames[0], 1010);
	ck_assert_uint_lt(world->card[1].frames - frames[1], 1010);
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_retransmitted), 0);
	world_free(world);
}
END_TEST

/* Withhold frames to card 0, and keep the last frame. */
static bool withhold(struct world *world, struct world_frame *frame)
{
	if (frame->to != 0)
		return true;
	*(struct world_frame *)world->filter_arg = *frame;
	return false;
}

/* A frame brings a message and settles a message of card 0. Card 0 delivers the
 * new message first, to give the program time to reply. Card 0 reports the
 * settled message at the next call at the latest. */
START_TEST(answers_wait_for_the_program)
{
	struct world_config config = { .seed = 1 };
	struct world *world = world_new(&config);
	struct world_port *a = world_port_open(world, 0, 1);
	struct world_port *b = world_port_open(world, 1, 2);
	uint32_t to_b = world_connect(world, 0, 1);
	uint32_t to_a = world_connect(world, 1, 0);
	struct world_card *card = &world->card[0];
	static struct world_frame pong;
	struct bcl_rx_frame frame = { .head = pong.bytes };
	struct bcl_completion entry;

	world_run_for(world, 10 * MS);
	ck_assert(world_send(a, to_b, 2, "ping", 4, 0));
	while (!world_received(b, &entry))
		world_step(world);
	world->filter = withhold;
	world->filter_arg = &pong;
	ck_assert(world_send(b, to_a, 1, "pong", 4, 0));
	frame.head_len = (uint16_t)pong.length;
	bcl_card_frames(card->card, 0, &frame, 1, world->now, 64, &card->next);
	ck_assert(world_received(a, &entry));
	ck_assert(!world_sent(a, &entry));
	ck_assert(card->next.more);
	bcl_card_timer(card->card, world->now, 64, &card->next);
	ck_assert(world_sent(a, &entry));
	ck_assert_int_eq(entry.status, BCL_OK);
	ck_assert(!card->next.more);
	world_free(world);
}
END_TEST

/* All messages go one way. Card 1 sends one delayed acknowledgement for all. */
START_TEST(acknowledgements_wait)
{
	struct world_config config = { .seed = 1 };
	struct world *world = world_new(&config);
	struct world_port *a = world_port_open(world, 0, 1);
	struct world_port *b = world_port_open(world, 1, 2);
	uint32_t node = world_connect(world, 0, 1);
	uint64_t acks;

	world_run_for(world, 10 * MS);
	acks = world_counter(world, 1, BCL_CARD_acks_sent);
	for (unsigned i = 0; i < 10; i++)
		ck_assert(world_send(a, node, 2, "", 0, i));
	world_run_for(world, 10 * MS);
	take_all(a);
	take_all(b);
	ck_assert_uint_eq(world_counter(world, 1, BCL_CARD_acks_sent),
			  acks + 1);
	world_free(world);
}
END_TEST

/* A card that was not called for long reads the frames of the meantime before
 * time-outs count. */
START_TEST(absence_is_no_time_out)
{
	struct world_config config = { .seed = 1 };
	struct world *world = world_new(&config);
	struct world_port *a = world_port_open(world, 0, 1);
	uint32_t node = world_connect(world, 0, 1);
	uint64_t acks;

	world_port_open(world, 1, 2);
	world_run_for(world, 10 * MS);
	acks = world_counter(world, 1, BCL_CARD_acks_sent);
	ck_assert(world_send(a, node, 2, "", 0, 1));
	while (world_counter(world, 1, BCL_CARD_acks_sent) == acks)
		world_step(world);
	world->now += 50 * MS;
	ck_assert(world_send(a, node, 2, "", 0, 2));
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_timeouts), 0);
	world_run_for(world, 10 * MS);
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_retransmitted), 0);
	take_all(a);
	world_free(world);
}
END_TEST

/* The wait of a delayed acknowledgement is no part of the round-trip time. */
START_TEST(round_trips_are_the_shortest)
{
	struct world_config config = { .seed = 1, .delay = 5000 };
	struct world *world = world_new(&config);
	struct world_port *a = world_port_open(world, 0, 1);
	struct world_port *b = world_port_open(world, 1, 2);
	uint32_t to_b = world_connect(world, 0, 1);
	uint32_t to_a = world_connect(world, 1, 0);
	struct bcl_completion entry;
	struct bcl_node_info info;

	world_run_for(world, 10 * MS);
	ck_assert(world_send(a, to_b, 2, "", 0, 1));
	world_run_for(world, 10 * MS);
	bcl_card_node_info(world->card[0].card, to_b, &info);
	ck_assert_uint_eq(info.rtt, 0);
	ck_assert(world_received(b, &entry));
	ck_assert(world_send(a, to_b, 2, "", 0, 2));
	while (!world_received(b, &entry))
		world_step(world);
	ck_assert(world_send(b, to_a, 1, "", 0, 1));
	world_run_for(world, 10 * MS);
	bcl_card_node_info(world->card[0].card, to_b, &info);
	ck_assert_uint_ge(info.rtt, 2 * config.delay);
	ck_assert_uint_lt(info.rtt, 10 * config.delay);
	take_all(a);
	take_all(b);
	world_free(world);
}
END_TEST

/* Short messages that are queued together share a frame, even from several
 * ports. */
START_TEST(small_ones_share)
{
	struct world_config config = { .seed = 1 };
	struct world *world = world_new(&config);
	struct world_port *a = world_port_open(world, 0, 1);
	struct world_port *c = world_port_open(world, 0, 3);
	struct world_port *b = world_port_open(world, 1, 2);
	uint32_t node = world_connect(world, 0, 1);
	struct bcl_completion entry;
	uint64_t frames;
	unsigned got = 0;

	/* while the handshake is under way */
	for (unsigned i = 0; i < 20; i++) {
		ck_assert(world_send(a, node, 2, "12345678", 8, i));
		ck_assert(world_send(c, node, 2, "12345678", 8, i));
	}
	frames = world->card[0].frames;
	world_run_for(world, 10 * MS);
	while (world_received(b, &entry)) {
		ck_assert_mem_eq(world_block(b, &entry), "12345678", 8);
		got++;
	}
	ck_assert_uint_eq(got, 40);
	/* PING, perhaps an ACK, and 40 x 48 bytes in frames of 1,472 */
	ck_assert_uint_le(world->card[0].frames - frames, 4);
	world_free(world);
}
END_TEST

static struct bcl_request *put(struct world_port *port, uint32_t node,
			       uint32_t from, uint32_t to, uint32_t length)
{
	struct bcl_request *r = world_request(port);

	r->op = BCL_REQ_PUT;
	r->node = node;
	r->dst_port = 2;
	r->target = to;
	r->nref = 1;
	r->refs[0] = (struct bcl_memref){ 0, from, length };
	r->length = length;
	return r;
}

START_TEST(long_ones_go_in_bursts)
{
	struct world_config config = { .seed = 1, .burst = 44, .no_pcrc = _i };
	struct world *world = world_new(&config);
	struct world_port *a = world_port_open(world, 0, 1);
	uint32_t node, from, to;
	struct bcl_completion entry;
	uint32_t length = 64 << 20, frames = length / 1392;

	world_port_open(world, 1, 2);
	node = world_connect(world, 0, 1);
	from = world_sink(world, 0, 1, length);
	to = world_sink(world, 1, 2, length);
	world_submit(a, put(a, node, from, to, length));
	world_run_for(world, 10 * SECOND);
	ck_assert(world_sent(a, &entry));
	ck_assert_int_eq(entry.status, BCL_OK);
	ck_assert_uint_eq(world->card[0].burst_most, 44);
	ck_assert_uint_lt(world->card[0].transmits, frames / 20);
	/* an acknowledgement per 256 KB, and some at the start */
	ck_assert_uint_lt(world_counter(world, 1, BCL_CARD_acks_sent),
			  (length >> 18) + 100);
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_retransmitted), 0);
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_timeouts), 0);
	world_free(world);
}
END_TEST

static unsigned long_frames, short_frames;

static bool count_frames(struct world *world, struct world_frame *frame)
{
	(void)world;
	if ((frame->bytes[3] & 0x3f) != BCL_FRAME_DATA || frame->from != 0)
		return true;
	if (frame->length > 1000)
		long_frames++;
	else
		short_frames++;
	return true;
}

/* 1 GB is in progress from a port of card 0 to port b of card 1. */
struct bulk {
	struct world_port *b, *c; /* c: a second port of card 0 */
	uint32_t node;		  /* card 1 */
};

static struct bulk bulk_begin(struct world *world)
{
	struct world_port *a = world_port_open(world, 0, 1);
	struct world_port *c = world_port_open(world, 0, 3);
	struct world_port *b = world_port_open(world, 1, 2);
	uint32_t node = world_connect(world, 0, 1);
	uint32_t length = 1 << 30;
	uint32_t from = world_sink(world, 0, 1, length);
	uint32_t to = world_sink(world, 1, 2, length);

	world_submit(a, put(a, node, from, to, length));
	return (struct bulk){ b, c, node };
}

/* 8 bytes of a second port wait for one burst at most, and need no window. */
START_TEST(bulk_delays_nobody)
{
	uint64_t seed = world_seed((unsigned)_i);
	struct world_config config = { .seed = seed,
				       .burst = 16,
				       .pending = seed & 1 };
	struct world *world = world_new(&config);
	struct bulk bulk = bulk_begin(world);

	world->filter = count_frames;
	for (unsigned i = 0; i < 50; i++) {
		world_run_for(world, world_random(world, MS / 10));
		long_frames = short_frames = 0;
		ck_assert(world_send(bulk.c, bulk.node, 2, "12345678", 8, i));
		while (short_frames == 0)
			world_step(world);
		/* some frames pass while a slow DMA reads the request */
		ck_assert_uint_le(long_frames, config.pending ? 64 : 16);
		take_all(bulk.b);
		take_all(bulk.c);
	}
	world_free(world);
}
END_TEST

/* Frames of port 1 before the first frame of port 3. */
static unsigned of_others;
static bool served;

static bool count_others(struct world *world, struct world_frame *frame)
{
	struct bcl_segment_header segment;

	(void)world;
	if ((frame->bytes[3] & 0x3f) != BCL_FRAME_DATA || frame->from != 0)
		return true;
	memcpy(&segment, frame->bytes + sizeof(struct bcl_frame_header),
	       sizeof(segment));
	served = served || bcl_get16(segment.src_port) == 3;
	of_others += !served;
	return true;
}

/*
 * A message a bit longer than a frame must not wait for more room than the long
 * message before it: the long message takes the room of each frame that becomes
 * free. The window has room for three frames and 3 bytes of long messages, and
 * each frame is acknowledged alone.
 */
START_TEST(bulk_delays_none_that_is_a_bit_longer)
{
	struct world_config config = {
		.seed = 1, .window = 5050, .pace = { 1000 }, .pending = _i
	};
	struct world *world = world_new(&config);
	struct bulk bulk = bulk_begin(world);
	uint32_t from = world_sink(world, 0, 3, 2 * 1472);
	struct bcl_request *request;

	world_run_for(world, 10 * MS);
	world->filter = count_others;
	for (unsigned i = 0; i < 50; i++) {
		world_run_for(world, world_random(world, MS / 10));
		request = put(bulk.c, bulk.node, from, 0, 1392 + 40);
		request->op = BCL_REQ_SYSTEM;
		of_others = 0;
		served = false;
		world_submit(bulk.c, request);
		while (!served) {
			world_step(world);
			ck_assert_uint_le(of_others, 64);
		}
		world_run_for(world, MS);
		take_all(bulk.b);
		take_all(bulk.c);
	}
	world_free(world);
}
END_TEST

/* Long messages of two ports advance together. */
START_TEST(ports_take_turns)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct world *world = world_new(&config);
	struct world_port *a = world_port_open(world, 0, 1);
	struct world_port *c = world_port_open(world, 0, 3);
	uint32_t node = world_connect(world, 0, 1), length = 1 << 20;
	struct bcl_completion entry;
	uint32_t from_a = world_sink(world, 0, 1, length);
	uint32_t from_c = world_sink(world, 0, 3, length);
	uint32_t to = world_sink(world, 1, 2, length);
	uint64_t end_a = 0, end_c = 0, start;
	unsigned sent = 0;

	world_port_open(world, 1, 2);
	world_run_for(world, 10 * MS);
	start = world->now;
	for (unsigned i = 0; i < 8; i++) /* eight against one */
		world_submit(a, put(a, node, from_a, to, length));
	world_submit(c, put(c, node, from_c, to, length));
	while (!end_a || !end_c) {
		world_step(world);
		if (world_sent(c, &entry))
			end_c = world->now - start;
		sent += world_sent(a, &entry);
		if (!end_a && sent == 8)
			end_a = world->now - start;
	}
	ck_assert_uint_lt(end_c, end_a / 2);
	world_free(world);
}
END_TEST

/*
 * The senders have more long messages than the receiving card has memory to
 * assemble at a time. Messages without room must not hold up the messages that
 * will make room.
 */
START_TEST(more_than_are_put_together)
{
	enum {
		SENDERS = 7
	};
	struct world_config config = { .seed = 1,
				       .cards = 1 + SENDERS,
				       .messages = 16,
				       .pending = _i % 2,
				       .drop = _i / 2 * 10 };
	struct world *world = world_new(&config);
	struct world_port *ports[SENDERS][WORLD_PORTS];
	uint32_t length = 100000, to = world_sink(world, 0, 2, length);
	struct bcl_completion entry;
	unsigned done = 0;

	world_port_open(world, 0, 2);
	for (unsigned i = 0; i < SENDERS * WORLD_PORTS; i++) {
		unsigned card = 1 + i % SENDERS;
		uint16_t number = (uint16_t)(1 + i / SENDERS);
		uint32_t node = world_connect(world, card, 0), from;
		struct world_port *port;

		port = world_port_open(world, card, number);
		from = world_sink(world, card, number, length);
		ports[i % SENDERS][i / SENDERS] = port;
		world_submit(port, put(port, node, from, to, length));
	}
	world_run_for(world, 60 * SECOND);
	for (unsigned i = 0; i < SENDERS * WORLD_PORTS; i++)
		while (world_sent(ports[i % SENDERS][i / SENDERS], &entry)) {
			ck_assert_int_eq(entry.status, BCL_OK);
			done++;
		}
	ck_assert_uint_eq(done, SENDERS * WORLD_PORTS);
	ck_assert_uint_gt(world_counter(world, 0, BCL_CARD_refused_room), 0);
	world_free(world);
}
END_TEST

static unsigned nth;

static bool lose_each_100th(struct world *world, struct world_frame *frame)
{
	(void)world;
	return frame->from != 0 || frame->length < 1000 || ++nth % 100;
}

/* The sender repeats the lost frames only, and at once. */
START_TEST(selective)
{
	struct world_config config = { .seed = 1, .delay = 2 };
	struct world *world = world_new(&config);
	struct world_port *a = world_port_open(world, 0, 1);
	uint32_t node = world_connect(world, 0, 1), length = 10 << 20;
	uint32_t from = world_sink(world, 0, 1, length);
	uint32_t to = world_sink(world, 1, 2, length);
	struct bcl_completion entry;

	world_port_open(world, 1, 2);
	world_run_for(world, 10 * MS);
	nth = 0;
	world->filter = lose_each_100th;
	world_submit(a, put(a, node, from, to, length));
	world_run_for(world, 10 * SECOND);
	ck_assert(world_sent(a, &entry));
	ck_assert_int_eq(entry.status, BCL_OK);
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_retransmitted),
			  nth / 100);
	ck_assert_uint_le(world_counter(world, 0, BCL_CARD_timeouts), 2);
	world_free(world);
}
END_TEST

static uint64_t in_flight, most_in_flight;

static bool weigh(struct world *world, struct world_frame *frame)
{
	(void)world;
	if (frame->from == 0 && (frame->bytes[3] & 0x3f) == BCL_FRAME_DATA)
		in_flight += frame->length;
	else if (frame->from == 1)
		in_flight = 0; /* each frame of card 1 acknowledges all */
	if (in_flight > most_in_flight)
		most_in_flight = in_flight;
	return true;
}

/* The sender never has more bytes in flight than the receiver granted, even on
 * a long way. */
START_TEST(window_is_kept)
{
	struct world_config config = { .seed = 1,
				       .window = 100000,
				       .delay = 10 * 1000 * 1000 };
	struct world *world = world_new(&config);
	struct world_port *a = world_port_open(world, 0, 1);
	uint32_t node = world_connect(world, 0, 1), length = 10 << 20;
	uint32_t from = world_sink(world, 0, 1, length);
	uint32_t to = world_sink(world, 1, 2, length);

	world_port_open(world, 1, 2);
	world_run_for(world, 100 * MS);
	in_flight = most_in_flight = 0;
	world->filter = weigh;
	world_submit(a, put(a, node, from, to, length));
	world_run_for(world, SECOND);
	ck_assert_uint_gt(most_in_flight, 20000);
	ck_assert_uint_le(most_in_flight, 100000);
	world_free(world);
}
END_TEST

/* The card tells the host how many bytes of a stream are still to come. */
START_TEST(expected)
{
	struct world_config config = { .seed = 1 };
	struct world *world = world_new(&config);
	struct world_port *a = world_port_open(world, 0, 1);
	uint32_t node = world_connect(world, 0, 1), length = 300000;
	uint32_t here = world_sink(world, 0, 1, 2 * length);
	uint32_t there = world_sink(world, 1, 2, 2 * length);
	struct bcl_card *card = world->card[0].card;
	struct bcl_completion entry;
	struct bcl_request *get;
	uint64_t most = 0, last = 2 * length, now;
	unsigned i;

	world_port_open(world, 1, 2);
	world_run_for(world, MS);
	ck_assert_uint_eq(bcl_card_expected(card, 0), 0);
	for (i = 0; i < 2; i++) {
		get = put(a, node, here, there, length);
		get->op = BCL_REQ_GET;
		get->type = BCL_GET_MEMORY;
		world_submit(a, get);
	}
	for (i = 0; i < 2; i += world_sent(a, &entry)) {
		world_step(world);
		now = bcl_card_expected(card, 0);
		ck_assert_uint_le(now, last);
		if (now)
			last = now;
		if (now > most)
			most = now;
	}
	ck_assert_uint_gt(most, length + length / 2);
	ck_assert_uint_lt(last, length / 2);
	ck_assert_uint_eq(bcl_card_expected(card, 0), 0);
	world_free(world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card sharing");
	TCase *tcase = tcase_create("sharing");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, ping_pong);
	tcase_add_test(tcase, answers_wait_for_the_program);
	tcase_add_test(tcase, acknowledgements_wait);
	tcase_add_test(tcase, absence_is_no_time_out);
	tcase_add_test(tcase, round_trips_are_the_shortest);
	tcase_add_test(tcase, small_ones_share);
	tcase_add_loop_test(tcase, long_ones_go_in_bursts, 0, 2);
	tcase_add_loop_test(tcase, bulk_delays_nobody, 0, (int)world_seeds(6));
	tcase_add_loop_test(tcase, bulk_delays_none_that_is_a_bit_longer, 0, 2);
	tcase_add_loop_test(tcase, ports_take_turns, 0, 2);
	tcase_add_loop_test(tcase, more_than_are_put_together, 0, 4);
	tcase_add_test(tcase, selective);
	tcase_add_test(tcase, window_is_kept);
	tcase_add_test(tcase, expected);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
