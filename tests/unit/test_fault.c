/* SPDX-License-Identifier: MIT */
#include "rails.h"

#include <unistd.h>

#include "wire/fault.h"

enum {
	FRAMES = 2000,
	LENGTH = 200,
};

/* A rail that puts sent frames into the inbox. `arriving` frames are left to
 * deliver. */
struct stub {
	struct bcl_rail rail;
	struct inbox *inbox;
	unsigned arriving;
};

static struct stub stub;
static struct bcl_rail *rail;
static struct inbox *sent, *received;
static struct bcl_config config;

static unsigned stub_transmit(struct bcl_rail *self,
			      const struct bcl_wire_address *destination,
			      const struct bcl_rail_tx *frames, unsigned n)
{
	uint8_t bytes[BCL_FRAME_MAX];
	unsigned i, j;

	(void)self;
	for (i = 0; i < n; i++) {
		struct bcl_rx_frame rx = { .head = bytes };

		for (j = 0; j < frames[i].niov; j++) {
			memcpy(bytes + rx.head_len, frames[i].iov[j].iov_base,
			       frames[i].iov[j].iov_len);
			rx.head_len += (uint16_t)frames[i].iov[j].iov_len;
		}
		inbox_deliver(sent, 0, destination, &rx, 1);
	}
	return n;
}

static unsigned stub_receive(struct bcl_rail *self,
			     const struct bcl_rail_sink *sink, unsigned index,
			     unsigned max)
{
	const struct bcl_wire_address source = { BCL_WIRE_SIM, 1, { 9 } };
	struct bcl_rx_frame frames[4];
	uint8_t bytes[4][LENGTH];
	unsigned n = 0;

	(void)self;
	(void)max;
	for (; stub.arriving && n < 4; n++) {
		frame_fill(bytes[n], LENGTH, FRAMES - stub.arriving--, 1);
		frames[n] = (struct bcl_rx_frame){ .head = bytes[n],
						   .head_len = LENGTH };
	}
	if (n)
		sink->deliver(sink->host, index, &source, frames, n);
	return n;
}

static void stub_close(struct bcl_rail *self)
{
	(void)self;
}

static void wrap(const char *plan)
{
	memset(&rails_page, 0, sizeof(rails_page));
	stub = (struct stub){
		.rail = { .kind = &bcl_rail_udp,
			  .counters = &rails_page,
			  .transmit = stub_transmit,
			  .receive = stub_receive,
			  .close = stub_close },
	};
	config = rails_config("udp", "");
	strcpy(config.log, "error");
	strcpy(config.fault, plan);
	sent = inbox_new();
	received = inbox_new();
	rail = &stub.rail;
	ck_assert_int_eq(bcl_fault_wrap(&bcl_env_linux, &config, 0, &rail),
			 BCL_OK);
}

static void unwrap(void)
{
	rail->close(rail);
	free(sent);
	free(received);
}

static void run(void)
{
	const struct bcl_wire_address to = { BCL_WIRE_SIM, 1, { 5 } };
	unsigned i;

	for (i = 0; i < FRAMES; i++) {
		uint8_t bytes[LENGTH];
		const struct bcl_rail_tx tx = { .iov = { { bytes, 100 },
							 { bytes + 100,
							   LENGTH - 100 } },
						.niov = 2,
						.length = LENGTH };

		frame_fill(bytes, LENGTH, i, 1);
		ck_assert_uint_eq(rail->transmit(rail, &to, &tx, 1), 1);
	}
	stub.arriving = FRAMES;
	while (stub.arriving)
		rail->receive(rail, &received->sink, 0, 64);
	/* A frame that was held back is due after a millisecond. */
	for (i = 0; i < 20; i++) {
		usleep(1000);
		rail->receive(rail, &received->sink, 0, 64);
	}
}

/* How many frames of the inbox are whole. Sets times[] to the number of copies
 * of each frame. */
static unsigned whole(const struct inbox *inbox, uint8_t times[FRAMES])
{
	unsigned n = 0, i;

	memset(times, 0, FRAMES);
	for (i = 0; i < inbox->n; i++) {
		struct bcl_frame_header header;
		unsigned number;

		memcpy(&header, inbox->frame[i].bytes, sizeof(header));
		number = bcl_get32(header.seq);
		if (number >= FRAMES ||
		    !frame_right(inbox->frame[i].bytes, LENGTH, number, 1))
			continue;
		times[number]++;
		n++;
	}
	return n;
}

static unsigned inversions(const struct inbox *inbox)
{
	unsigned n = 0, before = 0, i;

	for (i = 0; i < inbox->n; i++) {
		struct bcl_frame_header header;

		memcpy(&header, inbox->frame[i].bytes, sizeof(header));
		n += bcl_get32(header.seq) < before;
		before = bcl_get32(header.seq);
	}
	return n;
}

static void about(uint64_t value, unsigned expected)
{
	/* five standard deviations of the binomial distribution */
	unsigned slack = 5 * 26;

	ck_assert_uint_ge(value, expected - slack);
	ck_assert_uint_le(value, expected + slack);
}

START_TEST(nothing_asked_nothing_harmed)
{
	uint8_t times[FRAMES];

	wrap("drop:0");
	run();
	ck_assert_uint_eq(whole(sent, times), FRAMES);
	ck_assert_uint_eq(whole(received, times), FRAMES);
	ck_assert_uint_eq(inversions(sent) + inversions(received), 0);
	unwrap();
}
END_TEST

START_TEST(dropped)
{
	uint8_t times[FRAMES];
	uint64_t dropped;

	wrap("drop:20%,seed:1");
	run();
	dropped = rails_counter(BCL_COUNT_fault_dropped);
	about(dropped, 2 * FRAMES / 5);
	ck_assert_uint_eq(whole(sent, times) + whole(received, times),
			  2 * FRAMES - dropped);
	about(sent->n, FRAMES * 4 / 5);
	unwrap();
}
END_TEST

START_TEST(duplicated)
{
	uint8_t times[FRAMES];
	uint64_t twice;

	wrap("dup:0.2,seed:2");
	run();
	twice = rails_counter(BCL_COUNT_fault_duplicated);
	about(twice, 2 * FRAMES / 5);
	ck_assert_uint_eq(whole(sent, times) + whole(received, times),
			  2 * FRAMES + twice);
	unwrap();
}
END_TEST

START_TEST(reordered)
{
	uint8_t times[FRAMES];

	wrap("reorder:20%,seed:3");
	run();
	about(rails_counter(BCL_COUNT_fault_reordered), 2 * FRAMES / 5);
	ck_assert_uint_eq(whole(sent, times), FRAMES);
	ck_assert_uint_eq(whole(received, times), FRAMES);
	ck_assert_uint_gt(inversions(sent), FRAMES / 10);
	ck_assert_uint_gt(inversions(received), FRAMES / 10);
	unwrap();
}
END_TEST

START_TEST(corrupted)
{
	uint8_t times[FRAMES];
	uint64_t corrupted;

	wrap("corrupt:20%,seed:4");
	run();
	corrupted = rails_counter(BCL_COUNT_fault_corrupted);
	about(corrupted, 2 * FRAMES / 5);
	ck_assert_uint_eq(sent->n + received->n, 2 * FRAMES);
	ck_assert_uint_eq(whole(sent, times) + whole(received, times),
			  2 * FRAMES - corrupted);
	unwrap();
}
END_TEST

START_TEST(delayed)
{
	uint8_t times[FRAMES];

	wrap("delay:20%@100us,seed:5");
	run();
	about(rails_counter(BCL_COUNT_fault_delayed), 2 * FRAMES / 5);
	ck_assert_uint_eq(whole(sent, times), FRAMES);
	ck_assert_uint_eq(whole(received, times), FRAMES);
	unwrap();
}
END_TEST

START_TEST(a_seed_replays)
{
	uint8_t first[FRAMES], second[FRAMES];
	const char *plan = "drop:10%,dup:10%,corrupt:10%,seed:99";

	wrap(plan);
	run();
	whole(sent, first);
	unwrap();
	wrap(plan);
	run();
	whole(sent, second);
	ck_assert_mem_eq(first, second, FRAMES);
	unwrap();
	wrap("drop:10%,dup:10%,corrupt:10%,seed:100");
	run();
	whole(sent, second);
	ck_assert_mem_ne(first, second, FRAMES);
	unwrap();
}
END_TEST

START_TEST(plans_that_make_no_sense)
{
	static const char *const wrong[] = {
		"drop",	    "drop:",	 "drop:x",     "drop:101%",
		"drop:2",   "eat:1%",	 "drop:1%x",   "seed:",
		"drop:-1%", "delay:1%@", "drop:1%@1ms"
	};
	struct bcl_fault_plan plan;
	char word[32];
	unsigned i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_int_eq(bcl_fault_parse(wrong[i], &plan, word),
				 BCL_ERR_ARG);
		ck_assert_str_eq(word, wrong[i]);
	}
	ck_assert_int_eq(
		bcl_fault_parse("drop:1%,delay:0.5@3ms,seed:0x10", &plan, word),
		BCL_OK);
	ck_assert_uint_eq(plan.chance[BCL_FAULT_DELAY], 1u << 30);
	ck_assert_uint_eq(plan.delay_max, 3000000);
	ck_assert_uint_eq(plan.seed, 16);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fault");
	TCase *tcase = tcase_create("fault");

	tcase_add_test(tcase, nothing_asked_nothing_harmed);
	tcase_add_test(tcase, dropped);
	tcase_add_test(tcase, duplicated);
	tcase_add_test(tcase, reordered);
	tcase_add_test(tcase, corrupted);
	tcase_add_test(tcase, delayed);
	tcase_add_test(tcase, a_seed_replays);
	tcase_add_test(tcase, plans_that_make_no_sense);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
