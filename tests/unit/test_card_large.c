/* SPDX-License-Identifier: MIT */
/* The card path: large messages, by offers and channels; see card_sides.h. */
#include "card_sides.h"
#include "unit.h"

#include <string.h>

#include "transport/card/inside.h"
#include "transport/card/queues.h"
#include "transport/port.h"

enum {
	BIG = 300000,
};

static uint8_t region[BIG], local[BIG];

static void offer_and_pull(struct side *side)
{
	static const size_t lengths[] = { 0, 1, 5000, BIG };
	uint8_t token[BCL_KEY_MAX];
	struct bcl_event event;
	unsigned i;

	for (i = 0; i < 8; i++) {
		size_t length = lengths[i % 4];

		/* The second half of the pulls goes in pieces. */
		if (i >= 4)
			side->port->card->piece = 30000;
		if (!side->number) {
			side_fill(local, length, i);
			ck_assert_int_eq(
				bcl_offer(side->peer, local, length, i, token),
				BCL_OK);
			side_say(side, 6, token, sizeof(token));
			side_expect_ok(side, BCL_EVENT_READ, i);
			continue;
		}
		memset(region, 0, length);
		side_hear(side, 6, token, sizeof(token));
		ck_assert_int_eq(
			bcl_pull(side->peer, token, region, length + 1, 0),
			BCL_ERR_ARG);
		ck_assert_int_eq(bcl_pull(side->peer, token, region, length, i),
				 BCL_OK);
		side_expect(side, BCL_EVENT_PULLED, &event);
		ck_assert_int_eq(event.status, BCL_OK);
		ck_assert_uint_eq(event.cookie, i);
		ck_assert_uint_eq(event.length, length);
		side_check(region, length, i);
	}
}

START_TEST(offers_are_pulled)
{
	sides_play(offer_and_pull);
}
END_TEST

/* A peer that reads no offer takes at most half of the places for offers. */
static void offer_in_vain(struct side *side)
{
	uint8_t token[BCL_HOST_OFFERS][BCL_KEY_MAX];
	unsigned n = 0;

	if (side->number) {
		side_hear(side, 6, NULL, 0);
		return;
	}
	while (n < BCL_HOST_OFFERS &&
	       !bcl_offer(side->peer, local, 1000, n, token[n]))
		n++;
	ck_assert_uint_eq(n, BCL_HOST_OFFERS / 2);
	ck_assert_int_eq(bcl_offer(side->peer, local, 1000, n, token[n]),
			 BCL_ERR_AGAIN);
	while (n--)
		ck_assert_int_eq(bcl_withdraw(side->peer, token[n]), BCL_OK);
	side_say(side, 6, NULL, 0);
}

START_TEST(offers_are_shared_out)
{
	sides_play(offer_in_vain);
}
END_TEST

static void expect_gone(struct side *side, const void *token)
{
	struct bcl_event event;

	ck_assert_int_eq(bcl_pull(side->peer, token, region, 1000, 2), BCL_OK);
	side_expect(side, BCL_EVENT_PULLED, &event);
	ck_assert_uint_eq(event.cookie, 2);
	ck_assert_int_eq(event.status, BCL_ERR_NOPORT);
}

static void offer_and_withdraw(struct side *side)
{
	uint8_t token[BCL_KEY_MAX];

	if (side->number) {
		side_hear(side, 6, token, sizeof(token));
		expect_gone(side, token);
		side_say(side, 6, NULL, 0);
		return;
	}
	side_fill(local, 1000, 1);
	ck_assert_int_eq(bcl_offer(side->peer, local, 1000, 1, token), BCL_OK);
	ck_assert_int_eq(bcl_withdraw(side->peer, token), BCL_OK);
	ck_assert_int_eq(bcl_withdraw(side->peer, token), BCL_ERR_BUSY);
	side_say(side, 6, token, sizeof(token));
	side_hear(side, 6, NULL, 0);
}

START_TEST(a_withdrawn_offer_is_not_read)
{
	sides_play(offer_and_withdraw);
}
END_TEST

static void offer_once(struct side *side)
{
	uint8_t token[BCL_KEY_MAX];

	if (side->number) {
		side_hear(side, 6, token, sizeof(token));
		ck_assert_int_eq(bcl_pull(side->peer, token, region, 1000, 4),
				 BCL_OK);
		side_expect_ok(side, BCL_EVENT_PULLED, 4);
		side_check(region, 1000, 1);
		side_hear(side, 6, NULL, 0);
		expect_gone(side, token);
		side_say(side, 6, NULL, 0);
		return;
	}
	side_fill(local, 1000, 1);
	ck_assert_int_eq(bcl_offer(side->peer, local, 1000, 3, token), BCL_OK);
	side_say(side, 6, token, sizeof(token));
	side_expect_ok(side, BCL_EVENT_READ, 3);
	side_say(side, 6, NULL, 0);
	side_hear(side, 6, NULL, 0);
}

START_TEST(an_offer_is_read_once)
{
	sides_play(offer_once);
}
END_TEST

static void withdraw_while_read(struct side *side)
{
	uint8_t token[BCL_KEY_MAX];

	if (!side->number) {
		side_fill(local, BIG, 2);
		ck_assert_int_eq(bcl_offer(side->peer, local, BIG, 1, token),
				 BCL_OK);
		side_say(side, 6, token, sizeof(token));
		side_until_sent(side, 5000);
		ck_assert_int_eq(bcl_withdraw(side->peer, token), BCL_ERR_BUSY);
		side_expect_ok(side, BCL_EVENT_READ, 1);
		return;
	}
	side_hear(side, 6, token, sizeof(token));
	ck_assert_int_eq(bcl_pull(side->peer, token, region, BIG, 2), BCL_OK);
	side_expect_ok(side, BCL_EVENT_PULLED, 2);
	side_check(region, BIG, 2);
}

START_TEST(an_offer_that_is_being_read_stays)
{
	sides_play(withdraw_while_read);
}
END_TEST

static void use_channels(struct side *side)
{
	struct bcl_event event;
	unsigned i;

	if (!side->number) {
		ck_assert_int_eq(bcl_send_channel(side->peer, 0, local,
						  (size_t)1 << 32, 9),
				 BCL_ERR_UNSUPPORTED);
		side_fill(local, BIG, 5);
		for (i = 0; i < 4; i++)
			ck_assert_int_eq(bcl_send_channel(side->peer, i % 2,
							  local, BIG / 4 + i,
							  i),
					 BCL_OK);
		for (i = 0; i < 4; i++) {
			side_expect(side, BCL_EVENT_SENT, &event);
			ck_assert_int_eq(event.status, BCL_OK);
		}
		ck_assert_int_eq(
			bcl_send_channel(side->peer, 999, local, 10, 9),
			BCL_OK);
		side_expect(side, BCL_EVENT_SENT, &event);
		ck_assert_int_eq(event.status, BCL_ERR_NOPORT);
		return;
	}
	/* Post after the messages were sent. The last receive is too short. */
	sim_compute(sides_world, 1000000);
	for (i = 0; i < 4; i++) {
		size_t room = i == 3 ? 1000 : BIG;

		memset(region, 0, BIG);
		ck_assert_int_eq(bcl_post(side->port, i % 2, region, room, i),
				 BCL_OK);
		ck_assert_int_eq(bcl_post(side->port, i % 2, region, room, i),
				 BCL_ERR_BUSY);
		side_expect(side, BCL_EVENT_CHANNEL, &event);
		ck_assert_uint_eq(event.cookie, i);
		if (i < 3) {
			ck_assert_int_eq(event.status, BCL_OK);
			side_check(region, event.length, 5);
		} else {
			ck_assert_int_eq(event.status, BCL_ERR_TRUNCATED);
			ck_assert_uint_eq(event.length, 1000);
			side_check(region, 1000, 5);
			ck_assert_uint_eq(region[1000], 0);
		}
	}
	ck_assert_int_eq(bcl_post(side->port, 0, region, 10, 9), BCL_OK);
	ck_assert_int_eq(bcl_unpost(side->port, 0), BCL_OK);
}

START_TEST(channels_wait_until_posted)
{
	sides_play(use_channels);
}
END_TEST

/* ---- posting again ---- */

static struct bcl_host_ops counting;
static unsigned posts, unposts; /* calls */

static enum bcl_status count_control(struct bcl_host *host,
				     struct bcl_host_seat *seat,
				     const struct bcl_control *control)
{
	posts += control->op == BCL_CTL_POST;
	unposts += control->op == BCL_CTL_UNPOST;
	return bcl_host_inproc.control(host, seat, control);
}

static void count_calls(struct side *side)
{
	counting = bcl_host_inproc;
	counting.control = count_control;
	side->context->card->ops = &counting;
	posts = unposts = 0;
}

enum {
	ROUNDS = 20,
};

static void post_region(struct side *side, size_t room, unsigned i,
			unsigned calls)
{
	posts = 0;
	ck_assert_int_eq(bcl_post(side->port, 1, region, room, i), BCL_OK);
	ck_assert_uint_eq(posts, calls);
}

static void take_region(struct side *side, unsigned i)
{
	struct bcl_event event;

	side_say(side, 7, NULL, 0);
	side_expect(side, BCL_EVENT_CHANNEL, &event);
	ck_assert_int_eq(event.status, BCL_OK);
	ck_assert_uint_eq(event.cookie, i);
	ck_assert_ptr_eq(event.peer, side->peer);
	side_check(region, event.length, 3);
}

/* A message of the port to itself has the channel before the card has it. */
static void fill_own_channel(struct side *side)
{
	struct bcl_peer *self;
	struct bcl_event event;

	ck_assert_int_eq(
		bcl_peer_open(side->port, side->address, side->length, &self),
		BCL_OK);
	post_region(side, BIG, 77, 0);
	ck_assert_int_eq(bcl_send_channel(self, 1, local, 500, 78), BCL_OK);
	side_expect(side, BCL_EVENT_CHANNEL, &event);
	ck_assert_uint_eq(event.cookie, 77);
	side_expect(side, BCL_EVENT_SENT, &event);
	ck_assert_uint_eq(event.cookie, 78);
	ck_assert_uint_eq(unposts, 1);
}

static void send_when_posted(struct side *side)
{
	unsigned i;

	side_fill(local, BIG, 3);
	for (i = 0; i < ROUNDS + 4; i++) {
		side_hear(side, 7, NULL, 0);
		ck_assert_int_eq(
			bcl_send_channel(side->peer, 1, local, BIG / 2 - i, i),
			BCL_OK);
		side_expect_ok(side, BCL_EVENT_SENT, i);
	}
}

/* Only the first posting of a buffer needs a call. */
static void post_again(struct side *side)
{
	unsigned i;

	if (!side->number) {
		send_when_posted(side);
		return;
	}
	count_calls(side);
	for (i = 0; i < ROUNDS; i++) {
		post_region(side, BIG, i, i == 0);
		take_region(side, i);
	}
	ck_assert_uint_eq(side_counter(side, "card.posted_again"), ROUNDS - 1);
	post_region(side, BIG - 1, i, 1); /* another buffer */
	take_region(side, i);
	post_region(side, BIG, i, 1);
	take_region(side, i);
	post_region(side, BIG, i, 0);
	ck_assert_int_eq(bcl_unpost(side->port, 1), BCL_OK);
	post_region(side, BIG, i, 0);
	take_region(side, i);
	unposts = 0;
	fill_own_channel(side);
	post_region(side, BIG, i, 0);
	take_region(side, i);
	ck_assert_uint_eq(side_counter(side, "card.refused_channel"), 0);
}

START_TEST(channels_are_posted_again_without_a_call)
{
	sides_play(post_again);
}
END_TEST

/* The sender comes first, so a call must tell that the channel is posted. */
static void post_too_late(struct side *side)
{
	const struct bcl_env *env = sim_world_env(sides_world);
	struct bcl_event event;
	uint64_t start;
	unsigned i;

	side_fill(local, 1000, 3);
	for (i = 0; i < ROUNDS; i++) {
		if (!side->number) {
			ck_assert_int_eq(
				bcl_send_channel(side->peer, 1, local, 1000, i),
				BCL_OK);
			side_expect_ok(side, BCL_EVENT_SENT, i);
			continue;
		}
		while (side_counter(side, "card.refused_channel") <= i) {
			ck_assert_int_ne(bcl_poll(side->port, &event), BCL_OK);
			side_let_others();
		}
		start = env->now(env->world);
		ck_assert_int_eq(bcl_post(side->port, 1, region, BIG, i),
				 BCL_OK);
		side_expect_ok(side, BCL_EVENT_CHANNEL, i);
		ck_assert_uint_lt(env->now(env->world) - start, 200000);
	}
}

START_TEST(a_refused_sender_hears_at_once)
{
	sides_play(post_too_late);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card large");
	TCase *tcase = tcase_create("card large");

	tcase_add_checked_fixture(tcase, sides_open, sides_close);
	tcase_add_test(tcase, offers_are_pulled);
	tcase_add_test(tcase, offers_are_shared_out);
	tcase_add_test(tcase, a_withdrawn_offer_is_not_read);
	tcase_add_test(tcase, an_offer_is_read_once);
	tcase_add_test(tcase, an_offer_that_is_being_read_stays);
	tcase_add_test(tcase, channels_wait_until_posted);
	tcase_add_test(tcase, channels_are_posted_again_without_a_call);
	tcase_add_test(tcase, a_refused_sender_hears_at_once);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
