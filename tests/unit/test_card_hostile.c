/* SPDX-License-Identifier: MIT */
/*
 * The card core against a hostile peer and a hostile user. The peer sends
 * frames with right checksums and wrong contents, and the user submits requests
 * of random bytes. Nothing may crash, and fair peers and users must not notice.
 */
#include "unit.h"

#include <stddef.h>
#include <string.h>

#include "card_world.h"

static const uint64_t MS = 1000000;

static struct world_frame kept[256];
static unsigned nkept;

static bool keep(struct world *world, struct world_frame *frame)
{
	(void)world;
	if (frame->from == 0)
		kept[nkept++ % 256] = *frame;
	return true;
}

/* Copy a real frame, change a few fields or bytes, and make proof and seal
 * right again. Returns the new length. */
static uint32_t twist(struct world *world, const struct world_frame *from,
		      uint8_t *to)
{
	static const uint32_t values[] = { 0,	       1,	   2,
					   0xff,       0x7fff,	   0xffff,
					   0x7fffffff, 0x80000000, 0xffffffff };
	uint32_t length = from->length, seal = world_seal_of(from->bytes);

	memcpy(to, from->bytes, length);
	for (unsigned n = 1 + world_random(world, 3); n > 0; n--) {
		uint32_t at = world_random(world, length);
		uint32_t value = values[world_random(world, 9)];

		switch (world_random(world, 6)) {
		case 0:
			to[at] = (uint8_t)world_random(world, 256);
			break;
		case 1: /* a header field; the connection id stays */
			at = 16 + 4 * world_random(world, 4);
			memcpy(to + at, &value, 4);
			break;
		case 2: /* a segment field */
			at = 40 + 4 * world_random(world, 10);
			memcpy(to + at, &value, 4);
			break;
		case 3:
			at = 40 + 2 * world_random(world, 20);
			memcpy(to + at, &value, 2);
			break;
		case 4: /* add a little to a field */
			at = 16 + 4 * world_random(world, 16);
			memcpy(&value, to + at, 4);
			value += world_random(world, 2100) - 1050;
			memcpy(to + at, &value, 4);
			break;
		case 5:
			length = 80 + world_random(world, length - 79);
			break;
		}
		if (length < 80)
			length = 80;
	}
	if (world_random(world, 2))
		to[3] = (uint8_t)((to[3] & 0xc0) |
				  (1 + world_random(world, 10)));
	to[40] = world_random(world, 4)
			 ? to[40]
			 : (uint8_t)(1 + world_random(world, 20));
	world_prove(to, length, world->card[1].config.key);
	world_seal(to, length, seal);
	return length;
}

static void ask(struct world_port *port, uint32_t node, unsigned k,
		uint32_t here, uint32_t there)
{
	static const uint8_t ops[] = { BCL_REQ_SYSTEM,	    BCL_REQ_PUT,
				       BCL_REQ_GET,	    BCL_REQ_PUT_NOTIFY,
				       BCL_REQ_FETCH_ADD,   BCL_REQ_CHANNEL,
				       BCL_REQ_COMPARE_SWAP };
	struct bcl_request *r = world_request(port);

	if (!r)
		return;
	r->op = ops[k % 7];
	r->node = node;
	r->dst_port = 2;
	r->target = r->op == BCL_REQ_CHANNEL ? 0 : there;
	r->nref = 1;
	r->refs[0] = (struct bcl_memref){ 0, here, k % 3 ? 3000 : 8 };
	r->length = r->refs[0].length;
	if (r->op == BCL_REQ_FETCH_ADD)
		r->inline_len = 8;
	if (r->op == BCL_REQ_COMPARE_SWAP)
		r->inline_len = 16;
	if (r->inline_len)
		r->refs[0].length = 8;
	world_submit(port, r);
}

START_TEST(frames)
{
	unsigned seeds = world_seeds(40);

	for (unsigned s = 0; s < seeds; s++) {
		uint64_t seed = world_seed(s);
		struct world_config config = { .seed = seed,
					       .pending = seed & 1,
					       .cards = 3,
					       .peer_timeout = 40 * MS };
		struct world *world = world_new(&config);
		struct world_port *bad = world_port_open(world, 0, 1);
		struct world_port *good = world_port_open(world, 2, 1);
		struct world_port *to = world_port_open(world, 1, 2);
		static uint8_t memory[2][4096], frame[BCL_FRAME_MAX];
		uint32_t node = world_connect(world, 0, 1);
		uint32_t fair = world_connect(world, 2, 1);
		uint32_t here = world_memory(world, 0, 1, memory[0], 4096, 0);
		uint32_t there = world_memory(world, 1, 2, memory[1], 4096, 7);
		struct bcl_completion entry;
		unsigned got = 0;

		world_note(seed);
		nkept = 0;
		world->filter = keep;
		for (unsigned k = 0; k < 300; k++) {
			uint32_t length;

			ask(bad, node, k, here, there);
			world_run_for(world, world_random(world, 30000));
			if (nkept) {
				length = twist(
					world,
					&kept[world_random(world,
							   nkept < 256 ? nkept
								       : 256)],
					frame);
				world_inject(world, 0, 1, 0, frame, length);
			}
			if (k % 50 == 0)
				world_connect(world, 0, 1);
			while (world_sent(bad, &entry))
				;
			while (world_received(to, &entry))
				if (entry.kind == BCL_CQ_SYSTEM ||
				    entry.kind == BCL_CQ_NOTIFY)
					world_block_free(to, entry.index);
		}
		world->filter = NULL;
		world_run_for(world, 100 * MS);
		while (world_received(to, &entry))
			if (entry.kind == BCL_CQ_SYSTEM ||
			    entry.kind == BCL_CQ_NOTIFY)
				world_block_free(to, entry.index);
		for (unsigned k = 0; k < 20; k++)
			ck_assert(world_send(good, fair, 2, "fair", 4, k));
		for (unsigned k = 0; k < 60; k++) {
			world_run_for(world, 10 * MS);
			while (world_received(to, &entry)) {
				if (entry.card == world_card_id(world, 2) &&
				    entry.kind == BCL_CQ_SYSTEM)
					got++;
				world_block_free(to, entry.index);
			}
		}
		ck_assert_uint_eq(got, 20);
		while (world_sent(good, &entry))
			ck_assert_int_eq(entry.status, BCL_OK);
		world_free(world);
		world_note(0);
	}
}
END_TEST

START_TEST(requests)
{
	unsigned seeds = world_seeds(40);

	for (unsigned s = 0; s < seeds; s++) {
		uint64_t seed = world_seed(s);
		struct world_config config = { .seed = seed,
					       .pending = seed & 1 };
		struct world *world = world_new(&config);
		struct world_port *bad = world_port_open(world, 0, 1);
		struct world_port *good = world_port_open(world, 0, 3);
		struct world_port *to = world_port_open(world, 1, 2);
		static uint8_t memory[2][4096];
		uint32_t node = world_connect(world, 0, 1);
		struct bcl_completion entry;
		unsigned got = 0;

		world_note(seed);
		world_memory(world, 0, 1, memory[0], 4096, 7);
		world_memory(world, 1, 2, memory[1], 4096, 7);
		for (unsigned k = 0; k < 200; k++) {
			uint8_t *r = (uint8_t *)&bad->requests[world_random(
				world, WORLD_REQUESTS)];

			for (unsigned i = 0; i < 96; i++)
				r[i] = (uint8_t)(world_random(world, 3)
							 ? world_random(world,
									4)
							 : world_random(world,
									256));
			r[0] = (uint8_t)world_random(world, 12);
			if (world_random(world, 4))
				memset(r + 4, 0, 4); /* the node */
			if (world_random(world, 2))
				memset(r + 13, 0, 3);
			bad->submits[world_random(world, WORLD_REQUESTS)] =
				world_random(world, WORLD_REQUESTS + 4);
			bad->indices->requests_made =
				world_random(world, 4)
					? bad->indices->requests_made + 1
					: world_random(world, 0xffffffff);
			bad->indices->blocks_freed =
				world_random(world, 0xffffffff);
			world_ring(bad);
			world_run_for(world, world_random(world, 20000));
			while (world_received(to, &entry))
				world_block_free(to, entry.index);
			if (k % 10 == 0) {
				ck_assert(world_send(good, node, 2, "good", 4,
						     0x600d));
				world_run_for(world, MS);
			}
			while (world_sent(good, &entry)) {
				ck_assert_int_eq(entry.status, BCL_OK);
				got++;
			}
		}
		world_run_for(world, 300 * MS);
		while (world_sent(good, &entry)) {
			ck_assert_int_eq(entry.status, BCL_OK);
			got++;
		}
		ck_assert_uint_eq(got, 20);
		world_free(world);
		world_note(0);
	}
}
END_TEST

/* A user takes the count of requests back while the card reads the announced
 * requests. A card that trusts the count would read on until the number
 * wraps. */
START_TEST(count_taken_back)
{
	struct world_config config = { .seed = 1, .pending = true };
	struct world *world = world_new(&config);
	struct world_port *bad = world_port_open(world, 0, 1);
	struct world_port *to = world_port_open(world, 1, 2);
	uint32_t node = world_connect(world, 0, 1);
	struct bcl_completion entry;

	bad->submits[0] = WORLD_REQUESTS; /* no request has this index */
	bad->indices->requests_made = 1;
	world_ring(bad);
	bad->indices->requests_made = 0;
	world_ring(bad);
	world_run_for(world, 10 * MS);
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_submits_wrong), 1);
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_requests_wrong), 1);
	bad->indices->requests_made = 1;
	bad->made = 1;
	ck_assert(world_send(bad, node, 2, "right", 5, 0));
	world_run_for(world, 100 * MS);
	ck_assert(world_received(to, &entry));
	world_free(world);
}
END_TEST

/* Of each message only the first frame arrives. */
static bool drop_rests(struct world *world, struct world_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;
	const struct bcl_segment_header *segment = (const void *)(header + 1);

	(void)world;
	return (header->kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK)) !=
		       BCL_FRAME_DATA ||
	       !bcl_get32(segment->offset);
}

/* A user frees the block of a message that is arriving, so a second message
 * takes the same block. Then the senders of both are lost: the card has one
 * block to spare, not two. */
START_TEST(block_freed_early)
{
	struct world_config config = {
		.seed = 1, .cards = 4, .blocks = 1, .hostile = true
	};
	struct world *world = world_new(&config);
	struct world_port *bad = world_port_open(world, 0, 1);
	struct world_port *fair = world_port_open(world, 3, 2);
	static uint8_t memory[4000];
	struct bcl_completion entry;
	uint32_t node;

	world->filter = drop_rests;
	for (unsigned card = 1; card <= 2; card++) {
		struct world_port *from = world_port_open(world, card, 2);
		struct bcl_request *request = world_request(from);

		request->op = BCL_REQ_SYSTEM;
		request->dst_port = 1;
		request->node = world_connect(world, card, 0);
		request->length = sizeof(memory);
		request->nref = 1;
		request->refs[0].handle =
			world_memory(world, card, 2, memory, sizeof(memory), 0);
		request->refs[0].length = sizeof(memory);
		world_submit(from, request);
		world_run_for(world, MS);
		bad->indices->blocks_freed = 1;
	}
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_refused_ring), 0);
	ck_assert(!world_received(bad, &entry));
	world_kill(world, 1);
	world_kill(world, 2);
	world_run_for(world, 60000 * MS);
	world->filter = NULL;
	node = world_connect(world, 3, 0);
	for (unsigned i = 0; i < 3; i++)
		ck_assert(world_send(fair, node, 1, "fair", 4, 0));
	for (unsigned i = 0; i < 3; i++) {
		world_run_for(world, 1000 * MS);
		ck_assert(world_received(bad, &entry));
		ck_assert_uint_eq(entry.index, 0);
		ck_assert(!world_received(bad, &entry));
		bad->indices->blocks_freed++;
	}
	world_free(world);
}
END_TEST

static struct {
	unsigned left;	     /* DATA frames until the forged frame */
	struct bcl_le32 msg; /* number of the first message */
} forged;

/* Replace a frame by part of a message that has arrived already. */
static bool forge(struct world *world, struct world_frame *frame)
{
	struct bcl_segment_header *segment =
		(void *)(frame->bytes + sizeof(struct bcl_frame_header));
	uint32_t seal = world_seal_of(frame->bytes);

	(void)world;
	if (frame->from != 0 ||
	    (frame->bytes[3] & ~BCL_FRAME_PCRC) != BCL_FRAME_DATA)
		return true;
	if (forged.left == 0) {
		segment->msg = forged.msg;
		world_seal(frame->bytes, frame->length, seal);
	}
	if (bcl_get32(forged.msg) == 0)
		forged.msg = segment->msg;
	forged.left--;
	return true;
}

static void send_from(struct world_port *port, uint32_t node, uint32_t memory,
		      uint32_t length)
{
	struct bcl_request *request = world_request(port);

	request->op = BCL_REQ_SYSTEM;
	request->node = node;
	request->dst_port = 2;
	request->nref = 1;
	request->refs[0] = (struct bcl_memref){ 0, memory, length };
	request->length = length;
	request->cookie = length;
	world_submit(port, request);
}

/* The receiver gets the message of the replaced frame after all, and all later
 * messages. */
static void replace(bool pending, unsigned which)
{
	static const uint32_t length[4] = { 8, 3000, 16, 2000 };
	struct world_config config = { .seed = 1,
				       .pending = pending,
				       .peer_timeout = 40 * MS };
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *to = world_port_open(world, 1, 2);
	static uint8_t bytes[3000];
	uint32_t memory = world_memory(world, 0, 1, bytes, sizeof(bytes), 0);
	uint32_t node = world_connect(world, 0, 1);
	struct bcl_completion entry;
	unsigned i;

	forged.left = 1 + which;
	forged.msg = bcl_put32(0);
	world->filter = forge;
	for (i = 0; i < 4; i++) {
		send_from(from, node, memory, length[i]);
		world_run_for(world, MS);
	}
	world_run_for(world, 1000 * MS);
	ck_assert_int_lt((int)forged.left, 0);
	for (i = 0; i < 4; i++) {
		ck_assert_msg(world_received(to, &entry), "frame %u: %u came",
			      which, i);
		ck_assert_uint_eq(entry.length, length[i]);
	}
	ck_assert(!world_received(to, &entry));
	for (i = 0; i < 4; i++)
		ck_assert(world_sent(from, &entry));
	world_free(world);
}

START_TEST(numbers_taken)
{
	unsigned which;

	for (which = 0; which < 5; which++) {
		replace(false, which);
		replace(true, which);
	}
}
END_TEST

static bool keep_back(struct world *world, struct world_frame *frame)
{
	return !keep(world, frame);
}

/* The card drops a HELLO with a right proof and an impossible field. */
START_TEST(calls)
{
	static const struct {
		unsigned at, length;
		uint64_t value;
	} wrong[] = {
		{ offsetof(struct bcl_hello, card), 8, 0 },
		/* UINT64_MAX stands for the id of card 1 itself. */
		{ offsetof(struct bcl_hello, card), 8, UINT64_MAX },
		{ offsetof(struct bcl_hello, nonce), 8, 0 },
		{ offsetof(struct bcl_hello, conn), 4, 3 },
		{ offsetof(struct bcl_hello, max_frame), 2, 575 },
		{ offsetof(struct bcl_hello, first_msg), 4, 0 },
	};
	struct world_config config = { .seed = 1 };
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *to = world_port_open(world, 1, 2);
	const unsigned head = sizeof(struct bcl_frame_header);
	struct bcl_completion entry;
	static uint8_t frame[BCL_FRAME_MAX];
	uint32_t node;

	nkept = 0;
	world->filter = keep_back;
	node = world_connect(world, 0, 1);
	ck_assert_uint_eq(kept[0].bytes[3] & 0x3f, BCL_FRAME_HELLO);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct bcl_le64 value = bcl_put64(
			wrong[i].value == UINT64_MAX ? world_card_id(world, 1)
						     : wrong[i].value);

		memcpy(frame, kept[0].bytes, kept[0].length);
		memcpy(frame + head + wrong[i].at, &value, wrong[i].length);
		world_prove(frame, kept[0].length, world->card[1].config.key);
		world_seal(frame, kept[0].length, 0);
		world_inject(world, 0, 1, 0, frame, kept[0].length);
		world_run_for(world, MS);
		ck_assert_uint_eq(
			world_counter(world, 1, BCL_CARD_dropped_malformed),
			i + 1);
	}
	world->filter = NULL;
	ck_assert(world_send(from, node, 2, "short", 5, 0));
	world_run_for(world, 100 * MS);
	ck_assert(world_received(to, &entry));
	ck_assert_uint_eq(world_counter(world, 1, BCL_CARD_dropped_malformed),
			  sizeof(wrong) / sizeof(*wrong));
	world_free(world);
}
END_TEST

/* Frames longer than the MTU of each rail, and so longer than the buffers. */
START_TEST(long_frames)
{
	struct world_config config = { .seed = 1, .pending = true };
	struct world *world = world_new(&config);
	struct world_port *from = world_port_open(world, 0, 1);
	struct world_port *to = world_port_open(world, 1, 2);
	uint32_t node = world_connect(world, 0, 1), length = BCL_FRAME_MAX;
	struct bcl_completion entry;
	static uint8_t frame[BCL_FRAME_MAX];

	nkept = 0;
	world->filter = keep;
	ck_assert(world_send(from, node, 2, "short", 5, 0));
	world_run_for(world, 10 * MS);
	ck_assert(world_received(to, &entry));
	for (; length > world->config.mtu; length -= 1000) {
		uint64_t dropped =
			world_counter(world, 1, BCL_CARD_dropped_magic);

		memcpy(frame, kept[nkept - 1].bytes, 80);
		world_seal(frame, length, world_seal_of(kept[nkept - 1].bytes));
		world_inject(world, 0, 1, 0, frame, length);
		world_run_for(world, MS);
		ck_assert_uint_eq(
			world_counter(world, 1, BCL_CARD_dropped_magic),
			dropped + 1);
	}
	ck_assert(world_send(from, node, 2, "short", 5, 1));
	world_run_for(world, 10 * MS);
	ck_assert(world_received(to, &entry));
	world_free(world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hostile card input");
	TCase *tcase = tcase_create("hostile");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, frames);
	tcase_add_test(tcase, requests);
	tcase_add_test(tcase, count_taken_back);
	tcase_add_test(tcase, block_freed_early);
	tcase_add_test(tcase, numbers_taken);
	tcase_add_test(tcase, calls);
	tcase_add_test(tcase, long_frames);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
