/* SPDX-License-Identifier: MIT */
/*
 * What befalls nodes of a simulated job, and what the others see of it. Rank 0
 * sends numbers to rank 1, which answers each; rank 2 only stands by.
 */
#include "sim_script.h"
#include "unit.h"

#include <string.h>

#define US 1000ull
#define MS (1000 * US)

static const uint64_t LIMIT = 3000 * MS;
static uint64_t pace, end; /* rank 0 asks so often, until then */

static struct script scripted;
static struct sim_job *job;

/* What rank 0 has seen; what each life of rank 1 has. */
static struct {
	unsigned asked, delivered, failed, answers;
	unsigned late;		/* answers in the last quarter */
	unsigned midway;	/* delivered from 25 to 40 ms */
	enum bcl_status status; /* of what failed first */
	enum bcl_status lost;	/* why the peer was lost first */
	bool over;
	unsigned crashes;
	unsigned heard[2];
	struct bcl_card_peaks peaks;
	uint64_t next; /* number that may be heard */
} seen;

static uint64_t now(const struct sim_rank *rank)
{
	/* the world begins at a second */
	return rank->context.env->now(rank->context.env->world) - 1000 * MS;
}

/* ---- the ranks ---- */

struct side {
	struct sim_rank *rank;
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peer; /* rank 0's: rank 1 */
};

static void open_side(struct side *side, struct sim_rank *rank)
{
	const struct bcl_port_options options = { .number = 1 };
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;

	*side = (struct side){ .rank = rank };
	ck_assert_int_eq(bcl_open(&rank->context, &side->context), BCL_OK);
	ck_assert_int_eq(bcl_port_open(side->context, &options, &side->port),
			 BCL_OK);
	ck_assert_int_eq(bcl_port_address(side->port, address, &length),
			 BCL_OK);
	ck_assert_int_eq(bcl_boot_put(&rank->boot, "address", address, length),
			 BCL_OK);
}

static bool is_up(const struct side *side)
{
	struct bcl_peer_info info;

	if (!side->peer)
		return false;
	bcl_peer_info(side->peer, &info);
	return info.state == BCL_PEER_UP;
}

static void reach(struct side *side)
{
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;

	if (!is_up(side) && !bcl_boot_get(&side->rank->boot, 1, "address",
					  address, sizeof(address), &length))
		bcl_peer_open(side->port, address, length, &side->peer);
}

static void hear(struct side *side)
{
	uint64_t time = now(side->rank);
	struct bcl_event event;

	while (!bcl_poll(side->port, &event)) {
		if (event.kind == BCL_EVENT_MESSAGE) {
			seen.answers++;
			seen.late += time > end / 4 * 3;
		}
		if (event.kind == BCL_EVENT_PEER && !seen.lost)
			seen.lost = event.status;
		if (event.kind != BCL_EVENT_SENT)
			continue;
		seen.delivered += !event.status;
		seen.midway +=
			!event.status && time > 25 * MS && time < 40 * MS;
		if (event.status && !seen.failed++)
			seen.status = event.status;
	}
}

static void ask(struct side *side)
{
	uint64_t number = (uint64_t)side->rank->life << 32 | (seen.asked + 1);

	reach(side);
	hear(side);
	if (is_up(side) && !bcl_send(side->peer, 0, number, NULL, 0, number))
		seen.asked++;
	sim_compute(sim_job_world(job), pace);
}

static void asks(struct sim_rank *rank)
{
	struct side side;

	open_side(&side, rank);
	seen.asked = seen.delivered = seen.failed = 0; /* in this life */
	while (now(rank) < end)
		ask(&side);
	while (seen.delivered + seen.failed < seen.asked) {
		bcl_wait(side.port, MS);
		hear(&side);
	}
	seen.over = true;
	bcl_close(side.context);
}

/* To whoever has asked: it opens no peers. */
static void answers(struct sim_rank *rank)
{
	struct bcl_event event;
	struct side side;

	ck_assert_uint_lt(rank->life, 2);
	open_side(&side, rank);
	while (!seen.over) {
		bcl_wait(side.port, 100 * US);
		while (!bcl_poll(side.port, &event)) {
			if (event.kind != BCL_EVENT_MESSAGE)
				continue;
			ck_assert_uint_ge(event.immediate, seen.next);
			seen.next = event.immediate + 1;
			seen.heard[rank->life]++;
			bcl_send(event.peer, 0, event.immediate, NULL, 0, 0);
		}
	}
	bcl_close(side.context);
}

static void play(struct sim_rank *rank)
{
	if (rank->boot.rank == 0)
		asks(rank);
	else if (rank->boot.rank == 1)
		answers(rank);
}

/* All that live come to their end, and so does all that was asked. */
static void run(unsigned rails, const char *script)
{
	memset(&seen, 0, sizeof(seen));
	script_open(&scripted, 3, rails, script, "100ms");
	job = scripted.job;
	ck_assert_uint_eq(sim_job_run(job, play, NULL, LIMIT), 0);
	ck_assert_uint_eq(seen.asked, seen.delivered + seen.failed);
	seen.crashes = (unsigned)sim_injector_count(scripted.injector,
						    SIM_FAULT_CRASH);
	sim_job_peaks(job, &seen.peaks);
	script_close(&scripted);
}

/* ---- tests ---- */

static void setup(void)
{
	pace = 20 * US;
	end = 80 * MS;
}

START_TEST(all_is_well)
{
	run(1, "");
	ck_assert_uint_gt(seen.asked, 500);
	ck_assert_uint_eq(seen.delivered, seen.asked);
	ck_assert_uint_eq(seen.heard[0], seen.asked);
	ck_assert_int_eq(seen.lost, BCL_OK);
	/* One is on its way at a time, and each waits for its dma. */
	ck_assert_uint_eq(seen.peaks.sending, 1);
	ck_assert_uint_eq(seen.peaks.held, 1);
	ck_assert_uint_gt(seen.peaks.memory, 10000);
	ck_assert_uint_lt(seen.peaks.memory, 100000);
}
END_TEST

START_TEST(who_crashes_is_missed)
{
	run(1, "crash node=1 at=5ms");
	ck_assert_uint_gt(seen.delivered, 0);
	ck_assert_uint_gt(seen.failed, 0);
	ck_assert_int_eq(bcl_status_loss(seen.status), BCL_LOSS_PEER);
	ck_assert_int_eq(bcl_status_loss(seen.lost), BCL_LOSS_PEER);
	ck_assert_uint_eq(seen.late, 0);
	ck_assert_uint_eq(seen.heard[1], 0);
}
END_TEST

START_TEST(who_comes_back_is_another)
{
	run(1, "crash node=1 at=5ms for=2ms");
	ck_assert_uint_gt(seen.heard[0], 0);
	ck_assert_uint_gt(seen.heard[1], 0);
	ck_assert_uint_gt(seen.failed, 0);
	ck_assert_int_eq(bcl_status_loss(seen.lost), BCL_LOSS_PEER);
	ck_assert_uint_gt(seen.late, 100);
}
END_TEST

/* Whatever it was about when it sent its nth frame. If that was a handshake,
 * its next life is not listened to for eight times the longest time-out. */
START_TEST(a_crash_at_any_step)
{
	char script[64];

	pace = MS;
	end = 1200 * MS;
	snprintf(script, sizeof(script), "crash node=%u sent=%u for=100us",
		 (unsigned)_i % 2, 1 + (unsigned)_i / 2);
	run(1, script);
	ck_assert_uint_eq(seen.crashes, 1);
	ck_assert_uint_gt(seen.late, 100);
}
END_TEST

START_TEST(who_is_isolated_joins_again)
{
	run(1, "isolate node=1 at=2ms for=40ms");
	ck_assert_int_eq(seen.lost, BCL_ERR_ISOLATED);
	ck_assert_uint_eq(seen.midway, 0);
	ck_assert_uint_gt(seen.late, 100);
	ck_assert_uint_eq(seen.heard[1], 0);
}
END_TEST

START_TEST(a_rail_does_without_the_other)
{
	run(2, "unplug node=1 at=2ms for=40ms");
	ck_assert_uint_eq(seen.failed, 0);
	ck_assert_int_eq(seen.lost, BCL_OK);
	ck_assert_uint_gt(seen.midway, 100);
}
END_TEST

START_TEST(who_is_slow_is_waited_for)
{
	unsigned midway;

	run(1, "");
	midway = seen.midway;
	run(1, "slow node=0 times=10 at=2ms for=40ms");
	ck_assert_uint_eq(seen.failed, 0);
	ck_assert_uint_gt(seen.midway, 0);
	ck_assert_uint_lt(seen.midway, midway / 5);
	ck_assert_uint_gt(seen.late, 100);
}
END_TEST

/* Its card goes on, so that it is not lost. The ring takes what comes until it
 * is full; from then on all is refused, and comes again. */
START_TEST(who_stalls_has_a_full_ring)
{
	end = 300 * MS;
	run(1, "stall node=1 at=2ms for=200ms");
	ck_assert_int_eq(seen.lost, BCL_OK);
	ck_assert_uint_eq(seen.failed, 0);
	ck_assert_uint_eq(seen.midway, 0);
	ck_assert_uint_gt(seen.late, 1000);
	ck_assert_uint_eq(seen.heard[0], seen.asked);
}
END_TEST

/* Both lose each other. Only one of them connects again, and the other can
 * answer all the same. */
START_TEST(an_answer_to_who_was_lost)
{
	end = 300 * MS;
	run(1, "cut link=2 at=1ms for=120ms\ncut link=3 at=1ms for=120ms\n");
	ck_assert_int_eq(seen.lost, BCL_ERR_DEAD);
	ck_assert_uint_gt(seen.late, 1000);
}
END_TEST

static void fences(struct sim_rank *rank)
{
	if (rank->boot.rank == 1 && !rank->life)
		sim_compute(sim_job_world(job), 100 * MS);
	else if (!rank->life)
		bcl_boot_fence(&rank->boot);
	seen.heard[rank->life]++;
}

START_TEST(a_fence_does_not_wait_for_the_dead)
{
	memset(&seen, 0, sizeof(seen));
	script_open(&scripted, 3, 1, "crash node=1 at=5ms for=1ms", "100ms");
	job = scripted.job;
	ck_assert_uint_eq(sim_job_run(job, fences, NULL, 50 * MS), 0);
	ck_assert_uint_eq(seen.heard[0], 2);
	script_close(&scripted);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("simulated job");
	TCase *tcase = tcase_create("what befalls nodes");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, all_is_well);
	tcase_add_test(tcase, who_crashes_is_missed);
	tcase_add_test(tcase, who_comes_back_is_another);
	tcase_add_loop_test(tcase, a_crash_at_any_step, 0, 120);
	tcase_add_test(tcase, who_is_isolated_joins_again);
	tcase_add_test(tcase, a_rail_does_without_the_other);
	tcase_add_test(tcase, who_is_slow_is_waited_for);
	tcase_add_test(tcase, who_stalls_has_a_full_ring);
	tcase_add_test(tcase, an_answer_to_who_was_lost);
	tcase_add_test(tcase, a_fence_does_not_wait_for_the_dead);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
