/* SPDX-License-Identifier: MIT */
/*
 * Faults of nodes in a simulated job, and how the other nodes notice. Rank 0
 * sends numbers to rank 1, and rank 1 answers each number. Rank 2 is idle.
 */
#include "sim_script.h"
#include "unit.h"

#include <string.h>

#define US 1000ull
#define MS (1000 * US)

static const uint64_t LIMIT = 3000 * MS;
static uint64_t pace, end; /* ns: rank 0 sends a number each pace, until end */

static struct script scripted;
static struct sim_job *job;

/* Observations of rank 0 up to `over`, and of both incarnations of rank 1. */
static struct {
	unsigned asked, delivered, failed, answers;
	unsigned late;		/* answers in the last quarter of the run */
	unsigned midway;	/* delivered from 25 to 40 ms */
	enum bcl_status status; /* of the first failed send */
	enum bcl_status lost;	/* reason of the first loss of the peer */
	bool over;
	unsigned crashes;
	unsigned heard[2]; /* by incarnation of rank 1 */
	struct bcl_card_peaks peaks;
	uint64_t next; /* the lowest number that may still come */
} seen;

static uint64_t now(const struct sim_rank *rank)
{
	/* virtual time begins at one second */
	return rank->env->now(rank->env->world) - 1000 * MS;
}

/* ---- the ranks ---- */

struct side {
	struct sim_rank *rank;
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peer; /* rank 1, if this is rank 0 */
};

static void open_side(struct side *side, struct sim_rank *rank)
{
	const struct bcl_port_options options = { .struct_size =
							  sizeof(options),
						  .number = 1 };
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;

	*side = (struct side){ .rank = rank };
	ck_assert_int_eq(sim_rank_open(rank, &side->context), BCL_OK);
	ck_assert_int_eq(bcl_port_open(side->context, &options, &side->port),
			 BCL_OK);
	ck_assert_int_eq(bcl_port_address(side->port, address, &length),
			 BCL_OK);
	ck_assert_int_eq(bcl_boot_put(&rank->boot, "address", address, length),
			 BCL_OK);
}

static bool is_up(const struct side *side)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };

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
	seen.asked = seen.delivered = seen.failed = 0; /* in this incarnation */
	while (now(rank) < end)
		ask(&side);
	while (seen.delivered + seen.failed < seen.asked) {
		bcl_wait(side.port, MS);
		hear(&side);
	}
	seen.over = true;
	bcl_close(side.context);
}

/* Rank 1 answers the peer of each message, and opens no peers. Numbers must
 * arrive in rising order, across a restart of either rank. */
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

/* Run the job with a script of faults. All live ranks must return, and each
 * number of rank 0 must be delivered or fail. */
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

/* Without faults all numbers are delivered, and the memory of the cards stays
 * small. */
START_TEST(all_is_well)
{
	run(1, "");
	ck_assert_uint_gt(seen.asked, 500);
	ck_assert_uint_eq(seen.delivered, seen.asked);
	ck_assert_uint_eq(seen.heard[0], seen.asked);
	ck_assert_int_eq(seen.lost, BCL_OK);
	/* One number is in flight at a time, and the receiver's card holds a
	 * message until its DMA ends. */
	ck_assert_uint_eq(seen.peaks.sending, 1);
	ck_assert_uint_eq(seen.peaks.held, 1);
	ck_assert_uint_gt(seen.peaks.memory, 10000);
	ck_assert_uint_lt(seen.peaks.memory, 100000);
}
END_TEST

/* Rank 1 crashes for good. Rank 0 must learn of the loss, and sends must
 * fail. */
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

/* Rank 1 crashes and restarts. Rank 0 must see the loss of the first
 * incarnation, then exchange numbers with the second. */
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

/* A node crashes at its nth frame, at any step of the protocol, and restarts.
 * The ranks must exchange numbers in the end. If the crash ends a handshake,
 * the other card ignores the next incarnation for eight times the longest
 * RTO. */
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

/* All cards isolate node 1 for 40 ms. Rank 0 must see BCL_ERR_ISOLATED, and
 * the same incarnation must answer afterwards. */
START_TEST(who_is_isolated_joins_again)
{
	run(1, "isolate node=1 at=2ms for=40ms");
	ck_assert_int_eq(seen.lost, BCL_ERR_ISOLATED);
	ck_assert_uint_eq(seen.midway, 0);
	ck_assert_uint_gt(seen.late, 100);
	ck_assert_uint_eq(seen.heard[1], 0);
}
END_TEST

/* One of two rails of node 1 is unplugged. No number may fail, and the other
 * rail must carry the traffic meanwhile. */
START_TEST(a_rail_does_without_the_other)
{
	run(2, "unplug node=1 at=2ms for=40ms");
	ck_assert_uint_eq(seen.failed, 0);
	ck_assert_int_eq(seen.lost, BCL_OK);
	ck_assert_uint_gt(seen.midway, 100);
}
END_TEST

/* Rank 0 and its card are ten times slower for 40 ms. Fewer numbers must arrive
 * meanwhile, and none may fail. */
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

/* The program of rank 1 stalls, but the card goes on, so rank 0 does not lose
 * the peer. Once the ring is full the card refuses all messages. The sender
 * sends refused messages again, and each number must arrive in the end. */
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

/* The link of node 1 is cut in both directions, and both ranks lose the peer.
 * Only rank 0 connects again. Rank 1 must still be able to answer. */
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

/* Rank 1 crashes before its fence. The fence of the other two ranks must end
 * nevertheless. */
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
