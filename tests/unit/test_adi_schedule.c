/* SPDX-License-Identifier: MIT */
/* Schedules: state machines that the progress engine runs. */
#include "adi_world.h"

#include "adi/job.h"
#include "adi/protocol.h"

enum {
	CONTEXT = BCL_ADI_CONTEXT_COLLECTIVE,
	LONG = 20000,
	ROUNDS = 50,
};

/* Rounds around a ring: in each round, each rank sends to the next rank and
 * receives from the previous rank. */
struct ring {
	struct bcl_adi_schedule schedule; /* first */
	struct bcl_adi *adi;
	unsigned round, rounds, advances, released;
	size_t length;
	unsigned char out[LONG], in[LONG];
};

static bool ring_advance(struct bcl_adi_schedule *schedule)
{
	struct ring *ring = (struct ring *)schedule;
	unsigned rank = bcl_adi_rank(ring->adi), n = bcl_adi_size(ring->adi);

	ring->advances++;
	ck_assert_uint_eq(schedule->pending, 0);
	if (schedule->status)
		return true;
	if (ring->round) {
		ck_assert(pattern_is(ring->in, ring->length,
				     (rank + n - 1) % n + ring->round));
	}
	if (ring->round == ring->rounds)
		return true;
	ring->round++;
	pattern_fill(ring->out, ring->length, rank + ring->round);
	bcl_adi_schedule_receive(schedule, ring->in, ring->length,
				 (rank + n - 1) % n, ring->round, CONTEXT);
	bcl_adi_schedule_send(schedule, ring->out, ring->length, (rank + 1) % n,
			      ring->round, CONTEXT);
	return false;
}

static void ring_release(struct bcl_adi_schedule *schedule)
{
	((struct ring *)schedule)->released++;
}

static struct ring rings[WORLD_RANKS][3];

static struct ring *ring_new(struct bcl_adi *adi, unsigned i, size_t length)
{
	struct ring *ring = &rings[bcl_adi_rank(adi)][i];

	*ring = (struct ring){
		.schedule = { .advance = ring_advance,
			      .release = ring_release },
		.adi = adi,
		.rounds = ROUNDS,
		.length = length,
	};
	return ring;
}

static void run_rings(struct bcl_adi *adi, unsigned rank)
{
	static const size_t lengths[] = { 0, 8, 4096, LONG };
	struct bcl_adi_request *request;
	struct ring *ring;
	unsigned i;

	(void)rank;
	for (i = 0; i < 4; i++) {
		ring = ring_new(adi, 0, lengths[i]);
		ck_assert_int_eq(bcl_adi_schedule_run(adi, &ring->schedule),
				 BCL_OK);
		ck_assert_uint_eq(ring->round, ROUNDS);
		ck_assert_uint_eq(ring->released, 1);
		ck_assert_uint_eq(ring->advances, ROUNDS + 1);

		ring = ring_new(adi, 1, lengths[i]);
		ck_assert_int_eq(
			bcl_adi_schedule_start(adi, &ring->schedule, &request),
			BCL_OK);
		ck_assert_int_eq(bcl_adi_wait(adi, &request, NULL), BCL_OK);
		ck_assert_uint_eq(ring->released, 1);
	}
}

START_TEST(rings_of_all_lengths)
{
	world_run(&world_weather[_i], 4, run_rings);
}
END_TEST

/* The progress engine must poll the schedule, which waits for `flag` and sends
 * nothing. */
static unsigned flag;

static bool poll_advance(struct bcl_adi_schedule *schedule)
{
	struct ring *ring = (struct ring *)schedule;

	ring->advances++;
	schedule->polled = flag < ring->rounds;
	return !schedule->polled;
}

static void polled(struct bcl_adi *adi, unsigned rank)
{
	struct ring *ring = ring_new(adi, 0, 0);
	struct bcl_adi_request *request;
	struct bcl_adi_idle idle = { 0 };
	unsigned i;

	ring->rounds = 5;
	ring->schedule.advance = poll_advance;
	if (rank == 0) {
		ck_assert_int_eq(bcl_adi_schedule_run(adi, &ring->schedule),
				 BCL_OK);
		ck_assert_uint_gt(ring->advances, 1);
		return;
	}
	for (i = 0; i < 5; i++) {
		/* no event tells rank 0 of the change */
		world_pause(adi, 100000);
		flag++;
	}
	ck_assert_int_eq(bcl_adi_schedule_start(adi, &ring->schedule, &request),
			 BCL_OK);
	ck_assert_int_eq(bcl_adi_wait(adi, &request, NULL), BCL_OK);
	ck_assert_uint_eq(ring->advances, 1);
	/* idle turns must work without a schedule, too */
	for (i = 0; i < 20; i++)
		bcl_adi_idle(adi, &idle);
}

START_TEST(a_polled_schedule_sees_memory_change)
{
	flag = 0;
	world_run(&world_weather[_i], 2, polled);
}
END_TEST

/* ---- failures ---- */

static void kill_1(struct sim_event *event)
{
	(void)event;
	mock_kill(world.mock, 1);
}

static struct sim_event death = { .call = kill_1 };

static void ring_with_death(struct bcl_adi *adi, unsigned rank)
{
	struct ring *ring = ring_new(adi, 0, LONG);
	enum bcl_status status;

	ring->rounds = 10000;
	if (rank == 1) {
		sim_clock_set(sim_world_clock(world.ranks), &death,
			      world.env.now(world.env.world) + 1000000);
		status = bcl_adi_schedule_run(adi, &ring->schedule);
		ck_assert_int_eq(status, BCL_ERR_CLOSED);
		return;
	}
	status = bcl_adi_schedule_run(adi, &ring->schedule);
	ck_assert_uint_eq(ring->released, 1);
	ck_assert_uint_eq(ring->schedule.pending, 0);
	ck_assert_int_eq(status, BCL_ERR_DEAD);
}

START_TEST(a_lost_rank_ends_a_schedule)
{
	world_run(&world_weather[_i], 2, ring_with_death);
}
END_TEST

static bool mixed_advance(struct bcl_adi_schedule *schedule)
{
	struct ring *ring = (struct ring *)schedule;

	ck_assert_uint_eq(schedule->pending, 0);
	if (ring->advances++)
		return true;
	/* rank 1 is alive, but never sends; rank 2 is dead */
	bcl_adi_schedule_receive(schedule, ring->in, 8, 1, 0, CONTEXT);
	bcl_adi_schedule_receive(schedule, ring->in, 8, 1, 1, CONTEXT);
	bcl_adi_schedule_receive(schedule, ring->in, 8, 2, 0, CONTEXT);
	bcl_adi_schedule_receive(schedule, ring->in, 8, 1, 2, CONTEXT);
	return false;
}

static void give_up(struct bcl_adi *adi, unsigned rank)
{
	struct ring *ring = ring_new(adi, 0, 8);
	struct bcl_adi_request *request;

	ring->schedule.advance = mixed_advance;
	if (rank == 2) {
		world_meet();
		mock_kill(world.mock, 2);
		return;
	}
	if (rank == 0) {
		ck_assert_int_eq(
			bcl_adi_schedule_start(adi, &ring->schedule, &request),
			BCL_OK);
		ck_assert_uint_eq(ring->schedule.pending, 4);
		world_meet();
		ck_assert_int_eq(bcl_adi_wait(adi, &request, NULL),
				 BCL_ERR_DEAD);
		ck_assert_uint_eq(adi->match.receives[0].keys, 0);
		/* the loss is known now: a new schedule must end at once */
		ring->advances = 0;
		ck_assert_int_eq(bcl_adi_schedule_run(adi, &ring->schedule),
				 BCL_ERR_DEAD);
		ck_assert_uint_eq(ring->released, 2);
		return;
	}
	world_meet();
}

START_TEST(a_failure_takes_other_receives_back)
{
	world_run(&world_weather[_i], 3, give_up);
}
END_TEST

/* Rank 1 sends the message of lane 2 after rank 0 has answered the message of
 * lane 1. So lane 1 must end while lane 2 is pending. */
static bool lanes_advance(struct bcl_adi_schedule *schedule)
{
	struct ring *ring = (struct ring *)schedule;

	if (!ring->advances++) {
		schedule->lane = 2;
		bcl_adi_schedule_receive(schedule, ring->in, 8, 1, 2, CONTEXT);
		schedule->lane = 1;
		bcl_adi_schedule_receive(schedule, ring->in + 8, 8, 1, 1,
					 CONTEXT);
		return false;
	}
	if (!ring->round && !schedule->lanes[1]) {
		ck_assert_uint_eq(schedule->lanes[2], 1);
		ck_assert_uint_eq(schedule->pending, 1);
		ck_assert(pattern_is(ring->in + 8, 8, 1));
		ring->round++;
		schedule->lane = 0;
		bcl_adi_schedule_send(schedule, ring->out, 8, 1, 0, CONTEXT);
	}
	return !schedule->pending;
}

static bool answering_advance(struct bcl_adi_schedule *schedule)
{
	struct ring *ring = (struct ring *)schedule;

	ck_assert_uint_eq(schedule->pending, 0);
	switch (ring->advances++) {
	case 0:
		pattern_fill(ring->out, 8, 1);
		bcl_adi_schedule_send(schedule, ring->out, 8, 0, 1, CONTEXT);
		bcl_adi_schedule_receive(schedule, ring->in, 8, 0, 0, CONTEXT);
		return false;
	case 1:
		pattern_fill(ring->out, 8, 2);
		bcl_adi_schedule_send(schedule, ring->out, 8, 0, 2, CONTEXT);
		return false;
	default:
		return true;
	}
}

static void lanes(struct bcl_adi *adi, unsigned rank)
{
	struct ring *ring = ring_new(adi, 0, 8);

	ring->schedule.advance = rank ? answering_advance : lanes_advance;
	ck_assert_int_eq(bcl_adi_schedule_run(adi, &ring->schedule), BCL_OK);
	if (rank)
		return;
	ck_assert_uint_eq(ring->round, 1);
	ck_assert_uint_eq(ring->schedule.lanes[2], 0);
	ck_assert(pattern_is(ring->in, 8, 2));
}

START_TEST(a_lane_is_over_before_the_others)
{
	world_run(&world_weather[_i], 2, lanes);
}
END_TEST

/* ---- windows ---- */

enum {
	PUTS = 6,
	PART = 5000,
	GRANT = 100, /* tag */
};

/*
 * Rank 0 opens a window and sends the key to the remaining ranks. Each
 * remaining rank puts parts into the window, and sends a message after each
 * part. Rank 0 receives a notice of each part and each message, in order.
 */
struct puts {
	struct bcl_adi_schedule schedule; /* first */
	struct bcl_adi *adi;
	struct bcl_adi_target window;
	uint8_t key[BCL_KEY_MAX];
	unsigned advances;
	unsigned char memory[2 * PUTS * PART], word[8];
};

static bool may_put;
static struct puts putters[WORLD_RANKS];

static bool window_advance(struct bcl_adi_schedule *schedule)
{
	struct puts *own = (struct puts *)schedule;
	unsigned n = bcl_adi_size(own->adi), rank, i;

	if (own->advances++)
		return !schedule->pending;
	ck_assert_int_eq(bcl_adi_target_open(own->adi, &own->window,
					     own->memory, sizeof(own->memory),
					     1, CONTEXT),
			 BCL_OK);
	for (rank = 1; rank < n; rank++) {
		for (i = 0; i < PUTS; i++)
			bcl_adi_schedule_receive(schedule, own->word,
						 i % 2 ? sizeof(own->word) : 0,
						 rank, 1, CONTEXT);
		bcl_adi_schedule_send(schedule, own->window.key, BCL_KEY_MAX,
				      rank, GRANT, CONTEXT);
	}
	return false;
}

static bool put_advance(struct bcl_adi_schedule *schedule)
{
	struct puts *own = (struct puts *)schedule;
	unsigned rank = bcl_adi_rank(own->adi), i;

	if (schedule->pending)
		return false;
	if (schedule->status || own->advances == 2)
		return true;
	schedule->polled = own->advances == 1 && !may_put;
	if (schedule->polled)
		return false;
	if (!own->advances++) {
		bcl_adi_schedule_receive(schedule, own->key, BCL_KEY_MAX, 0,
					 GRANT, CONTEXT);
		return false;
	}
	for (i = 0; i < PUTS; i++) {
		size_t at = (PUTS * (rank - 1) + i) * PART;

		if (i % 2)
			bcl_adi_schedule_send(schedule, own->word,
					      sizeof(own->word), 0, 1, CONTEXT);
		else
			bcl_adi_schedule_put(schedule, own->memory + at, PART,
					     0, own->key, at);
	}
	return false;
}

static struct puts *puts_new(struct bcl_adi *adi)
{
	unsigned rank = bcl_adi_rank(adi);
	struct puts *own = &putters[rank];

	*own = (struct puts){
		.schedule = { .advance = rank ? put_advance : window_advance },
		.adi = adi,
	};
	if (rank)
		pattern_fill(own->memory, sizeof(own->memory), 0);
	return own;
}

static void put_and_receive(struct bcl_adi *adi, unsigned rank)
{
	struct puts *own = puts_new(adi);
	unsigned i;

	may_put = true;
	ck_assert_int_eq(bcl_adi_schedule_run(adi, &own->schedule), BCL_OK);
	if (rank) {
		ck_assert_uint_eq(
			mock_count(world.mock, rank, BCL_COUNT_adi_sent_put),
			PUTS / 2);
		return;
	}
	bcl_adi_target_close(adi, &own->window);
	for (i = 0; i < 2 * PUTS; i += 2)
		ck_assert_mem_eq(own->memory + i * PART,
				 putters[1].memory + i * PART, PART);
}

START_TEST(what_is_put_is_received_in_order)
{
	world_run(&world_weather[_i], 3, put_and_receive);
}
END_TEST

/* Rank 0 closes the window and fails its schedule before rank 1 puts a part.
 * The put must fail, and must not change the memory of rank 0. */
static void put_too_late(struct bcl_adi *adi, unsigned rank)
{
	struct puts *own = puts_new(adi);
	struct bcl_adi_request *request;

	if (rank) {
		ck_assert_int_eq(bcl_adi_schedule_run(adi, &own->schedule),
				 BCL_ERR_MEMORY);
		ck_assert_uint_eq(own->schedule.pending, 0);
		return;
	}
	ck_assert_int_eq(bcl_adi_schedule_start(adi, &own->schedule, &request),
			 BCL_OK);
	while (own->schedule.pending > PUTS) {
		bcl_adi_progress(adi);
		world_pause(adi, 1000);
	}
	bcl_adi_target_close(adi, &own->window);
	bcl_adi_schedule_fail(&own->schedule, BCL_ERR_DEAD);
	ck_assert_int_eq(bcl_adi_wait(adi, &request, NULL), BCL_ERR_DEAD);
	may_put = true;
	while (!putters[1].schedule.status) {
		bcl_adi_progress(adi);
		world_pause(adi, 1000);
	}
	for (unsigned i = 0; i < sizeof(own->memory); i++)
		ck_assert_uint_eq(own->memory[i], 0);
}

START_TEST(a_window_that_is_closed_takes_nothing)
{
	world_run(&world_weather[_i], 2, put_too_late);
}
END_TEST

static bool truncated_advance(struct bcl_adi_schedule *schedule)
{
	struct ring *ring = (struct ring *)schedule;

	if (ring->advances++)
		return true;
	bcl_adi_schedule_send(schedule, ring->out, 9, 0, 0, CONTEXT);
	bcl_adi_schedule_receive(schedule, ring->in, 8, 0, 0, CONTEXT);
	return false;
}

static void truncated(struct bcl_adi *adi, unsigned rank)
{
	struct ring *ring = ring_new(adi, 0, 8);

	(void)rank;
	ring->schedule.advance = truncated_advance;
	ck_assert_int_eq(bcl_adi_schedule_run(adi, &ring->schedule),
			 BCL_ERR_TRUNCATED);
}

START_TEST(a_longer_message_is_a_failure)
{
	world_run(&world_weather[_i], 1, truncated);
}
END_TEST

/* ---- beside messages of the caller's ---- */

static void beside_flood(struct bcl_adi *adi, unsigned rank)
{
	static struct bcl_adi_request *requests[9000];
	struct ring *ring;
	unsigned i, value = 0, n = 9000;

	if (rank == 1) {
		for (i = 0; i < n; i++)
			ck_assert_int_eq(bcl_adi_isend(adi, &value, 4, 0, 7, 0,
						       &requests[i]),
					 BCL_OK);
	}
	world_turns(adi, 8000);
	/* the caller's messages are held back, but not the messages of a
	 * schedule */
	ring = ring_new(adi, 0, 64);
	ck_assert_int_eq(bcl_adi_schedule_run(adi, &ring->schedule), BCL_OK);
	if (rank == 0)
		ck_assert_uint_eq(mock_sent(world.mock, 0, BCL_ADI_MORE), 0);
	if (rank == 1) {
		ck_assert_ptr_nonnull(bcl_adi_known(adi, 0)->withheld.first);
		ck_assert_int_eq(bcl_adi_waitall(adi, requests, n, NULL),
				 BCL_OK);
		return;
	}
	for (i = 0; i < n; i++)
		ck_assert_int_eq(bcl_adi_recv(adi, &value, 4, BCL_ANY_SOURCE, 7,
					      0, NULL),
				 BCL_OK);
}

START_TEST(a_schedule_passes_what_is_held_back)
{
	world_run(&(struct mock_options){ .seed = 5,
					  .ring = 64,
					  .unexpected = 65536 },
		  2, beside_flood);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("adi_schedule");
	TCase *tcase = tcase_create("schedule");

#define WEATHERS(test) tcase_add_loop_test(tcase, test, 0, WORLD_WEATHERS)
	WEATHERS(rings_of_all_lengths);
	WEATHERS(a_polled_schedule_sees_memory_change);
	WEATHERS(a_lost_rank_ends_a_schedule);
	WEATHERS(a_failure_takes_other_receives_back);
	WEATHERS(a_lane_is_over_before_the_others);
	WEATHERS(what_is_put_is_received_in_order);
	WEATHERS(a_window_that_is_closed_takes_nothing);
	WEATHERS(a_longer_message_is_a_failure);
	tcase_add_test(tcase, a_schedule_passes_what_is_held_back);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
