/* SPDX-License-Identifier: MIT */
#include "rails.h"

enum {
	FRAME = 1472,
	PAYLOAD = FRAME - BCL_HEADERS_SIZE,
	BURST = 44,
};

static struct bcl_config config;
static struct bcl_rail *a, *b;
static struct inbox *inbox;
static uint8_t bytes[128][BCL_FRAME_MAX];
static struct bcl_rail_tx tx[128];
static const char *networks[] = { "127.0.0.1/32", "::1/128" };

/* Loops run over: offload with IPv4, without, offload with IPv6, without. */
static void open_pair(int which)
{
	memset(&rails_page, 0, sizeof(rails_page));
	config = rails_config("udp", networks[which / 2]);
	config.offload = which % 2 == 0;
	a = rails_open(&bcl_rail_udp, &config, 1);
	b = rails_open(&bcl_rail_udp, &config, 2);
	inbox = inbox_new();
}

static void close_pair(void)
{
	a->close(a);
	b->close(b);
	free(inbox);
}

static void prepare(unsigned n, size_t length, size_t last)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		size_t size = i == n - 1 ? last : length;

		frame_fill(bytes[i], size, i, 2);
		/* In pieces, as a card's host gathers them. */
		tx[i].iov[0] = (struct iovec){ bytes[i], BCL_HEADERS_SIZE };
		tx[i].iov[1] = (struct iovec){ bytes[i] + BCL_HEADERS_SIZE,
					       size - BCL_HEADERS_SIZE };
		tx[i].niov = 2;
		tx[i].length = (unsigned)size;
	}
}

static void check_inbox(unsigned n, size_t length, size_t last)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		size_t size = i == n - 1 ? last : length;

		ck_assert_uint_eq(inbox->frame[i].length, size);
		ck_assert(frame_right(inbox->frame[i].bytes, size, i, 2));
	}
}

START_TEST(one_frame_costs_one_call)
{
	open_pair(_i);
	prepare(1, 144, 144);
	ck_assert_uint_eq(a->transmit(a, &b->address, tx, 1), 1);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_sendmsg), 1);
	inbox_wait(inbox, b, 1);
	check_inbox(1, 144, 144);
	ck_assert_mem_eq(&inbox->source, &a->address, sizeof(a->address));
	ck_assert_uint_eq(b->receive(b, &inbox->sink, 0, 64), 0);
	close_pair();
}
END_TEST

START_TEST(a_burst_arrives_whole)
{
	bool offload = _i % 2 == 0;

	open_pair(_i);
	prepare(BURST, FRAME, 1000);
	ck_assert_uint_eq(a->transmit(a, &b->address, tx, BURST), BURST);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_sendmsg), 1);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_bursts), offload);
	inbox_wait(inbox, b, BURST);
	check_inbox(BURST, FRAME, 1000);
	if (offload)
		ck_assert_uint_eq(
			rails_counter(BCL_COUNT_udp_recvmsg) -
				rails_counter(BCL_COUNT_udp_recvmsg_empty),
			1);
	close_pair();
}
END_TEST

START_TEST(more_than_a_burst_and_mixed_lengths)
{
	unsigned i;

	open_pair(_i);
	prepare(100, FRAME, FRAME);
	tx[30].iov[1].iov_len = 300 - BCL_HEADERS_SIZE;
	tx[30].length = 300;
	ck_assert_uint_eq(a->transmit(a, &b->address, tx, 100), 100);
	inbox_wait(inbox, b, 100);
	for (i = 0; i < 100; i++)
		ck_assert(frame_right(inbox->frame[i].bytes,
				      i == 30 ? 300 : FRAME, i, 2));
	close_pair();
}
END_TEST

START_TEST(aimed_payloads_land_in_place)
{
	static uint8_t place[BURST * PAYLOAD];
	unsigned i;

	open_pair(_i);
	prepare(BURST, FRAME, FRAME);
	inbox->place = place;
	inbox->payload = PAYLOAD;
	inbox->length = 20 * PAYLOAD + 5;
	a->transmit(a, &b->address, tx, BURST);
	inbox_wait(inbox, b, BURST);
	check_inbox(BURST, FRAME, FRAME);
	if (_i % 2 == 0) {
		ck_assert_uint_eq(inbox->in_place, 20);
		for (i = 0; i < 20; i++)
			ck_assert_mem_eq(place + i * PAYLOAD,
					 bytes[i] + BCL_HEADERS_SIZE, PAYLOAD);
	}
	close_pair();
}
END_TEST

START_TEST(wrong_aim_is_made_good)
{
	static uint8_t place[BURST * FRAME];

	open_pair(_i);
	inbox->place = place;
	inbox->payload = PAYLOAD - 8;
	inbox->length = sizeof(place);
	prepare(BURST, FRAME, 700);
	a->transmit(a, &b->address, tx, BURST);
	inbox_wait(inbox, b, BURST);
	check_inbox(BURST, FRAME, 700);
	ck_assert_uint_eq(inbox->in_place, 0);

	/* A frame alone: shorter than expected, longer, just headers. */
	inbox->n = 0;
	prepare(1, 200, 200);
	a->transmit(a, &b->address, tx, 1);
	inbox_wait(inbox, b, 1);
	check_inbox(1, 200, 200);
	inbox->n = 0;
	prepare(1, FRAME, FRAME);
	a->transmit(a, &b->address, tx, 1);
	inbox_wait(inbox, b, 1);
	check_inbox(1, FRAME, FRAME);
	inbox->n = 0;
	prepare(1, BCL_HEADERS_SIZE, BCL_HEADERS_SIZE);
	a->transmit(a, &b->address, tx, 1);
	inbox_wait(inbox, b, 1);
	check_inbox(1, BCL_HEADERS_SIZE, BCL_HEADERS_SIZE);
	close_pair();
}
END_TEST

START_TEST(a_refusal_is_reported)
{
	struct bcl_wire_address nobody;
	struct bcl_rail *gone;
	time_t end = time(NULL) + 3;

	open_pair(_i);
	gone = rails_open(&bcl_rail_udp, &config, 3);
	nobody = gone->address;
	gone->close(gone);
	prepare(1, 100, 100);
	ck_assert_uint_eq(a->transmit(a, &nobody, tx, 1), 1);
	while (!inbox->gone && time(NULL) < end)
		a->receive(a, &inbox->sink, 0, 64);
	ck_assert_uint_eq(inbox->gone, 1);
	ck_assert_mem_eq(&inbox->source, &nobody, sizeof(nobody));
	/* The rail goes on, also when the report comes first. */
	a->transmit(a, &nobody, tx, 1);
	ck_assert_uint_eq(a->transmit(a, &b->address, tx, 1), 1);
	inbox_wait(inbox, b, 1);
	close_pair();
}
END_TEST

START_TEST(limits_are_sane)
{
	bool up = false;

	open_pair(_i);
	ck_assert_uint_le(a->limits.mtu, BCL_FRAME_MAX);
	ck_assert_uint_ge(a->limits.mtu, 8192); /* loopback */
	ck_assert_uint_eq(a->limits.mtu % 8, 0);
	ck_assert_uint_ge(a->limits.burst, 7);
	ck_assert_uint_ge(a->limits.window, 64 << 10);
	ck_assert_uint_le(a->limits.window, 1 << 20);
	ck_assert(a->limits.bulk && !bcl_rail_mapped(a));
	ck_assert(!a->check(a, &up));
	ck_assert(up);
	close_pair();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("udp");
	TCase *tcase = tcase_create("udp");
	struct bcl_config probe = rails_config("udp", networks[1]);
	struct bcl_rail *rail;
	char why[96];
	int ways = 4;

	if (!bcl_rail_udp.open(&bcl_env_linux, &probe, 1, &rail, 1, why)) {
		printf("IPv6 is not tested: %s\n", why);
		ways = 2;
	} else {
		rail->close(rail);
	}
	tcase_add_loop_test(tcase, one_frame_costs_one_call, 0, ways);
	tcase_add_loop_test(tcase, a_burst_arrives_whole, 0, ways);
	tcase_add_loop_test(tcase, more_than_a_burst_and_mixed_lengths, 0,
			    ways);
	tcase_add_loop_test(tcase, aimed_payloads_land_in_place, 0, ways);
	tcase_add_loop_test(tcase, wrong_aim_is_made_good, 0, ways);
	tcase_add_loop_test(tcase, a_refusal_is_reported, 0, ways);
	tcase_add_loop_test(tcase, limits_are_sane, 0, ways);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
