/* SPDX-License-Identifier: MIT */
/* Doorbells that are held back: short messages in a row share frames, and none
 * stays behind. */
#include "unit.h"

#include <time.h>

#include "pairs.h"

enum {
	ROW = 64,
	ROUNDS = 1000,
	SHARED = 16, /* frames of a row: 8 alone, 3 shared, some to answer */
};

enum manner {
	IN_A_ROW,
	LOOKING, /* in between */
	WITHOUT_HELPER,
};

static _Atomic uint32_t *shared; /* by the ranks */

static void say(struct rank *rank, uint64_t number)
{
	const struct iovec iov = { &number, sizeof(number) };

	must(!bcl_send(rank->peer[1], 1, number, &iov, 1, 0));
}

static void hear(struct rank *rank, uint64_t number)
{
	struct bcl_event event = rank_event(rank);

	must(event.kind == BCL_EVENT_MESSAGE && event.immediate == number);
	must(!memcmp(event.data, &number, sizeof(number)));
}

/* Frames that rank 0 sends for a row of messages. Rank 1 answers the row. */
static uint64_t frames(struct rank *rank, bool look)
{
	uint64_t before = rank_counter(rank, "card.frames_sent");
	struct bcl_event event;

	for (uint64_t i = 0; i < ROW; i++) {
		if (look)
			must(bcl_poll(rank->port, &event) == BCL_ERR_EMPTY);
		say(rank, i);
	}
	must(rank_event(rank).kind == BCL_EVENT_MESSAGE);
	return rank_counter(rank, "card.frames_sent") - before;
}

static int rows(unsigned me, void *argument)
{
	enum manner manner = *(enum manner *)argument;
	uint64_t fewest = UINT64_MAX, most = 0, n;
	struct rank rank;

	setenv("BCL_HELPER", manner == WITHOUT_HELPER ? "off" : "on", 1);
	rank_open(&rank, BCL_PATH_CARD);
	for (unsigned round = 0; round < ROUNDS; round++) {
		if (me == 0) {
			n = frames(&rank, manner == LOOKING);
			fewest = n < fewest ? n : fewest;
			most = n > most ? n : most;
		} else {
			for (uint64_t i = 0; i < ROW; i++)
				hear(&rank, i);
			rank_send(&rank, 0, 0);
		}
	}
	/* In at least one round no rank was kept from running. In other rounds
	 * messages share frames, because frames had to wait. */
	if (me == 0 && manner == IN_A_ROW) {
		must(fewest >= 1); /* if all had to wait */
		must(fewest <= SHARED);
	} else if (me == 0) {
		must(most >= ROW);
	}
	rank_close(&rank);
	return 0;
}

START_TEST(only_a_row_shares_frames)
{
	enum manner manner = (enum manner)_i;

	ck_assert_int_eq(bcl_boot_job_run(2, rows, &manner), 0);
}
END_TEST

/* Rank 0 sends a few messages. The doorbells of the last messages are held
 * back. */
static void say_a_few(struct rank *rank, unsigned me)
{
	for (uint64_t i = 0; i < 20; i++)
		if (me == 0)
			say(rank, i);
		else
			hear(rank, i);
}

/* Rank 0 computes until rank 1 has heard all messages. */
static int away(unsigned me, void *argument)
{
	const struct timespec time = { .tv_nsec = 10000000 };
	struct rank rank;

	(void)argument;
	rank_open(&rank, BCL_PATH_CARD);
	say_a_few(&rank, me);
	if (me == 1)
		*shared = 1;
	for (unsigned i = 0; i < 1000 && !*shared; i++)
		nanosleep(&time, NULL);
	must(*shared);
	rank_close(&rank);
	return 0;
}

START_TEST(the_helper_rings_for_who_is_away)
{
	*shared = 0;
	ck_assert_int_eq(bcl_boot_job_run(2, away, NULL), 0);
}
END_TEST

/* Rank 0 is gone then. */
static int last_words(unsigned me, void *argument)
{
	struct rank rank;

	(void)argument;
	rank_open(&rank, BCL_PATH_CARD);
	say_a_few(&rank, me);
	if (me == 0)
		bcl_port_close(rank.port);
	rank_close(&rank);
	return 0;
}

START_TEST(closing_rings)
{
	ck_assert_int_eq(bcl_boot_job_run(2, last_words, NULL), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hold");
	TCase *tcase = tcase_create("hold");

	shared = ranks_share();
	tcase_add_loop_test(tcase, only_a_row_shares_frames, IN_A_ROW,
			    WITHOUT_HELPER + 1);
	tcase_add_test(tcase, the_helper_rings_for_who_is_away);
	tcase_add_test(tcase, closing_rings);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
