/* SPDX-License-Identifier: MIT */
/* The card core: refusal, order, holding, ports that close. */
#include "unit.h"

#include <string.h>

#include "card_world.h"

static const uint64_t MS = 1000000, SECOND = 1000000000;

static unsigned sent(struct world_port *port, enum bcl_status status)
{
	struct bcl_completion entry;
	unsigned n = 0;

	while (world_sent(port, &entry)) {
		ck_assert_int_eq(entry.status, status);
		n++;
	}
	return n;
}

/* Receive up to `most` messages, whose targ64 must count up from *next. Returns
 * the number of messages. */
static unsigned received(struct world_port *port, uint64_t *next, unsigned most)
{
	struct bcl_completion entry;
	unsigned n = 0;

	while (n < most && world_received(port, &entry)) {
		ck_assert_uint_eq(entry.targ64, (*next)++);
		world_block_free(port, entry.index);
		n++;
	}
	return n;
}

/* The ring of a port fills up while the owner sleeps. A second port of the card
 * does not notice. */
START_TEST(full_ring_blocks_nobody_else)
{
	struct world_config config = { .seed = 1, .pending = _i, .blocks = 8 };
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *full = world_port_open(world, 1, 2);
	struct world_port *other = world_port_open(world, 1, 3);
	uint32_t node = world_connect(world, 0, 1);
	uint64_t to_full = 0, to_other = 0, next_full = 0, next_other = 0;
	unsigned done = 0;

	while (to_full < 40)
		ck_assert(world_send(from, node, 2, "", 0, to_full++));
	for (unsigned round = 0; round < 50; round++) {
		ck_assert(world_send(from, node, 3, "", 0, to_other++));
		world_run_for(world, 10 * MS);
		ck_assert_uint_eq(received(other, &next_other, 9), 1);
		done += sent(from, BCL_OK);
	}
	ck_assert_uint_eq(done, 8 + 50);
	ck_assert_uint_gt(world_counter(world, 1, BCL_CARD_refused_ring), 0);
	ck_assert_uint_gt(world_counter(world, 1, BCL_CARD_refused_order), 0);
	/* The sender retries once per 20 ms at most, in flow order. */
	ck_assert_uint_lt(world_counter(world, 1, BCL_CARD_refused_ring), 60);
	/* When there is room, the receiver tells the sender, long before the
	 * sender would retry. */
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_uint_eq(received(full, &next_full, 8), 8);
		world_run_for(world, MS);
	}
	ck_assert_uint_eq(next_full, 40);
	world_run_for(world, MS);
	ck_assert_uint_eq(sent(from, BCL_OK), 32);
	world_free(world);
}
END_TEST

/* The program frees blocks right after a refusal and does not tell the card,
 * and no further message arrives. The card must see the free blocks long
 * before the sender would retry (200 us), even if the rail is busy when there
 * is room. */
START_TEST(a_ring_freed_at_once_is_filled_soon)
{
	struct world_config config = { .seed = 1,
				       .pending = _i == 1,
				       .blocks = 8 };
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *full = world_port_open(world, 1, 2);
	uint32_t node = world_connect(world, 0, 1);
	uint64_t to_full = 0, next_full = 0;

	while (to_full < 9)
		ck_assert(world_send(from, node, 2, "", 0, to_full++));
	while (!world_counter(world, 1, BCL_CARD_refused_ring))
		world_step(world);
	ck_assert_uint_eq(received(full, &next_full, 9), 8);
	world->config.busy = _i == 2 ? 1000 : 0;
	world_run_for(world, MS / 20);
	world->config.busy = 0;
	world_run_for(world, MS / 20);
	ck_assert_uint_eq(received(full, &next_full, 1), 1);
	world_free(world);
}
END_TEST

/* Every third message takes several frames. */
static uint32_t length_of(uint64_t number)
{
	return number % 3 ? 3 : 4000;
}

/* Send port 9 `length` bytes from the start of `memory`. */
static bool send_bytes(struct world_port *port, uint32_t node, uint32_t memory,
		       uint32_t length, uint64_t targ64)
{
	struct bcl_request *request = world_request(port);

	if (!request)
		return false;
	request->op = BCL_REQ_SYSTEM;
	request->node = node;
	request->dst_port = 9;
	request->targ64 = targ64;
	request->length = length;
	request->nref = 1;
	request->refs[0].handle = memory;
	request->refs[0].length = length;
	world_submit(port, request);
	return true;
}

/* Send message n. */
static bool send_from(struct world_port *port, uint32_t node, uint32_t memory,
		      uint64_t n, uint64_t targ64)
{
	return send_bytes(port, node, memory, length_of(n), targ64);
}

/* Lose the twelfth frame with a message to card 1. */
static bool lose_twelfth(struct world *world, struct world_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;
	unsigned *seen = world->filter_arg;

	return frame->to != 1 ||
	       (header->kind & ~BCL_FRAME_PCRC) != BCL_FRAME_DATA ||
	       ++*seen != 12;
}

/* The receiver refuses the last message when there is room again. The refused
 * messages must arrive at once, not at the sender's retry (200 us later). */
START_TEST(room_before_the_last_refusal_counts)
{
	struct world_config config = { .seed = 1, .blocks = 8 };
	static uint8_t bytes[1000];
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *to = world_port_open(world, 1, 9);
	uint32_t node = world_connect(world, 0, 1);
	uint32_t memory = world_memory(world, 0, 1, bytes, sizeof(bytes), 0);
	uint64_t n = 0, next = 0;
	unsigned seen = 0;

	world->filter = lose_twelfth;
	world->filter_arg = &seen;
	while (n < 12)
		ck_assert(send_bytes(from, node, memory, sizeof(bytes), n++));
	while (!world_counter(world, 1, BCL_CARD_refused_ring))
		world_step(world);
	ck_assert_uint_eq(received(to, &next, 12), 8);
	while (world_counter(world, 1, BCL_CARD_refused_order) < 3)
		world_step(world);
	ck_assert_uint_eq(seen, 12);
	world_run_for(world, MS / 10);
	ck_assert_uint_eq(received(to, &next, 12), 4);
	world_free(world);
}
END_TEST

/* With a slow receiver, several senders and faults all messages still arrive in
 * order. */
START_TEST(refusal_keeps_order)
{
	uint64_t seed = world_seed((unsigned)_i);
	struct world_config config = {
		.seed = seed,
		.pending = seed & 1,
		.cards = 3,
		.blocks = 4 << seed % 3,
		.drop = 100,
		.reorder = 200,
		.duplicate = 100,
		.wrap = true,
	};
	static uint8_t bytes[4000] = "abc";
	struct world *world = world_new(&config);
	struct world_port *to = world_port_open(world, 2, 9);
	struct world_port *from[4];
	uint64_t sent_by[4] = { 0 }, next[4] = { 0 };
	struct bcl_completion entry;
	uint32_t node[4], memory[4];
	unsigned done = 0, all = 4 * 60;
	uint64_t end;

	for (unsigned i = 0; i < 4; i++) {
		from[i] = world_port_open(world, i / 2, (uint16_t)(1 + i % 2));
		node[i] = world_connect(world, i / 2, 2);
		memory[i] = world_memory(world, i / 2, from[i]->number, bytes,
					 sizeof(bytes), 0);
	}
	end = world->now + 120 * SECOND;
	while (done < all && world->now < end) {
		for (unsigned i = 0; i < 4; i++) {
			while (sent_by[i] < 60 &&
			       send_from(from[i], node[i], memory[i],
					 sent_by[i], i * 1000 + sent_by[i]))
				sent_by[i]++;
			done += sent(from[i], BCL_OK);
		}
		world_run_for(world, world_random(world, 2 * MS));
		for (unsigned k = world_random(world, 5); k > 0; k--) {
			unsigned i;

			if (!world_received(to, &entry))
				break;
			i = (unsigned)(entry.targ64 / 1000);
			ck_assert_uint_eq(entry.targ64 % 1000, next[i]);
			ck_assert_uint_eq(entry.length, length_of(next[i]));
			ck_assert_mem_eq(world_block(to, &entry), bytes,
					 entry.length);
			next[i]++;
			world_block_free(to, entry.index);
		}
	}
	ck_assert_uint_eq(done, all);
	ck_assert_uint_gt(world_counter(world, 2, BCL_CARD_refused_ring), 0);
	world_free(world);
}
END_TEST

/* Hide from card 0 which messages card 1 has settled (`done`), but not which
 * frames card 1 has received. */
static bool hide_done(struct world *world, struct world_frame *frame)
{
	struct bcl_frame_header *header = (void *)frame->bytes;
	uint32_t seal = world_seal_of(frame->bytes);

	if (frame->from == 1 && world->config.first) {
		header->done = bcl_put32(world->config.first);
		world_seal(frame->bytes, frame->length, seal);
	}
	return true;
}

/* As many messages are pending as may be, up to the last number before 0. The
 * number 0 stands for no message. All verdicts arrive at once. */
START_TEST(numbers_jump_over_0)
{
	struct world_config config = {
		.seed = 1,
		.pending = _i,
		.messages = 4096,
		.blocks = 1024,
		.first = (uint32_t)-BCL_MSG_AHEAD,
	};
	struct world *world = world_new(&config);
	struct world_port *to = world_port_open(world, 1, 9), *from[8];
	uint32_t node = world_connect(world, 0, 1);
	struct bcl_completion entry;
	unsigned done = 0, came = 0;

	world->filter = hide_done;
	for (unsigned i = 0; i < 8; i++) {
		from[i] = world_port_open(world, 0, (uint16_t)(1 + i));
		for (unsigned n = 0; n < BCL_MSG_AHEAD / 8; n++)
			ck_assert(world_send(from[i], node, 9, "", 0, 0));
	}
	world_run_for(world, SECOND);
	for (; world_received(to, &entry); came++)
		world_block_free(to, entry.index);
	ck_assert_uint_eq(came, BCL_MSG_AHEAD);
	world->filter = NULL;
	world_run_for(world, SECOND);
	for (unsigned i = 0; i < 8; i++)
		done += sent(from[i], BCL_OK);
	ck_assert_uint_eq(done, BCL_MSG_AHEAD);
	ck_assert(world_send(from[0], node, 9, "", 0, 0));
	world_run_for(world, SECOND);
	ck_assert_uint_eq(sent(from[0], BCL_OK), 1);
	ck_assert_uint_eq(world_counter(world, 1, BCL_CARD_dropped_malformed),
			  0);
	world_free(world);
}
END_TEST

static uint32_t first_seq;
static bool first_seen;

/* Lose the first DATA frame of card 0 time and again for 20 ms. */
static bool lose_first(struct world *world, struct world_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;

	if (frame->from != 0 || (header->kind & 0x3f) != BCL_FRAME_DATA)
		return true;
	if (!first_seen)
		first_seq = bcl_get32(header->seq);
	first_seen = true;
	return bcl_get32(header->seq) != first_seq || world->now > 22 * MS;
}

/* The card holds early messages, within bounds, and delivers all in order. */
START_TEST(early_messages_are_held)
{
	struct world_config config = {
		.seed = 1, .pending = _i, .messages = 1024, .blocks = 512
	};
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *to = world_port_open(world, 1, 2);
	uint32_t node = world_connect(world, 0, 1);
	uint64_t next = 0;

	world_run_for(world, MS);
	first_seen = false;
	world->filter = lose_first;
	for (unsigned i = 0; i < WORLD_REQUESTS; i++)
		ck_assert(world_send(from, node, 2, "", 0, i));
	world_run_for(world, 15 * MS);
	ck_assert_uint_eq(received(to, &next, WORLD_REQUESTS), 0);
	world_run_for(world, 100 * MS);
	ck_assert_uint_eq(received(to, &next, WORLD_REQUESTS), WORLD_REQUESTS);
	ck_assert_uint_eq(sent(from, BCL_OK), WORLD_REQUESTS);
	ck_assert_uint_gt(world_counter(world, 1, BCL_CARD_dropped_early), 0);
	world_free(world);
}
END_TEST

/*
 * The first message goes by a slow rail, the messages behind it by a fast rail.
 * If the early messages took all blocks, the card would refuse the first
 * message, and with it all messages behind, at every retry.
 */
START_TEST(who_is_held_leaves_room_for_the_first)
{
	struct world_config config = {
		.seed = 1,
		.pending = _i,
		.rails = 2,
		.late = { 0, MS },
		.blocks = 8,
	};
	static uint8_t bytes[4000];
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *to = world_port_open(world, 1, 9);
	uint32_t node = world_connect(world, 0, 1);
	uint32_t memory = world_memory(world, 0, 1, bytes, sizeof(bytes), 0);
	uint64_t next = 0;

	world_run_for(world, 10 * MS);
	ck_assert(send_from(from, node, memory, 0, 0));
	for (unsigned i = 1; i < 20; i++)
		ck_assert(world_send(from, node, 9, "", 0, i));
	for (unsigned i = 0; i < 100; i++) {
		world_run_for(world, 10 * MS);
		received(to, &next, 8);
	}
	ck_assert_uint_eq(next, 20);
	ck_assert_uint_eq(sent(from, BCL_OK), 20);
	ck_assert_uint_gt(world_counter(world, 1, BCL_CARD_refused_ring), 0);
	world_free(world);
}
END_TEST

/*
 * The second message finds no port, while the first is still lost and will find
 * a port. If the failure of the second were final, the first would arrive after
 * it. Neither message may fail, and both keep the order.
 */
START_TEST(a_failure_waits_for_what_was_before)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *to = world_port_open(world, 1, 2);
	uint32_t node = world_connect(world, 0, 1);
	uint64_t next = 0;

	world_run_for(world, MS);
	first_seen = false;
	world->filter = lose_first;
	ck_assert(world_send(from, node, 2, "", 0, 0));
	world_run_for(world, MS / 20);
	world_port_close(to);
	ck_assert(world_send(from, node, 2, "", 0, 1));
	world_run_for(world, MS / 10);
	to = world_port_open(world, 1, 2);
	world_run_for(world, 100 * MS);
	ck_assert_uint_eq(received(to, &next, 3), 2);
	ck_assert_uint_eq(sent(from, BCL_OK), 2);
	world_free(world);
}
END_TEST

static bool no_answers(struct world *world, struct world_frame *frame)
{
	(void)world;
	return frame->from == 0;
}

/* Every answer is lost for a while. Card 0 repeats the requests, and card 1
 * does not execute a request twice. */
START_TEST(lost_verdicts)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *to = world_port_open(world, 1, 2);
	uint32_t node = world_connect(world, 0, 1);
	uint64_t next = 0, memory[2] = { 0 };
	struct bcl_request *r;
	uint64_t seven = 7;

	world_run_for(world, MS);
	r = world_request(from);
	r->op = BCL_REQ_FETCH_ADD;
	r->node = node;
	r->dst_port = 2;
	r->inline_len = 8;
	memcpy(r->inlined, &seven, 8);
	r->nref = 1;
	r->refs[0].length = 8;
	r->refs[0].handle = world_memory(world, 0, 1, &memory[0], 8, 0);
	r->target =
		world_memory(world, 1, 2, &memory[1], 8, BCL_MEM_REMOTE_ATOMIC);
	world->filter = no_answers;
	world_submit(from, r);
	for (unsigned i = 0; i < 20; i++)
		ck_assert(world_send(from, node, 2, "", 0, i));
	world_run_for(world, 300 * MS);
	ck_assert_uint_eq(received(to, &next, WORLD_REQUESTS), 20);
	ck_assert_uint_eq(memory[1], 7);
	ck_assert_uint_eq(sent(from, BCL_OK), 0);
	world->filter = NULL;
	world_run_for(world, 100 * MS);
	ck_assert_uint_eq(sent(from, BCL_OK), 21);
	ck_assert_uint_eq(received(to, &next, WORLD_REQUESTS), 0);
	ck_assert_uint_eq(memory[1], 7);
	ck_assert_uint_gt(world_counter(world, 1, BCL_CARD_dropped_duplicate),
			  0);
	world_free(world);
}
END_TEST

/* ---- ports that close ---- */

START_TEST(receiver_closes)
{
	uint64_t seed = world_seed((unsigned)_i);
	struct world_config config = {
		.seed = seed, .pending = seed & 1, .drop = 100, .blocks = 8
	};
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *to = world_port_open(world, 1, 2);
	struct world_port *stays = world_port_open(world, 1, 3);
	uint8_t *source = calloc(1, 100000), *target = calloc(1, 100000);
	uint32_t node = world_connect(world, 0, 1), refused = 0, ok = 0;
	uint32_t handle = world_memory(world, 0, 1, source, 100000, 0);
	uint32_t there =
		world_memory(world, 1, 2, target, 100000,
			     BCL_MEM_REMOTE_WRITE | BCL_MEM_REMOTE_READ);
	struct bcl_completion entry;
	struct bcl_request *r;
	uint64_t next = 0;

	for (unsigned i = 0; i < 30; i++) {
		r = world_request(from);
		r->op = (uint8_t[]){ BCL_REQ_SYSTEM, BCL_REQ_PUT, BCL_REQ_GET,
				     BCL_REQ_CHANNEL,
				     BCL_REQ_PUT_NOTIFY }[i % 5];
		r->node = node;
		r->dst_port = 2;
		r->target = r->op == BCL_REQ_CHANNEL ? 0 : there;
		r->nref = 1;
		r->refs[0].handle = handle;
		r->length = r->refs[0].length = i % 5 == 0 ? 4000 : 90000;
		world_submit(from, r);
	}
	world_run_for(world, world_random(world, 5 * MS));
	world_port_close(to);
	free(target);
	for (unsigned i = 0; i < 10; i++)
		ck_assert(world_send(from, node, 3, "", 0, i));
	world_run_for(world, 10 * SECOND);
	while (world_sent(from, &entry)) {
		if (entry.status == BCL_OK)
			ok++;
		else if (entry.status == BCL_ERR_NOPORT ||
			 entry.status == BCL_ERR_MEMORY)
			refused++;
	}
	/* the ring of port 3 has 8 blocks, and nobody freed a block */
	ck_assert_uint_eq(ok + refused, 38);
	ck_assert_uint_ge(ok, 8);
	ck_assert_uint_gt(refused, 0);
	ck_assert_uint_eq(received(stays, &next, 10), 8);
	world_run_for(world, 100 * MS);
	ck_assert_uint_eq(received(stays, &next, 10), 2);
	ck_assert_uint_eq(sent(from, BCL_OK), 2);
	free(source);
	world_free(world);
}
END_TEST

START_TEST(sender_closes)
{
	uint64_t seed = world_seed((unsigned)_i);
	struct world_config config = { .seed = seed,
				       .pending = seed & 1,
				       .drop = seed % 3 ? 100 : 0,
				       .blocks = 8 };
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *stays = world_port_open(world, 0, 3);
	struct world_port *to = world_port_open(world, 1, 2);
	uint8_t *source = calloc(1, 100000), *target = calloc(1, 100000);
	uint32_t node = world_connect(world, 0, 1);
	uint32_t handle = world_memory(world, 0, 1, source, 100000, 0);
	uint32_t there =
		world_memory(world, 1, 2, target, 100000,
			     BCL_MEM_REMOTE_WRITE | BCL_MEM_REMOTE_READ);
	struct bcl_control post = { .op = BCL_CTL_POST };
	struct bcl_completion entry;
	struct bcl_request *r;
	unsigned mine = 0;

	post.channel.port = 2;
	post.channel.handle = there;
	post.channel.length = 100000;
	ck_assert_int_eq(world_control(world, 1, &post, NULL), BCL_OK);
	for (unsigned i = 0; i < 30; i++) {
		r = world_request(from);
		r->op = (uint8_t[]){
			BCL_REQ_SYSTEM,	 BCL_REQ_PUT,	BCL_REQ_GET,
			BCL_REQ_CHANNEL, BCL_REQ_FENCE, BCL_REQ_PUT_NOTIFY
		}[i % 6];
		r->node = node;
		r->dst_port = 2;
		r->target = r->op == BCL_REQ_CHANNEL ? 0 : there;
		r->nref = r->op != BCL_REQ_FENCE;
		r->refs[0].handle = handle;
		r->length = r->refs[0].length = i % 6 == 0 ? 4000 : 90000;
		world_submit(from, r);
	}
	world_run_for(world, world_random(world, 2 * MS));
	world_port_close(from); /* the memory of `from` is gone now */
	free(source);
	world_run_for(world, 10 * SECOND);
	for (unsigned i = 0; i < 20; i++) {
		ck_assert(world_send(stays, node, 2, "mine", 4, 1000));
		world_run_for(world, 200 * MS);
		while (world_received(to, &entry)) {
			mine += entry.kind == BCL_CQ_SYSTEM &&
				entry.targ64 == 1000 && entry.src_port == 3;
			if (entry.kind != BCL_CQ_CHANNEL)
				world_block_free(to, entry.index);
		}
	}
	world_run_for(world, 10 * SECOND);
	ck_assert_uint_eq(sent(stays, BCL_OK), 20);
	ck_assert_uint_eq(mine, 20);
	/* neither card keeps anything of the port: both can park */
	ck_assert_uint_eq(world->card[0].node[node].losses, 0);
	free(target);
	world_free(world);
}
END_TEST

/* A port number may be used again at once. */
START_TEST(port_opens_again)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1), *to;
	uint32_t node = world_connect(world, 0, 1);
	uint64_t next;

	for (unsigned round = 0; round < 10; round++) {
		to = world_port_open(world, 1, 2);
		for (unsigned i = 0; i < 30; i++)
			ck_assert(world_send(from, node, 2, "", 0, i));
		world_run_for(world, 50 * MS);
		ck_assert_uint_eq(sent(from, BCL_OK), 30);
		next = 0;
		ck_assert_uint_eq(received(to, &next, WORLD_REQUESTS), 30);
		world_port_close(to);
	}
	world_free(world);
}
END_TEST

/* The card wakes a sleeping owner once per batch of events, without fail. */
START_TEST(wakes)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *to = world_port_open(world, 1, 2);
	uint32_t node = world_connect(world, 0, 1);

	ck_assert(world_send(from, node, 2, "", 0, 0));
	world_run_for(world, 10 * MS);
	ck_assert_uint_eq(to->wakes, 0);
	for (unsigned i = 1; i < 20; i++) {
		to->indices->sleeping = 1;
		from->indices->sleeping = 1;
		ck_assert(world_send(from, node, 2, "", 0, i));
		world_run_for(world, 10 * MS);
		ck_assert_uint_eq(to->wakes, i);
		ck_assert_uint_eq(from->wakes, i);
	}
	world_free(world);
}
END_TEST

/* There are more pairs of ports than the card can remember at once. The card
 * forgets only pairs without a message in progress. */
START_TEST(idle_flows_are_forgotten)
{
	struct world_config config = {
		.seed = 1, .pending = _i, .messages = 16, .blocks = 4
	};
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *full = world_port_open(world, 1, 2);
	uint32_t node = world_connect(world, 0, 1);
	uint64_t next = 0, number = 0;
	struct bcl_completion entry;

	while (number < 7)
		ck_assert(world_send(from, node, 2, "", 0, number++));
	world_run_for(world, 10 * MS);
	ck_assert_uint_eq(sent(from, BCL_OK), 4);
	for (uint16_t port = 10; port < 110; port++) {
		ck_assert(world_send(from, node, port, "", 0, port));
		world_run_for(world, MS);
		ck_assert(world_sent(from, &entry));
		ck_assert_int_eq(entry.status, BCL_ERR_NOPORT);
	}
	while (number < 9)
		ck_assert(world_send(from, node, 2, "", 0, number++));
	for (unsigned i = 0; i < 3; i++) {
		received(full, &next, 4);
		world_run_for(world, 50 * MS);
	}
	ck_assert_uint_eq(next, 9);
	ck_assert_uint_eq(sent(from, BCL_OK), 5);
	world_free(world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card order");
	TCase *tcase = tcase_create("order");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, full_ring_blocks_nobody_else, 0, 2);
	tcase_add_loop_test(tcase, a_ring_freed_at_once_is_filled_soon, 0, 3);
	tcase_add_test(tcase, room_before_the_last_refusal_counts);
	tcase_add_loop_test(tcase, numbers_jump_over_0, 0, 2);
	tcase_add_loop_test(tcase, refusal_keeps_order, 0,
			    (int)world_seeds(24));
	tcase_add_loop_test(tcase, early_messages_are_held, 0, 2);
	tcase_add_loop_test(tcase, a_failure_waits_for_what_was_before, 0, 2);
	tcase_add_loop_test(tcase, who_is_held_leaves_room_for_the_first, 0, 2);
	tcase_add_loop_test(tcase, lost_verdicts, 0, 2);
	tcase_add_loop_test(tcase, receiver_closes, 0, (int)world_seeds(24));
	tcase_add_loop_test(tcase, sender_closes, 0, (int)world_seeds(24));
	tcase_add_loop_test(tcase, port_opens_again, 0, 2);
	tcase_add_loop_test(tcase, wakes, 0, 2);
	tcase_add_loop_test(tcase, idle_flows_are_forgotten, 0, 2);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
