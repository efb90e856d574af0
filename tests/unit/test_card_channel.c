/* SPDX-License-Identifier: MIT */
/*
 * The card core: channels that are posted again by the word of their port
 * (bcl/card_abi.h).
 */
#include "unit.h"

#include <nicfw/order.h>

#include "card_pair.h"

static bool once; /* the host wants a POST each time */

static enum bcl_status post(struct pair *pair, unsigned channel,
			    uint16_t generation, bool reading, uint64_t length)
{
	struct bcl_control control =
		posting(pair, channel, generation, reading, length);

	control.channel.once = once;
	return world_control(pair->world, 1, &control, NULL);
}

static bool may_repost(const struct pair *pair, unsigned channel)
{
	return pair->b->again[channel] != 0;
}

static void post_by_word(struct pair *pair, unsigned channel)
{
	uint32_t *word = &pair->b->postings[channel];

	*word = nic_host32(nic_host32(*word) + 1);
}

/* A message of `length` bytes for the channel, which is posted. */
static void fill_channel(struct pair *pair, uint32_t target, uint32_t length)
{
	static uint32_t seed;
	struct bcl_completion entry;

	fill(pair->memory[0], length, ++seed);
	send_channel(pair, target, length);
	ck_assert_int_eq(finish(pair, pair->a), BCL_OK);
	ck_assert(world_received(pair->b, &entry));
	ck_assert_int_eq(entry.kind, BCL_CQ_CHANNEL);
	ck_assert_int_eq(entry.status, BCL_OK);
	ck_assert_uint_eq(entry.index, target & 0xffff);
	ck_assert_uint_eq(entry.length, length);
	ck_assert_mem_eq(pair->memory[1] + 1000, pair->memory[0], length);
	ck_assert(!world_received(pair->b, &entry));
}

/* The sender comes first, and is refused. */
static void send_too_early(struct pair *pair, uint32_t target)
{
	const uint64_t before =
		world_counter(pair->world, 1, BCL_CARD_refused_channel);

	send_channel(pair, target, 3000);
	while (world_counter(pair->world, 1, BCL_CARD_refused_channel) ==
	       before)
		world_step(pair->world);
}

/* The sender, who was refused, hears at once that the channel is posted. */
static void expect_at_once(struct pair *pair)
{
	uint64_t start = pair->world->now;
	struct bcl_completion entry;

	ck_assert_int_eq(finish(pair, pair->a), BCL_OK);
	/* sooner than the sender would ask again by itself */
	ck_assert_uint_lt(pair->world->now - start, MS / 5);
	ck_assert(world_received(pair->b, &entry));
	ck_assert_int_eq(entry.kind, BCL_CQ_CHANNEL);
	ck_assert_int_eq(entry.status, BCL_OK);
}

static struct pair make_filled_pair(const struct world_config *config)
{
	struct pair pair = make_pair(config);

	ck_assert(!may_repost(&pair, 3));
	ck_assert_int_eq(post(&pair, 3, 0, false, 70000), BCL_OK);
	ck_assert(!may_repost(&pair, 3));
	fill_channel(&pair, 3, 70000);
	return pair;
}

START_TEST(channel_posted_by_word)
{
	struct world_config config = { .seed = 1 };
	struct pair pair = make_filled_pair(&config);

	for (unsigned i = 0; i < 10; i++) {
		ck_assert(may_repost(&pair, 3));
		post_by_word(&pair, 3);
		fill_channel(&pair, 3, 70000 - i);
	}
	ck_assert_uint_eq(world_counter(pair.world, 1, BCL_CARD_posted_again),
			  10);
	ck_assert_uint_eq(
		world_counter(pair.world, 1, BCL_CARD_refused_channel), 0);
	/* taken back before a message came, and posted again */
	post_by_word(&pair, 3);
	ck_assert_int_eq(unpost(&pair, 3), BCL_OK);
	ck_assert_int_eq(unpost(&pair, 3), BCL_ERR_EMPTY);
	ck_assert(may_repost(&pair, 3));
	post_by_word(&pair, 3);
	fill_channel(&pair, 3, 9);
	ck_assert_int_eq(unpost(&pair, 3), BCL_ERR_EMPTY);
	/* by a call meanwhile, with other memory */
	ck_assert_int_eq(post(&pair, 3, 0, false, 5), BCL_OK);
	ck_assert(!may_repost(&pair, 3));
	ck_assert_int_eq(unpost(&pair, 3), BCL_OK);
	ck_assert(may_repost(&pair, 3));
	post_by_word(&pair, 3);
	fill_channel(&pair, 3, 5);
	free_pair(&pair);
}
END_TEST

/* The end of a long message is lost again and again. */
static bool lose_end(struct world *world, struct world_frame *frame)
{
	const struct bcl_segment_header *segment =
		(const void *)(frame->bytes + sizeof(struct bcl_frame_header));

	(void)world;
	return segment->op != BCL_SEG_CHANNEL ||
	       bcl_get32(segment->offset) < 60000;
}

/* Only POST tells the sender who was refused, so it must be a POST. */
START_TEST(refused_before_the_word)
{
	struct world_config config = { .seed = 1 };
	struct pair pair = make_filled_pair(&config);
	struct bcl_completion entry;

	send_too_early(&pair, 3);
	ck_assert(!may_repost(&pair, 3));
	ck_assert_int_eq(post(&pair, 3, 0, false, 70000), BCL_OK);
	expect_at_once(&pair);
	/* The library did not see the refusal before its word was written. The
	 * word alone posts nothing, but the library sees the refusal then. */
	send_too_early(&pair, 3);
	post_by_word(&pair, 3);
	ck_assert(!may_repost(&pair, 3));
	ck_assert_int_eq(unpost(&pair, 3), BCL_OK);
	ck_assert_int_eq(post(&pair, 3, 0, false, 70000), BCL_OK);
	expect_at_once(&pair);
	/* A second sender finds the channel being filled. A word that is
	 * written then is a lie. */
	post_by_word(&pair, 3);
	pair.world->filter = lose_end;
	send_channel(&pair, 3, 70000);
	while (world_counter(pair.world, 1, BCL_CARD_posted_again) == 0)
		world_step(pair.world);
	post_by_word(&pair, 3);
	send_too_early(&pair, 3);
	pair.world->filter = NULL;
	while (!world_received(pair.b, &entry))
		world_step(pair.world);
	ck_assert_uint_eq(entry.length, 70000);
	ck_assert(!may_repost(&pair, 3));
	ck_assert_uint_eq(world_counter(pair.world, 1, BCL_CARD_posted_again),
			  1);
	free_pair(&pair);
}
END_TEST

/* The host does not know the memory any more: the library must post anew, and
 * the sender is told then. */
START_TEST(memory_lapsed)
{
	struct world_config config = { .seed = 1 };
	struct pair pair = make_filled_pair(&config);
	struct bcl_completion entry;

	pair.world->card[1].forgets = true;
	for (unsigned i = 0; i < 2; i++) {
		post_by_word(&pair, 3);
		send_too_early(&pair, 3);
		ck_assert(world_received(pair.b, &entry));
		ck_assert_int_eq(entry.kind, BCL_CQ_REPOST);
		ck_assert_uint_eq(entry.index, 3);
		ck_assert(!may_repost(&pair, 3));
		if (i) { /* taken back first */
			ck_assert_int_eq(unpost(&pair, 3), BCL_OK);
			ck_assert_int_eq(unpost(&pair, 3), BCL_ERR_EMPTY);
		}
		/* By the word only after the next message: its entry is behind
		 * this one, so the queue has two of the channel at most. */
		ck_assert_int_eq(post(&pair, 3, 0, false, 70000), BCL_OK);
		ck_assert_int_eq(unpost(&pair, 3), BCL_OK);
		ck_assert(!may_repost(&pair, 3));
		ck_assert_int_eq(post(&pair, 3, 0, false, 70000), BCL_OK);
		expect_at_once(&pair);
		ck_assert(may_repost(&pair, 3));
	}
	ck_assert_uint_eq(world_counter(pair.world, 1, BCL_CARD_reposts), 2);
	ck_assert_uint_eq(world_counter(pair.world, 1, BCL_CARD_posted_again),
			  0);
	free_pair(&pair);
}
END_TEST

/* The word counts only where the last POST was for this message. */
START_TEST(words_without_effect)
{
	struct world_config config = { .seed = 1, .pending = _i };
	struct pair pair = make_pair(&config);
	struct bcl_completion entry;

	post_by_word(&pair, 3); /* never posted */
	send_too_early(&pair, 3);
	ck_assert_int_eq(post(&pair, 3, 0, false, 70000), BCL_OK);
	expect_at_once(&pair);
	ck_assert_uint_eq(may_repost(&pair, 3), !config.pending);
	post_by_word(&pair, 3); /* twice */
	post_by_word(&pair, 3);
	send_too_early(&pair, 3);
	ck_assert_int_eq(post(&pair, 3, 0, false, 70000), BCL_OK);
	post_by_word(&pair, 3); /* while it is posted */
	expect_at_once(&pair);
	once = true;
	ck_assert_int_eq(post(&pair, 3, 0, false, 70000), BCL_OK);
	fill_channel(&pair, 3, 5);
	ck_assert(!may_repost(&pair, 3));
	once = false;
	/* for the next generation only by POST; an offer is not filled */
	ck_assert_int_eq(post(&pair, 3, 1, false, 70000), BCL_OK);
	fill_channel(&pair, 3 | 1 << 16, 5);
	post_by_word(&pair, 3);
	send_too_early(&pair, 3 | 2 << 16);
	ck_assert_int_eq(unpost(&pair, 3),
			 config.pending ? BCL_ERR_EMPTY : BCL_OK);
	ck_assert_int_eq(post(&pair, 3, 2, true, 70000), BCL_OK);
	ck_assert_int_eq(unpost(&pair, 3), BCL_OK);
	ck_assert(!may_repost(&pair, 3));
	post_by_word(&pair, 3);
	send_channel(&pair, 3 | 3 << 16, 9);
	world_run_for(pair.world, 100 * MS);
	ck_assert(!world_received(pair.b, &entry));
	free_pair(&pair);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card channel");
	TCase *tcase = tcase_create("card channel");

	tcase_add_test(tcase, channel_posted_by_word);
	tcase_add_test(tcase, refused_before_the_word);
	tcase_add_test(tcase, memory_lapsed);
	tcase_add_loop_test(tcase, words_without_effect, 0, 2);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
