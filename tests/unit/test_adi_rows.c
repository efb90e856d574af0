/* SPDX-License-Identifier: MIT */
/*
 * Tests of messages in a row between two processes of one host. A wait for
 * several requests takes several messages of a pair in one turn (follow() in
 * adi/progress.c). Rank 0 sends, rank 1 receives.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adi/job.h"
#include "adi/match.h"
#include "adi/protocol.h"
#include "adi/request.h"
#include "tests/unit/need.h"
#include "tests/unit/unit.h"
#include "transport/boot/fork.h"
#include "transport/peer.h"

enum {
	CONTEXT = 3,
	MOST = 48,			 /* messages, or receives, of a round */
	ROUNDS = UNIT_SLOW ? 200 : 2000, /* of random messages */
	LONGEST = 20000,
	AFTER = 0xee, /* the byte behind a message in the buffer */
};

/* In memory that both processes share. */
static struct {
	_Atomic unsigned sent, posted; /* rounds so far */
	_Atomic bool done;
} * shared;

static uint8_t buffers[2 * MOST][LONGEST + 1];

static void await(_Atomic unsigned *word, unsigned value)
{
	while (atomic_load(word) < value)
		sched_yield();
}

/* Rank 1 tells rank 0 that a round is over. Rank 0 waits in await_answer(). */
static void answer(struct bcl_adi *adi)
{
	need_equal(bcl_adi_send(adi, NULL, 0, 0, 0, 0), BCL_OK);
}

static void await_answer(struct bcl_adi *adi)
{
	need_equal(bcl_adi_recv(adi, NULL, 0, 1, 0, 0, NULL), BCL_OK);
}

struct job {
	void (*send)(struct bcl_adi *adi);
	void (*receive)(struct bcl_adi *adi);
};

static int run_rank(unsigned rank, void *arg)
{
	const struct bcl_adi_options options = { .struct_size =
							 sizeof(options) };
	const struct job *job = arg;
	struct bcl_adi *adi;

	setenv("BCL_RAILS", "none", 1);
	need_equal(bcl_adi_open(&options, &adi), BCL_OK);
	/* a first message each way connects the ranks */
	if (rank) {
		need_equal(bcl_adi_recv(adi, NULL, 0, 0, 0, 0, NULL), BCL_OK);
		answer(adi);
		job->receive(adi);
	} else {
		need_equal(bcl_adi_send(adi, NULL, 0, 1, 0, 0), BCL_OK);
		await_answer(adi);
		job->send(adi);
	}
	bcl_adi_close(adi);
	return 0;
}

/* Run the job. The receiver must finish, and exactly `lost` ranks must fail. */
static void run_job(const struct job *job, int lost)
{
	void *page = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(page, MAP_FAILED);
	shared = page;
	ck_assert_int_eq(bcl_boot_job_run(2, run_rank, (void *)job), lost);
	ck_assert(shared->done);
	munmap(page, sizeof(*shared));
}

static struct bcl_adi_request *post(struct bcl_adi *adi, unsigned i,
				    size_t length, int source, int tag)
{
	struct bcl_adi_request *request;

	memset(buffers[i], AFTER, length + 1);
	need_equal(bcl_adi_irecv(adi, buffers[i], length, source, tag, CONTEXT,
				 &request),
		   BCL_OK);
	return request;
}

/* ---- how many messages a wait takes ---- */

enum {
	ROW = 4,
	TRIES = 100,
};

static void send_rows(struct bcl_adi *adi)
{
	struct bcl_adi_request *requests[ROW];
	unsigned values[ROW], try, i;

	for (try = 0; try < TRIES; try++) {
		await(&shared->posted, try + 1);
		for (i = 0; i < ROW; i++) {
			values[i] = i;
			need_equal(bcl_adi_isend(adi, &values[i], sizeof(i), 1,
						 5, CONTEXT, &requests[i]),
				   BCL_OK);
		}
		atomic_store(&shared->sent, try + 1);
		need_equal(bcl_adi_waitall(adi, requests, ROW, NULL), BCL_OK);
		await_answer(adi);
	}
}

/*
 * Rank 1 waits when all four messages have arrived. A wait for three requests
 * may take three messages, although only the first request is still open. A
 * wait for one request takes one message only: in real programs the next
 * message has usually not arrived yet.
 */
static void receive_rows(struct bcl_adi *adi)
{
	struct bcl_adi_request *requests[ROW], *some[ROW] = { NULL };
	unsigned try, i, rows = 0;
	bool several;

	for (try = 0; try < TRIES; try++) {
		several = try % 2;
		for (i = 0; i < ROW; i++)
			requests[i] = post(adi, i, sizeof(i), 0, 5);
		bcl_adi_progress(adi);
		atomic_store(&shared->posted, try + 1);
		await(&shared->sent, try + 1);
		some[0] = requests[0];
		need_equal(several ? bcl_adi_waitall(adi, some, ROW - 1, NULL)
				   : bcl_adi_wait(adi, &some[0], NULL),
			   BCL_OK);
		/* if the port has other work due, the turn takes only one */
		if (requests[1]->state == BCL_REQUEST_DONE)
			rows++;
		need(several || requests[1]->state != BCL_REQUEST_DONE);
		need(requests[3]->state != BCL_REQUEST_DONE);
		need_equal(bcl_adi_waitall(adi, requests + 1, ROW - 1, NULL),
			   BCL_OK);
		for (i = 0; i < ROW; i++)
			need(!memcmp(buffers[i], &i, sizeof(i)));
		answer(adi);
	}
	need(rows > TRIES / 4);
	shared->done = true;
}

/* Four messages wait in the ring. Waits for several requests take more than one
 * of the messages in more than half of the tries. Waits for one request never
 * do. */
START_TEST(several_at_once)
{
	run_job(&(struct job){ send_rows, receive_rows }, 0);
}
END_TEST

/* ---- during a put of the receiver ---- */

static uint8_t area[64];

static void send_beside_put(struct bcl_adi *adi)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_memory *memory;
	unsigned i;

	need_equal(bcl_memory_register(adi->context, area, sizeof(area),
				       BCL_REMOTE_WRITE, &memory),
		   BCL_OK);
	bcl_memory_key(memory, key);
	need_equal(bcl_adi_send(adi, key, sizeof(key), 1, 0, 0), BCL_OK);
	await(&shared->posted, 1);
	for (i = 0; i < ROW; i++)
		need_equal(bcl_adi_send(adi, &i, sizeof(i), 1, 5, CONTEXT),
			   BCL_OK);
	atomic_store(&shared->sent, 1);
	await_answer(adi);
	need(pattern_is(area, sizeof(area), 1));
	bcl_memory_release(memory);
}

/* While the peer copies the data of a put with a notification, no message of
 * this rank may overtake the put. The library therefore hides the pair from
 * sends (peer->pair is NULL). The pair must still receive. */
static void receive_beside_put(struct bcl_adi *adi)
{
	struct bcl_adi_request *requests[ROW],
		put = { .state = BCL_REQUEST_SENT };
	uint8_t key[BCL_KEY_MAX], data[sizeof(area)];
	struct bcl_peer *peer;
	unsigned i;

	need_equal(bcl_adi_peer(adi, 0, &peer), BCL_OK);
	need_equal(bcl_adi_recv(adi, key, sizeof(key), 0, 0, 0, NULL), BCL_OK);
	for (i = 0; i < ROW; i++)
		requests[i] = post(adi, i, sizeof(i), 0, 5);
	bcl_adi_progress(adi);
	pattern_fill(data, sizeof(data), 1);
	need_equal(bcl_put_notify(peer, key, 0, data, sizeof(data), 0, 0,
				  (uintptr_t)&put),
		   BCL_OK);
	need(!peer->pair);
	atomic_store(&shared->posted, 1);
	await(&shared->sent, 1);
	need_equal(bcl_adi_waitall(adi, requests, ROW, NULL), BCL_OK);
	for (i = 0; i < ROW; i++)
		need(!memcmp(buffers[i], &i, sizeof(i)));
	answer(adi);
	while (put.state != BCL_REQUEST_DONE)
		bcl_adi_progress(adi);
	need_equal(put.status.status, BCL_OK);
	shared->done = true;
}

/* Without copies by attach the peer carries out the put. Meanwhile rank 1 must
 * receive all messages in order. */
START_TEST(beside_put)
{
	setenv("BCL_ATTACH", "0", 1);
	run_job(&(struct job){ send_beside_put, receive_beside_put }, 0);
}
END_TEST

/* ---- random messages ---- */

/* Marsaglia's xorshift. With its own generator the test draws the same numbers
 * from a seed on every system. */
static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t seed_of_run;

struct message {
	size_t length;
	int tag;
	bool taken;
};

struct receive {
	size_t length;
	int source, tag;
	bool cancelled;
	int message; /* index of its message; -1: none */
};

static struct round {
	enum {
		POSTED, /* receives are posted before the sends */
		LYING,	/* likewise, and rank 1 waits after the sends */
		KEPT,	/* receives are posted after the sends */
		RACE,	/* no order between sends and receives */
		ORDERS
	} order;
	unsigned messages, receives, left; /* messages without a receive */
	struct message message[MOST];
	struct receive receive[MOST];
} round_now;

static size_t draw_length(uint64_t *state)
{
	uint64_t r = draw(state);

	switch (r % 16) {
	case 0:
		return (r >> 8) % (LONGEST + 1);
	case 1:
	case 2:
		return (r >> 8) % 1000;
	case 3:
	case 4:
		return 0;
	case 5:
	case 6:
	case 7:
		return (r >> 8) % 49;
	default:
		return 8;
	}
}

/* The model: each message goes to the first free receive with a matching tag,
 * in the order of the posts. */
static void draw_round(struct round *round, uint64_t *state)
{
	unsigned i, k;

	round->order = draw(state) % ORDERS;
	round->messages = 1 + draw(state) % MOST;
	round->receives = 1 + draw(state) % MOST;
	round->left = 0;
	for (k = 0; k < round->receives; k++) {
		struct receive *receive = &round->receive[k];
		uint64_t r = draw(state);

		*receive = (struct receive){
			.length = r >> 8 & 7 ? LONGEST : draw_length(state),
			.source = r & 3 ? 0 : BCL_ANY_SOURCE,
			.tag = r >> 2 & 3 ? (int)(r >> 4 & 1) : BCL_ANY_TAG,
			.message = -1,
		};
		if (!(r >> 12 & 15)) {
			/* no message has this tag */
			receive->tag = 9;
			receive->cancelled = true;
		}
	}
	for (i = 0; i < round->messages; i++) {
		struct message *message = &round->message[i];

		message->length = draw_length(state);
		message->tag = !(draw(state) & 3);
		message->taken = false;
		for (k = 0; k < round->receives && !message->taken; k++) {
			struct receive *receive = &round->receive[k];

			if (receive->message >= 0 ||
			    (receive->tag != BCL_ANY_TAG &&
			     receive->tag != message->tag))
				continue;
			receive->message = (int)i;
			message->taken = true;
		}
		round->left += !message->taken;
	}
}

static void send_random(struct bcl_adi *adi)
{
	struct bcl_adi_request *requests[MOST];
	struct round *round = &round_now;
	uint64_t state = seed_of_run;
	unsigned n, i;

	for (n = 1; n <= ROUNDS; n++) {
		draw_round(round, &state);
		if (round->order == POSTED || round->order == LYING)
			await(&shared->posted, n);
		for (i = 0; i < round->messages; i++) {
			pattern_fill(buffers[i], round->message[i].length, i);
			need_equal(bcl_adi_isend(adi, buffers[i],
						 round->message[i].length, 1,
						 round->message[i].tag, CONTEXT,
						 &requests[i]),
				   BCL_OK);
		}
		atomic_store(&shared->sent, n);
		need_equal(
			bcl_adi_waitall(adi, requests, round->messages, NULL),
			BCL_OK);
		await_answer(adi);
	}
}

static void check(const struct round *round, unsigned i, size_t room,
		  const uint8_t *buffer, const struct bcl_adi_status *status)
{
	const struct message *message = &round->message[i];
	size_t n = message->length < room ? message->length : room;

	need_equal(status->source, 0);
	need_equal(status->tag, message->tag);
	need_equal(status->length, message->length);
	need_equal(status->status,
		   message->length <= room ? BCL_OK : BCL_ERR_TRUNCATED);
	need(pattern_is(buffer, n, i));
	need(buffer[n] == AFTER);
}

/* Wait for the receives that get a message, in the order of the posts or in
 * reverse order. Then cancel the remaining receives. */
static void wait_for_posted(struct bcl_adi *adi, const struct round *round,
			    struct bcl_adi_request **requests, bool reverse)
{
	struct bcl_adi_request *list[MOST];
	struct bcl_adi_status statuses[MOST];
	unsigned order[MOST], n = 0, i;

	for (i = 0; i < round->receives; i++) {
		unsigned k = reverse ? round->receives - 1 - i : i;

		if (round->receive[k].message >= 0) {
			order[n] = k;
			list[n++] = requests[k];
		}
	}
	bcl_adi_waitall(adi, list, n, statuses);
	for (i = 0; i < n; i++)
		check(round, (unsigned)round->receive[order[i]].message,
		      round->receive[order[i]].length, buffers[order[i]],
		      &statuses[i]);
	for (i = 0; i < round->receives; i++) {
		if (round->receive[i].message >= 0 ||
		    round->receive[i].cancelled)
			continue;
		need_equal(bcl_adi_cancel(adi, requests[i]), BCL_OK);
		need_equal(bcl_adi_wait(adi, &requests[i], NULL),
			   BCL_ERR_CANCELLED);
	}
}

static void receive_left(struct bcl_adi *adi, const struct round *round)
{
	struct bcl_adi_request *requests[MOST];
	struct bcl_adi_status statuses[MOST];
	unsigned n = 0, i;

	for (i = 0; i < round->left; i++)
		requests[i] = post(adi, i, LONGEST, 0, BCL_ANY_TAG);
	need_equal(bcl_adi_waitall(adi, requests, round->left, statuses),
		   BCL_OK);
	for (i = 0; i < round->messages; i++) {
		if (round->message[i].taken)
			continue;
		check(round, i, LONGEST, buffers[n], &statuses[n]);
		n++;
	}
}

static void receive_random(struct bcl_adi *adi)
{
	struct bcl_adi_request *requests[MOST];
	struct round *round = &round_now;
	uint64_t state = seed_of_run;
	unsigned n, i;

	for (n = 1; n <= ROUNDS; n++) {
		draw_round(round, &state);
		if (round->order == KEPT)
			await(&shared->sent, n);
		for (i = 0; i < round->receives; i++) {
			const struct receive *receive = &round->receive[i];

			requests[i] = post(adi, i, receive->length,
					   receive->source, receive->tag);
		}
		for (i = 0; i < round->receives; i++) {
			if (!round->receive[i].cancelled)
				continue;
			need_equal(bcl_adi_cancel(adi, requests[i]), BCL_OK);
			need_equal(bcl_adi_wait(adi, &requests[i], NULL),
				   BCL_ERR_CANCELLED);
		}
		atomic_store(&shared->posted, n);
		if (round->order == LYING)
			await(&shared->sent, n);
		wait_for_posted(adi, round, requests, n % 3 == 0);
		receive_left(adi, round);
		answer(adi);
	}
	shared->done = true;
}

/* Each receive must get the message that draw_round() predicts. The model takes
 * the messages one by one. */
START_TEST(random_ones)
{
	const char *given = getenv("BCL_TEST_SEED");

	seed_of_run = given ? strtoull(given, NULL, 0) : 31000u + (unsigned)_i;
	printf("random_ones: BCL_TEST_SEED=%llu\n",
	       (unsigned long long)seed_of_run);
	run_job(&(struct job){ send_random, receive_random }, 0);
}
END_TEST

/* ---- forged messages ---- */

enum {
	GOOD = 6, /* good messages, each behind BAD forged messages */
	BAD = 3,
};

static void send_false(struct bcl_adi *adi)
{
	const uint64_t key = bcl_match_key(CONTEXT, 0, 5);
	const uint64_t false_keys[] = {
		bcl_match_key(CONTEXT, 1, 5),  /* rank of the receiver */
		bcl_match_key(CONTEXT, 77, 5), /* not a rank of the job */
		key | 0x80000000,	       /* not a valid tag */
	};
	struct bcl_peer *peer;
	unsigned i, k;

	need_equal(bcl_adi_peer(adi, 1, &peer), BCL_OK);
	await(&shared->posted, 1);
	for (i = 0; i < GOOD; i++) {
		const uint64_t bad = UINT64_MAX;
		const struct iovec good = { &i, sizeof(i) };
		const struct iovec wrong = { (void *)&bad, sizeof(bad) };

		for (k = 0; k < BAD; k++)
			need_equal(bcl_send(peer, BCL_ADI_EAGER,
					    false_keys[i % 3], &wrong, 1, 0),
				   BCL_OK);
		need_equal(bcl_send(peer, BCL_ADI_EAGER, key, &good, 1, 0),
			   BCL_OK);
	}
	atomic_store(&shared->sent, 1);
	await_answer(adi);
}

static void receive_false(struct bcl_adi *adi)
{
	struct bcl_adi_request *requests[GOOD];
	struct bcl_adi_status statuses[GOOD];
	unsigned i;

	for (i = 0; i < GOOD; i++)
		requests[i] = post(adi, i, 8, BCL_ANY_SOURCE, BCL_ANY_TAG);
	atomic_store(&shared->posted, 1);
	await(&shared->sent, 1);
	need_equal(bcl_adi_waitall(adi, requests, GOOD, statuses), BCL_OK);
	for (i = 0; i < GOOD; i++) {
		need_equal(statuses[i].source, 0);
		need_equal(statuses[i].length, sizeof(i));
		need(!memcmp(buffers[i], &i, sizeof(i)));
	}
	answer(adi);
	shared->done = true;
}

/* Keys with a wrong source or an invalid tag: the receiver must drop the forged
 * messages, and must get all good messages in order. */
START_TEST(false_ones)
{
	run_job(&(struct job){ send_false, receive_false }, 0);
}
END_TEST

/* ---- a rank that dies ---- */

enum {
	LAST = 20, /* messages before the death */
	WANTED = 24,
};

static void send_and_die(struct bcl_adi *adi)
{
	struct bcl_adi_request *request;
	unsigned i;

	await(&shared->posted, 1);
	for (i = 0; i < LAST; i++) {
		need_equal(bcl_adi_isend(adi, &i, sizeof(i), 1, 5, CONTEXT,
					 &request),
			   BCL_OK);
		need_equal(bcl_adi_wait(adi, &request, NULL), BCL_OK);
	}
	atomic_store(&shared->sent, 1);
	kill(getpid(), SIGKILL);
}

static void receive_from_dead(struct bcl_adi *adi)
{
	struct bcl_adi_request *requests[WANTED];
	struct bcl_adi_status statuses[WANTED];
	unsigned i;

	for (i = 0; i < WANTED; i++)
		requests[i] = post(adi, i, sizeof(i), 0, 5);
	atomic_store(&shared->posted, 1);
	await(&shared->sent, 1);
	need_equal(bcl_adi_waitall(adi, requests, WANTED, statuses),
		   BCL_ERR_DEAD);
	for (i = 0; i < WANTED; i++) {
		need_equal(statuses[i].status,
			   i < LAST ? BCL_OK : BCL_ERR_DEAD);
		need(i >= LAST || !memcmp(buffers[i], &i, sizeof(i)));
	}
	shared->done = true;
}

/* The sender is killed after LAST messages. The first LAST receives must get
 * data, and the other receives must fail with BCL_ERR_DEAD. */
START_TEST(dead_ones)
{
	run_job(&(struct job){ send_and_die, receive_from_dead }, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("adi_rows");
	TCase *tcase = tcase_create("rows");

	tcase_set_timeout(tcase, 100);
	tcase_add_test(tcase, several_at_once);
	tcase_add_test(tcase, beside_put);
	tcase_add_loop_test(tcase, random_ones, 0, 2);
	tcase_add_test(tcase, false_ones);
	tcase_add_test(tcase, dead_ones);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
