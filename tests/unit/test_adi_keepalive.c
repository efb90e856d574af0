/* SPDX-License-Identifier: MIT */
/*
 * Keepalives of the ADI (adi/keepalive.c): rank 1 waits for a message from
 * rank 0, on another simulated node. Rank 0 computes, closes, crashes, or has
 * lost rank 1. The receive must end with an error if rank 0 is gone, and rank 1
 * must send few keepalives if rank 0 is there.
 */
#include "counter.h"
#include "sim_script.h"
#include "unit.h"

#include <string.h>

enum {
	TIMEOUT = 1, /* s: BCL_PEER_TIMEOUT */
	TAG = 7,
};

static const uint64_t SECOND = 1000000000;

static struct script scripted;
static struct sim_job *job;

/*
 * The result of rank 1's last receive: status, ns of waiting, and the counters
 * of keepalives sent (`asked`) and of ranks that answered LEFT (`left`).
 */
static struct {
	enum bcl_status status;
	struct bcl_adi_status end;
	uint64_t waited, asked, left;
	int number;
} seen;

static void run_job(const char *script, void (*run)(struct sim_rank *rank))
{
	memset(&seen, 0, sizeof(seen));
	script_open(&scripted, 2, 1, script, "1s");
	job = scripted.job;
	ck_assert_uint_eq(sim_job_run(job, run, NULL, 2000 * SECOND), 0);
	script_close(&scripted);
}

static void receive_from(struct bcl_adi *adi, int source, int tag)
{
	uint64_t began = sim_world_clock(sim_job_world(job))->now;

	seen.status = bcl_adi_recv(adi, &seen.number, sizeof(seen.number),
				   source, tag, 0, &seen.end);
	seen.waited = sim_world_clock(sim_job_world(job))->now - began;
	seen.asked = counter_of(bcl_adi_context(adi), "adi.keepalives");
	seen.left = counter_of(bcl_adi_context(adi), "adi.ranks_left");
}

static void receive(struct bcl_adi *adi)
{
	receive_from(adi, 0, TAG);
}

/* The receive ended before 3 * TIMEOUT because the peer is gone. The status has
 * the source and tag that the receive was posted with, and a length of 0. */
static void check_missed(int source, int tag)
{
	ck_assert_int_eq(bcl_status_loss(seen.status), BCL_LOSS_PEER);
	ck_assert_uint_lt(seen.waited, 3 * TIMEOUT * SECOND);
	ck_assert_int_eq(seen.end.status, seen.status);
	ck_assert_int_eq(seen.end.source, source);
	ck_assert_int_eq(seen.end.tag, tag);
	ck_assert_uint_eq(seen.end.length, 0);
}

/* Rank 0 computes for `ns`, then sends. Rank 1 receives. */
static void send_after(struct sim_rank *rank, uint64_t ns)
{
	const int number = 42;
	struct bcl_adi *adi;

	ck_assert_int_eq(sim_rank_join(rank, &adi), BCL_OK);
	if (bcl_adi_rank(adi) == 1) {
		receive(adi);
	} else {
		sim_compute(sim_job_world(job), ns);
		ck_assert_int_eq(
			bcl_adi_send(adi, &number, sizeof(number), 1, TAG, 0),
			BCL_OK);
	}
	sim_rank_leave(adi);
}

static void send_soon(struct sim_rank *rank)
{
	send_after(rank, SECOND / 100);
}

static void send_late(struct sim_rank *rank)
{
	send_after(rank, 1000 * SECOND);
}

/* Rank 0 sends while its only rail is unplugged, and so loses rank 1. Rank 1
 * connects to rank 0 after that, before rank 0 leaves. */
static void give_up(struct sim_rank *rank)
{
	const int number = 42;
	struct bcl_adi *adi;

	ck_assert_int_eq(sim_rank_join(rank, &adi), BCL_OK);
	if (bcl_adi_rank(adi) == 1) {
		receive(adi);
	} else {
		ck_assert_int_eq(
			bcl_adi_send(adi, &number, sizeof(number), 1, TAG, 0),
			BCL_ERR_UNREACHABLE);
		sim_compute(sim_job_world(job), SECOND / 10);
	}
	sim_rank_leave(adi);
}

/* Rank 0 has lost rank 1, and leaves without sending LEFT to rank 1. The
 * receive of rank 1 must end all the same. */
START_TEST(who_gave_us_up_and_left_is_missed)
{
	run_job("unplug node=0 for=1ms\n", give_up);
	check_missed(0, TAG);
	ck_assert_uint_eq(seen.left, 0);
}
END_TEST

/* Source and tag of the receives of wait_in_vain(). */
static const int patterns[][2] = {
	{ 0, TAG },
	{ 0, BCL_ANY_TAG },
	{ BCL_ANY_SOURCE, TAG },
	{ BCL_ANY_SOURCE, BCL_ANY_TAG },
};
static const int *pattern;

/* Rank 0 closes at once. Rank 1 receives twice: the first receive fails after a
 * keepalive, the second receive fails at once. */
static void wait_in_vain(struct sim_rank *rank)
{
	struct bcl_adi *adi;

	ck_assert_int_eq(sim_rank_join(rank, &adi), BCL_OK);
	if (bcl_adi_rank(adi) == 1) {
		receive_from(adi, pattern[0], pattern[1]);
		check_missed(pattern[0], pattern[1]);
		ck_assert_uint_gt(seen.asked, 0);
		receive_from(adi, pattern[0], pattern[1]);
		ck_assert_uint_eq(seen.waited, 0);
	}
	sim_rank_leave(adi);
}

/* Rank 0 closes and waits for rank 1 to close. Rank 0 must answer the keepalive
 * with LEFT, so that the receive ends, for each pattern. */
START_TEST(who_closes_is_missed)
{
	pattern = patterns[_i];
	run_job("", wait_in_vain);
	check_missed(pattern[0], pattern[1]);
	ck_assert_uint_eq(seen.left, 1);
}
END_TEST

/* The node of rank 0 crashes. The receive must end without a LEFT, for each
 * pattern. */
START_TEST(who_crashed_is_missed)
{
	pattern = patterns[_i];
	run_job("crash node=0 at=1us\n", wait_in_vain);
	check_missed(pattern[0], pattern[1]);
	ck_assert_uint_eq(seen.left, 0);
}
END_TEST

/* Rank 0 sends eager, long and empty messages, then closes. Rank 1 first waits
 * for a further message in vain, then receives all messages of rank 0. */
static void send_and_close(struct sim_rank *rank)
{
	static const size_t lengths[] = { 8, 100000, 8, 0 };
	static unsigned char out[100000], in[100000];
	struct bcl_adi_request *request;
	struct bcl_adi *adi;
	int i;

	ck_assert_int_eq(sim_rank_join(rank, &adi), BCL_OK);
	for (i = 0; i < 4 && bcl_adi_rank(adi) == 0; i++) {
		out[i] = (unsigned char)i;
		ck_assert_int_eq(
			bcl_adi_isend(adi, out, lengths[i], 1, i, 0, &request),
			BCL_OK);
	}
	if (bcl_adi_rank(adi) == 1) {
		receive(adi);
		for (i = 0; i < 4; i++) {
			ck_assert_int_eq(bcl_adi_recv(adi, in, sizeof(in), 0, i,
						      0, NULL),
					 BCL_OK);
			ck_assert(!lengths[i] || !memcmp(in, out, lengths[i]));
		}
	}
	sim_rank_leave(adi);
}

/* The receive without a message must end with LEFT. The messages that rank 0
 * sent before closing must all arrive intact. */
START_TEST(what_was_sent_before_closing_comes)
{
	run_job("", send_and_close);
	check_missed(0, TAG);
	ck_assert_uint_eq(seen.left, 1);
}
END_TEST

/* Rank 0 sends after 10 ms: rank 1 must not send a keepalive. */
START_TEST(who_sends_soon_is_not_asked)
{
	run_job("", send_soon);
	ck_assert_int_eq(seen.status, BCL_OK);
	ck_assert_int_eq(seen.number, 42);
	ck_assert_uint_eq(seen.asked, 0);
}
END_TEST

/* Rank 0 computes for 1000 s. Keepalives are possible every TIMEOUT / 4, 4000
 * times; the back-off must leave 11 to 79 keepalives. */
START_TEST(who_computes_is_asked_ever_more_seldom)
{
	run_job("", send_late);
	ck_assert_int_eq(seen.status, BCL_OK);
	ck_assert_int_eq(seen.number, 42);
	ck_assert_uint_gt(seen.asked, 10);
	ck_assert_uint_lt(seen.asked, 80);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("asking");
	TCase *tcase = tcase_create("ranks that are waited for");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, who_gave_us_up_and_left_is_missed);
	tcase_add_loop_test(tcase, who_closes_is_missed, 0, 4);
	tcase_add_loop_test(tcase, who_crashed_is_missed, 0, 4);
	tcase_add_test(tcase, what_was_sent_before_closing_comes);
	tcase_add_test(tcase, who_sends_soon_is_not_asked);
	tcase_add_test(tcase, who_computes_is_asked_ever_more_seldom);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
