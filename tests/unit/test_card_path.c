/* SPDX-License-Identifier: MIT */
/* The card path: messages, faults and lost peers; see card_sides.h. */
#include "card/ops.h"
#include "card_sides.h"
#include "link_rail.h"
#include "transport/context.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

enum {
	SECOND = 1000000000,
	BIG = 300000,
};

static uint8_t region[BIG], local[BIG];
static unsigned late_looks;

static void ping_pong(struct side *side)
{
	static const size_t lengths[] = {
		0, 1, 8, 160, 161, 1000, 1392, 1393, 4096, BCL_MESSAGE_MAX
	};
	uint8_t out[BCL_MESSAGE_MAX], in[BCL_MESSAGE_MAX];
	unsigned i;

	for (i = 0; i < 1000; i++) {
		size_t length = lengths[i % 10];

		side_fill(out, length, i);
		if (side->number == i % 2) {
			side_say(side, i % BCL_TYPES, out, length);
		} else {
			side_hear(side, i % BCL_TYPES, in, length);
			side_check(in, length, i);
		}
	}
	ck_assert_uint_eq(side_counter(side, "card.messages_delivered"), 500);
	ck_assert_uint_eq(side_counter(side, "card.retransmitted"), 0);
	ck_assert_uint_eq(side_counter(side, "core.peers_card"), 1);
}

START_TEST(messages_of_all_lengths)
{
	sides_play(ping_pong);
}
END_TEST

/* The library sends pieces by reference, in the request, or packed. The SENT
 * event comes once. */
static void gather(struct side *side)
{
	static uint8_t bytes[4000];
	struct iovec iov[BCL_GATHER_MAX];
	uint8_t in[4000];
	unsigned n, i;

	side_fill(bytes, sizeof(bytes), 1);
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
			side_expect_ok(side, BCL_EVENT_SENT, n);
		} else {
			side_hear(side, 3, in, at);
			ck_assert_mem_eq(in, bytes + piece - 40, at);
		}
	}
}

START_TEST(gathered_messages)
{
	sides_play(gather);
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
			side_hear(side, 1, in, lengths[i] / 2);
			side_check(in, lengths[i] / 2, i);
			continue;
		}
		ck_assert_int_eq(bcl_reserve(side->peer, lengths[i], &room),
				 BCL_OK);
		side_fill(room, lengths[i], i);
		ck_assert_int_eq(bcl_commit(side->peer, 1, lengths[i] / 2,
					    lengths[i] / 2),
				 BCL_OK);
	}
}

START_TEST(packed_in_place)
{
	sides_play(pack_in_place);
}
END_TEST

/* Side 0 sends far more messages than the receiver's ring holds, while the
 * receiver computes. */
static void flood(struct side *side)
{
	unsigned i, n = UNIT_SLOW ? 400 : 2000;

	if (!side->number) {
		for (i = 0; i < n; i++) {
			uint8_t out[64];

			side_fill(out, sizeof(out), i);
			side_say(side, 2, out, sizeof(out));
		}
		return;
	}
	sim_compute(sides_world, SECOND / 10);
	for (i = 0; i < n; i++) {
		uint8_t in[64];

		side_hear(side, 2, in, sizeof(in));
		side_check(in, sizeof(in), i);
	}
	ck_assert_uint_eq(side_counter(side, "card.messages_delivered"), n);
}

START_TEST(more_messages_than_blocks)
{
	sim_world_set(sides_world, "BCL_BLOCKS", "16");
	sides_play(flood);
	sim_world_set(sides_world, "BCL_BLOCKS", NULL);
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

		side_fill(out, sizeof(out), i);
		if (side->number == i % 3 % 2) {
			side_say(side, 2, out, i % 300);
		} else {
			side_hear(side, 2, in, i % 300);
			side_check(in, i % 300, i);
		}
	}
	if (!side->number) {
		side_fill(local, BIG, 9);
		ck_assert_int_eq(bcl_offer(side->peer, local, BIG, 1, token),
				 BCL_OK);
		side_say(side, 6, token, sizeof(token));
		side_expect_ok(side, BCL_EVENT_READ, 1);
	} else {
		side_hear(side, 6, token, sizeof(token));
		ck_assert_int_eq(bcl_pull(side->peer, token, region, BIG, 2),
				 BCL_OK);
		side_expect(side, BCL_EVENT_PULLED, &event);
		ck_assert_int_eq(event.status, BCL_OK);
		side_check(region, BIG, 9);
	}
	ck_assert_uint_gt(side_counter(side, "fault.dropped"), 100);
	ck_assert_uint_gt(side_counter(side, "fault.duplicated"), 100);
	ck_assert_uint_gt(side_counter(side, "fault.reordered"), 100);
	ck_assert_uint_gt(side_counter(side, "fault.corrupted"), 100);
	ck_assert_uint_gt(side_counter(side, "card.retransmitted"), 10);
	ck_assert_uint_gt(side_counter(side, "card.dropped_duplicate"), 10);
	ck_assert_uint_gt(side_counter(side, "card.dropped_hcrc") +
				  side_counter(side, "card.dropped_pcrc"),
			  10);
}

START_TEST(all_faults_at_once)
{
	char plan[80];

	snprintf(plan, sizeof(plan),
		 "drop:20%%,dup:20%%,reorder:20%%,corrupt:20%%,seed:%d", _i);
	sim_world_set(sides_world, "BCL_FAULT", plan);
	sim_world_set(sides_world, "BCL_LOG", "error");
	sides_play(everything);
	sim_world_set(sides_world, "BCL_FAULT", NULL);
}
END_TEST

static void lose_peer(struct side *side)
{
	uint8_t token[BCL_KEY_MAX], in[8];
	struct bcl_event event;
	unsigned i, sent = 0, read = 0;

	if (side->number) {
		side_say(side, 1, "12345678", 8);
		side_hear(side, 1, in, 8);
		link_cut(1, true);
		return;
	}
	side_hear(side, 1, in, 8);
	ck_assert_int_eq(bcl_offer(side->peer, local, 100, 50, token), BCL_OK);
	side_say(side, 1, in, 8);
	while (!side_other(side)->done)
		side_let_others();
	for (i = 0; i < 5; i++) {
		const struct iovec iov = { in, 8 };

		ck_assert_int_eq(bcl_send(side->peer, 1, 0, &iov, 1, i + 1),
				 BCL_OK);
	}
	/* Every pending operation fails, and the loss is told once. */
	while (sent < 5) {
		side_expect(side, BCL_EVENT_SENT, &event);
		ck_assert_int_eq(event.status, BCL_ERR_DEAD);
		sent++;
	}
	while (!read) {
		side_next(side, &event);
		ck_assert_int_eq(event.status, BCL_ERR_DEAD);
		if (event.kind == BCL_EVENT_READ)
			read++;
		else
			ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	}
	ck_assert_uint_eq(event.cookie, 50);
	ck_assert_int_eq(bcl_send(side->peer, 1, 0, NULL, 0, 0), BCL_ERR_DEAD);
	ck_assert_uint_eq(side_counter(side, "core.peers_lost"), 1);
}

START_TEST(a_silent_peer_is_lost)
{
	sim_world_set(sides_world, "BCL_PEER_TIMEOUT", "1s");
	sides_play(lose_peer);
	sim_world_set(sides_world, "BCL_PEER_TIMEOUT", NULL);
}
END_TEST

static void refused(struct side *side)
{
	struct bcl_event event;

	side_next(side, &event);
	ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	ck_assert_int_eq(event.status, BCL_ERR_JOBKEY);
	ck_assert_int_eq(bcl_send(side->peer, 1, 0, NULL, 0, 0),
			 BCL_ERR_JOBKEY);
}

START_TEST(a_wrong_key_is_refused)
{
	sides_wrong_key = true;
	sides_apart = true;
	sides_play(refused);
}
END_TEST

static void talk(struct side *side)
{
	char word[4];

	side_say(side, 1, "word", 4);
	side_hear(side, 1, word, 4);
	ck_assert_mem_eq(word, "word", 4);
}

START_TEST(another_job_is_called_by_its_address)
{
	static const uint8_t key[16] = { 1 };

	sides[1].key = key;
	sides_play(talk);
}
END_TEST

/* Every pending message fails, then the peer is lost. isolate() opens the peer
 * anew. */
static void keep_out(struct side *side)
{
	struct bcl_event event;
	struct bcl_peer *self;
	unsigned i;

	for (i = 0; i < 3; i++)
		ck_assert_int_eq(bcl_send(side->peer, 1, 0, NULL, 0, i + 1),
				 BCL_OK);
	ck_assert_int_eq(
		bcl_peer_open(side->port, side->address, side->length, &self),
		BCL_OK);
	ck_assert_int_eq(bcl_node_isolate(self), BCL_ERR_UNSUPPORTED);
	ck_assert_int_eq(bcl_node_rejoin(side->peer), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_node_isolate(side->peer), BCL_OK);
	for (i = 0; i < 3; i++) {
		side_expect(side, BCL_EVENT_SENT, &event);
		ck_assert_uint_eq(event.cookie, i + 1);
		ck_assert_int_eq(event.status, BCL_ERR_ISOLATED);
	}
	side_next(side, &event);
	ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	ck_assert_int_eq(event.status, BCL_ERR_ISOLATED);
	ck_assert_int_eq(bcl_send(side->peer, 1, 0, NULL, 0, 0),
			 BCL_ERR_ISOLATED);
	/* a peer on the same node cannot rejoin */
	ck_assert_int_eq(bcl_node_rejoin(self), BCL_ERR_UNSUPPORTED);
}

static void isolate(struct side *side)
{
	struct side *other = side_other(side);
	struct bcl_event event;
	uint8_t in[8];

	if (!side->number) {
		keep_out(side);
		ck_assert_int_eq(bcl_node_rejoin(side->peer), BCL_OK);
		ck_assert_int_eq(bcl_peer_open(side->port, other->address,
					       other->length, &side->peer),
				 BCL_OK);
		side_next(side, &event);
		ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
		ck_assert_int_eq(event.status, BCL_OK);
		side_say(side, 7, "together", 8);
		side_hear(side, 8, in, 8);
		return;
	}
	/* skip late messages and the end of the old connection */
	do
		side_next(side, &event);
	while (event.kind != BCL_EVENT_MESSAGE || event.type != 7);
	side->peer = event.peer;
	side_say(side, 8, "as ever.", 8);
}

START_TEST(who_is_isolated_may_join_again)
{
	sides_play(isolate);
}
END_TEST

static void unreachable(struct side *side)
{
	struct bcl_event event;

	ck_assert_int_eq(bcl_send(side->peer, 1, 0, NULL, 0, 0), BCL_ERR_AGAIN);
	link_cut(1, true);
	side_next(side, &event);
	ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	ck_assert_int_eq(event.status, BCL_ERR_UNREACHABLE);
	ck_assert_int_eq(bcl_send(side->peer, 1, 0, NULL, 0, 0),
			 BCL_ERR_UNREACHABLE);
}

START_TEST(nobody_answers)
{
	sim_world_set(sides_world, "BCL_PEER_TIMEOUT", "1s");
	sides_apart = true;
	sides_play(unreachable);
	sim_world_set(sides_world, "BCL_PEER_TIMEOUT", NULL);
}
END_TEST

/* Report nodes as to a host that looks late: CLOSED in place of UP. */
static uint32_t late_look(struct bcl_host *host, uint32_t index,
			  struct bcl_host_node *node)
{
	uint32_t changes = bcl_host_inproc.node(host, index, node);

	if (node->state == BCL_NODE_UP) {
		node->state = BCL_NODE_CLOSED;
		late_looks++;
	}
	return changes;
}

static void look_late(struct side *side)
{
	static struct bcl_host_ops late;
	struct bcl_event event;

	late = bcl_host_inproc;
	late.node = late_look;
	side->context->card->ops = &late;
	side_next(side, &event);
	ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	ck_assert_int_eq(event.status, BCL_OK);
	/* one of the sides may have been called first */
	ck_assert_uint_gt(late_looks, 0);
	talk(side);
}

/* A connection comes up and closes between two looks of the library. */
START_TEST(a_connection_that_is_over_is_told)
{
	late_looks = 0;
	sides_apart = true;
	sides_play(look_late);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card path");
	TCase *tcase = tcase_create("card path");

	tcase_add_checked_fixture(tcase, sides_open, sides_close);
	tcase_add_test(tcase, messages_of_all_lengths);
	tcase_add_test(tcase, gathered_messages);
	tcase_add_test(tcase, packed_in_place);
	tcase_add_test(tcase, more_messages_than_blocks);
	tcase_add_loop_test(tcase, all_faults_at_once, 0, 4);
	tcase_add_test(tcase, a_silent_peer_is_lost);
	tcase_add_test(tcase, a_wrong_key_is_refused);
	tcase_add_test(tcase, another_job_is_called_by_its_address);
	tcase_add_test(tcase, who_is_isolated_may_join_again);
	tcase_add_test(tcase, nobody_answers);
	tcase_add_test(tcase, a_connection_that_is_over_is_told);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
