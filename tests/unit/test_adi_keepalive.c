/* SPDX-License-Identifier: MIT */
/* Ranks that are waited for: rank 1 receives from rank 0, on another simulated
 * node. */
#include "counter.h"
#include "sim_script.h"
#include "unit.h"

#include <string.h>

enum {
	TIMEOUT = 1, /* s of silence, then a peer is lost */
	TAG = 7,
};

static const uint64_t SECOND = 1000000000;

static struct script scripted;
static struct sim_job *job;

/* What rank 1 got, and how often it asked meanwhile. */
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

/* It ended for want of somebody who sends, and says what was waited for. */
static void check_missed(int source, int tag)
{
	ck_assert_int_eq(bcl_status_loss(seen.status), BCL_LOSS_PEER);
	ck_assert_uint_lt(seen.waited, 3 * TIMEOUT * SECOND);
	ck_assert_int_eq(seen.end.status, seen.status);
	ck_assert_int_eq(seen.end.source, source);
	ck_assert_int_eq(seen.end.tag, tag);
	ck_assert_uint_eq(seen.end.length, 0);
}

/* Rank 0 computes for so long, then sends. */
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

/* Rank 0 does not reach rank 1, but is reached by it before it leaves. */
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

START_TEST(who_gave_us_up_and_left_is_missed)
{
	run_job("unplug node=0 for=1ms\n", give_up);
	check_missed(0, TAG);
	ck_assert_uint_eq(seen.left, 0);
}
END_TEST

static const int patterns[][2] = {
	{ 0, TAG },
	{ 0, BCL_ANY_TAG },
	{ BCL_ANY_SOURCE, TAG },
	{ BCL_ANY_SOURCE, BCL_ANY_TAG },
};
static const int *pattern;

/* Rank 0 closes, at once; rank 1 waits for a message of it, twice. */
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

START_TEST(who_closes_is_missed)
{
	pattern = patterns[_i];
	run_job("", wait_in_vain);
	check_missed(pattern[0], pattern[1]);
	ck_assert_uint_eq(seen.left, 1);
}
END_TEST

START_TEST(who_crashed_is_missed)
{
	pattern = patterns[_i];
	run_job("crash node=0 at=1us\n", wait_in_vain);
	check_missed(pattern[0], pattern[1]);
	ck_assert_uint_eq(seen.left, 0);
}
END_TEST

/* What rank 0 sent before it closed is received, whatever it was. */
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

START_TEST(what_was_sent_before_closing_comes)
{
	run_job("", send_and_close);
	check_missed(0, TAG);
	ck_assert_uint_eq(seen.left, 1);
}
END_TEST

START_TEST(who_sends_soon_is_not_asked)
{
	run_job("", send_soon);
	ck_assert_int_eq(seen.status, BCL_OK);
	ck_assert_int_eq(seen.number, 42);
	ck_assert_uint_eq(seen.asked, 0);
}
END_TEST

/* Of 4000 times. */
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
