/* SPDX-License-Identifier: MIT */
/* Bursts that leave a UDP rail without a copy by the system. */
#include "rails.h"

#include "wire/udp.h"

enum {
	FRAME = 1472,
	BURST = 44,
	BYTES = BURST * FRAME,
	AT = 48,       /* offset of a burst on the page */
	PATIENCE = 80, /* bursts until a destination has a stage */
	HUGE = 2 << 20,
};

static struct bcl_config config;
static struct bcl_rail *a, *b, *c;
static struct inbox *inbox;
static struct bcl_rail_tx tx[BURST];
static const char *networks[] = { "127.0.0.1/32", "::1/128" };

static uint8_t *ask(const struct bcl_rail *to)
{
	uint8_t *memory = a->stage(a, &to->address, AT + BYTES);

	return memory ? memory + AT : NULL;
}

static uint8_t *ask_until(const struct bcl_rail *to)
{
	uint8_t *at = NULL;
	unsigned i;

	for (i = 0; i < PATIENCE && !at; i++)
		at = ask(to);
	return at;
}

/* n frames, end to end. */
static void prepare(uint8_t *at, unsigned n, size_t length, unsigned number)
{
	unsigned i;

	for (i = 0; i < n; i++, at += length) {
		frame_fill(at, length, number + i, 2);
		tx[i].iov[0] = (struct iovec){ at, length };
		tx[i].niov = 1;
		tx[i].length = (unsigned)length;
	}
}

static void check_inbox(unsigned n, size_t length, unsigned number)
{
	unsigned i;

	inbox_wait(inbox, b, n);
	for (i = 0; i < n; i++) {
		ck_assert_uint_eq(inbox->frame[i].length, length);
		ck_assert(frame_right(inbox->frame[i].bytes, length, number + i,
				      2));
	}
	inbox->n = 0;
	inbox->used = 0;
}

static void transmit(uint8_t *at, unsigned n, size_t length, unsigned number)
{
	prepare(at, n, length, number);
	ck_assert_uint_eq(a->transmit(a, &b->address, tx, n), n);
}

static void send_and_check(uint8_t *at, unsigned n, size_t length,
			   unsigned number)
{
	transmit(at, n, length, number);
	check_inbox(n, length, number);
}

/* Open the rails. Data to b leaves by a separate socket. */
static void open_rails(int which)
{
	static uint8_t one[144];
	unsigned i;

	memset(&rails_page, 0, sizeof(rails_page));
	config = rails_config("udp", networks[which]);
	a = rails_open(&bcl_rail_udp, &config, 1);
	b = rails_open(&bcl_rail_udp, &config, 2);
	c = rails_open(&bcl_rail_udp, &config, 3);
	inbox = inbox_new();
	frame_kind = BCL_FRAME_DATA;
	for (i = 0; i < 32; i++)
		send_and_check(one, 1, sizeof(one), i);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_connected), 1);
}

static void close_rails(void)
{
	a->close(a);
	b->close(b);
	c->close(c);
	free(inbox);
}

static uint64_t staged(void)
{
	return rails_counter(BCL_COUNT_udp_staged);
}

/* Send more bursts than the ring holds: all bytes must be right. Frames of
 * another length, alone or in a burst, must be cut likewise. */
START_TEST(bursts_stay_where_they_are)
{
	static uint8_t alone[2 * FRAME];
	unsigned i;
	uint8_t *at;

	open_rails(_i);
	ck_assert_ptr_null(ask(b));
	at = ask_until(b);
	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq((uintptr_t)(at - AT) % HUGE, 0);
	ck_assert_ptr_eq(ask(b), at); /* as long as nothing was sent */
	for (i = 0; i < 60; i++, at = ask(b))
		send_and_check(at, BURST, FRAME, i);
	ck_assert_uint_eq(staged(), i);
	send_and_check(at, 2, FRAME, 1);
	ck_assert_uint_eq(staged(), i + 1);
	send_and_check(ask(b), 20, sizeof(alone), 2);
	ck_assert_uint_eq(staged(), i + 2);
	send_and_check(ask(b), 20, 1000, 3);
	ck_assert_uint_eq(staged(), i + 3);
	send_and_check(alone, 1, sizeof(alone), 4);
	send_and_check(alone, 1, 144, 5);
	ck_assert_uint_eq(staged(), i + 3);
	ck_assert_ptr_null(a->stage(a, &b->address, 4096));
	ck_assert_ptr_null(a->stage(a, &b->address, (1 << 16) + 1));
	close_rails();
}
END_TEST

/* Send as many bursts at once as may be in flight. */
static void send_window(unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		transmit(ask(b), BURST, FRAME, i * BURST);
}

START_TEST(a_window_is_under_way)
{
	unsigned n, round;

	open_rails(_i);
	ck_assert_ptr_nonnull(ask_until(b));
	n = a->limits.window / BYTES;
	for (round = 0; round < 5; round++) {
		send_window(n);
		check_inbox(n * BURST, FRAME, 0);
	}
	ck_assert_uint_eq(staged(), 5 * n);
	close_rails();
}
END_TEST

/* A later destination gets other memory, and the bytes in flight must not
 * change. */
START_TEST(another_destination_takes_over)
{
	unsigned n, i;
	uint8_t *at;

	open_rails(_i);
	ck_assert_ptr_nonnull(ask_until(b));
	n = a->limits.window / BYTES;
	send_window(n);
	for (i = 0; i < PATIENCE; i++) {
		ck_assert_ptr_null(ask(c));
		ck_assert_ptr_nonnull(ask(b));
	}
	at = ask_until(c);
	ck_assert_ptr_nonnull(at);
	memset(at - AT, 0xff, 8 * BYTES);
	ck_assert_ptr_null(ask(b));
	check_inbox(n * BURST, FRAME, 0);
	close_rails();
}
END_TEST

/* The system does not cut bursts that the system may not checksum. With IPv6
 * the system may always checksum. */
START_TEST(a_refusal_is_for_good)
{
	const int no_checksum = 1;
	struct bcl_udp *udp;
	unsigned i;
	uint8_t *at;

	open_rails(_i);
	at = ask_until(b);
	ck_assert_ptr_nonnull(at);
	udp = (struct bcl_udp *)a;
	for (i = 0; i < BCL_UDP_PEERS; i++)
		if (udp->peers[i].fd >= 0)
			ck_assert(!setsockopt(udp->peers[i].fd, SOL_SOCKET,
					      SO_NO_CHECK, &no_checksum,
					      sizeof(no_checksum)));
	send_and_check(at, BURST, FRAME, 1);
	ck_assert_uint_eq(staged(), 0);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_stage_refused), 1);
	ck_assert_ptr_null(ask_until(b));
	close_rails();
}
END_TEST

/* The option UDP_SEGMENT must not stay on the socket. The system would cut a
 * longer frame that is not staged, and frames after a change of the
 * interface. */
START_TEST(nothing_is_cut_afterwards)
{
	struct bcl_udp *udp;
	unsigned i;
	bool up;

	open_rails(_i);
	udp = (struct bcl_udp *)a;
	send_and_check(ask_until(b), BURST, FRAME, 1);
	udp->path_mtu = 1500;
	udp->path_until = UINT64_MAX;
	ck_assert(a->check(a, &up));
	for (i = 0; i < BCL_UDP_PEERS; i++)
		ck_assert_uint_eq(udp->peers[i].cut, 0);
	close_rails();
}
END_TEST

/* Without the functions above, as no assertion may fail here. */
static bool without_a_copy(void)
{
	struct bcl_config probe = rails_config("udp", networks[0]);
	void *memory = NULL;
	char why[96];
	unsigned i;

	if (!bcl_rail_udp.open(&bcl_env_linux, &probe, 1, &a, 1, why))
		return true;
	for (i = 0; i < PATIENCE && !memory; i++)
		memory = a->stage(a, &a->address, BYTES);
	a->close(a);
	return memory;
}

int main(void)
{
	Suite *suite = suite_create("udp_stage");
	TCase *tcase = tcase_create("udp_stage");
	int ways;

	if (!without_a_copy()) {
		printf("this system copies what sendfile() sends by UDP\n");
		return 77;
	}
	ways = rails_ipv6() ? 2 : 1;
	tcase_add_loop_test(tcase, bursts_stay_where_they_are, 0, ways);
	tcase_add_loop_test(tcase, a_window_is_under_way, 0, ways);
	tcase_add_loop_test(tcase, another_destination_takes_over, 0, ways);
	tcase_add_loop_test(tcase, a_refusal_is_for_good, 0, 1);
	tcase_add_loop_test(tcase, nothing_is_cut_afterwards, 0, ways);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
