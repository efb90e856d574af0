/* SPDX-License-Identifier: MIT */
/* Bounds of unexpected messages, lost ranks, leaving, bad messages. */
#include "adi_world.h"

#include "adi/job.h"
#include "adi/match.h"
#include "adi/protocol.h"

enum {
	MANY = 12000,
	BUDGET = 65536,
	RING = 64,
	BLOCK = 256, /* bytes kept per short message */
};

static const struct mock_options narrow = {
	.seed = 11, .unexpected = BUDGET, .ring = RING, .again = 5
};

static struct bcl_adi_request *requests[MANY];
static unsigned values[MANY];

/* ---- more than the receiver wants ---- */

static void start_many(struct bcl_adi *adi, unsigned n, unsigned rank)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		values[i] = i * 3 + 1;
		ck_assert_int_eq(bcl_adi_isend(adi, &values[i],
					       sizeof(values[i]), (int)rank,
					       (int)i, 0, &requests[i]),
				 BCL_OK);
	}
}

static void check_bounds(void)
{
	uint64_t peak =
		mock_count(world.mock, 0, BCL_COUNT_adi_unexpected_peak);
	uint64_t kept = mock_count(world.mock, 0, BCL_COUNT_adi_unexpected);

	ck_assert_uint_gt(peak, BUDGET);
	ck_assert_uint_le(peak, BUDGET + (RING + 1) * BLOCK);
	ck_assert_uint_le(kept, BUDGET / BLOCK + RING + 1 + BCL_ADI_ANNOUNCED);
	ck_assert_uint_eq(mock_sent(world.mock, 0, BCL_ADI_STOP), 1);
	ck_assert_uint_eq(mock_sent(world.mock, 1, BCL_ADI_HOLD), 1);
	ck_assert_uint_eq(mock_sent(world.mock, 0, BCL_ADI_MORE), 0);
}

static void flood(struct bcl_adi *adi, unsigned rank, bool reverse)
{
	unsigned i, tag, value;

	if (rank == 1) {
		start_many(adi, MANY, 0);
		world_turns(adi, 20000);
		world_meet();
		ck_assert_int_eq(bcl_adi_waitall(adi, requests, MANY, NULL),
				 BCL_OK);
		return;
	}
	world_turns(adi, 20000);
	world_meet();
	check_bounds();
	for (i = 0; i < MANY; i++) {
		tag = reverse ? MANY - 1 - i : i;
		ck_assert_int_eq(bcl_adi_recv(adi, &value, sizeof(value), 1,
					      (int)tag, 0, NULL),
				 BCL_OK);
		ck_assert_uint_eq(value, tag * 3 + 1);
	}
	ck_assert_ptr_null(adi->match.oldest);
	ck_assert_uint_eq(adi->unexpected, 0);
	ck_assert_uint_eq(bcl_adi_known(adi, 1)->unexpected, 0);
}

static void flood_in_order(struct bcl_adi *adi, unsigned rank)
{
	flood(adi, rank, false);
}

static void flood_reversed(struct bcl_adi *adi, unsigned rank)
{
	flood(adi, rank, true);
	/* only the search for the last message made the receiver keep all
	 * messages */
	if (rank == 0)
		ck_assert_uint_ge(mock_sent(world.mock, 0, BCL_ADI_MORE),
				  MANY / BCL_ADI_ANNOUNCED - 1);
}

START_TEST(flood_is_bounded)
{
	world_run(&narrow, 2, flood_in_order);
}
END_TEST

START_TEST(flood_is_searched_to_its_end)
{
	world_run(&narrow, 2, flood_reversed);
}
END_TEST

static void probe_flood(struct bcl_adi *adi, unsigned rank)
{
	struct bcl_adi_status status;
	unsigned i, value;

	if (rank == 1) {
		start_many(adi, MANY, 0);
		ck_assert_int_eq(bcl_adi_waitall(adi, requests, MANY, NULL),
				 BCL_OK);
		return;
	}
	while (bcl_adi_iprobe(adi, BCL_ANY_SOURCE, MANY - 1, 0, &status) ==
	       BCL_ERR_EMPTY)
		world_pause(adi, 10000);
	ck_assert_int_eq(status.source, 1);
	for (i = 0; i < MANY; i++) {
		ck_assert_int_eq(bcl_adi_recv(adi, &value, sizeof(value),
					      BCL_ANY_SOURCE, BCL_ANY_TAG, 0,
					      &status),
				 BCL_OK);
		ck_assert_int_eq(status.tag, (int)i);
		ck_assert_uint_eq(value, i * 3 + 1);
	}
}

START_TEST(probe_finds_what_is_held_back)
{
	world_run(&narrow, 2, probe_flood);
}
END_TEST

/* Each rank of a ring sends many messages to the next rank, and receives in the
 * reverse order. */
static void flood_all(struct bcl_adi *adi, unsigned rank)
{
	static unsigned received[3][MANY];
	static struct bcl_adi_request *all[3][MANY];
	unsigned i, others = world.n - 1, n = MANY / 2;
	int to = (int)(rank + 1) % (int)world.n;
	int from = (int)(rank + others) % (int)world.n;

	for (i = 0; i < n; i++)
		ck_assert_int_eq(bcl_adi_isend(adi, &values[i],
					       sizeof(values[i]), to, (int)i, 0,
					       &all[rank][i]),
				 BCL_OK);
	for (i = n; i-- > 0;)
		ck_assert_int_eq(bcl_adi_irecv(adi, &received[rank][i], 4, from,
					       (int)i, 0, &all[rank][n + i]),
				 BCL_OK);
	ck_assert_int_eq(bcl_adi_waitall(adi, all[rank], 2 * n, NULL), BCL_OK);
	for (i = 0; i < n; i++)
		ck_assert_uint_eq(received[rank][i], i);
}

START_TEST(floods_in_a_ring)
{
	unsigned i;

	for (i = 0; i < MANY; i++)
		values[i] = i;
	world_run(&narrow, 3, flood_all);
}
END_TEST

/* ---- more long messages than offers ------------------------------------- */

enum {
	OFFERS = 300,
	SIZE = 5000,
};

static unsigned char long_data[3][OFFERS][SIZE];

static bool word_advance(struct bcl_adi_schedule *schedule)
{
	static unsigned char word[2][SIZE];
	static bool spoken[2];
	unsigned rank = bcl_adi_rank(schedule->adi), other = !rank;

	if (spoken[rank])
		return true;
	spoken[rank] = true;
	bcl_adi_schedule_send(schedule, word[rank], SIZE, other, 0,
			      BCL_ADI_CONTEXT_COLLECTIVE);
	bcl_adi_schedule_receive(schedule, word[rank], SIZE, other, 0,
				 BCL_ADI_CONTEXT_COLLECTIVE);
	return false;
}

/*
 * Ranks 0 and 1 send many long messages to rank 2. Although these messages
 * wait, a long message of a schedule must pass between ranks 0 and 1. Rank 2
 * receives from the last message to the first.
 */
static void many_long(struct bcl_adi *adi, unsigned rank)
{
	struct bcl_adi_schedule schedule = { .advance = word_advance };
	struct bcl_adi_request *r[OFFERS];
	unsigned i;

	if (rank == 2) {
		for (i = OFFERS; i-- > 0;) {
			memset(long_data[2][i], 0, SIZE);
			ck_assert_int_eq(bcl_adi_recv(adi, long_data[2][i],
						      SIZE, (int)(i % 2),
						      (int)i, 0, NULL),
					 BCL_OK);
			ck_assert(pattern_is(long_data[2][i], SIZE, i));
		}
		return;
	}
	for (i = rank; i < OFFERS; i += 2) {
		pattern_fill(long_data[rank][i], SIZE, i);
		ck_assert_int_eq(bcl_adi_isend(adi, long_data[rank][i], SIZE, 2,
					       (int)i, 0, &r[i]),
				 BCL_OK);
	}
	ck_assert_int_eq(bcl_adi_schedule_run(adi, &schedule), BCL_OK);
	for (i = rank; i < OFFERS; i += 2)
		ck_assert_int_eq(bcl_adi_wait(adi, &r[i], NULL), BCL_OK);
	ck_assert_uint_eq(adi->tokens, 0);
	ck_assert_uint_gt(mock_count(world.mock, rank, BCL_COUNT_adi_called),
			  0);
}

START_TEST(more_long_messages_than_offers)
{
	world_run(&world_weather[_i], 3, many_long);
}
END_TEST

/* ---- lost ranks ---- */

enum {
	LONG = 5000, /* bytes */
	AFTER = BCL_ADI_ANNOUNCED + 100,
};

static void lose(struct bcl_adi *adi, unsigned rank)
{
	static unsigned char data[LONG];
	struct bcl_adi_request *any, *r[AFTER], *named[4], *sync, *eager;
	struct bcl_adi_status status;
	unsigned char value = 0;
	unsigned i;

	if (rank == 2) {
		value = 77;
		ck_assert_int_eq(bcl_adi_send(adi, &value, 1, 0, 1, 1), BCL_OK);
		world_meet();
		mock_kill(world.mock, 2);
		return;
	}
	if (rank == 1) {
		world_meet();
		world_turns(adi, 20000);
		value = 88;
		ck_assert_int_eq(bcl_adi_send(adi, &value, 1, 0, 5, 1), BCL_OK);
		return;
	}
	ck_assert_int_eq(
		bcl_adi_irecv(adi, &value, 1, BCL_ANY_SOURCE, 5, 1, &any),
		BCL_OK);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(bcl_adi_irecv(adi, data, 4, 2,
					       i % 2 ? BCL_ANY_TAG : 6, 2,
					       &named[i]),
				 BCL_OK);
	ck_assert_int_eq(bcl_adi_issend(adi, data, 4, 2, 6, 1, &sync), BCL_OK);
	for (i = 0; i < AFTER; i++)
		ck_assert_int_eq(bcl_adi_isend(adi, data, LONG, 2, 6, 1, &r[i]),
				 BCL_OK);
	world_turns(adi, 10000);
	mock_block(world.mock, 0, 2, true);
	ck_assert_int_eq(bcl_adi_isend(adi, data, 4, 2, 6, 1, &eager), BCL_OK);
	world_meet();
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(bcl_adi_wait(adi, &named[i], &status),
				 BCL_ERR_DEAD);
		ck_assert_int_eq(status.status, BCL_ERR_DEAD);
	}
	ck_assert_int_eq(bcl_adi_wait(adi, &sync, NULL), BCL_ERR_DEAD);
	ck_assert_int_eq(bcl_adi_wait(adi, &eager, NULL), BCL_ERR_DEAD);
	for (i = 0; i < AFTER; i++)
		ck_assert_int_eq(bcl_adi_wait(adi, &r[i], NULL), BCL_ERR_DEAD);
	/* the message that rank 2 sent before death */
	ck_assert_int_eq(bcl_adi_recv(adi, data, 4, 2, 1, 1, &status), BCL_OK);
	ck_assert_uint_eq(data[0], 77);
	/* there is no further message */
	ck_assert_int_eq(bcl_adi_recv(adi, data, 4, 2, 1, 1, &status),
			 BCL_ERR_DEAD);
	ck_assert_int_eq(bcl_adi_send(adi, data, 4, 2, 1, 1), BCL_ERR_DEAD);
	ck_assert_int_eq(bcl_adi_send(adi, data, LONG, 2, 1, 1), BCL_ERR_DEAD);
	ck_assert_int_eq(bcl_adi_iprobe(adi, 2, 1, 1, NULL), BCL_ERR_DEAD);
	ck_assert_int_eq(bcl_adi_rank_status(adi, 2), BCL_ERR_DEAD);
	ck_assert_int_eq(bcl_adi_rank_status(adi, 1), BCL_OK);
	/* ranks 0 and 1 go on */
	ck_assert_int_eq(bcl_adi_wait(adi, &any, &status), BCL_OK);
	ck_assert_int_eq(status.source, 1);
	ck_assert_uint_eq(value, 88);
	ck_assert_uint_eq(mock_count(world.mock, 0, BCL_COUNT_adi_ranks_lost),
			  1);
}

START_TEST(a_lost_rank_ends_what_names_it)
{
	world_run(&world_weather[_i], 3, lose);
}
END_TEST

/* Rank 1 dies without a message from or to any rank. The receive of rank 0 must
 * find out. */
static void lose_silent(struct bcl_adi *adi, unsigned rank)
{
	char c;

	if (rank == 1) {
		world_turns(adi, 10000);
		mock_kill(world.mock, 1);
		return;
	}
	ck_assert_int_eq(bcl_adi_recv(adi, &c, 1, 1, 0, 0, NULL), BCL_ERR_DEAD);
}

START_TEST(a_silent_rank_is_missed_by_a_receive)
{
	world_run(&world_weather[_i], 2, lose_silent);
}
END_TEST

/* The sender dies while the receiver keeps or fetches announced messages. */
static void lose_announced(struct bcl_adi *adi, unsigned rank)
{
	static unsigned char data[2][LONG];
	struct bcl_adi_request *request;
	enum bcl_status status;
	unsigned i;

	if (rank == 1) {
		for (i = 0; i < 10; i++)
			ck_assert_int_eq(bcl_adi_isend(adi, data[1], LONG, 0, 0,
						       0, &request),
					 BCL_OK);
		world_turns(adi, 3000);
		world_meet();
		mock_kill(world.mock, 1);
		world_meet();
		return;
	}
	world_turns(adi, 2000);
	world_meet();
	for (i = 0; i < 10; i++) {
		if (i == 5)
			world_meet();
		ck_assert_int_eq(
			bcl_adi_irecv(adi, data[0], LONG, 1, 0, 0, &request),
			BCL_OK);
		status = bcl_adi_wait(adi, &request, NULL);
		if (i >= 5)
			ck_assert_int_eq(status, BCL_ERR_DEAD);
	}
}

START_TEST(announced_messages_of_a_lost_rank)
{
	world_run(&world_weather[_i], 2, lose_announced);
}
END_TEST

static void starved(struct bcl_adi *adi, unsigned rank)
{
	static unsigned char data[4000];
	struct bcl_adi_request *r[200];
	unsigned i;

	if (rank == 1) {
		for (i = 0; i < 200; i++) {
			data[0] = (unsigned char)i;
			ck_assert_int_eq(bcl_adi_isend(adi, data, sizeof(data),
						       0, 0, 0, &r[i]),
					 BCL_OK);
		}
		world_meet();
		ck_assert_int_eq(bcl_adi_waitall(adi, r, 200, NULL), BCL_OK);
		return;
	}
	world_meet();
	world.no_memory = true;
	world_turns(adi, 3000);
	ck_assert(adi->stalled);
	world.no_memory = false;
	for (i = 0; i < 200; i++) {
		if (i == 50)
			world.no_memory = true;
		ck_assert_int_eq(
			bcl_adi_recv(adi, data, sizeof(data), 1, 0, 0, NULL),
			BCL_OK);
		ck_assert_uint_eq(data[0], i);
	}
	world.no_memory = false;
	ck_assert_uint_gt(mock_count(world.mock, 0, BCL_COUNT_adi_stalls), 0);
	ck_assert_uint_eq(mock_count(world.mock, 0, BCL_COUNT_adi_ranks_lost),
			  0);
}

START_TEST(without_memory_messages_wait)
{
	world_run(&(struct mock_options){ .seed = 3 }, 2, starved);
}
END_TEST

/* ---- leaving ---- */

/* Each rank leaves with pending requests and unreceived messages. */
static void untidy(struct bcl_adi *adi, unsigned rank)
{
	static unsigned char data[3][LONG];
	struct bcl_adi_request *request;
	unsigned i, to;

	for (to = 0; to < world.n; to++) {
		for (i = 0; i < 30; i++) {
			bcl_adi_isend(adi, data[rank], i % 2 ? LONG : 9,
				      (int)to, (int)i, 0, &request);
			bcl_adi_issend(adi, data[rank], i % 2 ? LONG : 9,
				       (int)to, (int)i, 0, &request);
			bcl_adi_irecv(adi, data[rank], LONG, (int)to, 99, 0,
				      &request);
		}
	}
	bcl_adi_irecv(adi, data[rank], LONG, BCL_ANY_SOURCE, 99, 0, &request);
}

START_TEST(leaving_drops_what_is_not_received)
{
	world_run(&world_weather[_i], 3, untidy);
}
END_TEST

static bool delivered[WORLD_RANKS];

/* A rank's last message before leaving must arrive, even if the receiver is
 * slow. */
static void last_words(struct bcl_adi *adi, unsigned rank)
{
	unsigned value = rank, i;

	if (rank) {
		ck_assert_int_eq(bcl_adi_send(adi, &value, 4, 0, 0, 0), BCL_OK);
		return;
	}
	world_pause(adi, 50000000);
	for (i = 1; i < world.n; i++) {
		ck_assert_int_eq(
			bcl_adi_recv(adi, &value, 4, (int)i, 0, 0, NULL),
			BCL_OK);
		delivered[value] = true;
	}
}

START_TEST(leaving_waits_for_the_last_message)
{
	unsigned i;

	world_run(&world_weather[_i], 6, last_words);
	for (i = 1; i < 6; i++)
		ck_assert(delivered[i]);
}
END_TEST

static unsigned victim, delay;

static void kill_victim(struct sim_event *event)
{
	(void)event;
	mock_kill(world.mock, victim);
}

static struct sim_event death = { .call = kill_victim };

static void close_with_death(struct bcl_adi *adi, unsigned rank)
{
	unsigned char c = 0;
	unsigned i;

	for (i = 0; i < world.n; i++)
		bcl_adi_send(adi, &c, 1, (int)i, 0, 0);
	for (i = 0; i < world.n; i++)
		bcl_adi_recv(adi, &c, 1, (int)i, 0, 0, NULL);
	if (rank == victim)
		sim_clock_set(sim_world_clock(world.ranks), &death,
			      world.env.now(world.env.world) + delay * 100);
}

START_TEST(death_while_leaving_hangs_nobody)
{
	for (delay = 0; delay < 60; delay++) {
		victim = delay % 5;
		world_run(&(struct mock_options){ .seed = delay + 1,
						  .latency = 2000,
						  .connect = 2000,
						  .again = 10 },
			  5, close_with_death);
	}
}
END_TEST

/* ---- bad messages ---- */

static void hostile(struct bcl_adi *adi, unsigned rank)
{
	static const char zeros[100];
	/* from strangers; with ranks and tags that do not exist; of a wrong
	 * length; a packet, although packets are not open */
	const struct {
		unsigned from, type;
		uint64_t key;
		size_t length;
	} bad[] = {
		{ 2, BCL_ADI_EAGER, bcl_match_key(1, 1, 1), 4 },
		{ 2, BCL_ADI_STOP, bcl_match_key(0, 1, 0), 0 },
		{ 1, BCL_ADI_EAGER, bcl_match_key(1, 0, 1), 4 },
		{ 1, BCL_ADI_EAGER, bcl_match_key(1, 2, 1), 4 },
		{ 1, BCL_ADI_EAGER, bcl_match_key(1, 65535, 1), 4 },
		{ 1, BCL_ADI_EAGER, bcl_match_key(1, 1, 0x80000000), 4 },
		{ 1, BCL_ADI_SYNC, bcl_match_key(1, 1, 1), 7 },
		{ 1, BCL_ADI_ANNOUNCE, bcl_match_key(1, 1, 1), 39 },
		{ 1, BCL_ADI_ANNOUNCE, bcl_match_key(1, 1, 1), 41 },
		{ 1, 3, 0, 8 },
	};
	uint64_t seed = 12345, dropped;
	unsigned value = 5, i, n = 0;
	struct bcl_adi_request *request;

	if (rank == 1) {
		world_meet();
		ck_assert_int_eq(bcl_adi_send(adi, &value, 4, 0, 1, 1), BCL_OK);
		return;
	}
	for (; n < sizeof(bad) / sizeof(*bad); n++)
		mock_inject(world.mock, bad[n].from, 0, bad[n].type, bad[n].key,
			    zeros, bad[n].length);
	for (i = 0; i < 1000; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		mock_inject(world.mock, 1, 0, BCL_ADI_MATCHED,
			    i < 500 ? seed : (uint64_t)(i % 8) << 32 | i % 80,
			    NULL, 0),
			n++;
	}
	for (i = BCL_ADI_TYPES; i < BCL_TYPES; i++)
		mock_inject(world.mock, 1, 0, i, bcl_match_key(1, 1, 1), zeros,
			    i),
			n++;
	ck_assert_int_eq(bcl_adi_issend(adi, &value, 4, 0, 9, 0, &request),
			 BCL_OK);
	world_turns(adi, 5000);
	dropped = mock_count(world.mock, 0, BCL_COUNT_adi_dropped);
	ck_assert_uint_eq(dropped, n);
	ck_assert_ptr_null(adi->match.oldest->newer);
	world_meet();
	ck_assert_int_eq(bcl_adi_recv(adi, &value, 4, 1, 1, 1, NULL), BCL_OK);
	ck_assert_int_eq(bcl_adi_recv(adi, &value, 4, 0, 9, 0, NULL), BCL_OK);
	ck_assert_int_eq(bcl_adi_wait(adi, &request, NULL), BCL_OK);
}

START_TEST(bad_messages_are_counted_and_dropped)
{
	world_run(&(struct mock_options){ .ports = 3, .seed = 9 }, 2, hostile);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("adi_flow");
	TCase *tcase = tcase_create("flow");

	tcase_add_test(tcase, flood_is_bounded);
	tcase_add_test(tcase, flood_is_searched_to_its_end);
	tcase_add_test(tcase, probe_finds_what_is_held_back);
	tcase_add_test(tcase, floods_in_a_ring);
#define WEATHERS(test) tcase_add_loop_test(tcase, test, 0, WORLD_WEATHERS)
#define ASKING(test)   tcase_add_loop_test(tcase, test, 0, WORLD_ASKING)
	WEATHERS(more_long_messages_than_offers);
	ASKING(a_lost_rank_ends_what_names_it);
	WEATHERS(a_silent_rank_is_missed_by_a_receive);
	ASKING(announced_messages_of_a_lost_rank);
	tcase_add_test(tcase, without_memory_messages_wait);
	WEATHERS(leaving_drops_what_is_not_received);
	WEATHERS(leaving_waits_for_the_last_message);
	tcase_add_test(tcase, death_while_leaving_hangs_nobody);
	tcase_add_test(tcase, bad_messages_are_counted_and_dropped);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
