/* SPDX-License-Identifier: MIT */
/*
 * The card path from the public interface down to frames: contexts on two
 * nodes as fibers on one thread, in virtual time.
 */
#include "link_rail.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <bcl/bcl.h>

#include "transport/card/queues.h"
#include "transport/context.h"
#include "transport/counters.h"

enum {
	SECOND = 1000000000,
	BIG = 300000,
};

struct side {
	unsigned number;
	const uint8_t *key; /* job key, or NULL */
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peer;
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;
	bool done;
};

static struct fiber_world *world;
static struct side sides[2];
static void (*script)(struct side *side);
static bool skip_up; /* the peer is not expected to come up */

/* ---- what the fibers share ---- */

static struct side *other(struct side *side)
{
	return &sides[!side->number];
}

static void let_others(void)
{
	const struct bcl_env *env = fiber_world_env(world);

	env->yield(env->world);
}

static uint64_t counter(struct side *side, const char *name)
{
	struct bcl_counter counters[BCL_NCOUNTERS];
	size_t n = BCL_NCOUNTERS, i;

	bcl_counters(side->context, counters, &n);
	for (i = 0; i < n; i++)
		if (!strcmp(counters[i].name, name))
			return counters[i].value;
	ck_abort_msg("no counter %s", name);
	return 0;
}

static void next(struct side *side, struct bcl_event *event)
{
	do
		ck_assert_int_eq(bcl_wait(side->port, 600ull * SECOND), BCL_OK);
	while (bcl_poll(side->port, event));
}

/* The next event but for peers that come up. */
static void expect(struct side *side, enum bcl_event_kind kind,
		   struct bcl_event *event)
{
	do
		next(side, event);
	while (event->kind == BCL_EVENT_PEER && kind != BCL_EVENT_PEER &&
	       !event->status);
	ck_assert_msg(event->kind == kind, "side %u: event %d, status %s",
		      side->number, event->kind, bcl_strstatus(event->status));
}

static void expect_ok(struct side *side, enum bcl_event_kind kind,
		      uint64_t cookie)
{
	struct bcl_event event;

	expect(side, kind, &event);
	ck_assert_msg(!event.status, "side %u, event %d: %s", side->number,
		      kind, bcl_strstatus(event.status));
	ck_assert_uint_eq(event.cookie, cookie);
}

static void say(struct side *side, unsigned type, const void *data,
		size_t length)
{
	const struct iovec iov = { (void *)data, length };
	enum bcl_status status;

	while ((status = bcl_send(side->peer, type, length, &iov, 1, 0)) ==
	       BCL_ERR_AGAIN)
		bcl_wait(side->port, 1000);
	ck_assert_int_eq(status, BCL_OK);
}

static void hear(struct side *side, unsigned type, void *data, size_t length)
{
	struct bcl_event event;

	expect(side, BCL_EVENT_MESSAGE, &event);
	ck_assert_uint_eq(event.type, type);
	ck_assert_uint_eq(event.length, length);
	ck_assert_uint_eq(event.immediate, length);
	ck_assert_ptr_eq(event.peer, side->peer);
	if (data)
		memcpy(data, event.data, length);
}

static void fill(uint8_t *bytes, size_t length, unsigned seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t)(i * 7 + (i >> 8) + seed);
}

static void check(const uint8_t *bytes, size_t length, unsigned seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (bytes[i] != (uint8_t)(i * 7 + (i >> 8) + seed))
			ck_abort_msg("byte %zu of %zu", i, length);
}

static void open_side(struct side *side)
{
	const struct bcl_context_options options = {
		.env = fiber_world_env(world),
		.job_key = side->key,
	};

	ck_assert_int_eq(bcl_open(&options, &side->context), BCL_OK);
	ck_assert_int_eq(bcl_port_open(side->context, NULL, &side->port),
			 BCL_OK);
	ck_assert_int_eq(
		bcl_port_address(side->port, side->address, &side->length),
		BCL_OK);
	while (!other(side)->length)
		let_others();
	ck_assert_int_eq(bcl_peer_open(side->port, other(side)->address,
				       other(side)->length, &side->peer),
			 BCL_OK);
}

static void run_side(void *arg)
{
	struct side *side = arg;
	struct bcl_peer_info info;

	open_side(side);
	if (!skip_up) {
		struct bcl_event event;

		next(side, &event);
		ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
		ck_assert_int_eq(event.status, BCL_OK);
		ck_assert_ptr_eq(event.peer, side->peer);
	}
	script(side);
	bcl_peer_info(side->peer, &info);
	if (info.state == BCL_PEER_UP)
		ck_assert_int_eq(info.path, BCL_PATH_CARD);
	side->done = true;
	/* What is on its way is finished before anyone leaves. */
	while (!other(side)->done) {
		struct bcl_event event;

		bcl_wait(side->port, 1000000);
		bcl_poll(side->port, &event);
	}
	bcl_close(side->context);
}

static void play(void (*what)(struct side *side))
{
	script = what;
	fiber_spawn(world, run_side, &sides[0]);
	fiber_spawn(world, run_side, &sides[1]);
	ck_assert_uint_eq(fiber_world_run(world, 3600ull * SECOND), 0);
}

static void setup(void)
{
	world = fiber_world_open(11, link_rails);
	link_world(world);
	skip_up = false;
	memset(sides, 0, sizeof(sides));
	sides[1].number = 1;
}

static void teardown(void)
{
	fiber_world_close(world);
}

/* ---- system messages ---- */

static void ping_pong(struct side *side)
{
	static const size_t lengths[] = {
		0, 1, 8, 160, 161, 1000, 1392, 1393, 4096, BCL_MESSAGE_MAX
	};
	uint8_t out[BCL_MESSAGE_MAX], in[BCL_MESSAGE_MAX];
	unsigned i;

	for (i = 0; i < 1000; i++) {
		size_t length = lengths[i % 10];

		fill(out, length, i);
		if (side->number == i % 2) {
			say(side, i % BCL_TYPES, out, length);
		} else {
			hear(side, i % BCL_TYPES, in, length);
			check(in, length, i);
		}
	}
	ck_assert_uint_eq(counter(side, "card.messages_delivered"), 500);
	ck_assert_uint_eq(counter(side, "card.retransmitted"), 0);
	ck_assert_uint_eq(counter(side, "core.peers_card"), 1);
}

START_TEST(messages_of_all_lengths)
{
	play(ping_pong);
}
END_TEST

/* Pieces by reference, in the request, packed; the event comes once. */
static void gather(struct side *side)
{
	static uint8_t bytes[4000];
	struct iovec iov[BCL_GATHER_MAX];
	uint8_t in[4000];
	unsigned n, i;

	fill(bytes, sizeof(bytes), 1);
	for (n = 1; n <= BCL_GATHER_MAX; n++) {
		size_t at = 0, piece = sizeof(bytes) / n;

		for (i = 0; i < n; i++, at += piece)
			iov[i] = (struct iovec){ bytes + at, piece };
		iov[0].iov_len = 40;
		iov[0].iov_base = bytes + piece - 40;
		at -= piece - 40;
		if (!side->number) {
			ck_assert_int_eq(bcl_send(side->peer, 3, at, iov, n, n),
					 BCL_OK);
			expect_ok(side, BCL_EVENT_SENT, n);
		} else {
			hear(side, 3, in, at);
			ck_assert_mem_eq(in, bytes + piece - 40, at);
		}
	}
}

START_TEST(gathered_messages)
{
	play(gather);
}
END_TEST

static void pack_in_place(struct side *side)
{
	static const size_t lengths[] = { 0, 10, 160, 2000, BCL_MESSAGE_MAX };
	uint8_t in[BCL_MESSAGE_MAX];
	unsigned i;
	void *room;

	for (i = 0; i < 5; i++) {
		if (side->number) {
			hear(side, 1, in, lengths[i] / 2);
			check(in, lengths[i] / 2, i);
			continue;
		}
		ck_assert_int_eq(bcl_reserve(side->peer, lengths[i], &room),
				 BCL_OK);
		fill(room, lengths[i], i);
		ck_assert_int_eq(bcl_commit(side->peer, 1, lengths[i] / 2,
					    lengths[i] / 2),
				 BCL_OK);
	}
}

START_TEST(packed_in_place)
{
	play(pack_in_place);
}
END_TEST

/* Far more than the receiver's ring holds, while it does not look. */
static void flood(struct side *side)
{
	unsigned i, n = 2000;

	if (!side->number) {
		for (i = 0; i < n; i++) {
			uint8_t out[64];

			fill(out, sizeof(out), i);
			say(side, 2, out, sizeof(out));
		}
		return;
	}
	fiber_compute(world, SECOND / 10);
	for (i = 0; i < n; i++) {
		uint8_t in[64];

		hear(side, 2, in, sizeof(in));
		check(in, sizeof(in), i);
	}
	ck_assert_uint_eq(counter(side, "card.messages_delivered"), n);
}

START_TEST(more_messages_than_blocks)
{
	fiber_setenv(world, "BCL_BLOCKS", "16");
	play(flood);
	fiber_setenv(world, "BCL_BLOCKS", NULL);
}
END_TEST

/* ---- remote memory access ---- */

static uint8_t region[BIG], local[BIG];

static struct bcl_memory *exchange_key(struct side *side, uint8_t *key)
{
	struct bcl_memory *memory = NULL;

	if (side->number) {
		ck_assert_int_eq(bcl_memory_register(
					 side->context, region, sizeof(region),
					 BCL_REMOTE_READ | BCL_REMOTE_WRITE |
						 BCL_REMOTE_ATOMIC,
					 &memory),
				 BCL_OK);
		bcl_memory_key(memory, key);
		say(side, 9, key, BCL_KEY_MAX);
	} else {
		hear(side, 9, key, BCL_KEY_MAX);
	}
	return memory;
}

static void access_memory(struct side *side)
{
	static const size_t lengths[] = { 0, 1, 160, 161, 5000, BIG - 3 };
	struct bcl_memory *memory;
	uint8_t key[BCL_KEY_MAX];
	struct bcl_event event;
	unsigned i;

	memset(region, 0, side->number ? sizeof(region) : 0);
	memory = exchange_key(side, key);
	if (side->number) {
		for (i = 0; i < 6; i++) {
			expect(side, BCL_EVENT_NOTIFY, &event);
			ck_assert_uint_eq(event.immediate, 1000 + i);
			ck_assert_uint_eq(event.type, i);
			ck_assert_uint_eq(event.length, lengths[i]);
			check(region + 3, lengths[i], i);
		}
		hear(side, 5, NULL, 0);
		bcl_memory_release(memory);
		say(side, 5, NULL, 0);
		return;
	}
	for (i = 0; i < 6; i++) {
		fill(local, lengths[i], i);
		ck_assert_int_eq(bcl_put_notify(side->peer, key, 3, local,
						lengths[i], i, 1000 + i, i),
				 BCL_OK);
		expect_ok(side, BCL_EVENT_SENT, i);
		memset(local, 0, lengths[i]);
		ck_assert_int_eq(
			bcl_get(side->peer, key, 3, local, lengths[i], 100 + i),
			BCL_OK);
		expect_ok(side, BCL_EVENT_SENT, 100 + i);
		check(local, lengths[i], i);
		fill(local, lengths[i], i + 50);
		ck_assert_int_eq(
			bcl_put(side->peer, key, 3, local, lengths[i], 200 + i),
			BCL_OK);
		expect_ok(side, BCL_EVENT_SENT, 200 + i);
		/* The other side looks at what was notified: restore it. */
		fill(local, lengths[i], i);
		ck_assert_int_eq(
			bcl_put(side->peer, key, 3, local, lengths[i], 300 + i),
			BCL_OK);
		expect_ok(side, BCL_EVENT_SENT, 300 + i);
	}
	ck_assert_int_eq(bcl_put(side->peer, key, BIG - 2, local, 3, 1),
			 BCL_ERR_MEMORY);
	say(side, 5, NULL, 0);
	hear(side, 5, NULL, 0);
	/* It is not registered any more. */
	ck_assert_int_eq(bcl_put(side->peer, key, 0, local, 1000, 7), BCL_OK);
	expect(side, BCL_EVENT_SENT, &event);
	ck_assert_int_eq(event.status, BCL_ERR_MEMORY);
	ck_assert_uint_eq(event.cookie, 7);
	ck_assert_int_eq(bcl_get(side->peer, key, 0, local, 1000, 8), BCL_OK);
	expect(side, BCL_EVENT_SENT, &event);
	ck_assert_int_eq(event.status, BCL_ERR_MEMORY);
}

START_TEST(puts_gets_and_notifications)
{
	play(access_memory);
}
END_TEST

/* The longest operations go by pieces; here they are short ones. */
static void access_by_pieces(struct side *side)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_event event;
	struct bcl_memory *memory = exchange_key(side, key);

	side->port->card->piece = 4096;
	if (side->number) {
		expect(side, BCL_EVENT_NOTIFY, &event);
		ck_assert_uint_eq(event.immediate, 77);
		check(region + 5, 100000, 3);
		hear(side, 5, NULL, 0);
		bcl_memory_release(memory);
		return;
	}
	fill(local, 100000, 3);
	ck_assert_int_eq(
		bcl_put_notify(side->peer, key, 5, local, 100000, 4, 77, 1),
		BCL_OK);
	ck_assert_int_eq(bcl_fence(side->peer, 2), BCL_ERR_AGAIN);
	expect(side, BCL_EVENT_SENT, &event);
	ck_assert_uint_eq(event.length, 100000);
	ck_assert_uint_eq(event.cookie, 1);
	memset(local, 0, 100000);
	ck_assert_int_eq(bcl_get(side->peer, key, 5, local, 100000, 3), BCL_OK);
	expect_ok(side, BCL_EVENT_SENT, 3);
	check(local, 100000, 3);
	ck_assert_int_eq(bcl_fence(side->peer, 2), BCL_OK);
	expect_ok(side, BCL_EVENT_SENT, 2);
	say(side, 5, NULL, 0);
}

START_TEST(long_accesses_go_by_pieces)
{
	play(access_by_pieces);
}
END_TEST

static void count_words(struct side *side)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_memory *memory;
	uint64_t word = 40, old[3];
	unsigned i;

	memcpy(region + 8, &word, side->number ? 8 : 0);
	memory = exchange_key(side, key);
	if (side->number) {
		hear(side, 5, NULL, 0);
		memcpy(&word, region + 8, 8);
		ck_assert_uint_eq(word, 7);
		bcl_memory_release(memory);
		return;
	}
	/* Operations are ordered by fences only. */
	ck_assert_int_eq(bcl_fetch_add(side->peer, key, 8, 2, &old[0], 0),
			 BCL_OK);
	ck_assert_int_eq(bcl_fence(side->peer, 1), BCL_OK);
	ck_assert_int_eq(
		bcl_compare_swap(side->peer, key, 8, 41, 0, &old[1], 2),
		BCL_OK);
	ck_assert_int_eq(bcl_fence(side->peer, 3), BCL_OK);
	ck_assert_int_eq(
		bcl_compare_swap(side->peer, key, 8, 42, 7, &old[2], 4),
		BCL_OK);
	for (i = 0; i < 5; i++)
		expect_ok(side, BCL_EVENT_SENT, i);
	ck_assert_uint_eq(old[0], 40);
	ck_assert_uint_eq(old[1], 42);
	ck_assert_uint_eq(old[2], 42);
	ck_assert_int_eq(bcl_fetch_add(side->peer, key, 12, 2, &old[0], 0),
			 BCL_ERR_ARG);
	say(side, 5, NULL, 0);
}

START_TEST(atomics_and_fences)
{
	play(count_words);
}
END_TEST

/* ---- rendezvous ---- */

static void offer_and_pull(struct side *side)
{
	static const size_t lengths[] = { 0, 1, 5000, BIG };
	uint8_t token[BCL_KEY_MAX];
	struct bcl_event event;
	unsigned i;

	for (i = 0; i < 8; i++) {
		size_t length = lengths[i % 4];

		/* By pieces the second time. */
		if (i >= 4)
			side->port->card->piece = 30000;
		if (!side->number) {
			fill(local, length, i);
			ck_assert_int_eq(
				bcl_offer(side->peer, local, length, i, token),
				BCL_OK);
			say(side, 6, token, sizeof(token));
			expect_ok(side, BCL_EVENT_READ, i);
			continue;
		}
		memset(region, 0, length);
		hear(side, 6, token, sizeof(token));
		ck_assert_int_eq(
			bcl_pull(side->peer, token, region, length + 1, 0),
			BCL_ERR_ARG);
		ck_assert_int_eq(bcl_pull(side->peer, token, region, length, i),
				 BCL_OK);
		expect(side, BCL_EVENT_PULLED, &event);
		ck_assert_int_eq(event.status, BCL_OK);
		ck_assert_uint_eq(event.cookie, i);
		ck_assert_uint_eq(event.length, length);
		check(region, length, i);
	}
}

START_TEST(offers_are_pulled)
{
	play(offer_and_pull);
}
END_TEST

static void offer_and_withdraw(struct side *side)
{
	uint8_t token[BCL_KEY_MAX];
	struct bcl_event event;

	if (!side->number) {
		fill(local, 1000, 1);
		ck_assert_int_eq(bcl_offer(side->peer, local, 1000, 1, token),
				 BCL_OK);
		ck_assert_int_eq(bcl_withdraw(side->peer, token), BCL_OK);
		ck_assert_int_eq(bcl_withdraw(side->peer, token), BCL_ERR_BUSY);
		say(side, 6, token, sizeof(token));
		hear(side, 6, NULL, 0);
	} else {
		hear(side, 6, token, sizeof(token));
		ck_assert_int_eq(bcl_pull(side->peer, token, region, 1000, 2),
				 BCL_OK);
		/* It has to find out that there is nothing to read; a later
		 * offer of the same channel settles it. */
		say(side, 6, NULL, 0);
	}
	if (!side->number) {
		ck_assert_int_eq(bcl_offer(side->peer, local, 1000, 3, token),
				 BCL_OK);
		say(side, 6, token, sizeof(token));
		expect_ok(side, BCL_EVENT_READ, 3);
		return;
	}
	expect(side, BCL_EVENT_MESSAGE, &event);
	memcpy(token, event.data, sizeof(token));
	expect(side, BCL_EVENT_PULLED, &event);
	ck_assert_uint_eq(event.cookie, 2);
	ck_assert_int_eq(event.status, BCL_ERR_NOPORT);
	ck_assert_int_eq(bcl_pull(side->peer, token, region, 1000, 4), BCL_OK);
	expect_ok(side, BCL_EVENT_PULLED, 4);
	check(region, 1000, 1);
}

START_TEST(a_withdrawn_offer_is_not_read)
{
	play(offer_and_withdraw);
}
END_TEST

/* Let some of the other side's reading happen. */
static void until_sent(struct side *side, uint64_t bytes)
{
	struct bcl_event event;
	uint64_t before = counter(side, "card.bytes_sent");

	while (counter(side, "card.bytes_sent") < before + bytes) {
		ck_assert_int_eq(bcl_poll(side->port, &event), BCL_ERR_EMPTY);
		let_others();
	}
}

static void withdraw_while_read(struct side *side)
{
	uint8_t token[BCL_KEY_MAX];

	if (!side->number) {
		fill(local, BIG, 2);
		ck_assert_int_eq(bcl_offer(side->peer, local, BIG, 1, token),
				 BCL_OK);
		say(side, 6, token, sizeof(token));
		until_sent(side, 5000);
		ck_assert_int_eq(bcl_withdraw(side->peer, token), BCL_ERR_BUSY);
		expect_ok(side, BCL_EVENT_READ, 1);
		return;
	}
	hear(side, 6, token, sizeof(token));
	ck_assert_int_eq(bcl_pull(side->peer, token, region, BIG, 2), BCL_OK);
	expect_ok(side, BCL_EVENT_PULLED, 2);
	check(region, BIG, 2);
}

START_TEST(an_offer_that_is_being_read_stays)
{
	play(withdraw_while_read);
}
END_TEST

static void release_while_read(struct side *side)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_memory *memory = exchange_key(side, key);
	struct bcl_event event;

	if (side->number) {
		until_sent(side, 5000);
		bcl_memory_release(memory);
		hear(side, 5, NULL, 0);
		return;
	}
	ck_assert_int_eq(bcl_get(side->peer, key, 0, local, BIG, 1), BCL_OK);
	expect(side, BCL_EVENT_SENT, &event);
	ck_assert_int_eq(event.status, BCL_ERR_MEMORY);
	say(side, 5, NULL, 0);
}

START_TEST(memory_goes_away_while_it_is_read)
{
	play(release_while_read);
}
END_TEST

static void release_while_written(struct side *side)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_memory *memory = exchange_key(side, key);
	struct bcl_event event;

	if (side->number) {
		while (counter(side, "host.bytes_placed") +
			       counter(side, "host.bytes_predicted") <
		       5000) {
			bcl_poll(side->port, &event);
			let_others();
		}
		bcl_memory_release(memory);
		hear(side, 5, NULL, 0);
		return;
	}
	ck_assert_int_eq(bcl_put(side->peer, key, 0, local, BIG, 1), BCL_OK);
	expect(side, BCL_EVENT_SENT, &event);
	ck_assert_int_eq(event.status, BCL_ERR_MEMORY);
	say(side, 5, NULL, 0);
}

START_TEST(memory_goes_away_while_it_is_written)
{
	play(release_while_written);
}
END_TEST

static void use_channels(struct side *side)
{
	struct bcl_event event;
	unsigned i;

	if (!side->number) {
		fill(local, BIG, 5);
		for (i = 0; i < 4; i++)
			ck_assert_int_eq(bcl_send_channel(side->peer, i % 2,
							  local, BIG / 4 + i,
							  i),
					 BCL_OK);
		for (i = 0; i < 4; i++) {
			expect(side, BCL_EVENT_SENT, &event);
			ck_assert_int_eq(event.status, BCL_OK);
		}
		ck_assert_int_eq(
			bcl_send_channel(side->peer, 999, local, 10, 9),
			BCL_OK);
		expect(side, BCL_EVENT_SENT, &event);
		ck_assert_int_eq(event.status, BCL_ERR_NOPORT);
		return;
	}
	/* Posted after the messages were sent; the last too short. */
	fiber_compute(world, 1000000);
	for (i = 0; i < 4; i++) {
		size_t room = i == 3 ? 1000 : BIG;

		memset(region, 0, BIG);
		ck_assert_int_eq(bcl_post(side->port, i % 2, region, room, i),
				 BCL_OK);
		ck_assert_int_eq(bcl_post(side->port, i % 2, region, room, i),
				 BCL_ERR_BUSY);
		expect(side, BCL_EVENT_CHANNEL, &event);
		ck_assert_uint_eq(event.cookie, i);
		if (i < 3) {
			ck_assert_int_eq(event.status, BCL_OK);
			check(region, event.length, 5);
		} else {
			ck_assert_int_eq(event.status, BCL_ERR_TRUNCATED);
			check(region, 1000, 5);
			ck_assert_uint_eq(region[1000], 0);
		}
	}
	ck_assert_int_eq(bcl_post(side->port, 0, region, 10, 9), BCL_OK);
	ck_assert_int_eq(bcl_unpost(side->port, 0), BCL_OK);
}

START_TEST(channels_wait_until_posted)
{
	play(use_channels);
}
END_TEST

/* ---- faults ---- */

static void everything(struct side *side)
{
	uint8_t token[BCL_KEY_MAX];
	struct bcl_event event;
	unsigned i;

	for (i = 0; i < 1000; i++) {
		uint8_t out[300], in[300];

		fill(out, sizeof(out), i);
		if (side->number == i % 3 % 2) {
			say(side, 2, out, i % 300);
		} else {
			hear(side, 2, in, i % 300);
			check(in, i % 300, i);
		}
	}
	if (!side->number) {
		fill(local, BIG, 9);
		ck_assert_int_eq(bcl_offer(side->peer, local, BIG, 1, token),
				 BCL_OK);
		say(side, 6, token, sizeof(token));
		expect_ok(side, BCL_EVENT_READ, 1);
	} else {
		hear(side, 6, token, sizeof(token));
		ck_assert_int_eq(bcl_pull(side->peer, token, region, BIG, 2),
				 BCL_OK);
		expect(side, BCL_EVENT_PULLED, &event);
		ck_assert_int_eq(event.status, BCL_OK);
		check(region, BIG, 9);
	}
	ck_assert_uint_gt(counter(side, "fault.dropped"), 100);
	ck_assert_uint_gt(counter(side, "fault.duplicated"), 100);
	ck_assert_uint_gt(counter(side, "fault.reordered"), 100);
	ck_assert_uint_gt(counter(side, "fault.corrupted"), 100);
	ck_assert_uint_gt(counter(side, "card.retransmitted"), 10);
	ck_assert_uint_gt(counter(side, "card.dropped_duplicate"), 10);
	ck_assert_uint_gt(counter(side, "card.dropped_hcrc") +
				  counter(side, "card.dropped_pcrc"),
			  10);
}

START_TEST(all_faults_at_once)
{
	char plan[80];

	snprintf(plan, sizeof(plan),
		 "drop:20%%,dup:20%%,reorder:20%%,corrupt:20%%,seed:%d", _i);
	fiber_setenv(world, "BCL_FAULT", plan);
	fiber_setenv(world, "BCL_LOG", "error");
	play(everything);
	fiber_setenv(world, "BCL_FAULT", NULL);
}
END_TEST

static void lose_peer(struct side *side)
{
	uint8_t token[BCL_KEY_MAX], in[8];
	struct bcl_event event;
	unsigned i, sent = 0, read = 0;

	if (side->number) {
		say(side, 1, "12345678", 8);
		hear(side, 1, in, 8);
		link_cut(1, true);
		return;
	}
	hear(side, 1, in, 8);
	ck_assert_int_eq(bcl_offer(side->peer, local, 100, 50, token), BCL_OK);
	say(side, 1, in, 8);
	while (!other(side)->done)
		let_others();
	for (i = 0; i < 5; i++) {
		const struct iovec iov = { in, 8 };

		ck_assert_int_eq(bcl_send(side->peer, 1, 0, &iov, 1, i + 1),
				 BCL_OK);
	}
	/* Everything that was on its way is told, then the loss, once. */
	while (sent < 5) {
		expect(side, BCL_EVENT_SENT, &event);
		ck_assert_int_eq(event.status, BCL_ERR_DEAD);
		sent++;
	}
	while (!read) {
		next(side, &event);
		ck_assert_int_eq(event.status, BCL_ERR_DEAD);
		if (event.kind == BCL_EVENT_READ)
			read++;
		else
			ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	}
	ck_assert_uint_eq(event.cookie, 50);
	ck_assert_int_eq(bcl_send(side->peer, 1, 0, NULL, 0, 0), BCL_ERR_DEAD);
	ck_assert_uint_eq(counter(side, "core.peers_lost"), 1);
}

START_TEST(a_silent_peer_is_lost)
{
	fiber_setenv(world, "BCL_PEER_TIMEOUT", "1s");
	play(lose_peer);
	fiber_setenv(world, "BCL_PEER_TIMEOUT", NULL);
}
END_TEST

static void refused(struct side *side)
{
	struct bcl_event event;

	next(side, &event);
	ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	ck_assert_int_eq(event.status, BCL_ERR_JOBKEY);
	ck_assert_int_eq(bcl_send(side->peer, 1, 0, NULL, 0, 0),
			 BCL_ERR_JOBKEY);
}

START_TEST(another_job_is_refused)
{
	static const uint8_t key[16] = { 1 };

	sides[1].key = key;
	skip_up = true;
	play(refused);
}
END_TEST

static void unreachable(struct side *side)
{
	struct bcl_event event;

	ck_assert_int_eq(bcl_send(side->peer, 1, 0, NULL, 0, 0), BCL_ERR_AGAIN);
	link_cut(1, true);
	next(side, &event);
	ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	ck_assert_int_eq(event.status, BCL_ERR_UNREACHABLE);
	ck_assert_int_eq(bcl_send(side->peer, 1, 0, NULL, 0, 0),
			 BCL_ERR_UNREACHABLE);
}

START_TEST(nobody_answers)
{
	fiber_setenv(world, "BCL_PEER_TIMEOUT", "1s");
	skip_up = true;
	play(unreachable);
	fiber_setenv(world, "BCL_PEER_TIMEOUT", NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card path");
	TCase *tcase = tcase_create("card path");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, messages_of_all_lengths);
	tcase_add_test(tcase, gathered_messages);
	tcase_add_test(tcase, packed_in_place);
	tcase_add_test(tcase, more_messages_than_blocks);
	tcase_add_test(tcase, puts_gets_and_notifications);
	tcase_add_test(tcase, long_accesses_go_by_pieces);
	tcase_add_test(tcase, atomics_and_fences);
	tcase_add_test(tcase, offers_are_pulled);
	tcase_add_test(tcase, a_withdrawn_offer_is_not_read);
	tcase_add_test(tcase, an_offer_that_is_being_read_stays);
	tcase_add_test(tcase, memory_goes_away_while_it_is_read);
	tcase_add_test(tcase, memory_goes_away_while_it_is_written);
	tcase_add_test(tcase, channels_wait_until_posted);
	tcase_add_loop_test(tcase, all_faults_at_once, 0, 4);
	tcase_add_test(tcase, a_silent_peer_is_lost);
	tcase_add_test(tcase, another_job_is_refused);
	tcase_add_test(tcase, nobody_answers);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
