/* SPDX-License-Identifier: MIT */
/*
 * A UDP rail over a path with a smaller MTU than the interface has, and over an
 * interface that goes down and up. The test runs in a network namespace, over
 * the loopback.
 */
#include "rails.h"

#include <sched.h>
#include <unistd.h>

static struct bcl_rail *a, *b;
static struct inbox *inbox;
static struct bcl_config config;
static struct bcl_env env;
static uint64_t skew; /* of a's clock, ns */

static const uint64_t SECOND = 1000000000;

static void shell(const char *command)
{
	ck_assert_msg(!system(command), "%s", command);
}

static uint64_t later(void *world)
{
	return bcl_env_linux.now(world) + skew;
}

static void setup(void)
{
	char why[96];

	memset(&rails_page, 0, sizeof(rails_page));
	frame_kind = 0;
	config = rails_config("udp", "lo");
	strcpy(config.log, "error");
	env = bcl_env_linux;
	env.now = later;
	skew = 0;
	ck_assert(bcl_rail_udp.open(&env, &config, 1, &a, 1, why));
	a->counters = &rails_page;
	b = rails_open(&bcl_rail_udp, &config, 2);
	inbox = inbox_new();
}

static void teardown(void)
{
	a->close(a);
	b->close(b);
	free(inbox);
}

static unsigned transmit(size_t length, unsigned n)
{
	static uint8_t bytes[64][BCL_FRAME_MAX];
	struct bcl_rail_tx tx[64];
	unsigned i;

	for (i = 0; i < n; i++) {
		frame_fill(bytes[i], length, i, 2);
		tx[i] = (struct bcl_rail_tx){ .iov = { { bytes[i], length } },
					      .niov = 1,
					      .length = (unsigned)length };
	}
	return a->transmit(a, &b->address, tx, n);
}

/* From now on a's frames leave by a socket connected to b. */
static void connect_to_b(void)
{
	unsigned i;

	frame_kind = BCL_FRAME_DATA;
	for (i = 0; i < 100; i++)
		transmit(100, 1);
	inbox_wait(inbox, b, 100);
	inbox->n = 0;
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_connected), 1);
}

/* Loops run over frames alone, in bursts, and both by a connected socket. */
START_TEST(a_narrow_path_lowers_the_frame)
{
	bool burst = _i % 2;
	unsigned n = burst ? 10 : 1;
	bool up;

	if (_i / 2)
		connect_to_b();
	ck_assert_uint_eq(a->limits.mtu, 1472);
	shell("ip route change local 127.0.0.1 dev lo table local "
	      "src 127.0.0.1 mtu lock 1000");
	/* The frames are lost, as if a router dropped them. The rail goes
	 * on. */
	ck_assert_uint_eq(transmit(1472, n), n);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_too_big), n);
	ck_assert_uint_eq(b->receive(b, &inbox->sink, 0, 64), 0);
	/* The system reports no size for a burst: send one frame alone. */
	if (burst)
		transmit(1472, 1);
	a->receive(a, &inbox->sink, 0, 64); /* reads the system's report */
	ck_assert(a->check(a, &up));
	ck_assert(up);
	ck_assert_uint_eq(a->limits.mtu, (1000 - 28) & ~7u);
	ck_assert_uint_eq(transmit(a->limits.mtu, n), n);
	inbox_wait(inbox, b, n);
	shell("ip route change local 127.0.0.1 dev lo table local "
	      "src 127.0.0.1");
	/* For some minutes. */
	skew = 590 * SECOND;
	ck_assert(!a->check(a, &up));
	skew = 610 * SECOND;
	ck_assert(a->check(a, &up));
	ck_assert_uint_eq(a->limits.mtu, 1472);
	ck_assert_uint_eq(transmit(1472, n), n);
	inbox_wait(inbox, b, 2 * n);
}
END_TEST

START_TEST(an_interface_goes_down_and_up)
{
	bool up = true;

	if (_i)
		connect_to_b();
	shell("ip link set lo down");
	ck_assert(!a->check(a, &up));
	ck_assert(!up);
	ck_assert_uint_eq(transmit(100, 1), 1);
	shell("ip link set lo up mtu 1400");
	ck_assert(a->check(a, &up));
	ck_assert(up);
	ck_assert_uint_eq(a->limits.mtu, (1400 - 28) & ~7u);
	ck_assert_uint_eq(transmit(100, 1), 1);
	inbox_wait(inbox, b, 1);
	shell("ip link set lo mtu 1500");
}
END_TEST

static void skip(const char *why)
{
	printf("skipped: %s\n", why);
	exit(77);
}

int main(void)
{
	Suite *suite = suite_create("mtu");
	TCase *tcase = tcase_create("mtu");

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		skip("no network namespaces");
	if (system("ip link set lo up mtu 1500"))
		skip("no ip command");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, a_narrow_path_lowers_the_frame, 0, 4);
	tcase_add_loop_test(tcase, an_interface_goes_down_and_up, 0, 2);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
