/* SPDX-License-Identifier: MIT */
/* Out-of-band messages between the clients of the ADI, and schedules that a
 * client ends. */
#include "adi_world.h"

#include "adi/internal.h"

enum {
	RANKS = 5,
	WORDS = 50,
	LONG = 100000, /* bytes: announced */
	TAG = 9,
};

static struct heard {
	struct bcl_adi_client client; /* first */
	unsigned rank, from[RANKS];
	bool closed;
} heard[RANKS];

static void notice(struct bcl_adi_client *client, unsigned rank,
		   const struct bcl_adi_oob *oob)
{
	struct heard *me = (struct heard *)client;

	/* the words of each rank come in order */
	ck_assert_uint_eq(oob->word[0], (uint64_t)rank << 56 | me->from[rank]);
	ck_assert_uint_eq(oob->word[1], ~oob->word[0]);
	ck_assert_uint_eq(oob->word[2], rank);
	me->from[rank]++;
}

static void tell(struct bcl_adi *adi, unsigned rank, unsigned peer, unsigned i)
{
	uint64_t word = (uint64_t)rank << 56 | i;
	const struct bcl_adi_oob oob = { { word, ~word, rank } };

	bcl_adi_oob_send(adi, peer, &oob);
}

static void closed(struct bcl_adi_client *client)
{
	((struct heard *)client)->closed = true;
}

static void everyone_tells_everyone(struct bcl_adi *adi, unsigned rank)
{
	struct heard *me = &heard[rank];
	unsigned i, peer;

	*me = (struct heard){
		.client = { .oob = notice, .close = closed },
		.rank = rank,
	};
	ck_assert_ptr_null(*bcl_adi_client(adi));
	*bcl_adi_client(adi) = &me->client;
	world_meet();
	for (i = 0; i < WORDS; i++)
		for (peer = 0; peer < world.n; peer++)
			if (peer != rank)
				tell(adi, rank, peer, i);
	for (peer = 0; peer < world.n; peer++)
		while (peer != rank && me->from[peer] < WORDS)
			world_turns(adi, 1);
}

START_TEST(words)
{
	unsigned i;

	world_run(&world_weather[_i], RANKS, everyone_tells_everyone);
	for (i = 0; i < RANKS; i++)
		ck_assert(heard[i].closed);
}
END_TEST

/* ---- ending schedules ---- */

static unsigned char buffers[2][LONG];

struct exchange {
	struct bcl_adi_schedule schedule; /* first */
	unsigned peer, times;
	bool sends, started, released;
};

static bool advance(struct bcl_adi_schedule *schedule)
{
	struct exchange *exchange = (struct exchange *)schedule;
	unsigned i;

	if (exchange->started)
		return !schedule->pending;
	exchange->started = true;
	for (i = 0; i < exchange->times; i++) {
		if (exchange->sends)
			bcl_adi_schedule_send(schedule, buffers[0], LONG,
					      exchange->peer, TAG,
					      BCL_ADI_CONTEXT_COLLECTIVE);
		else
			bcl_adi_schedule_receive(schedule, buffers[1], LONG,
						 exchange->peer, TAG,
						 BCL_ADI_CONTEXT_COLLECTIVE);
	}
	return false;
}

static void release(struct bcl_adi_schedule *schedule)
{
	((struct exchange *)schedule)->released = true;
}

static struct exchange exchange_with(unsigned peer, bool sends, unsigned times)
{
	return (struct exchange){
		.schedule = { .advance = advance, .release = release },
		.peer = peer,
		.sends = sends,
		.times = times,
	};
}

/* Rank 0 sends to and receives from rank 1, which never answers. A failed
 * schedule must end all the same. */
static void given_up(struct bcl_adi *adi, unsigned rank)
{
	struct exchange out = exchange_with(1 - rank, true, 3);
	struct exchange in = exchange_with(1 - rank, false, 2);
	struct bcl_adi_request *requests[2];

	if (rank == 0) {
		bcl_adi_schedule_start(adi, &out.schedule, &requests[0]);
		bcl_adi_schedule_start(adi, &in.schedule, &requests[1]);
		world_turns(adi, 200);
		bcl_adi_schedule_fail(&out.schedule, BCL_ERR_ISOLATED);
		bcl_adi_schedule_fail(&in.schedule, BCL_ERR_ISOLATED);
		ck_assert(!out.released && !in.released);
		ck_assert_int_eq(bcl_adi_wait(adi, &requests[0], NULL),
				 BCL_ERR_ISOLATED);
		ck_assert_int_eq(bcl_adi_wait(adi, &requests[1], NULL),
				 BCL_ERR_ISOLATED);
		ck_assert(out.released && in.released);
		world_meet();
	} else {
		world_meet();
	}
}

START_TEST(a_schedule_is_given_up)
{
	world_run(&world_weather[_i], 2, given_up);
}
END_TEST

/* Rank 0 takes a send back, and rank 1 receives later. The receive must fail,
 * and must not hang. */
static void too_late(struct bcl_adi *adi, unsigned rank)
{
	struct exchange exchange = exchange_with(1 - rank, rank == 0, 1);
	struct bcl_adi_request *request;
	enum bcl_status status;

	if (rank == 0) {
		bcl_adi_schedule_start(adi, &exchange.schedule, &request);
		world_turns(adi, 200);
		bcl_adi_schedule_fail(&exchange.schedule, BCL_ERR_DEAD);
		ck_assert_int_eq(bcl_adi_wait(adi, &request, NULL),
				 BCL_ERR_DEAD);
		world_meet();
		world_meet();
	} else {
		world_meet();
		bcl_adi_schedule_start(adi, &exchange.schedule, &request);
		world_turns(adi, 200);
		bcl_adi_schedule_fail(&exchange.schedule, BCL_ERR_DEAD);
		status = bcl_adi_wait(adi, &request, NULL);
		ck_assert_int_ne(status, BCL_OK);
		world_meet();
	}
}

START_TEST(a_receive_comes_too_late)
{
	world_run(&world_weather[_i], 2, too_late);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("adi_oob");
	TCase *tests = tcase_create("out of band");

	tcase_add_loop_test(tests, words, 0, WORLD_WEATHERS);
	tcase_add_loop_test(tests, a_schedule_is_given_up, 0, WORLD_WEATHERS);
	tcase_add_loop_test(tests, a_receive_comes_too_late, 0, WORLD_WEATHERS);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
