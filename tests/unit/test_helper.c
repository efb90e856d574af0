/* SPDX-License-Identifier: MIT */
/* The helper thread stands in for a program that is away, and must be invisible
 * otherwise. */
#include "unit.h"

#include <poll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "pairs.h"

static _Atomic uint32_t *shared; /* by the ranks of a job, and by all jobs */

static void sleep_ms(unsigned ms)
{
	const struct timespec time = { .tv_sec = ms / 1000,
				       .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&time, NULL);
}

/* Rank 1 computes until rank 0 has connected. */
static int away_while_connecting(unsigned me, void *argument)
{
	struct bcl_context *context;
	struct bcl_peer *peer;
	struct bcl_port *port;
	struct bcl_event event;
	struct bcl_boot *boot;
	uint8_t address[BCL_ADDRESS_MAX];
	bool helped = *(bool *)argument;
	size_t length;

	rank_path(me, BCL_PATH_SHARED);
	if (!helped && me == 1)
		setenv("BCL_HELPER", "off", 1);
	must(!bcl_boot_open(&bcl_env_linux, &boot));
	must(!bcl_open(NULL, &context));
	must(!bcl_port_open(context, NULL, &port));
	must(!bcl_port_address(port, address, &length));
	must(!bcl_boot_put(boot, "address", address, length));
	must(!bcl_boot_fence(boot));
	if (me == 1) {
		for (unsigned i = 0; i < (helped ? 1000 : 50) && !*shared; i++)
			sleep_ms(10);
		must(*shared == helped);
		/* back again, also without a helper */
		while (!*shared)
			bcl_poll(port, &event);
	} else {
		must(!bcl_boot_get(boot, 1, "address", address, sizeof(address),
				   &length));
		must(!bcl_peer_open(port, address, length, &peer));
		must(!bcl_wait(port, UINT64_C(10000000000)));
		must(!bcl_poll(port, &event));
		must(event.kind == BCL_EVENT_PEER && !event.status);
		*shared = 1;
	}
	must(!bcl_boot_fence(boot));
	bcl_close(context);
	bcl_boot_close(boot);
	return 0;
}

START_TEST(it_answers_who_connects)
{
	bool helped = _i;

	*shared = 0;
	ck_assert_int_eq(bcl_boot_job_run(2, away_while_connecting, &helped),
			 0);
}
END_TEST

enum {
	BULK = 1 << 20,
};

struct pulled {
	enum bcl_path path;
	bool full; /* rank 1 has no descriptor left */
};

/* New descriptors must have numbers below `most`. */
static void limit_descriptors(rlim_t most)
{
	struct rlimit limit;

	must(!getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = most;
	must(!setrlimit(RLIMIT_NOFILE, &limit));
}

/* Rank 1 offers memory and computes until rank 0 has read the memory. */
static int away_while_pulled(unsigned me, void *arg)
{
	const struct pulled *pulled = arg;
	static uint8_t memory[BULK];
	uint8_t token[BCL_KEY_MAX];
	const struct iovec iov = { token, sizeof(token) };
	struct rlimit limit;
	struct bcl_event event;
	struct rank rank;

	rank_open(&rank, pulled->path);
	must(!getrlimit(RLIMIT_NOFILE, &limit));
	if (me == 1 && pulled->full) {
		limit_descriptors(0);
		must(dup(0) < 0);
	}
	if (me == 1) {
		memset(memory, 0x5a, BULK);
		must(!bcl_offer(rank.peer[0], memory, BULK, 7, token));
		must(!bcl_send(rank.peer[0], 1, 0, &iov, 1, 1));
		must(rank_event(&rank).kind == BCL_EVENT_SENT);
		for (unsigned i = 0; i < 1000 && !*shared; i++)
			sleep_ms(10);
		must(*shared);
		event = rank_event(&rank);
		must(event.kind == BCL_EVENT_READ && event.cookie == 7);
	} else {
		event = rank_event(&rank);
		must(event.kind == BCL_EVENT_MESSAGE);
		memcpy(token, event.data, sizeof(token));
		sleep_ms(50);
		must(!bcl_pull(rank.peer[1], token, memory, BULK, 8));
		event = rank_event(&rank);
		must(event.kind == BCL_EVENT_PULLED && event.cookie == 8);
		must(!event.status && event.length == BULK);
		for (unsigned i = 0; i < BULK; i++)
			must(memory[i] == 0x5a);
		*shared = 1;
	}
	rank_close(&rank);
	limit_descriptors(limit.rlim_cur); /* a leak checker wants some */
	return 0;
}

START_TEST(it_answers_who_pulls)
{
	struct pulled pulled = {
		.path = _i ? BCL_PATH_CARD : BCL_PATH_SHARED,
		.full = _i == 2,
	};

	*shared = 0;
	ck_assert_int_eq(bcl_boot_job_run(2, away_while_pulled, &pulled), 0);
}
END_TEST

/* Poll with traffic for 300 ms, and until the helper has looked. The traffic
 * must not wake the helper. */
static int polling(unsigned me, void *path)
{
	struct bcl_event event;
	struct rank rank;
	uint64_t end;

	rank_open(&rank, *(enum bcl_path *)path);
	end = rank_now() + 300000000;
	if (me == 0)
		rank_send(&rank, 1, 0);
	while (rank_now() < end || !rank_counter(&rank, "core.helper_ticks"))
		if (!bcl_poll(rank.port, &event))
			rank_send(&rank, 1 - me, 0);
	/* Traffic would cause thousands of wake-ups. The system causes a few
	 * each time when the process cannot run for long. */
	must(rank_counter(&rank, "core.helper_wakes") <= 200);
	rank_close(&rank);
	return 0;
}

START_TEST(it_sleeps_while_the_program_polls)
{
	enum bcl_path path = _i ? BCL_PATH_CARD : BCL_PATH_SHARED;

	ck_assert_int_eq(bcl_boot_job_run(2, polling, &path), 0);
}
END_TEST

/* Away for half a second, connected, once the helper stands in: a few wake-ups
 * at most. */
static int away(unsigned me, void *path)
{
	struct rank rank;
	uint64_t before;

	(void)me;
	rank_open(&rank, *(enum bcl_path *)path);
	do
		sleep_ms(300);
	while (!rank_counter(&rank, "core.helper_spells"));
	before = rank_counter(&rank, "core.helper_ticks") +
		 rank_counter(&rank, "core.helper_wakes");
	sleep_ms(500);
	must(rank_counter(&rank, "core.helper_ticks") +
		     rank_counter(&rank, "core.helper_wakes") - before <=
	     20);
	rank_close(&rank);
	return 0;
}

START_TEST(it_costs_nothing_while_nothing_comes)
{
	enum bcl_path path = _i ? BCL_PATH_CARD : BCL_PATH_SHARED;

	ck_assert_int_eq(bcl_boot_job_run(2, away, &path), 0);
}
END_TEST

/* Sleeping in bcl_wait() is not being away: the program is woken itself. */
static int asleep(unsigned me, void *argument)
{
	struct rank rank;

	(void)argument;
	rank_open(&rank, BCL_PATH_SHARED);
	if (me == 0) {
		sleep_ms(300);
		rank_send(&rank, 1, 0);
	} else {
		uint64_t spells = rank_counter(&rank, "core.helper_spells");

		must(rank_event(&rank).kind == BCL_EVENT_MESSAGE);
		must(rank_counter(&rank, "core.helper_spells") <= spells + 1);
		must(rank_counter(&rank, "core.sleeps") >= 1);
	}
	rank_close(&rank);
	return 0;
}

START_TEST(it_leaves_the_traffic_to_a_sleeper)
{
	ck_assert_int_eq(bcl_boot_job_run(2, asleep, NULL), 0);
}
END_TEST

/* Rank 1 is silent. Rank 0 sleeps on its descriptor without a time-out, and the
 * helper of rank 0 must notice the silence. */
static int asleep_while_lost(unsigned me, void *argument)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct bcl_event event;
	struct rank rank;

	(void)argument;
	if (me == 1)
		setenv("BCL_HELPER", "off", 1);
	setenv("BCL_PEER_TIMEOUT", "2s", 1);
	rank_open(&rank, BCL_PATH_CARD);
	pollfd.fd = bcl_port_fd(rank.port);
	if (me == 1) {
		for (unsigned i = 0; i < 5000 && !*shared; i++)
			sleep_ms(10);
		must(*shared);
	} else {
		while (bcl_poll(rank.port, &event)) {
			if (bcl_arm(rank.port) == BCL_ERR_AGAIN)
				continue;
			must(poll(&pollfd, 1, 50000) == 1);
		}
		must(event.kind == BCL_EVENT_PEER);
		must(event.status == BCL_ERR_DEAD);
		*shared = 1;
	}
	rank_close(&rank);
	return 0;
}

START_TEST(it_wakes_who_has_lost_a_peer)
{
	*shared = 0;
	ck_assert_int_eq(bcl_boot_job_run(2, asleep_while_lost, NULL), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("helper");
	TCase *tcase = tcase_create("helper");

	shared = ranks_share();
	tcase_add_loop_test(tcase, it_answers_who_connects, 0, 2);
	tcase_add_loop_test(tcase, it_answers_who_pulls, 0, 3);
	tcase_add_loop_test(tcase, it_sleeps_while_the_program_polls, 0, 2);
	tcase_add_loop_test(tcase, it_costs_nothing_while_nothing_comes, 0, 2);
	tcase_add_test(tcase, it_leaves_the_traffic_to_a_sleeper);
	tcase_add_test(tcase, it_wakes_who_has_lost_a_peer);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
