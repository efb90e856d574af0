/* SPDX-License-Identifier: MIT */
/*
 * The card core: a peer ends the connection. The two rails have unequal delays,
 * so that BYE overtakes earlier messages and answers of the peer.
 */
#include "unit.h"

#include "card_world.h"

static const uint64_t MS = 1000000;

enum {
	MESSAGES = 10,
};

struct pair {
	struct world *world;
	struct world_port *a, *b;
	uint32_t to_b, to_a; /* nodes */
};

/* Both nodes are UP. The first rail, for short messages, delivers late. */
static struct pair make_pair(unsigned rails, bool pending)
{
	const struct world_config config = {
		.seed = 1,
		.rails = rails,
		.pending = pending,
		.late = { MS },
	};
	struct pair pair = { .world = world_new(&config) };

	pair.a = world_port_open(pair.world, 0, 1);
	pair.b = world_port_open(pair.world, 1, 2);
	pair.to_b = world_connect(pair.world, 0, 1);
	world_run_for(pair.world, 20 * MS);
	pair.to_a = world_connect(pair.world, 1, 0);
	world_run_for(pair.world, 20 * MS);
	return pair;
}

static void end(struct pair *pair)
{
	const struct bcl_control control = {
		.op = BCL_CTL_DISCONNECT,
		.node = pair->to_a,
	};

	ck_assert_int_eq(world_control(pair->world, 1, &control, NULL), BCL_OK);
}

/* Wait until card 0 has told its host of the end. */
static const struct world_node *await_end(struct pair *pair)
{
	const struct world_node *node = &pair->world->card[0].node[pair->to_b];
	uint64_t until = pair->world->now + 1000 * MS;

	while (node->state == BCL_NODE_UP && pair->world->now < until)
		world_step(pair->world);
	ck_assert_int_ne(node->state, BCL_NODE_UP);
	return node;
}

static void check_sent(struct pair *pair, uint64_t cookie,
		       enum bcl_status status)
{
	struct bcl_completion entry;

	ck_assert(world_sent(pair->a, &entry));
	ck_assert_uint_eq(entry.cookie, cookie);
	ck_assert_int_eq(entry.status, status);
}

START_TEST(what_was_sent_comes_before_the_end)
{
	struct pair pair = make_pair(2, _i);
	struct bcl_completion entry;

	for (unsigned i = 0; i < MESSAGES; i++)
		ck_assert(world_send(pair.b, pair.to_a, 1, "x", 1, i));
	world_run_for(pair.world, MS / 10); /* the messages are on the wire */
	end(&pair);
	await_end(&pair);
	for (unsigned i = 0; i < MESSAGES; i++) {
		ck_assert(world_received(pair.a, &entry));
		ck_assert_uint_eq(entry.targ64, i);
		world_block_free(pair.a, entry.index);
	}
	world_free(pair.world);
}
END_TEST

/* Message 1 fails, so card 1 has to send verdicts: `done` would tell only of
 * success. */
START_TEST(the_last_answers_come_with_the_end)
{
	struct pair pair = make_pair(2, _i);
	struct bcl_completion entry;

	ck_assert(world_send(pair.a, pair.to_b, 7, "x", 1, 1));
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 2));
	while (!world_received(pair.b, &entry))
		world_step(pair.world);
	world_run_for(pair.world, 1000); /* ns; a delayed ACK waits 20,000 */
	end(&pair);
	await_end(&pair);
	check_sent(&pair, 1, BCL_ERR_NOPORT);
	check_sent(&pair, 2, BCL_OK);
	ck_assert_uint_eq(pair.world->card[0].node[pair.to_b].losses, 0);
	world_free(pair.world);
}
END_TEST

/* The system reports the peer's socket as gone before card 0 has read BYE. */
START_TEST(evidence_does_not_overtake_the_last_words)
{
	struct pair pair = make_pair(1, _i);
	struct world_card *card = &pair.world->card[0];
	struct bcl_completion entry;

	ck_assert(world_send(pair.b, pair.to_a, 1, "x", 1, 5));
	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 1));
	while (!world_received(pair.b, &entry))
		world_step(pair.world);
	end(&pair);
	bcl_card_node_gone(card->card, pair.to_b, 0, BCL_ERR_DEAD,
			   pair.world->now, 64, &card->next);
	await_end(&pair);
	check_sent(&pair, 1, BCL_OK);
	ck_assert(world_received(pair.a, &entry));
	ck_assert_uint_eq(entry.targ64, 5);
	ck_assert_uint_eq(card->node[pair.to_b].losses, 0);
	world_free(pair.world);
}
END_TEST

/* BYE arrives by one rail, and nothing by the second. The connection ends all
 * the same. */
START_TEST(half_a_goodbye_is_enough)
{
	struct pair pair = make_pair(2, _i);
	const struct world_node *node;
	struct bcl_completion entry;

	world_link(pair.world, 0, 1, 0, false);
	end(&pair);
	node = await_end(&pair);
	ck_assert_int_eq(node->state, BCL_NODE_CLOSED);
	ck_assert(!world_sent(pair.a, &entry));
	world_free(pair.world);
}
END_TEST

/* A message that the peer never received fails with DEAD. */
START_TEST(undelivered_is_dead)
{
	struct pair pair = make_pair(2, _i);

	ck_assert(world_send(pair.a, pair.to_b, 2, "x", 1, 1));
	world_run_for(pair.world, MS / 10);
	end(&pair);
	ck_assert_int_eq(await_end(&pair)->status, BCL_ERR_DEAD);
	check_sent(&pair, 1, BCL_ERR_DEAD);
	world_free(pair.world);
}
END_TEST

/* Cards 1 to `last` in turn connect with card 0, send a message and leave. */
static void come_and_go(struct world *world, unsigned last, bool politely)
{
	struct bcl_control control = { .op = BCL_CTL_DISCONNECT };

	for (unsigned i = 1; i <= last; i++) {
		struct world_port *port = world_port_open(world, i, 2);
		struct bcl_completion entry;

		control.node = world_connect(world, i, 0);
		world_run_for(world, 10 * MS);
		ck_assert(world_send(port, control.node, 1, "here", 4, i));
		world_run_for(world, 10 * MS);
		ck_assert(world_sent(port, &entry));
		ck_assert_int_eq(entry.status, BCL_OK);
		if (politely)
			world_control(world, i, &control, NULL);
		else
			world_kill(world, i);
		world_run_for(world, politely ? 10 * MS : 400 * MS);
	}
}

/* A card gives the places of nodes that left or died to new nodes. */
START_TEST(places_are_given_again)
{
	enum {
		PLACES = 3,
		CARDS = 12
	};
	const struct world_config config = {
		.seed = 1,
		.cards = CARDS,
		.nodes = PLACES,
		.pending = _i & 1,
		.peer_timeout = 200 * MS,
	};
	struct world *world = world_new(&config);
	struct world_port *port = world_port_open(world, 0, 1);
	struct bcl_completion entry;
	unsigned n = 0;

	come_and_go(world, CARDS - 1, _i & 2);
	while (world_received(port, &entry))
		n++;
	ck_assert_uint_eq(n, CARDS - 1);
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_forgotten),
			  CARDS - 1 - PLACES);
	world_free(world);
}
END_TEST

/* A card keeps the places of nodes that are UP. Without a free place the card
 * refuses a new node with FULL. */
START_TEST(places_are_kept)
{
	enum {
		PLACES = 3
	};
	const struct world_config config = {
		.seed = 1,
		.cards = PLACES + 2,
		.nodes = PLACES,
	};
	struct world *world = world_new(&config);
	struct bcl_control control = { .op = BCL_CTL_CONNECT };
	uint32_t node;

	for (unsigned i = 1; i <= PLACES; i++)
		world_connect(world, 0, i);
	world_run_for(world, 10 * MS);
	control.connect.card = world_card_id(world, PLACES + 1);
	control.connect.rails = 1;
	ck_assert_int_eq(world_control(world, 0, &control, &node),
			 BCL_ERR_FULL);
	ck_assert_uint_eq(world_counter(world, 0, BCL_CARD_forgotten), 0);
	for (unsigned i = 0; i < PLACES; i++)
		ck_assert_int_eq(world->card[0].node[i].state, BCL_NODE_UP);
	world_free(world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card end");
	TCase *tcase = tcase_create("end");

	tcase_add_loop_test(tcase, what_was_sent_comes_before_the_end, 0, 2);
	tcase_add_loop_test(tcase, the_last_answers_come_with_the_end, 0, 2);
	tcase_add_loop_test(tcase, evidence_does_not_overtake_the_last_words, 0,
			    2);
	tcase_add_loop_test(tcase, half_a_goodbye_is_enough, 0, 2);
	tcase_add_loop_test(tcase, undelivered_is_dead, 0, 2);
	tcase_add_loop_test(tcase, places_are_given_again, 0, 4);
	tcase_add_test(tcase, places_are_kept);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
