/* SPDX-License-Identifier: MIT */
/* The card core: channels and remote memory, without and with faults. */
#include "unit.h"

#include <string.h>

#include <nicfw/order.h>

#include "card_pair.h"

enum {
#ifdef BCL_HOST_FOREIGN
	FOREIGN = true, /* a second build, for another byte order */
#else
	FOREIGN = false,
#endif
};

static const uint32_t sizes[] = { 0,	1,    160,  161,   1391,   1392,
				  1393, 4000, 8968, 65536, 100001, 1000000 };

START_TEST(put_and_get_any_length)
{
	struct world_config config = { .seed = 1,
				       .pending = _i & 1,
				       .mtu = _i & 2 ? 9000 : 1472 };
	struct pair pair = make_pair(&config);
	struct bcl_request *r;

	for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		uint32_t n = sizes[k];
		uint8_t *back = calloc(1, BIG);
		uint32_t handle = world_memory(pair.world, 0, 1, back, BIG, 0);

		fill(pair.memory[0], BIG, k);
		memset(pair.memory[1], 0, BIG);
		r = request(pair.a, pair.to_b, BCL_REQ_PUT, pair.handle[1]);
		refer(r, pair.handle[0], 17, n);
		r->targ64 = 33;
		world_submit(pair.a, r);
		ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
		ck_assert_mem_eq(pair.memory[1] + 33, pair.memory[0] + 17, n);
		ck_assert_uint_eq(pair.memory[1][32], 0);
		ck_assert_uint_eq(pair.memory[1][33 + n], 0);
		r = request(pair.a, pair.to_b, BCL_REQ_GET, pair.handle[1]);
		refer(r, handle, 5, n);
		r->targ64 = 33;
		world_submit(pair.a, r);
		ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
		ck_assert_mem_eq(back + 5, pair.memory[0] + 17, n);
		ck_assert_uint_eq(back[4], 0);
		ck_assert_uint_eq(back[5 + n], 0);
		world_forget(pair.world, 0, handle);
		free(back);
	}
	free_pair(&pair);
}
END_TEST

/* The inline part first, then each reference, wherever frames end. */
START_TEST(parts_are_joined)
{
	static const uint32_t part[] = { 0, 1, 100, 1232, 1300, 3000 };
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);
	uint8_t *want = malloc(BIG);

	for (unsigned k = 0; k < 6 * 6 * 6; k++) {
		struct bcl_request *r =
			request(pair.a, pair.to_b, BCL_REQ_PUT, pair.handle[1]);
		uint32_t at = k % 3 ? 80 * (k % 3) : 0;

		fill(pair.memory[0], 20000, k);
		fill(r->inlined, BCL_REQUEST_INLINE, k + 99);
		memcpy(want, r->inlined, at);
		r->inline_len = (uint16_t)at;
		r->nref = 3;
		for (unsigned i = 0, m = k; i < 3; i++, m /= 6) {
			uint32_t n = part[m % 6];

			r->refs[i] = (struct bcl_memref){ 4000 * i,
							  pair.handle[0], n };
			memcpy(want + at, pair.memory[0] + 4000 * i, n);
			at += n;
		}
		r->length = at;
		memset(pair.memory[1], 0, at + 1);
		world_submit(pair.a, r);
		ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
		ck_assert_mem_eq(pair.memory[1], want, at);
	}
	free(want);
	free_pair(&pair);
}
END_TEST

START_TEST(system_messages)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;

	fill(pair.memory[0], BCL_BLOCK_SIZE, 5);
	for (uint32_t n = 0; n <= BCL_BLOCK_SIZE; n += 136) {
		struct bcl_request *r =
			request(pair.a, pair.to_b, BCL_REQ_SYSTEM, 0);

		refer(r, pair.handle[0], 0, n);
		r->type = 9;
		world_submit(pair.a, r);
		ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
		ck_assert(world_received(pair.b, &entry));
		ck_assert_uint_eq(entry.length, n);
		ck_assert_uint_eq(entry.type, 9);
		ck_assert_mem_eq(world_block(pair.b, &entry), pair.memory[0],
				 n);
		world_block_free(pair.b, entry.index);
	}
	free_pair(&pair);
}
END_TEST

/* The only card and port that may read a channel; card 0: all may read. */
static struct {
	uint64_t card;
	uint32_t port;
} reader;

static enum bcl_status post(struct pair *pair, unsigned channel,
			    uint16_t generation, bool reading, uint64_t length)
{
	struct bcl_control control =
		posting(pair, channel, generation, reading, length);

	control.channel.card = reader.card;
	control.channel.card_port = reader.port;
	control.channel.cookie = 4711 + channel;
	return world_control(pair->world, 1, &control, NULL);
}

START_TEST(channel_takes_one_message)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;
	uint64_t start;

	fill(pair.memory[0], BIG, 3);
	ck_assert_int_eq(post(&pair, 3, 0, false, 70000), BCL_OK);
	ck_assert_int_eq(post(&pair, 3, 0, false, 70000), BCL_ERR_BUSY);
	send_channel(&pair, 3, 70000);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	ck_assert(world_received(pair.b, &entry));
	ck_assert_int_eq(entry.kind, BCL_CQ_CHANNEL);
	ck_assert_int_eq(entry.status, BCL_OK);
	ck_assert_uint_eq(entry.index, 3);
	ck_assert_uint_eq(entry.cookie, 4714);
	ck_assert_uint_eq(entry.length, 70000);
	ck_assert_mem_eq(pair.memory[1] + 1000, pair.memory[0], 70000);

	/* The next message waits until the channel is posted again. Then the
	 * sender is told at once. */
	send_channel(&pair, 3, 9000);
	world_run_for(pair.world, 200 * MS);
	ck_assert(!world_received(pair.b, &entry));
	ck_assert_uint_gt(
		world_counter(pair.world, 1, BCL_CARD_refused_channel), 0);
	ck_assert_int_eq(post(&pair, 3, 0, false, 4000), BCL_OK);
	start = pair.world->now;
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	ck_assert_uint_lt(pair.world->now - start, MS);
	ck_assert(world_received(pair.b, &entry));
	ck_assert_int_eq(entry.status, BCL_ERR_TRUNCATED);
	ck_assert_uint_eq(entry.length, 4000);
	ck_assert_mem_eq(pair.memory[1] + 1000, pair.memory[0], 4000);
	free_pair(&pair);
}
END_TEST

START_TEST(channel_generations)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;

	ck_assert_int_eq(unpost(&pair, 1), BCL_ERR_EMPTY);
	ck_assert_int_eq(post(&pair, 1, 7, false, 100), BCL_OK);
	ck_assert_int_eq(unpost(&pair, 1), BCL_OK);
	ck_assert_int_eq(post(&pair, 1, 8, false, 100), BCL_OK);
	send_channel(&pair, 1 | 7 << 16, 10); /* too late */
	ck_assert_int_eq(finish(&pair, pair.a), BCL_ERR_NOPORT);
	send_channel(&pair, 1 | 9 << 16, 10); /* too early */
	world_run_for(pair.world, 5 * MS);
	ck_assert(!world_received(pair.b, &entry));
	send_channel(&pair, 1 | 8 << 16, 20);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	ck_assert(world_received(pair.b, &entry));
	ck_assert_uint_eq(entry.length, 20);
	ck_assert_int_eq(post(&pair, 1, 9, false, 100), BCL_OK);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	ck_assert(world_received(pair.b, &entry));
	ck_assert_uint_eq(entry.length, 10);
	send_channel(&pair, WORLD_CHANNELS, 10);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_ERR_NOPORT);
	free_pair(&pair);
}
END_TEST

START_TEST(channel_for_reading)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;
	struct bcl_request *r;

	fill(pair.memory[1], BIG, 3);
	ck_assert_int_eq(post(&pair, 2, 5, true, 60000), BCL_OK);
	r = request(pair.a, pair.to_b, BCL_REQ_GET, 2 | 5 << 16);
	refer(r, pair.handle[0], 0, 30000);
	r->type = BCL_GET_CHANNEL;
	world_submit(pair.a, r);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	ck_assert_mem_eq(pair.memory[0], pair.memory[1] + 1000, 30000);
	ck_assert(!world_received(pair.b, &entry));
	r = request(pair.a, pair.to_b, BCL_REQ_GET, 2 | 5 << 16);
	refer(r, pair.handle[0], 30000, 30001); /* one byte too many */
	r->type = BCL_GET_CHANNEL;
	r->targ64 = 30000;
	world_submit(pair.a, r);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_ERR_MEMORY);
	r = request(pair.a, pair.to_b, BCL_REQ_GET, 2 | 5 << 16);
	refer(r, pair.handle[0], 30000, 30000);
	r->type = BCL_GET_CHANNEL_LAST;
	r->targ64 = 30000;
	world_submit(pair.a, r);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	world_run_for(pair.world, MS);
	ck_assert_mem_eq(pair.memory[0] + 30000, pair.memory[1] + 31000, 30000);
	ck_assert(world_received(pair.b, &entry));
	ck_assert_int_eq(entry.kind, BCL_CQ_READ);
	ck_assert_uint_eq(entry.index, 2);
	ck_assert_uint_eq(entry.cookie, 4713);
	ck_assert(!world_received(pair.b, &entry));
	ck_assert_int_eq(unpost(&pair, 2), BCL_ERR_EMPTY);
	free_pair(&pair);
}
END_TEST

static void submit_read(struct pair *pair, uint8_t type, uint64_t to,
			uint64_t from, uint32_t length)
{
	struct bcl_request *r =
		request(pair->a, pair->to_b, BCL_REQ_GET, 2 | 5 << 16);

	refer(r, pair->handle[0], to, length);
	r->type = type;
	r->targ64 = from;
	world_submit(pair->a, r);
}

/* An offer is for one reader, who reads it once. */
START_TEST(channel_is_read_once)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;
	enum bcl_status first, second;

	ck_assert_int_eq(post(&pair, 2, 5, true, 60000), BCL_OK);
	submit_read(&pair, BCL_GET_CHANNEL_LAST, 0, 0, 60000);
	submit_read(&pair, BCL_GET_CHANNEL_LAST, 0, 0, 60000);
	first = finish(&pair, pair.a);
	second = finish(&pair, pair.a);
	ck_assert(first == BCL_OK || second == BCL_OK);
	ck_assert(first == BCL_ERR_NOPORT || second == BCL_ERR_NOPORT);
	world_run_for(pair.world, MS);
	ck_assert(world_received(pair.b, &entry));
	ck_assert_int_eq(entry.kind, BCL_CQ_READ);
	ck_assert(!world_received(pair.b, &entry));
	free_pair(&pair);
}
END_TEST

/* A peer asks for the last piece while an earlier piece is under way. The
 * offered memory must stay with the card until both are read. If the last piece
 * is asked for first, the other piece is refused. */
START_TEST(channel_ends_with_all_its_readers)
{
	enum {
		LONG = 50000
	};
	struct world_config config = {
		.seed = world_seed((unsigned)_i),
		.pending = _i & 1,
		.drop = 200,
		.reorder = 200,
	};
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;
	unsigned ends = 0, reads = 0;
	bool refused = false;

	fill(pair.memory[1], BIG, 3);
	ck_assert_int_eq(post(&pair, 2, 5, true, LONG + 10), BCL_OK);
	submit_read(&pair, BCL_GET_CHANNEL, 0, 0, LONG);
	submit_read(&pair, BCL_GET_CHANNEL_LAST, LONG, LONG, 10);
	while (ends < 2 || !reads) {
		world_run_for(pair.world, MS / 100);
		while (world_sent(pair.a, &entry)) {
			if (entry.status == BCL_ERR_NOPORT)
				refused = true;
			else
				ck_assert_int_eq(entry.status, BCL_OK);
			ends++;
		}
		if (!world_received(pair.b, &entry))
			continue;
		ck_assert_int_eq(entry.kind, BCL_CQ_READ);
		reads++;
		memset(pair.memory[1], 0, BIG);
	}
	ck_assert_uint_eq(reads, 1);
	fill(pair.memory[1], BIG, 3);
	ck_assert_mem_eq(pair.memory[0] + LONG, pair.memory[1] + 1000 + LONG,
			 10);
	if (!refused)
		ck_assert_mem_eq(pair.memory[0], pair.memory[1] + 1000, LONG);
	free_pair(&pair);
}
END_TEST

/* A channel that is offered to one reader is closed to any other port or card,
 * even if the port or card knows the name of the offer. */
START_TEST(channel_for_one_reader)
{
	struct world_config config = { .seed = 1, .pending = _i & 1 };
	struct pair pair = make_pair(&config);
	const uint64_t own = world_card_id(pair.world, 0);
	const struct {
		uint64_t card;
		uint32_t port;
		enum bcl_status status;
	} offers[] = {
		{ own, 1, BCL_OK },
		{ own, 4, BCL_ERR_NOPORT },
		{ own + 1, 1, BCL_ERR_NOPORT },
	};
	struct bcl_request *r;

	fill(pair.memory[1], BIG, 3);
	for (uint16_t i = 0; i < 3; i++) {
		reader.card = offers[i].card;
		reader.port = offers[i].port;
		ck_assert_int_eq(post(&pair, i, i, true, 60000), BCL_OK);
		memset(pair.memory[0], 0, 3000);
		r = request(pair.a, pair.to_b, BCL_REQ_GET,
			    i | (uint32_t)i << 16);
		refer(r, pair.handle[0], 0, 3000);
		r->type = BCL_GET_CHANNEL;
		world_submit(pair.a, r);
		ck_assert_int_eq(finish(&pair, pair.a), offers[i].status);
		ck_assert_uint_eq(
			!memcmp(pair.memory[0], pair.memory[1] + 1000, 3000),
			!offers[i].status);
	}
	reader.card = 0;
	free_pair(&pair);
}
END_TEST

static uint64_t word(const uint8_t *memory, size_t at)
{
	uint64_t value;

	memcpy(&value, memory + at, 8);
	return nic_host64(value);
}

static void submit_atomic(struct pair *pair, uint8_t op, uint64_t first,
			  uint64_t second, uint64_t to, uint64_t result)
{
	struct bcl_request *r =
		request(pair->a, pair->to_b, op, pair->handle[1]);

	refer(r, pair->handle[0], result, 8);
	r->inline_len = op == BCL_REQ_FETCH_ADD ? 8 : 16;
	first = nic_host64(first);
	second = nic_host64(second);
	memcpy(r->inlined, &first, 8);
	memcpy(r->inlined + 8, &second, 8);
	r->targ64 = to;
	world_submit(pair->a, r);
}

START_TEST(atomics)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);

	submit_atomic(&pair, BCL_REQ_FETCH_ADD, 5, 0, 64, 0);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	submit_atomic(&pair, BCL_REQ_FETCH_ADD, 1ull << 40, 0, 64, 8);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	ck_assert_uint_eq(word(pair.memory[0], 0), 0);
	ck_assert_uint_eq(word(pair.memory[0], 8), 5);
	ck_assert_uint_eq(word(pair.memory[1], 64), (1ull << 40) + 5);
	submit_atomic(&pair, BCL_REQ_COMPARE_SWAP, 5, 6, 64, 16);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	ck_assert_uint_eq(word(pair.memory[1], 64), (1ull << 40) + 5);
	submit_atomic(&pair, BCL_REQ_COMPARE_SWAP, (1ull << 40) + 5, 6, 64, 24);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	ck_assert_uint_eq(word(pair.memory[0], 24), (1ull << 40) + 5);
	ck_assert_uint_eq(word(pair.memory[1], 64), 6);
	submit_atomic(&pair, BCL_REQ_FETCH_ADD, 1, 0, BIG, 0);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_ERR_MEMORY);
	free_pair(&pair);
}
END_TEST

START_TEST(memory_is_protected)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);
	uint32_t secret = world_memory(pair.world, 1, 2, pair.memory[1], BIG,
				       BCL_MEM_REMOTE_READ);
	struct bcl_request *r;

	/* beyond the end: from the first byte on, and the last byte only */
	for (uint32_t n = 1; n < 5000; n += 4998) {
		r = request(pair.a, pair.to_b, BCL_REQ_PUT, pair.handle[1]);
		refer(r, pair.handle[0], 0, n);
		r->targ64 = BIG - n + 1;
		world_submit(pair.a, r);
		ck_assert_int_eq(finish(&pair, pair.a), BCL_ERR_MEMORY);
		r = request(pair.a, pair.to_b, BCL_REQ_GET, pair.handle[1]);
		refer(r, pair.handle[0], 0, n);
		r->targ64 = BIG - n + 1;
		world_submit(pair.a, r);
		ck_assert_int_eq(finish(&pair, pair.a), BCL_ERR_MEMORY);
	}
	r = request(pair.a, pair.to_b, BCL_REQ_PUT, secret);
	refer(r, pair.handle[0], 0, 8);
	world_submit(pair.a, r);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_ERR_MEMORY);
	r = request(pair.a, pair.to_b, BCL_REQ_GET, 63);
	refer(r, pair.handle[0], 0, 8);
	world_submit(pair.a, r);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_ERR_MEMORY);
	r = request(pair.a, pair.to_b, BCL_REQ_SYSTEM, 0);
	r->dst_port = 77;
	world_submit(pair.a, r);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_ERR_NOPORT);
	/* a result that cannot be stored */
	r = request(pair.a, pair.to_b, BCL_REQ_GET, pair.handle[1]);
	refer(r, 63, 0, 5000);
	world_submit(pair.a, r);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_ERR_MEMORY);
	/* and everything still works */
	r = request(pair.a, pair.to_b, BCL_REQ_PUT, pair.handle[1]);
	refer(r, pair.handle[0], 0, 8);
	world_submit(pair.a, r);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	free_pair(&pair);
}
END_TEST

/* Requests of each kind to a port that does not exist fail with NOPORT. */
START_TEST(no_such_port)
{
	static const uint8_t ops[] = {
		BCL_REQ_SYSTEM, BCL_REQ_CHANNEL,   BCL_REQ_PUT,
		BCL_REQ_GET,	BCL_REQ_FETCH_ADD, BCL_REQ_PUT_NOTIFY,
	};
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);
	struct bcl_request *r;

	for (unsigned i = 0; i < sizeof(ops); i++) {
		r = request(pair.a, pair.to_b, ops[i], pair.handle[1]);
		refer(r, pair.handle[0], 0, 8);
		r->inline_len = ops[i] == BCL_REQ_FETCH_ADD ? 8 : 0;
		r->dst_port = 77;
		world_submit(pair.a, r);
		ck_assert_int_eq(finish(&pair, pair.a), BCL_ERR_NOPORT);
	}
	free_pair(&pair);
}
END_TEST

/* The host takes the memory of a posted buffer away. */
START_TEST(channel_without_memory)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;

	ck_assert_int_eq(post(&pair, 1, 1, false, 5000), BCL_OK);
	world_forget(pair.world, 1, pair.handle[1]);
	send_channel(&pair, 1 | 1 << 16, 5000);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_ERR_MEMORY);
	ck_assert(world_received(pair.b, &entry));
	ck_assert_int_eq(entry.status, BCL_ERR_MEMORY);
	free_pair(&pair);
}
END_TEST

/* Each of many concurrent requests gets its own answer, even by a rail of small
 * frames. */
START_TEST(answers_are_not_mixed_up)
{
	struct world_config config = {
		.seed = 1,
		.pending = _i & 1,
		.mtu = _i & 2 ? 576 : 1472,
		.drop = 100,
		.reorder = 100,
	};
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;
	unsigned sent = 0, got = 0;

	while (got < 1000) {
		struct bcl_request *r =
			sent < 1000 ? world_request(pair.a) : NULL;

		if (r) {
			r->op = sent % 3 ? BCL_REQ_PUT : BCL_REQ_SYSTEM;
			r->node = pair.to_b;
			r->dst_port = sent % 3 == 1 ? 2 : 77;
			r->target = 63;
			r->cookie = sent++;
			refer(r, pair.handle[0], 0, 8);
			world_submit(pair.a, r);
			continue;
		}
		world_run_for(pair.world, MS / 10);
		for (; world_sent(pair.a, &entry); got++)
			ck_assert_int_eq(entry.status,
					 entry.cookie % 3 == 1
						 ? BCL_ERR_MEMORY
						 : BCL_ERR_NOPORT);
		ck_assert_uint_lt(pair.world->now, 100 * SECOND);
	}
	free_pair(&pair);
}
END_TEST

/* The card fetches payload from memory. A source that the card cannot read
 * fails its own request only. */
START_TEST(bad_source)
{
	struct world_config config = { .seed = 1, .pending = true };
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;
	struct bcl_request *r;

	for (unsigned round = 0; round < 20; round++) {
		ck_assert(world_send(pair.a, pair.to_b, 2, "one", 3, 1));
		r = request(pair.a, pair.to_b,
			    round % 2 ? BCL_REQ_SYSTEM : BCL_REQ_PUT,
			    pair.handle[1]);
		refer(r, round % 3 ? 63 : pair.handle[0],
		      round % 3 ? 0 : BIG - 100, round % 2 ? 200 : 5000);
		r->cookie = 2;
		world_submit(pair.a, r);
		ck_assert(world_send(pair.a, pair.to_b, 2, "three", 5, 3));
		world_run_for(pair.world, 100 * MS);
		for (unsigned i = 0; i < 3; i++) {
			ck_assert(world_sent(pair.a, &entry));
			ck_assert_int_eq(entry.status, entry.cookie == 2
							       ? BCL_ERR_MEMORY
							       : BCL_OK);
		}
		for (unsigned i = 0; i < 2; i++) {
			ck_assert(world_received(pair.b, &entry));
			ck_assert_uint_eq(entry.targ64, i ? 3 : 1);
			world_block_free(pair.b, entry.index);
		}
	}
	free_pair(&pair);
}
END_TEST

/* ---- order ---- */

START_TEST(notify_follows_data_and_order)
{
	uint64_t seed = world_seed((unsigned)_i);
	struct world_config config = {
		.seed = seed,
		.pending = seed & 1,
		.rails = 1 + seed % 2,
		.drop = 100,
		.reorder = 200,
	};
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;
	unsigned got = 0, sent = 0, done = 0;
	uint64_t end = pair.world->now + 30 * SECOND;

	while ((got < 60 || done < 60) && pair.world->now < end) {
		while (sent < 60 && sent < done + 30) {
			struct bcl_request *r;

			if (sent % 2) {
				r = request(pair.a, pair.to_b,
					    BCL_REQ_PUT_NOTIFY, pair.handle[1]);
				fill(pair.memory[0] + 12000 * sent, 12000,
				     sent);
				refer(r, pair.handle[0], 12000 * sent,
				      sent % 3 ? 12000 : 8);
				r->targ64 = 12000 * sent;
				r->arg32 = sent;
			} else {
				r = request(pair.a, pair.to_b, BCL_REQ_SYSTEM,
					    0);
				r->targ64 = sent;
			}
			world_submit(pair.a, r);
			sent++;
		}
		world_run_for(pair.world, MS / 10);
		while (world_received(pair.b, &entry)) {
			if (got % 2) {
				ck_assert_int_eq(entry.kind, BCL_CQ_NOTIFY);
				ck_assert_uint_eq(entry.arg32, got);
				ck_assert_uint_eq(entry.targ64, 12000 * got);
				ck_assert_uint_eq(entry.cookie, pair.handle[1]);
				ck_assert_mem_eq(pair.memory[1] + 12000 * got,
						 pair.memory[0] + 12000 * got,
						 entry.length);
			} else {
				ck_assert_int_eq(entry.kind, BCL_CQ_SYSTEM);
				ck_assert_uint_eq(entry.targ64, got);
			}
			got++;
			world_block_free(pair.b, entry.index);
		}
		while (world_sent(pair.a, &entry)) {
			ck_assert_int_eq(entry.status, BCL_OK);
			done++;
		}
	}
	ck_assert_uint_eq(got, 60);
	ck_assert_uint_eq(done, 60);
	free_pair(&pair);
}
END_TEST

/* No request behind a fence begins until all requests before the fence are
 * complete. */
START_TEST(fence)
{
	uint64_t seed = world_seed((unsigned)_i);
	struct world_config config = { .seed = seed,
				       .pending = seed & 1,
				       .drop = 50 };
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;
	struct bcl_request *r;
	unsigned order[4], n = 0;
	uint64_t one = 1;

	fill(pair.memory[0], BIG, 1);
	r = request(pair.a, pair.to_b, BCL_REQ_FENCE, 0); /* nothing before */
	world_submit(pair.a, r);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	r = request(pair.a, pair.to_b, BCL_REQ_PUT, pair.handle[1]);
	refer(r, pair.handle[0], 0, 200000);
	r->cookie = 0;
	world_submit(pair.a, r);
	r = request(pair.a, pair.to_b, BCL_REQ_FENCE, 0);
	r->cookie = 1;
	world_submit(pair.a, r);
	r = request(pair.a, pair.to_b, BCL_REQ_PUT, pair.handle[1]);
	r->inline_len = 8;
	r->length = 8;
	memcpy(r->inlined, &one, 8);
	r->targ64 = 300000;
	r->cookie = 2;
	world_submit(pair.a, r);
	r = request(pair.a, pair.to_b, BCL_REQ_FENCE, 0);
	r->cookie = 3;
	world_submit(pair.a, r);
	while (n < 4) {
		world_step(pair.world);
		ck_assert_uint_lt(pair.world->now, 60 * SECOND);
		if (word(pair.memory[1], 300000))
			ck_assert_mem_eq(pair.memory[1], pair.memory[0],
					 200000);
		while (world_sent(pair.a, &entry)) {
			ck_assert_int_eq(entry.status, BCL_OK);
			order[n++] = (unsigned)entry.cookie;
		}
	}
	for (n = 0; n < 4; n++)
		ck_assert_uint_eq(order[n], n);
	free_pair(&pair);
}
END_TEST

/* ---- everything at once, with everything going wrong ---- */

enum {
	OPS = 120,
	SLOT = 8192,
};

/* Kind and length of operation k of side s follow from k and s. */
static void submit_mixed(struct pair *pair, unsigned s, uint32_t k)
{
	struct world_port *port = s ? pair->b : pair->a;
	uint32_t node = s ? pair->to_a : pair->to_b;
	uint32_t length = (k * 977 + s * 131) % 7000;
	struct bcl_request *r = world_request(port);
	uint64_t add = nic_host64(1);

	r->node = node;
	r->dst_port = s ? 1 : 2;
	r->cookie = k;
	r->target = pair->handle[!s];
	switch (k % 4) {
	case 0: /* put my slot into the peer's */
		r->op = BCL_REQ_PUT;
		fill(pair->memory[s] + k / 4 * SLOT, length, k);
		refer(r, pair->handle[s], k / 4 * SLOT, length);
		r->targ64 = 40 * SLOT + k / 4 * SLOT;
		break;
	case 1: /* get constant bytes of the peer */
		r->op = BCL_REQ_GET;
		refer(r, pair->handle[s], 80 * SLOT + k / 4 * SLOT, length);
		r->targ64 = 120 * SLOT;
		break;
	case 2:
		r->op = BCL_REQ_FETCH_ADD;
		refer(r, pair->handle[s], 79 * SLOT + k * 8, 8);
		r->inline_len = 8;
		memcpy(r->inlined, &add, 8);
		r->targ64 = 39 * SLOT;
		break;
	case 3:
		r->op = BCL_REQ_SYSTEM;
		r->targ64 = k;
		r->length = 4;
		r->inline_len = 4;
		memcpy(r->inlined, &k, 4);
		break;
	}
	world_submit(port, r);
}

static void check_mixed(struct pair *pair, unsigned s, uint32_t k, bool *seen)
{
	uint32_t length = (k * 977 + s * 131) % 7000;
	uint64_t old;

	switch (k % 4) {
	case 0:
		ck_assert_mem_eq(pair->memory[!s] + (40 + k / 4) * SLOT,
				 pair->memory[s] + k / 4 * SLOT, length);
		break;
	case 1:
		ck_assert_mem_eq(pair->memory[s] + (80 + k / 4) * SLOT,
				 pair->memory[!s] + 120 * SLOT, length);
		break;
	case 2: /* each value is fetched exactly once */
		old = word(pair->memory[s], 79 * SLOT + k * 8);
		ck_assert_uint_lt(old, OPS / 4);
		ck_assert(!seen[old]);
		seen[old] = true;
		break;
	}
}

static void mixed(const struct world_config *config)
{
	struct pair pair = make_pair(config);
	struct world_port *port[2] = { pair.a, pair.b };
	uint32_t sent[2] = { 0 }, done[2] = { 0 }, next[2] = { 3, 3 };
	bool seen[2][OPS] = { 0 };
	struct bcl_completion entry;
	uint64_t end = pair.world->now + 60 * SECOND;

	for (unsigned s = 0; s < 2; s++)
		fill(pair.memory[s] + 120 * SLOT, SLOT, 44);
	while ((done[0] < OPS || done[1] < OPS || next[0] < OPS ||
		next[1] < OPS) &&
	       pair.world->now < end) {
		for (unsigned s = 0; s < 2; s++) {
			while (sent[s] < OPS && sent[s] < done[s] + 24)
				submit_mixed(&pair, s, sent[s]++);
			while (world_sent(port[s], &entry)) {
				ck_assert_int_eq(entry.status, BCL_OK);
				check_mixed(&pair, s, (uint32_t)entry.cookie,
					    seen[s]);
				done[s]++;
			}
			while (world_received(port[s], &entry)) {
				ck_assert_uint_eq(entry.targ64, next[!s]);
				next[!s] += 4;
				world_block_free(port[s], entry.index);
			}
		}
		world_run_for(pair.world, MS / 10);
	}
	if (pair.world->now >= end)
		world_dump(pair.world);
	for (unsigned s = 0; s < 2; s++) {
		ck_assert_uint_eq(done[s], OPS);
		ck_assert_uint_eq(word(pair.memory[s], 39 * SLOT), OPS / 4);
	}
	free_pair(&pair);
}

START_TEST(exactly_once)
{
	unsigned seeds = world_seeds(30);

	for (unsigned i = 0; i < seeds; i++) {
		uint64_t seed = world_seed(i);
		struct world_config config = {
			.seed = seed,
			.pending = seed % 2,
			.rails = 1 + seed / 2 % 2,
			.drop = 200,
			.duplicate = 200,
			.reorder = 200,
			.corrupt = 200,
			.busy = seed % 3 ? 0 : 50,
			.mtu = seed % 5 ? 1472 : 9000,
			.no_pcrc = false,
			.wrap = true,
		};

		world_note(seed);
		mixed(&config);
		world_note(0);
	}
}
END_TEST

START_TEST(four_gigabytes_less_one)
{
	struct world_config config = {
		.seed = 1, .mtu = 9000, .no_pcrc = true, .burst = 64
	};
	struct pair pair = make_pair(&config);
	uint32_t from = world_sink(pair.world, 0, 1, UINT32_MAX);
	uint32_t to = world_sink(pair.world, 1, 2, UINT32_MAX);
	struct bcl_request *r;

	r = request(pair.a, pair.to_b, BCL_REQ_PUT, to);
	refer(r, from, 0, UINT32_MAX);
	world_submit(pair.a, r);
	ck_assert_int_eq(finish(&pair, pair.a), BCL_OK);
	ck_assert_uint_eq(
		world_counter(pair.world, 1, BCL_CARD_bytes_delivered),
		UINT32_MAX);
	free_pair(&pair);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card memory");
	TCase *tcase = tcase_create("memory");

	tcase_set_timeout(tcase, 250);
	tcase_add_loop_test(tcase, put_and_get_any_length, 0, 4);
	tcase_add_loop_test(tcase, parts_are_joined, 0, 2);
	tcase_add_loop_test(tcase, system_messages, 0, 2);
	tcase_add_loop_test(tcase, channel_takes_one_message, 0, 2);
	tcase_add_loop_test(tcase, channel_generations, 0, 2);
	tcase_add_loop_test(tcase, channel_for_reading, 0, 2);
	tcase_add_loop_test(tcase, channel_is_read_once, 0, 2);
	tcase_add_loop_test(tcase, channel_ends_with_all_its_readers, 0,
			    (int)world_seeds(20));
	tcase_add_loop_test(tcase, atomics, 0, 2);
	tcase_add_loop_test(tcase, memory_is_protected, 0, 2);
	tcase_add_loop_test(tcase, no_such_port, 0, 2);
	tcase_add_loop_test(tcase, channel_without_memory, 0, 2);
	tcase_add_loop_test(tcase, channel_for_one_reader, 0, 2);
	tcase_add_loop_test(tcase, answers_are_not_mixed_up, 0, 4);
	tcase_add_test(tcase, bad_source);
	tcase_add_loop_test(tcase, notify_follows_data_and_order, 0,
			    (int)world_seeds(20));
	tcase_add_loop_test(tcase, fence, 0, (int)world_seeds(10));
	tcase_add_test(tcase, exactly_once);
	/* The last test takes 10 s, and minutes with a sanitizer. */
	if (tier_long() || !(UNIT_SLOW || FOREIGN))
		tcase_add_test(tcase, four_gigabytes_less_one);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
