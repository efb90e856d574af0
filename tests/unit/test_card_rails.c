/* SPDX-License-Identifier: MIT */
/* The card core: several rails, and rails that come and go. */
#include "unit.h"

#include <string.h>

#include <nicfw/card.h>

#include "card_world.h"

static const uint64_t MS = 1000000, SECOND = 1000000000;

enum {
	BIG = 1 << 20,
};

struct pair {
	struct world *world;
	struct world_port *port[2];
	uint32_t node[2];
	uint8_t *memory[2];
	uint32_t handle[2];
	uint32_t sent[2], done[2], received[2];
	uint64_t added[2];
};

static struct pair make_pair(const struct world_config *config)
{
	struct pair pair = { .world = world_new(config) };

	for (unsigned s = 0; s < 2; s++) {
		pair.port[s] = world_port_open(pair.world, s, 1);
		pair.memory[s] = calloc(1, 2 * BIG);
		pair.handle[s] = world_memory(
			pair.world, s, 1, pair.memory[s], 2 * BIG,
			BCL_MEM_REMOTE_WRITE | BCL_MEM_REMOTE_ATOMIC |
				BCL_MEM_REMOTE_READ);
	}
	pair.node[0] = world_connect(pair.world, 0, 1);
	pair.node[1] = world_connect(pair.world, 1, 0);
	world_run_for(pair.world, 100 * MS);
	return pair;
}

static void free_pair(struct pair *pair)
{
	world_free(pair->world);
	free(pair->memory[0]);
	free(pair->memory[1]);
}

static unsigned rails_of(const struct pair *pair, unsigned s)
{
	struct bcl_node_info info;

	ck_assert_int_eq(bcl_card_node_info(pair->world->card[s].card,
					    pair->node[s], &info),
			 BCL_OK);
	ck_assert_int_eq(info.state, BCL_NODE_UP);
	return info.rails;
}

static uint8_t byte_of(unsigned s, uint32_t k, uint32_t i)
{
	return (uint8_t)(s * 100 + k * 13 + i * 3 + (i >> 8));
}

/* By turns: a short message, a long put with notification, an add. */
static void submit(struct pair *pair, unsigned s)
{
	struct bcl_request *r = world_request(pair->port[s]);
	uint32_t k = pair->sent[s]++, length = 20000 + k % 5 * 1000;
	uint8_t *from = pair->memory[s] + k / 3 % 16 * 32768;
	uint64_t one = 1;

	r->node = pair->node[s];
	r->dst_port = 1;
	r->targ64 = k;
	switch (k % 3) {
	case 0:
		r->op = BCL_REQ_SYSTEM;
		r->targ64 = k;
		break;
	case 1:
		r->op = BCL_REQ_PUT_NOTIFY;
		for (uint32_t i = 0; i < length; i++)
			from[i] = byte_of(s, k, i);
		r->refs[0] = (struct bcl_memref){ k / 3 % 16 * 32768,
						  pair->handle[s], length };
		r->nref = 1;
		r->length = length;
		r->target = pair->handle[!s];
		r->targ64 = BIG + k / 3 % 16 * 32768;
		r->arg32 = k;
		break;
	case 2:
		r->op = BCL_REQ_FETCH_ADD;
		r->target = pair->handle[!s];
		r->targ64 = BIG - 8;
		r->refs[0] =
			(struct bcl_memref){ BIG - 16, pair->handle[s], 8 };
		r->nref = 1;
		r->inline_len = 8;
		memcpy(r->inlined, &one, 8);
		pair->added[!s]++;
		break;
	}
	world_submit(pair->port[s], r);
}

static void take(struct pair *pair, unsigned s)
{
	struct bcl_completion entry;
	uint32_t k, i;
	uint8_t *at;

	while (world_sent(pair->port[s], &entry)) {
		ck_assert_int_eq(entry.status, BCL_OK);
		pair->done[s]++;
	}
	while (world_received(pair->port[s], &entry)) {
		k = pair->received[s]++;
		k = k / 2 * 3 + k % 2;
		if (k % 3 == 0) {
			ck_assert_uint_eq(entry.targ64, k);
		} else {
			ck_assert_uint_eq(entry.arg32, k);
			at = pair->memory[s] + entry.targ64;
			for (i = 0; i < entry.length; i++)
				if (at[i] != byte_of(!s, k, i))
					break;
			ck_assert_uint_eq(i, entry.length);
		}
		world_block_free(pair->port[s], entry.index);
	}
}

/* Both sides send at the same time, until each has sent n requests. */
static void exchange(struct pair *pair, uint32_t n)
{
	uint64_t end = pair->world->now + 60 * SECOND;

	while ((pair->done[0] < n || pair->done[1] < n) &&
	       pair->world->now < end) {
		for (unsigned s = 0; s < 2; s++) {
			while (pair->sent[s] < n &&
			       pair->sent[s] < pair->done[s] + 30)
				submit(pair, s);
			take(pair, s);
		}
		world_run_for(pair->world, MS / 10);
	}
	if (pair->world->now >= end)
		world_dump(pair->world);
	for (unsigned s = 0; s < 2; s++) {
		uint64_t sum;

		take(pair, s);
		ck_assert_uint_eq(pair->done[s], n);
		ck_assert_uint_eq(pair->received[s], n / 3 * 2);
		memcpy(&sum, pair->memory[s] + BIG - 8, 8);
		ck_assert_uint_eq(sum, pair->added[s]);
	}
}

START_TEST(each_is_proved)
{
	struct world_config config = { .seed = 1, .rails = 4, .pending = _i };
	struct pair pair = make_pair(&config);

	ck_assert_uint_eq(rails_of(&pair, 0), 15);
	ck_assert_uint_eq(rails_of(&pair, 1), 15);
	exchange(&pair, 30);
	free_pair(&pair);
}
END_TEST

static unsigned data_frames[BCL_RAILS_MAX];
static unsigned longest[BCL_RAILS_MAX];

static bool count_rails(struct world *world, struct world_frame *frame)
{
	(void)world;
	if ((frame->bytes[3] & 0x3f) == BCL_FRAME_DATA) {
		data_frames[frame->rail]++;
		if (frame->length > longest[frame->rail])
			longest[frame->rail] = frame->length;
	}
	return true;
}

START_TEST(short_and_long_have_their_own)
{
	struct world_config config = { .seed = 1, .rails = 3 };
	struct pair pair = make_pair(&config);

	memset(data_frames, 0, sizeof(data_frames));
	memset(longest, 0, sizeof(longest));
	pair.world->filter = count_rails;
	exchange(&pair, 30);
	ck_assert_uint_gt(data_frames[0], 0);
	ck_assert_uint_lt(longest[0], 500);
	ck_assert_uint_eq(data_frames[1], 0);
	ck_assert_uint_gt(data_frames[2], 100);
	free_pair(&pair);
}
END_TEST

/* A rail falls silent amid the traffic and comes back. Then the second rail
 * falls silent. */
START_TEST(failover)
{
	uint64_t seed = world_seed((unsigned)_i);
	struct world_config config = {
		.seed = seed,
		.pending = seed & 1,
		.rails = 2,
		.stripe = seed / 8 % 2,
		.drop = seed & 2 ? 100 : 0,
		.duplicate = seed & 2 ? 100 : 0,
		.reorder = seed & 2 ? 100 : 0,
		.wrap = true,
	};
	struct pair pair = make_pair(&config);
	unsigned first = seed / 4 % 2;

	for (unsigned s = 0; s < 2; s++)
		for (unsigned i = 0; i < 20; i++)
			submit(&pair, s);
	world_run_for(pair.world, world_random(pair.world, MS));
	world_link(pair.world, 0, 1, first, false);
	exchange(&pair, 60);
	ck_assert_uint_eq(rails_of(&pair, 0), 2u >> first);
	ck_assert_uint_gt(
		world_counter(pair.world, 0, BCL_CARD_rails_lost) +
			world_counter(pair.world, 1, BCL_CARD_rails_lost),
		0);
	world_link(pair.world, 0, 1, first, true);
	world_run_for(pair.world, 6 * SECOND);
	ck_assert_uint_eq(rails_of(&pair, 0), 3);
	ck_assert_uint_eq(rails_of(&pair, 1), 3);
	for (unsigned s = 0; s < 2; s++)
		for (unsigned i = 0; i < 20; i++)
			submit(&pair, s);
	world_run_for(pair.world, world_random(pair.world, MS));
	world_link(pair.world, 0, 1, !first, false);
	exchange(&pair, 120);
	ck_assert_uint_eq(rails_of(&pair, 0), 1u << first);
	free_pair(&pair);
}
END_TEST

static void set_rail(struct pair *pair, unsigned s, unsigned rail, bool up,
		     uint32_t mtu)
{
	struct bcl_control control = { .op = BCL_CTL_RAIL };

	control.rail.number = rail;
	control.rail.up = up;
	control.rail.mtu = mtu;
	control.rail.burst = 16;
	control.rail.window = 1 << 20;
	control.rail.small = rail == 0;
	control.rail.bulk = pair->world->config.stripe ||
			    rail + 1 == pair->world->config.rails;
	ck_assert_int_eq(world_control(pair->world, s, &control, NULL), BCL_OK);
}

/* Interfaces go down and up and change their MTU under traffic. */
START_TEST(interfaces_change)
{
	uint64_t seed = world_seed((unsigned)_i);
	struct world_config config = {
		.seed = seed,
		.pending = seed & 1,
		.rails = 1 + seed / 2 % 3,
		.stripe = seed / 6 % 2,
		.drop = 50,
		.mtu = 9000,
	};
	struct pair pair = make_pair(&config);
	uint32_t n = 0;

	for (unsigned round = 0; round < 12; round++) {
		unsigned rail = world_random(pair.world, config.rails);
		unsigned s = world_random(pair.world, 2);

		n += 6;
		for (unsigned i = 0; i < 2; i++)
			while (pair.sent[i] < n)
				submit(&pair, i);
		world_run_for(pair.world, world_random(pair.world, MS));
		if (round % 3 == 0) {
			set_rail(&pair, s, rail, false, 0);
			world_run_for(pair.world,
				      world_random(pair.world, 100 * MS));
		}
		set_rail(&pair, s, rail, true, round % 2 ? 1500 : 9000);
		exchange(&pair, n);
	}
	world_run_for(pair.world, 6 * SECOND);
	ck_assert_uint_eq(rails_of(&pair, 0), (1u << config.rails) - 1);
	free_pair(&pair);
}
END_TEST

/* The only rail is down for a while. All requests wait, and nothing is lost. */
START_TEST(only_rail)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);

	submit(&pair, 0);
	submit(&pair, 0);
	submit(&pair, 0);
	set_rail(&pair, 0, 0, false, 0);
	world_run_for(pair.world, SECOND);
	set_rail(&pair, 0, 0, true, 1472);
	pair.sent[1] = 0;
	exchange(&pair, 3);
	free_pair(&pair);
}
END_TEST

/* Send n messages, each long enough for a frame of its own. */
static void say(struct pair *pair, unsigned n)
{
	struct bcl_request *r;

	while (n--) {
		r = world_request(pair->port[0]);
		r->op = BCL_REQ_SYSTEM;
		r->node = pair->node[0];
		r->dst_port = 1;
		r->refs[0] = (struct bcl_memref){ 0, pair->handle[0], 1000 };
		r->nref = 1;
		r->length = 1000;
		world_submit(pair->port[0], r);
	}
}

/*
 * The first of many messages goes by rail 1, which dies for good. The later
 * messages go by rail 0, and the receiver holds as many early messages as it
 * may. The window of rail 0 is full of messages without room at the receiver.
 * The first message must go by rail 0 all the same.
 */
START_TEST(first_by_dead_rail)
{
	struct world_config config = {
		.seed = world_seed((unsigned)_i),
		.pending = _i & 1,
		.rails = 2,
		.blocks = 128,
	};
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;
	unsigned received = 0;

	set_rail(&pair, 0, 0, false, 0);
	world_run_for(pair.world, MS);
	world_link(pair.world, 0, 1, 1, false);
	say(&pair, 1);
	world_run_for(pair.world, MS / 10);
	set_rail(&pair, 0, 0, true, 1472);
	world_run_for(pair.world, MS);
	say(&pair, 100);
	world_run_for(pair.world, 10 * SECOND);
	while (world_received(pair.port[1], &entry))
		received++;
	ck_assert_uint_eq(received, 101);
	ck_assert_uint_eq(rails_of(&pair, 0), 1);
	free_pair(&pair);
}
END_TEST

/* ---- rails that the wire refuses ---- */

static void refuse(struct pair *pair, unsigned rail)
{
	struct world_card *card = &pair->world->card[0];

	bcl_card_node_gone(card->card, pair->node[0], rail, BCL_ERR_DEAD,
			   pair->world->now, 64, &card->next);
}

static unsigned losses(const struct pair *pair)
{
	return pair->world->card[0].node[pair->node[0]].losses;
}

/* Card 0 calls card 1 by two rails, and has no answer yet. */
static struct pair make_caller(void)
{
	const struct world_config config = { .seed = 1, .rails = 2 };
	struct pair pair = { .world = world_new(&config) };

	pair.port[0] = world_port_open(pair.world, 0, 1);
	pair.port[1] = world_port_open(pair.world, 1, 1);
	world_link(pair.world, 0, 1, 1, false);
	pair.node[0] = world_connect(pair.world, 0, 1);
	return pair;
}

static uint64_t hellos(const struct pair *pair)
{
	return world_counter(pair->world, 0, BCL_CARD_hellos_sent);
}

/* A foreign host has the peer's second address, and refuses each HELLO. */
START_TEST(another_has_the_address)
{
	struct pair pair = make_caller();
	uint64_t before, end;

	refuse(&pair, 1);
	world_run_for(pair.world, 10 * MS);
	ck_assert_uint_eq(rails_of(&pair, 0), 1);
	before = hellos(&pair);
	/* Rail 0 waits for an answer during the refusals. */
	world_link(pair.world, 0, 1, 0, false);
	ck_assert(world_send(pair.port[0], pair.node[0], 1, "x", 1, 0));
	for (end = pair.world->now + SECOND / 2; pair.world->now < end;) {
		world_run_for(pair.world, MS);
		refuse(&pair, 1);
	}
	world_link(pair.world, 0, 1, 0, true);
	world_run_for(pair.world, SECOND);
	ck_assert_uint_eq(losses(&pair), 0);
	ck_assert_uint_eq(rails_of(&pair, 0), 1);
	/* Refusals do not make the calls more frequent: 2, 4, 8, ... ms. */
	ck_assert_uint_lt(hellos(&pair) - before, 100);
	ck_assert_uint_gt(world_counter(pair.world, 0, BCL_CARD_rails_refused),
			  400);
	world_free(pair.world);
}
END_TEST

START_TEST(refused_by_all_that_are_called)
{
	struct pair pair = make_caller();

	refuse(&pair, 1);
	ck_assert_uint_eq(losses(&pair), 0);
	refuse(&pair, 0);
	ck_assert_uint_eq(losses(&pair), 1);
	ck_assert_int_eq(pair.world->card[0].node[pair.node[0]].status,
			 BCL_ERR_DEAD);
	world_free(pair.world);
}
END_TEST

/* A firewall closes the way of rail 1, which led to the peer. The way of rail 0
 * loses frames, but card 0 hears the peer by rail 0 now and then. */
START_TEST(another_rail_vouches)
{
	const struct world_config config = {
		.seed = world_seed((unsigned)_i),
		.rails = 2,
		.drop = 300,
	};
	struct pair pair = make_pair(&config);
	uint64_t end;

	world_run_for(pair.world, SECOND);
	ck_assert_uint_eq(rails_of(&pair, 0), 3);
	world_link(pair.world, 0, 1, 1, false);
	for (end = pair.world->now + SECOND; pair.world->now < end;) {
		refuse(&pair, 1);
		submit(&pair, 0);
		world_run_for(pair.world, 10 * MS);
	}
	ck_assert_uint_eq(losses(&pair), 0);
	ck_assert_uint_eq(rails_of(&pair, 0), 1);
	free_pair(&pair);
}
END_TEST

/* A rail is refused, and the second rail has fallen silent. */
START_TEST(no_other_rail_vouches)
{
	const struct world_config config = { .seed = 1, .rails = 2 };
	struct pair pair = make_pair(&config);
	uint64_t end, timeout = pair.world->config.peer_timeout;

	ck_assert_uint_eq(rails_of(&pair, 0), 3);
	world_kill(pair.world, 1);
	refuse(&pair, _i);
	ck_assert_uint_eq(losses(&pair), 0);
	for (end = pair.world->now + timeout / 16; pair.world->now < end;) {
		world_run_for(pair.world, 10 * MS);
		refuse(&pair, _i);
	}
	ck_assert_uint_eq(losses(&pair), 1);
	free_pair(&pair);
}
END_TEST

/* ---- pairs of rails ---- */

struct catch
{
	struct world_frame hello; /* by rail 1 */
	bool caught, cut;
	unsigned answers; /* of card 1, by rail 0, to rail 1 of card 0 */
};

/* Pass HELLOs of card 0 and all frames of card 1, by rail 0 only. So card 0
 * believes the answer of card 1, but card 1 does not hear of the success. */
static bool catch_frames(struct world *world, struct world_frame *frame)
{
	struct catch *catch = world->filter_arg;
	const struct bcl_frame_header *header = (const void *)frame->bytes;
	unsigned kind = header->kind & ~BCL_FRAME_PCRC;

	if (frame->from == 0 && kind == BCL_FRAME_HELLO && frame->rail == 1) {
		catch->hello = *frame;
		catch->caught = true;
	}
	if (frame->from == 1 && kind == BCL_FRAME_HELLO_ACK &&
	    bcl_get32(header->conn) & 1)
		catch->answers++;
	return frame->rail == 0 &&
	       (frame->from == 1 || kind == BCL_FRAME_HELLO) && !catch->cut;
}

/* Rail 1 of card 0 calls by a way that leads to rail 0 of card 1, which has
 * just answered rail 0 of card 0. If card 1 answered both, card 1 would take
 * frames of two rails for frames of one. But an answer that may be lost does
 * not bar rail 1 for ever. */
START_TEST(one_rail_is_not_paired_with_two)
{
	const struct world_config config = { .seed = 1, .rails = 2 };
	struct pair pair = { .world = world_new(&config) };
	static struct catch catch;

	world_port_open(pair.world, 0, 1);
	world_port_open(pair.world, 1, 1);
	pair.world->filter = catch_frames;
	pair.world->filter_arg = &catch;
	pair.node[0] = world_connect(pair.world, 0, 1);
	world_run_for(pair.world, MS);
	ck_assert_uint_eq(rails_of(&pair, 0), 1);
	ck_assert(catch.caught);
	catch.cut = true;
	world_inject(pair.world, 0, 1, 0, catch.hello.bytes,
		     catch.hello.length);
	world_run_for(pair.world, MS);
	ck_assert_uint_eq(catch.answers, 0);
	world_run_for(pair.world, 2 * SECOND);
	world_inject(pair.world, 0, 1, 0, catch.hello.bytes,
		     catch.hello.length);
	world_run_for(pair.world, MS);
	ck_assert_uint_eq(catch.answers, 1);
	world_free(pair.world);
}
END_TEST

/* ---- back-off ---- */

START_TEST(backoff)
{
	const uint64_t most = UINT32_MAX;
	static const struct {
		uint64_t wait;
		unsigned times;
		uint64_t longest, is;
	} rows[] = {
		{ 2, 0, 100, 2 },
		{ 2, 1, 100, 4 },
		{ 2, 5, 100, 64 },
		{ 2, 6, 100, 100 },
		{ 64, 1, 100, 100 },
		{ 100, 1, 100, 100 },
		{ 200, 1, 100, 100 },
		{ 2, 255, 100, 100 },
		{ 1u << 31, 1, most, most },
		{ most, 1, most, most },
		{ 1u << 31, 1, 1ull << 40, most },
		{ 1ull << 40, 3, 1ull << 50, most },
	};

	ck_assert_uint_eq(
		nic_backoff(rows[_i].wait, rows[_i].times, rows[_i].longest),
		rows[_i].is);
}
END_TEST

/* Rail 1 stays unproved. HELLOs grow rare but do not end, even if the peer may
 * be silent for an hour. */
START_TEST(calls_grow_rare)
{
	const struct world_config config = {
		.seed = 1,
		.rails = 2,
		.peer_timeout = 3600 * SECOND,
	};
	struct pair pair = { .world = world_new(&config) };
	uint64_t before, end;

	world_port_open(pair.world, 0, 1);
	world_port_open(pair.world, 1, 1);
	world_link(pair.world, 0, 1, 1, false);
	pair.node[0] = world_connect(pair.world, 0, 1);
	world_run_for(pair.world, 2 * SECOND);
	ck_assert_uint_eq(rails_of(&pair, 0), 1);
	before = hellos(&pair);
	/* Step by step: world_run_for() would never return if a card called
	 * without a pause. */
	end = pair.world->now + 100 * SECOND;
	while (pair.world->now < end && hellos(&pair) < before + 30)
		world_step(pair.world);
	ck_assert_uint_gt(hellos(&pair), before);
	ck_assert_uint_lt(hellos(&pair), before + 30);
	world_free(pair.world);
}
END_TEST

/* Rails that carried frames with messages from card to card, as bits. */
struct ways {
	unsigned rails[WORLD_CARDS][WORLD_CARDS];
};

static bool note_way(struct world *world, struct world_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;
	struct ways *ways = world->filter_arg;

	if ((header->kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK)) ==
	    BCL_FRAME_DATA)
		ways->rails[frame->from][frame->to] |= 1u << frame->rail;
	return true;
}

/* Short messages of a connection take the same rail both ways, so that
 * acknowledgements travel in answers. Short messages of many connections take
 * all rails. */
START_TEST(short_ones_of_many_peers_share_the_rails)
{
	struct world_config config = {
		.seed = 1,
		.cards = WORLD_CARDS,
		.rails = 2 + (unsigned)_i,
		.share = true,
		.connections = WORLD_CARDS,
	};
	struct world *world = world_new(&config);
	struct world_port *port[WORLD_CARDS];
	uint32_t node[WORLD_CARDS], back[WORLD_CARDS];
	struct ways ways = { 0 };
	unsigned seen = 0, rail, i;

	for (i = 0; i < WORLD_CARDS; i++)
		port[i] = world_port_open(world, i, 1);
	for (i = 1; i < WORLD_CARDS; i++) {
		node[i] = world_connect(world, 0, i);
		back[i] = world_connect(world, i, 0);
	}
	world_run_for(world, 100 * MS);
	world->filter = note_way;
	world->filter_arg = &ways;
	for (i = 1; i < WORLD_CARDS; i++) {
		ck_assert(world_send(port[0], node[i], 1, "there", 5, i));
		ck_assert(world_send(port[i], back[i], 1, "back", 4, i));
	}
	world_run_for(world, 100 * MS);
	for (i = 1; i < WORLD_CARDS; i++) {
		rail = ways.rails[0][i];
		ck_assert_msg(rail && !(rail & (rail - 1)), "rails %x", rail);
		ck_assert_uint_eq(ways.rails[i][0], rail);
		seen |= rail;
	}
	ck_assert_uint_eq(seen, (1u << config.rails) - 1);
	world_free(world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card rails");
	TCase *tcase = tcase_create("rails");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, each_is_proved, 0, 2);
	tcase_add_test(tcase, short_and_long_have_their_own);
	tcase_add_loop_test(tcase, short_ones_of_many_peers_share_the_rails, 0,
			    3);
	tcase_add_loop_test(tcase, failover, 0, (int)world_seeds(40));
	tcase_add_loop_test(tcase, interfaces_change, 0, (int)world_seeds(24));
	tcase_add_loop_test(tcase, only_rail, 0, 2);
	tcase_add_loop_test(tcase, first_by_dead_rail, 0, (int)world_seeds(8));
	tcase_add_test(tcase, another_has_the_address);
	tcase_add_test(tcase, refused_by_all_that_are_called);
	tcase_add_loop_test(tcase, another_rail_vouches, 0,
			    (int)world_seeds(8));
	tcase_add_loop_test(tcase, no_other_rail_vouches, 0, 2);
	tcase_add_test(tcase, one_rail_is_not_paired_with_two);
	tcase_add_loop_test(tcase, backoff, 0, 12);
	tcase_add_test(tcase, calls_grow_rare);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
