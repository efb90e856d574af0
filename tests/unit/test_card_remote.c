/* SPDX-License-Identifier: MIT */
/* The card path: remote memory; see card_sides.h. */
#include "card_sides.h"
#include "unit.h"

#include <string.h>

#include "transport/card/queues.h"
#include "transport/memory.h"
#include "transport/key.h"
#include "transport/port.h"

enum {
	BIG = 300000,
	FETCHES = 50,
};

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
		side_say(side, 9, key, BCL_KEY_MAX);
	} else {
		side_hear(side, 9, key, BCL_KEY_MAX);
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
			side_expect(side, BCL_EVENT_NOTIFY, &event);
			ck_assert_uint_eq(event.immediate, 1000 + i);
			ck_assert_uint_eq(event.type, i);
			ck_assert_uint_eq(event.length, lengths[i]);
			side_check(region + 3, lengths[i], i);
		}
		side_hear(side, 5, NULL, 0);
		bcl_memory_release(memory);
		side_say(side, 5, NULL, 0);
		return;
	}
	for (i = 0; i < 6; i++) {
		side_fill(local, lengths[i], i);
		ck_assert_int_eq(bcl_put_notify(side->peer, key, 3, local,
						lengths[i], i, 1000 + i, i),
				 BCL_OK);
		side_expect_ok(side, BCL_EVENT_SENT, i);
		memset(local, 0, lengths[i]);
		ck_assert_int_eq(
			bcl_get(side->peer, key, 3, local, lengths[i], 100 + i),
			BCL_OK);
		side_expect_ok(side, BCL_EVENT_SENT, 100 + i);
		side_check(local, lengths[i], i);
		side_fill(local, lengths[i], i + 50);
		ck_assert_int_eq(
			bcl_put(side->peer, key, 3, local, lengths[i], 200 + i),
			BCL_OK);
		side_expect_ok(side, BCL_EVENT_SENT, 200 + i);
		/* Restore the data: the other side checks the bytes of a
		 * notified put. */
		side_fill(local, lengths[i], i);
		ck_assert_int_eq(
			bcl_put(side->peer, key, 3, local, lengths[i], 300 + i),
			BCL_OK);
		side_expect_ok(side, BCL_EVENT_SENT, 300 + i);
	}
	ck_assert_int_eq(bcl_put(side->peer, key, BIG - 2, local, 3, 1),
			 BCL_ERR_MEMORY);
	side_say(side, 5, NULL, 0);
	side_hear(side, 5, NULL, 0);
	/* The memory is not registered any more. */
	ck_assert_int_eq(bcl_put(side->peer, key, 0, local, 1000, 7), BCL_OK);
	side_expect(side, BCL_EVENT_SENT, &event);
	ck_assert_int_eq(event.status, BCL_ERR_MEMORY);
	ck_assert_uint_eq(event.cookie, 7);
	ck_assert_int_eq(bcl_get(side->peer, key, 0, local, 1000, 8), BCL_OK);
	side_expect(side, BCL_EVENT_SENT, &event);
	ck_assert_int_eq(event.status, BCL_ERR_MEMORY);
}

START_TEST(puts_gets_and_notifications)
{
	sides_play(access_memory);
}
END_TEST

/* A fetch of any length, 0 too, is one message and one reply. */
static void fetch_and_count(struct side *side)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_memory *memory = exchange_key(side, key);
	uint64_t before[2], frames, most = 0;
	unsigned i, length;

	if (side->number) {
		side_hear(side, 5, NULL, 0);
		bcl_memory_release(memory);
		return;
	}
	for (length = 0; length <= 8; length += 8) {
		frames = side_counter(side, "card.frames_sent");
		for (i = 0; i < 2; i++)
			before[i] =
				side_counter(&sides[i], "card.messages_sent");
		for (i = 0; i < FETCHES; i++) {
			ck_assert_int_eq(
				bcl_get(side->peer, key, 3, local, length, i),
				BCL_OK);
			side_expect_ok(side, BCL_EVENT_SENT, i);
		}
		/* the verdict on the last reply is still in flight */
		while (side_counter(side_other(side), "card.messages_sent") <
		       before[1] + FETCHES)
			side_let_others();
		for (i = 0; i < 2; i++)
			ck_assert_uint_eq(
				side_counter(&sides[i], "card.messages_sent"),
				before[i] + FETCHES);
		/* a fetch of no bytes takes no more frames than a fetch of a
		 * word */
		frames = side_counter(side, "card.frames_sent") - frames;
		ck_assert(frames >= FETCHES && (!length || most <= frames));
		most = frames;
	}
	side_say(side, 5, NULL, 0);
}

START_TEST(a_fetch_of_nothing_goes_once)
{
	sides_play(fetch_and_count);
}
END_TEST

/* Operations longer than a message go in pieces; this test makes pieces short.
 */
static void access_by_pieces(struct side *side)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_event event;
	struct bcl_memory *memory = exchange_key(side, key);

	side->port->card->piece = 4096;
	if (side->number) {
		side_expect(side, BCL_EVENT_NOTIFY, &event);
		ck_assert_uint_eq(event.immediate, 77);
		side_check(region + 5, 100000, 3);
		side_hear(side, 5, NULL, 0);
		bcl_memory_release(memory);
		return;
	}
	side_fill(local, 100000, 3);
	ck_assert_int_eq(
		bcl_put_notify(side->peer, key, 5, local, 100000, 4, 77, 1),
		BCL_OK);
	ck_assert_int_eq(bcl_fence(side->peer, 2), BCL_ERR_AGAIN);
	side_expect(side, BCL_EVENT_SENT, &event);
	ck_assert_uint_eq(event.length, 100000);
	ck_assert_uint_eq(event.cookie, 1);
	memset(local, 0, 100000);
	ck_assert_int_eq(bcl_get(side->peer, key, 5, local, 100000, 3), BCL_OK);
	side_expect_ok(side, BCL_EVENT_SENT, 3);
	side_check(local, 100000, 3);
	ck_assert_int_eq(bcl_fence(side->peer, 2), BCL_OK);
	side_expect_ok(side, BCL_EVENT_SENT, 2);
	side_say(side, 5, NULL, 0);
}

START_TEST(long_accesses_go_by_pieces)
{
	sides_play(access_by_pieces);
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
		side_hear(side, 5, NULL, 0);
		memcpy(&word, region + 8, 8);
		ck_assert_uint_eq(word, 7);
		bcl_memory_release(memory);
		return;
	}
	/* Only fences order operations. */
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
		side_expect_ok(side, BCL_EVENT_SENT, i);
	ck_assert_uint_eq(old[0], 40);
	ck_assert_uint_eq(old[1], 42);
	ck_assert_uint_eq(old[2], 42);
	ck_assert_int_eq(bcl_fetch_add(side->peer, key, 12, 2, &old[0], 0),
			 BCL_ERR_ARG);
	side_say(side, 5, NULL, 0);
}

START_TEST(atomics_and_fences)
{
	sides_play(count_words);
}
END_TEST

static void release_while_read(struct side *side)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_memory *memory = exchange_key(side, key);
	struct bcl_event event;

	if (side->number) {
		side_until_sent(side, 5000);
		bcl_memory_release(memory);
		side_hear(side, 5, NULL, 0);
		return;
	}
	ck_assert_int_eq(bcl_get(side->peer, key, 0, local, BIG, 1), BCL_OK);
	side_expect(side, BCL_EVENT_SENT, &event);
	ck_assert_int_eq(event.status, BCL_ERR_MEMORY);
	side_say(side, 5, NULL, 0);
}

START_TEST(memory_goes_away_while_it_is_read)
{
	sides_play(release_while_read);
}
END_TEST

static void release_while_written(struct side *side)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_memory *memory = exchange_key(side, key);
	struct bcl_event event;

	if (side->number) {
		while (side_counter(side, "host.bytes_placed") < 5000) {
			bcl_poll(side->port, &event);
			side_let_others();
		}
		bcl_memory_release(memory);
		side_hear(side, 5, NULL, 0);
		return;
	}
	ck_assert_int_eq(bcl_put(side->peer, key, 0, local, BIG, 1), BCL_OK);
	side_expect(side, BCL_EVENT_SENT, &event);
	ck_assert_int_eq(event.status, BCL_ERR_MEMORY);
	side_say(side, 5, NULL, 0);
}

START_TEST(memory_goes_away_while_it_is_written)
{
	sides_play(release_while_written);
}
END_TEST

/* The key of released memory must not open the memory that has the slot now. */
static void register_again(struct side *side)
{
	uint8_t key[BCL_KEY_MAX], next[BCL_KEY_MAX];
	struct bcl_memory *memory;
	struct bcl_event event;
	uint32_t slot;

	memset(region, 0, side->number ? sizeof(region) : 0);
	memory = exchange_key(side, key);
	if (side->number) {
		slot = memory->handle & 0xffff;
		bcl_memory_release(memory);
		memory = exchange_key(side, next);
		ck_assert_uint_eq(memory->handle & 0xffff, slot);
		side_hear(side, 5, NULL, 0);
		for (unsigned i = 0; i < 1000; i++)
			ck_assert_uint_eq(region[i], 0);
		bcl_memory_release(memory);
		return;
	}
	side_hear(side, 9, next, BCL_KEY_MAX);
	side_fill(local, 1000, 3);
	ck_assert_int_eq(
		bcl_put_notify(side->peer, key, 0, local, 1000, 4, 77, 1),
		BCL_OK);
	side_expect(side, BCL_EVENT_SENT, &event);
	ck_assert_int_eq(event.status, BCL_ERR_MEMORY);
	side_say(side, 5, NULL, 0);
}

START_TEST(a_key_does_not_open_the_next_memory)
{
	sides_play(register_again);
}
END_TEST

/* Handles can be guessed, since the library counts them up. A guessed handle
 * opens a memory only with a number that lies within the memory. */
static void guess(struct side *side)
{
	struct bcl_key key, guessed;
	uint8_t bytes[BCL_KEY_MAX];
	struct bcl_memory *memory;
	struct bcl_event event;
	unsigned i;

	memory = exchange_key(side, bytes);
	if (side->number) {
		side_hear(side, 5, NULL, 0);
		bcl_memory_release(memory);
		return;
	}
	key = bcl_key_unpack(bytes);
	for (i = 19; i <= 64; i++) {
		guessed = key;
		guessed.base = i < 64 ? key.base ^ UINT64_C(1) << i : 0;
		bcl_key_pack(&guessed, bytes);
		ck_assert_int_eq(bcl_get(side->peer, bytes, 0, local, 8, i),
				 BCL_OK);
		side_expect(side, BCL_EVENT_SENT, &event);
		ck_assert_int_eq(event.status, BCL_ERR_MEMORY);
	}
	side_say(side, 5, NULL, 0);
}

START_TEST(a_handle_is_no_key)
{
	sides_play(guess);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card remote");
	TCase *tcase = tcase_create("card remote");

	tcase_add_checked_fixture(tcase, sides_open, sides_close);
	tcase_add_test(tcase, puts_gets_and_notifications);
	tcase_add_test(tcase, a_fetch_of_nothing_goes_once);
	tcase_add_test(tcase, long_accesses_go_by_pieces);
	tcase_add_test(tcase, atomics_and_fences);
	tcase_add_test(tcase, memory_goes_away_while_it_is_read);
	tcase_add_test(tcase, memory_goes_away_while_it_is_written);
	tcase_add_test(tcase, a_key_does_not_open_the_next_memory);
	tcase_add_test(tcase, a_handle_is_no_key);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
