/* SPDX-License-Identifier: MIT */
/* The card core: handshake, liveness, and the end of connections. */
#include "unit.h"

#include <string.h>

#include "card_world.h"

static const uint64_t MS = 1000000, SECOND = 1000000000;

struct pair {
	struct world *world;
	struct world_port *a, *b;
	uint32_t to_b, to_a; /* nodes */
};

/* Card 0 calls card 1. A test sets to_a when card 1 connects with card 0. */
static struct pair make_pair(const struct world_config *config)
{
	struct pair pair = { .world = world_new(config) };

	pair.a = world_port_open(pair.world, 0, 1);
	pair.b = world_port_open(pair.world, 1, 2);
	pair.to_b = world_connect(pair.world, 0, 1);
	pair.to_a = BCL_NODE_NONE;
	return pair;
}

static const struct world_node *node_of(const struct pair *pair, unsigned card)
{
	return &pair->world->card[card].node[card ? pair->to_a : pair->to_b];
}

static unsigned completions(struct world_port *port, enum bcl_status status)
{
	struct bcl_completion entry;
	unsigned n = 0;

	while (world_sent(port, &entry)) {
		ck_assert_int_eq(entry.status, status);
		n++;
	}
	return n;
}

static unsigned arrivals(struct world_port *port)
{
	struct bcl_completion entry;
	unsigned n = 0;

	while (world_received(port, &entry)) {
		world_block_free(port, entry.index);
		n++;
	}
	return n;
}

/* One message gets through. */
static void works(struct pair *pair)
{
	ck_assert(world_send(pair->a, pair->to_b, pair->b->number, "x", 1, 0));
	world_run_for(pair->world, 100 * MS);
	ck_assert_uint_eq(completions(pair->a, BCL_OK), 1);
	ck_assert_uint_eq(arrivals(pair->b), 1);
}

START_TEST(both_call)
{
	uint64_t seed = world_seed((unsigned)_i);
	struct world_config config = {
		.seed = seed,
		.rails = 1 + seed % 3,
		.drop = 200,
		.duplicate = 200,
		.reorder = 200,
		.corrupt = 200,
	};
	struct pair pair = make_pair(&config);

	if (seed & 1)
		world_run_for(pair.world, world_random(pair.world, 10000));
	pair.to_a = world_connect(pair.world, 1, 0);
	ck_assert(world_send(pair.a, pair.to_b, 2, "to b", 4, 0));
	ck_assert(world_send(pair.b, pair.to_a, 1, "to a", 4, 0));
	world_run_for(pair.world, SECOND);
	ck_assert_uint_eq(completions(pair.a, BCL_OK), 1);
	ck_assert_uint_eq(completions(pair.b, BCL_OK), 1);
	ck_assert_uint_eq(arrivals(pair.a), 1);
	ck_assert_uint_eq(arrivals(pair.b), 1);
	for (unsigned card = 0; card < 2; card++) {
		struct bcl_node_info info;

		ck_assert_uint_eq(node_of(&pair, card)->ups, 1);
		ck_assert_uint_eq(node_of(&pair, card)->losses, 0);
		ck_assert_int_eq(
			bcl_card_node_info(pair.world->card[card].card,
					   card ? pair.to_a : pair.to_b, &info),
			BCL_OK);
		ck_assert_int_eq(info.state, BCL_NODE_UP);
		ck_assert_uint_eq(info.rails,
				  (1u << pair.world->config.rails) - 1);
	}
	world_free(pair.world);
}
END_TEST

static bool first_ping_is_lost(struct world *world, struct world_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;

	if ((header->kind & ~BCL_FRAME_PCRC) != BCL_FRAME_PING)
		return true;
	world->filter = NULL;
	return false;
}

/* DATA that arrives before PING does not tell card 1 the address of card 0. */
START_TEST(only_ping_tells_the_address)
{
	struct world_config config = { .seed = 1, .rails = 1 + _i };
	struct pair pair = make_pair(&config);
	unsigned i;

	pair.world->filter = first_ping_is_lost;
	for (i = 0; i < 5; i++)
		ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	world_run_for(pair.world, 20 * MS);
	ck_assert(!pair.world->filter);
	ck_assert_uint_eq(completions(pair.a, BCL_OK), 5);
	ck_assert_uint_eq(arrivals(pair.b), 5);
	pair.to_a = world_connect(pair.world, 1, 0);
	ck_assert(world_send(pair.b, pair.to_a, 1, "x", 1, 0));
	world_run_for(pair.world, MS);
	ck_assert_uint_eq(arrivals(pair.a), 1);
	world_free(pair.world);
}
END_TEST

START_TEST(other_job)
{
	struct world_config config = { .seed = 1, .odd_key = 1 + _i };
	struct pair pair = make_pair(&config);

	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	world_run_for(pair.world, 10 * MS);
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_JOBKEY), 1);
	ck_assert_uint_eq(arrivals(pair.b), 0);
	ck_assert_int_eq(node_of(&pair, 0)->state, BCL_NODE_LOST);
	ck_assert_int_eq(node_of(&pair, 0)->status, BCL_ERR_JOBKEY);
	ck_assert_uint_gt(world_counter(pair.world, 1, BCL_CARD_refuses_sent),
			  0);
	world_free(pair.world);
}
END_TEST

/* Pretend that card 0 speaks the next version of the protocol. */
static bool other_version(struct world *world, struct world_frame *frame)
{
	(void)world;
	frame->bytes[2] = BCL_WIRE_VERSION + (frame->from == 0);
	world_seal(frame->bytes, frame->length, 0);
	return true;
}

START_TEST(version_is_refused)
{
	struct world_config config = { .seed = 1 };
	struct pair pair = { .world = world_new(&config) };

	pair.world->filter = other_version;
	pair.a = world_port_open(pair.world, 0, 1);
	pair.to_b = world_connect(pair.world, 0, 1);
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	world_run_for(pair.world, 10 * MS);
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_VERSION), 1);
	ck_assert_int_eq(node_of(&pair, 0)->status, BCL_ERR_VERSION);
	world_free(pair.world);
}
END_TEST

static struct world_frame refusal;

static bool keep_refusal(struct world *world, struct world_frame *frame)
{
	(void)world;
	if ((frame->bytes[3] & ~BCL_FRAME_PCRC) == BCL_FRAME_REFUSE)
		refusal = *frame;
	return true;
}

/* A HELLO of version 2 ends before the fields for nonce and proof, and half of
 * the key lies where the nonce is now. */
START_TEST(old_version_is_answered)
{
	enum {
		HEAD = sizeof(struct bcl_frame_header),
	};
	struct world_config config = { .seed = 1 };
	struct world *world = world_new(&config);
	uint8_t frame[HEAD + BCL_HELLO_LEAST] = { 0 };
	struct bcl_frame_header *header = (void *)frame;
	struct bcl_refuse body;
	const struct bcl_le32 conn = bcl_put32(0x12345670);
	const struct bcl_le64 card = bcl_put64(world_card_id(world, 0));

	refusal.length = 0;
	world->filter = keep_refusal;
	*header = (struct bcl_frame_header){
		.magic = bcl_put16(BCL_WIRE_MAGIC),
		.version = BCL_WIRE_NONCE - 1,
		.kind = BCL_FRAME_HELLO | BCL_FRAME_PCRC,
		.card = bcl_put64(world_card_id(world, 1)),
	};
	memcpy(frame + HEAD, &card, sizeof(card));
	memset(frame + HEAD + 16, 0x5a, BCL_KEY_SIZE);
	memcpy(frame + HEAD + 40, &conn, sizeof(conn));
	world_seal(frame, sizeof(frame), 0);
	world_inject(world, 0, 1, 0, frame, sizeof(frame));
	world_run_for(world, MS);
	ck_assert_uint_eq(refusal.length, BCL_FRAME_MIN);
	header = (void *)refusal.bytes;
	ck_assert_uint_eq(header->version, BCL_WIRE_NONCE - 1);
	ck_assert_uint_eq(bcl_get32(header->conn), 0x12345670);
	ck_assert_uint_eq(bcl_get64(header->card), world_card_id(world, 0));
	memcpy(&body, header + 1, sizeof(body));
	ck_assert_uint_eq(bcl_get32(body.reason), BCL_ERR_VERSION);
	ck_assert_uint_eq(bcl_get32(body.wire_version), BCL_WIRE_VERSION);
	ck_assert_uint_eq(bcl_get64(body.nonce), 0);
	world_free(world);
}
END_TEST

START_TEST(nobody_there)
{
	struct world_config config = { .seed = 1, .peer_timeout = SECOND };
	struct pair pair = make_pair(&config);

	world_link(pair.world, 0, 1, 0, false);
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	world_run_for(pair.world, SECOND - 10 * MS);
	ck_assert_uint_eq(completions(pair.a, BCL_OK), 0);
	world_run_for(pair.world, 20 * MS);
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_UNREACHABLE), 1);
	/* the interval between HELLOs doubles from 200 us to 20 ms */
	ck_assert_uint_lt(world_counter(pair.world, 0, BCL_CARD_hellos_sent),
			  70);
	/* requests fail at once until the host connects again */
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_UNREACHABLE), 1);
	world_link(pair.world, 0, 1, 0, true);
	ck_assert_uint_eq(world_connect(pair.world, 0, 1), pair.to_b);
	works(&pair);
	world_free(pair.world);
}
END_TEST

START_TEST(silence_is_death)
{
	struct world_config config = { .seed = 1, .peer_timeout = SECOND };
	struct pair pair = make_pair(&config);
	uint64_t frames;

	works(&pair);
	world_link(pair.world, 0, 1, 0, false);
	for (unsigned i = 0; i < 40; i++)
		ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	frames = pair.world->card[0].frames;
	world_run_for(pair.world, 890 * MS);
	ck_assert_uint_eq(completions(pair.a, BCL_OK), 0);
	/* One frame per time-out, which grows to 20 ms, and a HELLO. */
	ck_assert_uint_lt(pair.world->card[0].frames - frames, 140);
	world_run_for(pair.world, 210 * MS);
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_DEAD), 40);
	ck_assert_int_eq(node_of(&pair, 0)->state, BCL_NODE_LOST);
	ck_assert_int_eq(node_of(&pair, 0)->status, BCL_ERR_DEAD);
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_DEAD), 1);
	world_link(pair.world, 0, 1, 0, true);
	world_connect(pair.world, 0, 1);
	works(&pair);
	world_free(pair.world);
}
END_TEST

START_TEST(idle_is_not)
{
	struct world_config config = { .seed = 1,
				       .peer_timeout = SECOND,
				       .drop = 200 };
	struct pair pair = make_pair(&config);
	uint64_t frames;

	works(&pair);
	frames = pair.world->card[0].frames;
	world_run_for(pair.world, 30 * SECOND);
	ck_assert_int_eq(node_of(&pair, 0)->state, BCL_NODE_UP);
	ck_assert_uint_lt(pair.world->card[0].frames - frames, 300);
	works(&pair);
	/* card 0 also notices the death of an idle peer */
	world_kill(pair.world, 1);
	world_run_for(pair.world, 1100 * MS);
	ck_assert_int_eq(node_of(&pair, 0)->state, BCL_NODE_LOST);
	ck_assert_int_eq(node_of(&pair, 0)->status, BCL_ERR_DEAD);
	world_free(pair.world);
}
END_TEST

/* A debugger stops both cards. When both go on, no peer counts as dead. */
START_TEST(absence_is_not)
{
	struct world_config config = { .seed = 1, .peer_timeout = SECOND };
	struct pair pair = make_pair(&config);

	works(&pair);
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	pair.world->now += 100 * SECOND;
	world_run_for(pair.world, SECOND);
	ck_assert_uint_eq(completions(pair.a, BCL_OK), 1);
	ck_assert_uint_eq(arrivals(pair.b), 1);
	ck_assert_uint_eq(node_of(&pair, 0)->losses, 0);
	world_free(pair.world);
}
END_TEST

/* The address of a card changes, and the card does not know. */
START_TEST(who_moves_is_found)
{
	struct world_config config = { .seed = 1, .rails = 1 + _i % 2 };
	struct pair pair = make_pair(&config);
	unsigned mover = _i / 2 % 2;

	works(&pair);
	pair.to_a = world_connect(pair.world, 1, 0);
	world_move(pair.world, mover);
	if (_i / 4) { /* the moved card sends first */
		ck_assert(world_send(mover ? pair.b : pair.a,
				     mover ? pair.to_a : pair.to_b,
				     mover ? 1 : 2, "x", 1, 0));
		world_run_for(pair.world, 200 * MS);
		ck_assert_uint_eq(completions(mover ? pair.b : pair.a, BCL_OK),
				  1);
		ck_assert_uint_eq(arrivals(mover ? pair.a : pair.b), 1);
	}
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	ck_assert(world_send(pair.b, pair.to_a, 1, "x", 1, 0));
	world_run_for(pair.world, 200 * MS);
	ck_assert_uint_eq(completions(pair.a, BCL_OK), 1);
	ck_assert_uint_eq(completions(pair.b, BCL_OK), 1);
	ck_assert_uint_eq(arrivals(pair.a), 1);
	ck_assert_uint_eq(arrivals(pair.b), 1);
	ck_assert_uint_eq(node_of(&pair, 0)->losses, 0);
	ck_assert_uint_eq(node_of(&pair, 1)->losses, 0);
	world_free(pair.world);
}
END_TEST

/* A card moves while neither card has a message to send. */
START_TEST(who_moves_idly_is_found)
{
	struct world_config config = { .seed = 1,
				       .rails = 1 + _i % 2,
				       .peer_timeout = SECOND };
	struct pair pair = make_pair(&config);

	works(&pair);
	pair.to_a = world_connect(pair.world, 1, 0);
	world_move(pair.world, _i / 2);
	world_run_for(pair.world, 3 * SECOND);
	works(&pair);
	ck_assert_uint_eq(node_of(&pair, 0)->losses, 0);
	ck_assert_uint_eq(node_of(&pair, 1)->losses, 0);
	world_free(pair.world);
}
END_TEST

static void open_again(struct pair *pair)
{
	world_kill(pair->world, 1);
	world_revive(pair->world, 1);
	pair->b = world_port_open(pair->world, 1, 2);
}

/* A card that knows the key of another job may call a card there. The called
 * card may call back. */
START_TEST(other_job_by_its_key)
{
	struct world_config config = { .seed = 1, .odd_key = 1 + _i };
	struct pair pair = { .world = world_new(&config) };

	pair.a = world_port_open(pair.world, 0, 1);
	pair.b = world_port_open(pair.world, 1, 2);
	pair.to_b = world_connect_by(pair.world, 0, 1,
				     pair.world->card[1].config.key);
	works(&pair);
	ck_assert_uint_eq(world_counter(pair.world, 1, BCL_CARD_refuses_sent),
			  0);
	open_again(&pair);
	pair.to_a = world_connect(pair.world, 1, 0);
	ck_assert(world_send(pair.b, pair.to_a, 1, "x", 1, 0));
	world_run_for(pair.world, 1000 * MS);
	ck_assert_uint_eq(completions(pair.b, BCL_OK), 1);
	ck_assert_uint_eq(arrivals(pair.a), 1);
	world_free(pair.world);
}
END_TEST

/* Card 1 begins a new life and knows nothing of the connection. Card 0 fails
 * all open requests to the old life. */
START_TEST(new_life_is_found_by_reset)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);

	works(&pair);
	open_again(&pair);
	for (unsigned i = 0; i < 5; i++)
		ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	world_run_for(pair.world, 50 * MS);
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_RESET), 5);
	ck_assert_uint_eq(arrivals(pair.b), 0);
	ck_assert_uint_gt(world_counter(pair.world, 1, BCL_CARD_resets_sent),
			  0);
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	world_run_for(pair.world, MS);
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_RESET), 1);
	world_connect(pair.world, 0, 1);
	works(&pair);
	world_free(pair.world);
}
END_TEST

static struct world_frame kept[64];
static unsigned nkept;

/* Keep the frames of card 1. */
static bool keep(struct world *world, struct world_frame *frame)
{
	(void)world;
	if (frame->from == 1 && nkept < 64)
		kept[nkept++] = *frame;
	return true;
}

START_TEST(new_life_calls)
{
	uint64_t seed = world_seed((unsigned)_i);
	struct world_config config = { .seed = seed, .reorder = 100 };
	struct pair pair = make_pair(&config);
	unsigned i;

	nkept = 0;
	pair.world->filter = keep;
	pair.to_a = world_connect(pair.world, 1, 0);
	works(&pair);
	ck_assert(world_send(pair.b, pair.to_a, 1, "old", 3, 0));
	world_run_for(pair.world, 50 * MS);
	ck_assert_uint_eq(arrivals(pair.a), 1);
	pair.world->filter = NULL;

	/* Messages to the old life are in progress when the new life calls. */
	world_link(pair.world, 0, 1, 0, false);
	for (i = 0; i < 3; i++)
		ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	open_again(&pair);
	world_link(pair.world, 0, 1, 0, true);
	pair.to_a = world_connect(pair.world, 1, 0);
	ck_assert(world_send(pair.b, pair.to_a, 1, "new", 3, 0));
	world_run_for(pair.world, 50 * MS);
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_RESET), 3);
	ck_assert_uint_eq(completions(pair.b, BCL_OK), 1);
	ck_assert_uint_eq(arrivals(pair.a), 1);
	ck_assert_uint_eq(arrivals(pair.b), 0);

	/* Late frames of the old life, HELLO included, have no effect. */
	world_connect(pair.world, 0, 1);
	for (i = 0; i < nkept; i++)
		world_inject(pair.world, 1, 0, 0, kept[i].bytes,
			     kept[i].length);
	works(&pair);
	ck_assert_uint_eq(arrivals(pair.a), 0);
	world_run_for(pair.world, SECOND);
	for (i = 0; i < nkept; i++)
		world_inject(pair.world, 1, 0, 0, kept[i].bytes,
			     kept[i].length);
	works(&pair);
	ck_assert_uint_eq(arrivals(pair.a), 0);
	ck_assert_int_eq(node_of(&pair, 0)->state, BCL_NODE_UP);
	world_free(pair.world);
}
END_TEST

static struct world_frame call; /* the first HELLO of card 0 */

/* Pass only frames that the first life of card 1 needs to come up. Keep the
 * call of card 0 and the later frames of card 1. */
static bool first_life(struct world *world, struct world_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;
	unsigned kind = header->kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK);

	if (frame->from == 0 && kind == BCL_FRAME_HELLO) {
		if (!call.length)
			call = *frame;
		return false;
	}
	if (frame->from == 0 || kind == BCL_FRAME_HELLO)
		return true;
	if (kind != BCL_FRAME_PING) /* a PING would prove the first life */
		keep(world, frame);
	return false;
}

/* Card 0 has answered the first life of card 1, and a second life answers card
 * 0. Both lives know the same connection id of card 0. */
START_TEST(two_lives_answer)
{
	struct world_config config = { .seed = 1, .first = _i };
	struct pair pair = { .world = world_new(&config) };

	nkept = 0;
	call.length = 0;
	pair.world->filter = first_life;
	pair.a = world_port_open(pair.world, 0, 1);
	pair.b = world_port_open(pair.world, 1, 2);
	pair.to_b = world_connect(pair.world, 0, 1);
	pair.to_a = world_connect(pair.world, 1, 0);
	ck_assert(world_send(pair.b, pair.to_a, 1, "old", 3, 0));
	world_run_for(pair.world, MS);
	ck_assert_uint_gt(nkept, 0);
	open_again(&pair);
	pair.world->filter = NULL;
	world_inject(pair.world, 0, 1, 0, call.bytes, call.length);
	world_run_for(pair.world, MS);
	for (unsigned i = 0; i < nkept; i++)
		world_inject(pair.world, 1, 0, 0, kept[i].bytes,
			     kept[i].length);
	world_run_for(pair.world, SECOND);
	ck_assert_uint_eq(arrivals(pair.a), 0);
	works(&pair);
	world_free(pair.world);
}
END_TEST

START_TEST(resets_are_bounded)
{
	struct world_config config = { .seed = 1 };
	struct pair pair = make_pair(&config);
	struct bcl_frame_header header = {
		.magic = bcl_put16(BCL_WIRE_MAGIC),
		.version = BCL_WIRE_VERSION,
		.kind = BCL_FRAME_PING,
		.card = bcl_put64(world_card_id(pair.world, 1)),
	};
	uint8_t frame[80] = { 0 };

	works(&pair);
	for (unsigned i = 0; i < 1000; i++) {
		header.conn = bcl_put32(0x12345678 + 4 * i);
		memcpy(frame, &header, sizeof(header));
		world_seal(frame, sizeof(frame), 0);
		world_inject(pair.world, 0, 1, 0, frame, sizeof(frame));
	}
	world_run_for(pair.world, MS);
	ck_assert_uint_le(world_counter(pair.world, 1, BCL_CARD_resets_sent),
			  32);
	ck_assert_uint_ge(world_counter(pair.world, 1, BCL_CARD_answers_spared),
			  900);
	works(&pair); /* RESETs for unknown ids do no harm */
	world_free(pair.world);
}
END_TEST

static void control_node(struct pair *pair, unsigned card, uint32_t op,
			 uint32_t node)
{
	struct bcl_control control = { .op = op, .node = node };

	ck_assert_int_eq(world_control(pair->world, card, &control, NULL),
			 BCL_OK);
}

START_TEST(disconnect)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);

	works(&pair);
	pair.to_a = world_connect(pair.world, 1, 0);
	/* idle: nothing is lost, and the next request connects again */
	control_node(&pair, 1, BCL_CTL_DISCONNECT, pair.to_a);
	world_run_for(pair.world, MS);
	ck_assert_int_eq(node_of(&pair, 0)->state, BCL_NODE_CLOSED);
	works(&pair);
	/* busy: card 1 cancels its requests, and those of card 0 fail */
	pair.to_a = world_connect(pair.world, 1, 0);
	world_run_for(pair.world, MS);
	pair.world->config.drop = 1000;
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	ck_assert(world_send(pair.b, pair.to_a, 1, "x", 1, 0));
	world_run_for(pair.world, MS / 10);
	pair.world->config.drop = 0;
	control_node(&pair, 1, BCL_CTL_DISCONNECT, pair.to_a);
	ck_assert_uint_eq(completions(pair.b, BCL_ERR_CANCELLED), 1);
	world_run_for(pair.world, MS / 10);
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_DEAD), 1);
	world_free(pair.world);
}
END_TEST

static uint32_t called_by; /* the connection id in the last HELLO */

static bool note_the_caller(struct world *world, struct world_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;
	const struct bcl_hello *hello =
		(const void *)(frame->bytes + sizeof(*header));

	(void)world;
	if ((header->kind & ~BCL_FRAME_PCRC) == BCL_FRAME_HELLO)
		called_by = bcl_get32(hello->conn);
	return true;
}

/* If ids were used again, a late frame would be taken for a frame of the new
 * connection, and the reader of a trace would mix up two connections. */
START_TEST(no_connection_has_the_id_of_an_earlier_one)
{
	enum {
		TIMES = 2000
	};
	static uint32_t ids[TIMES];
	struct world_config config = { .seed = 1, .nodes = 1 << 14 };
	struct pair pair = make_pair(&config);
	unsigned i, j;

	pair.world->filter = note_the_caller;
	for (i = 0; i < TIMES; i++) {
		works(&pair);
		pair.to_a = world_connect(pair.world, 1, 0);
		control_node(&pair, 1, BCL_CTL_DISCONNECT, pair.to_a);
		world_run_for(pair.world, MS);
		called_by = 0;
		works(&pair);
		ids[i] = called_by;
		ck_assert_uint_ne(ids[i], 0);
		for (j = 0; j < i; j++)
			ck_assert_uint_ne(ids[i], ids[j]);
	}
	world_free(pair.world);
}
END_TEST

START_TEST(isolation)
{
	struct world_config config = { .seed = 1 };
	struct pair pair = make_pair(&config);

	works(&pair);
	pair.to_a = world_connect(pair.world, 1, 0);
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	control_node(&pair, 0, BCL_CTL_ISOLATE, pair.to_b);
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_ISOLATED), 1);
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_ISOLATED), 1);
	world_run_for(pair.world, MS);
	ck_assert_uint_le(arrivals(pair.b), 1);
	/* card 1 learns the reason */
	ck_assert(world_send(pair.b, pair.to_a, 1, "x", 1, 0));
	world_run_for(pair.world, 50 * MS);
	ck_assert_uint_eq(completions(pair.b, BCL_ERR_RESET), 1);
	world_connect(pair.world, 1, 0);
	world_run_for(pair.world, 50 * MS);
	ck_assert_int_eq(node_of(&pair, 1)->status, BCL_ERR_ISOLATED);
	control_node(&pair, 0, BCL_CTL_REJOIN, pair.to_b);
	world_connect(pair.world, 1, 0);
	works(&pair);
	world_free(pair.world);
}
END_TEST

/* A request that the card has not read yet ends with the loss of its node, even
 * if the card finds the node again at once. */
START_TEST(what_was_asked_before_a_loss_ends_with_it)
{
	struct world_config config = { .seed = 1, .pending = true };
	struct pair pair = make_pair(&config);

	works(&pair);
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	ck_assert_uint_eq(world_counter(pair.world, 0, BCL_CARD_messages_sent),
			  1);
	control_node(&pair, 0, BCL_CTL_ISOLATE, pair.to_b);
	control_node(&pair, 0, BCL_CTL_REJOIN, pair.to_b);
	ck_assert_uint_eq(world_connect(pair.world, 0, 1), pair.to_b);
	world_run_for(pair.world, 50 * MS);
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_ISOLATED), 1);
	ck_assert_uint_eq(arrivals(pair.b), 0);
	works(&pair);
	world_free(pair.world);
}
END_TEST

START_TEST(evidence)
{
	struct world_config config = { .seed = 1 };
	struct pair pair = make_pair(&config);
	struct world_card *card = &pair.world->card[0];

	works(&pair);
	world_link(pair.world, 0, 1, 0, false);
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
	bcl_card_node_gone(card->card, pair.to_b, 0, BCL_ERR_DEAD,
			   pair.world->now, 64, &card->next);
	world_run_for(pair.world, 10 * MS);
	ck_assert_uint_eq(completions(pair.a, BCL_ERR_DEAD), 1);
	world_free(pair.world);
}
END_TEST

static void set_rail(const struct pair *pair, bool up)
{
	const struct bcl_control control = {
		.op = BCL_CTL_RAIL,
		.rail = { .up = up,
			  .mtu = 1472,
			  .burst = 16,
			  .window = 1 << 20,
			  .bulk = 1 },
	};

	ck_assert_int_eq(world_control(pair->world, 0, &control, NULL), BCL_OK);
}

static bool all_of_0_is_lost(struct world *world, struct world_frame *frame)
{
	(void)world;
	return frame->from != 0;
}

/* Card 1 has called, and the answers of card 0 are lost. Then card 0 calls card
 * 1 while the only rail of card 0 is down. Either the rail comes up in time, or
 * card 0 ends the call like any call without an answer. */
START_TEST(called_by_whom_it_calls)
{
	struct pair pair = {
		.world = world_new(&(struct world_config){ .seed = 1 }),
	};
	bool in_time = _i;

	pair.a = world_port_open(pair.world, 0, 1);
	pair.b = world_port_open(pair.world, 1, 2);
	pair.world->filter = all_of_0_is_lost;
	pair.to_a = world_connect(pair.world, 1, 0);
	world_run_for(pair.world, MS);
	set_rail(&pair, false);
	pair.to_b = world_connect(pair.world, 0, 1);
	if (in_time) {
		pair.world->filter = NULL;
		set_rail(&pair, true);
	}
	world_run_for(pair.world, 2 * pair.world->config.peer_timeout);
	ck_assert_uint_eq(node_of(&pair, 0)->ups, in_time);
	ck_assert_uint_eq(node_of(&pair, 0)->losses, !in_time);
	if (!in_time)
		ck_assert_int_eq(node_of(&pair, 0)->status,
				 BCL_ERR_UNREACHABLE);
	world_free(pair.world);
}
END_TEST

/* ---- card memory ---- */

/* The card has room for one connection, and the connection there is busy. A
 * second connection waits for the room. If the first never becomes idle,
 * requests to the second node fail with FULL. */
START_TEST(busy_connections_keep_their_memory)
{
	struct world_config config = {
		.seed = 1,
		.cards = 3,
		.ports = 1,
		.connections = 1,
		.delay = 2 * MS,
		.peer_timeout = SECOND,
	};
	unsigned arrived = 0, sent = 0;
	uint64_t evicted, refused;
	int status = BCL_OK;
	bool gives_way = _i;
	struct pair pair = make_pair(&config);
	struct world_port *third = world_port_open(pair.world, 2, 3);
	const struct world_node *node;
	struct bcl_completion entry;
	uint32_t to_third;

	world_run_for(pair.world, 100 * MS);
	/* card 0 keeps the third node, and works() takes the connection back */
	to_third = world_connect_later(pair.world, 0, 2, 10 * MS);
	node = &pair.world->card[0].node[to_third];
	world_run_for(pair.world, 100 * MS);
	works(&pair);
	evicted = world_counter(pair.world, 0, BCL_CARD_evicted);
	refused = world_counter(pair.world, 0, BCL_CARD_dropped_arena);
	for (unsigned ms = 0; ms < 1500; ms++) {
		if (ms == 100)
			ck_assert(world_send(pair.a, to_third, 3, "y", 1, 7));
		/* several messages are always in flight */
		if (ms < 500 || !gives_way)
			ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 0));
		world_run_for(pair.world, MS);
		arrived += arrivals(pair.b);
		while (world_sent(pair.a, &entry)) {
			if (entry.status)
				status = entry.status;
			else
				sent++;
		}
		if (ms == 400) {
			ck_assert_uint_gt(world_counter(pair.world, 0,
							BCL_CARD_dropped_arena),
					  refused + 10);
			ck_assert_uint_eq(
				world_counter(pair.world, 0, BCL_CARD_evicted),
				evicted);
		}
	}
	world_run_for(pair.world, 100 * MS);
	arrived += arrivals(pair.b);
	sent += completions(pair.a, BCL_OK);
	ck_assert_uint_eq(arrived, gives_way ? 500 : 1500);
	ck_assert_uint_eq(sent, arrived + gives_way);
	ck_assert_uint_eq(arrivals(third), gives_way);
	ck_assert_int_eq(status, gives_way ? BCL_OK : BCL_ERR_FULL);
	ck_assert_int_eq(node->state, gives_way ? BCL_NODE_UP : BCL_NODE_LOST);
	ck_assert_int_eq(node->status, gives_way ? BCL_OK : BCL_ERR_FULL);
	ck_assert_uint_eq(world_counter(pair.world, 0, BCL_CARD_evicted),
			  evicted + gives_way);
	ck_assert_uint_eq(node_of(&pair, 0)->losses, 0);
	world_free(pair.world);
}
END_TEST

static uint64_t no_chance(void *host)
{
	(void)host;
	return 1;
}

/* A card with room for many nodes writes no memory for unknown nodes. */
START_TEST(unknown_nodes_are_not_touched)
{
	enum {
		MANY = 100000
	};
	struct world_config small = { .seed = 1 };
	struct world *world = world_new(&small);
	struct bcl_card_config config = world->card[0].config;
	uint32_t size, i, touched = 0;
	const struct bcl_hal hal = { .size = sizeof(hal),
				     .features = BCL_HAL_GATHER,
				     .random = no_chance };
	uint8_t *arena;

	config.max_nodes = MANY;
	size = bcl_card_arena(&config, 1, 1, 0);
	arena = aligned_alloc(64, (size + 63) & ~63u);
	ck_assert_ptr_nonnull(arena);
	memset(arena, 0, size);
	ck_assert_ptr_nonnull(bcl_card_open(arena, size, &hal, NULL, &config));
	for (i = 0; i < size; i++)
		touched += arena[i] != 0;
	ck_assert_uint_lt(touched, MANY);
	free(arena);
	world_free(world);
}
END_TEST

START_TEST(wrong_configuration)
{
	struct world_config config = { .seed = 1 };
	struct world *world = world_new(&config);
	struct bcl_card_config good = world->card[0].config, bad;
	uint32_t size = bcl_card_arena(&good, 1, 1, 0);
	void *arena = aligned_alloc(64, (size + 63) & ~63u);
	struct bcl_hal hal = { .size = sizeof(hal),
			       .features = BCL_HAL_GATHER };

	ck_assert_ptr_null(bcl_card_open(arena, 1000, &hal, NULL, &good));
	bad = good;
	bad.max_messages = 100;
	ck_assert_ptr_null(bcl_card_open(arena, size, &hal, NULL, &bad));
	bad = good;
	bad.card = 0;
	ck_assert_ptr_null(bcl_card_open(arena, size, &hal, NULL, &bad));
	hal.features = 0; /* and no buffers */
	ck_assert_ptr_null(bcl_card_open(arena, size, &hal, NULL, &good));
	hal.size = 8;
	ck_assert_ptr_null(bcl_card_open(arena, size, &hal, NULL, &good));
	free(arena);
	world_free(world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card connections");
	TCase *tcase = tcase_create("connections");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, both_call, 0, (int)world_seeds(60));
	tcase_add_loop_test(tcase, only_ping_tells_the_address, 0, 2);
	tcase_add_loop_test(tcase, other_job, 0, 2);
	tcase_add_loop_test(tcase, other_job_by_its_key, 0, 2);
	tcase_add_test(tcase, version_is_refused);
	tcase_add_test(tcase, old_version_is_answered);
	tcase_add_test(tcase, nobody_there);
	tcase_add_test(tcase, silence_is_death);
	tcase_add_test(tcase, idle_is_not);
	tcase_add_test(tcase, absence_is_not);
	tcase_add_loop_test(tcase, who_moves_is_found, 0, 8);
	tcase_add_loop_test(tcase, who_moves_idly_is_found, 0, 4);
	tcase_add_loop_test(tcase, new_life_is_found_by_reset, 0, 2);
	tcase_add_loop_test(tcase, new_life_calls, 0, (int)world_seeds(20));
	tcase_add_loop_test(tcase, two_lives_answer, 0, 2);
	tcase_add_test(tcase, resets_are_bounded);
	tcase_add_loop_test(tcase, disconnect, 0, 2);
	tcase_add_test(tcase, no_connection_has_the_id_of_an_earlier_one);
	tcase_add_test(tcase, isolation);
	tcase_add_test(tcase, what_was_asked_before_a_loss_ends_with_it);
	tcase_add_test(tcase, evidence);
	tcase_add_loop_test(tcase, called_by_whom_it_calls, 0, 2);
	tcase_add_loop_test(tcase, busy_connections_keep_their_memory, 0, 2);
	tcase_add_test(tcase, unknown_nodes_are_not_touched);
	tcase_add_test(tcase, wrong_configuration);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
